#include "common/compat.h"

#include "common/buf.h"
#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "sandbox/accounts.h"

#define MAX_TEXT ((size_t)256 << 10) /* it is part of each spec */
#define FIELDS 7                     /* of passwd; group has 4 */

/* What stands between two colons; a missing one is empty. */
struct field {
	const char *s;
	int len;
};

static void
split(const char *line, size_t len, struct field f[FIELDS])
{
	const char *end = line + len;
	size_t n;

	for (size_t i = 0; i < FIELDS; i++) {
		n = 0;
		while (line + n < end && line[n] != ':')
			n++;
		f[i] = (struct field){ line, (int)n };
		line += n < (size_t)(end - line) ? n + 1 : n;
	}
}

static bool
is_name(const struct field *f, const char *name)
{
	return (size_t)f->len == strlen(name) &&
	    strncmp(f->s, name, strlen(name)) == 0;
}

static bool
is_number(const struct field *f, uint64_t n)
{
	char *text = xstrndup(f->s, (size_t)f->len);
	uint64_t got;
	bool yes =
	    num_u64(text, 0, UINT32_MAX, "id", &got, NULL) == 0 && got == n;

	free(text);
	return yes;
}

static const char *
fit(const char *s, const char *otherwise)
{
	return s == NULL || *s == '\0' || strpbrk(s, ":\n") != NULL ? otherwise
								    : s;
}

static struct account
fitted(const struct account *a)
{
	return (struct account){ .uid = a->uid,
		.gid = a->gid,
		.name = fit(a->name, "foray"),
		.home = fit(a->home, "/tmp/home"),
		.shell = fit(a->shell, "/bin/sh") };
}

/* Calls fn for each line that is an entry. */
static void
each(const char *text, const struct account *a, struct buf *to,
    void (*fn)(const struct field *, const struct account *, struct buf *))
{
	struct field f[FIELDS];
	size_t len;

	for (; *text != '\0'; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		split(text, len, f);
		/* "+" and "-": of NIS */
		if (f[0].len > 0 && strchr("#+-", *f[0].s) == NULL &&
		    f[2].len > 0 && !is_name(&f[0], a->name))
			fn(f, a, to);
	}
}

static void
passwd_line(const struct field *f, const struct account *a, struct buf *to)
{
	(void)buf_printf(to, "%.*s:x:%.*s:%.*s::", f[0].len, f[0].s, f[2].len,
	    f[2].s, f[3].len, f[3].s);
	if (is_number(&f[2], a->uid))
		(void)buf_printf(to, "%s:%s\n", a->home, a->shell);
	else
		(void)buf_printf(
		    to, "%.*s:%.*s\n", f[5].len, f[5].s, f[6].len, f[6].s);
}

static void
group_line(const struct field *f, const struct account *a, struct buf *to)
{
	(void)a;
	(void)buf_printf(
	    to, "%.*s:x:%.*s:\n", f[0].len, f[0].s, f[2].len, f[2].s);
}

static char *
finish(struct buf *b)
{
	size_t len;

	return buf_detach(b, &len);
}

char *
accounts_passwd(const char *text, const struct account *a)
{
	const struct account own = fitted(a);
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	(void)buf_printf(&b, "%s:x:%u:%u::%s:%s\n", own.name, own.uid, own.gid,
	    own.home, own.shell);
	each(text, &own, &b, passwd_line);
	return finish(&b);
}

char *
accounts_group(const char *text, const struct account *a)
{
	const struct account own = fitted(a);
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	(void)buf_printf(&b, "%s:x:%u:\n", own.name, own.gid);
	each(text, &own, &b, group_line);
	return finish(&b);
}

char *
accounts_file(const char *path, const struct account *a,
    char *(*make)(const char *text, const struct account *a))
{
	struct buf b;
	char *made = NULL;

	buf_init(&b, MAX_TEXT);
	if (file_read(path, true, &b, NULL) == 0)
		made = make(buf_str(&b), a);
	buf_clear(&b);
	return made;
}
