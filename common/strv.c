#include "common/compat.h"

#include "common/log.h"
#include "common/strv.h"

static void
push(struct strv *s, char *str)
{
	if (s->n + 2 > s->size) {
		s->size = s->size > 0 ? s->size * 2 : 8;
		s->v = xreallocarray(s->v, s->size, sizeof *s->v);
	}
	s->v[s->n++] = str;
	s->v[s->n] = NULL;
}

void
strv_clear(struct strv *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct strv){ 0 };
}

void
strv_add(struct strv *s, const char *str)
{
	push(s, xstrdup(str));
}

void
strv_addn(struct strv *s, const char *str, size_t len)
{
	push(s, xstrndup(str, len));
}

void
strv_addf(struct strv *s, const char *fmt, ...)
{
	va_list ap;
	char *str;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&str, fmt, ap);
	va_end(ap);
	if (n < 0)
		fatal("out of memory (text)");
	push(s, str);
}

void
strv_take(struct strv *s, char **str)
{
	push(s, *str);
	*str = NULL;
}

void
strv_addl(struct strv *s, ...)
{
	const char *str;
	va_list ap;

	va_start(ap, s);
	while ((str = va_arg(ap, const char *)) != NULL)
		strv_add(s, str);
	va_end(ap);
}

void
strv_words(struct strv *s, const char *text)
{
	static const char between[] = " \t\r\n";
	size_t n;

	for (text += strspn(text, between); *text != '\0';
	     text += strspn(text, between)) {
		n = strcspn(text, between);
		strv_addn(s, text, n);
		text += n;
	}
}

void
strv_extend(struct strv *s, const struct strv *more)
{
	size_t n = more->n; /* more may be s */

	for (size_t i = 0; i < n; i++)
		strv_add(s, more->v[i]);
}

void
strv_copy(struct strv *dst, const struct strv *src)
{
	if (dst == src)
		return;
	strv_clear(dst);
	strv_extend(dst, src);
}

bool
strv_has(const struct strv *s, const char *str)
{
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->v[i], str) == 0)
			return true;
	}
	return false;
}

static int
by_bytes(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

void
strv_sort(struct strv *s)
{
	if (s->n > 1)
		qsort(s->v, s->n, sizeof *s->v, by_bytes);
}

char *const *
strv_argv(const struct strv *s)
{
	static char *const none[] = { NULL };

	return s->v != NULL ? s->v : none;
}

static char **
find_env(const struct strv *s, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < s->n; i++) {
		if (strncmp(s->v[i], name, len) == 0 && s->v[i][len] == '=')
			return &s->v[i];
	}
	return NULL;
}

void
strv_setenv(struct strv *s, const char *name, const char *value)
{
	char **at = find_env(s, name);
	char *entry = xasprintf("%s=%s", name, value);

	if (at == NULL) {
		push(s, entry);
		return;
	}
	free(*at);
	*at = entry;
}

const char *
strv_getenv(const struct strv *s, const char *name)
{
	char **at = find_env(s, name);

	return at != NULL ? *at + strlen(name) + 1 : NULL;
}
