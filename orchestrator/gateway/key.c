#include "common/compat.h"

#include <sys/mman.h>

#include "common/log.h"
#include "common/spawn.h"
#include "orchestrator/gateway/key.h"

#define KEY_MAX 8192
#define COMMAND_MS 30000

struct taken {
	char *name, *value;
	size_t len;
};

static struct taken *taken;
static size_t n_taken;

static struct taken *
find(const char *name)
{
	for (size_t i = 0; i < n_taken; i++)
		if (strcmp(taken[i].name, name) == 0)
			return &taken[i];
	return NULL;
}

const char *
key_env(const char *name)
{
	const struct taken *t = find(name);
	const char *v = t != NULL ? t->value : getenv(name);

	return v != NULL && v[0] != '\0' ? v : NULL;
}

static char *
locked(const char *s, size_t len)
{
	char *p = xmalloc(len + 1);

	(void)mlock(p, len + 1); /* as far as the limits allow */
	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

void
key_take(const char *name)
{
	char *v = getenv(name);
	struct taken *t;

	if (v == NULL)
		return;
	if ((t = find(name)) != NULL) {
		key_free(t->value, t->len);
		t->value = locked(v, strlen(v));
		t->len = strlen(v);
	} else {
		taken = xreallocarray(taken, n_taken + 1, sizeof *taken);
		t = &taken[n_taken++];
		*t = (struct taken){
			.name = xstrdup(name),
			.value = locked(v, strlen(v)),
			.len = strlen(v),
		};
	}
	/* Else it stays readable in /proc/PID/environ. */
	explicit_bzero(v, strlen(v));
	(void)unsetenv(name);
}

void
key_drop_all(void)
{
	for (size_t i = 0; i < n_taken; i++) {
		key_free(taken[i].value, taken[i].len);
		free(taken[i].name);
	}
	free(taken);
	taken = NULL;
	n_taken = 0;
}

int
key_copy(const char *text, size_t len, const char *what, char **ret,
    size_t *ret_len, struct err *e)
{
	while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
		len--;
	while (len > 0 && strchr(" \t\r\n", text[0]) != NULL) {
		text++;
		len--;
	}
	if (len == 0)
		return err_set(e, ERR_MODEL, "%s gives no key", what);
	if (len > KEY_MAX)
		return err_set(e, ERR_MODEL,
		    "%s gives %zu bytes, a key has at most %d", what, len,
		    KEY_MAX);
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return err_set(e, ERR_MODEL,
			    "%s gives no key: its character %zu is a blank or "
			    "no ASCII",
			    what, i + 1);
	*ret = locked(text, len);
	*ret_len = len;
	return 0;
}

int
key_command(const char *command, char **ret, size_t *ret_len, struct err *e)
{
	struct strv argv = { 0 };
	struct spawn_result result;
	struct buf out;
	struct spawn s = {
		.argv = &argv,
		.out = &out,
		.timeout_ms = COMMAND_MS,
	};
	int r;

	buf_init(&out, (size_t)KEY_MAX * 2);
	(void)buf_reserve(&out, (size_t)KEY_MAX * 2); /* no copies behind */
	strv_addl(&argv, "/bin/sh", "-c", command, (char *)NULL);
	r = spawn_run(&s, &result, e);
	/* What it wrote to stderr is not shown: it may hold the key. */
	if (r < 0)
		(void)err_prefix(e, "key_command");
	else if (result.timed_out)
		r = err_set(e, ERR_MODEL, "key_command took longer than %d s",
		    COMMAND_MS / 1000);
	else if (result.status != 0)
		r = err_set(e, ERR_MODEL,
		    "key_command failed with exit status %d", result.status);
	else
		r = key_copy(
		    buf_str(&out), out.len, "key_command", ret, ret_len, e);
	if (out.data != NULL)
		explicit_bzero(out.data, out.size);
	buf_clear(&out);
	strv_clear(&argv);
	return r;
}

void
key_free(char *key, size_t len)
{
	if (key == NULL)
		return;
	explicit_bzero(key, len);
	(void)munlock(key, len + 1);
	free(key);
}
