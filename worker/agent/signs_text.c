/* signs_text.c - lines of a patch as the language reads them. */
#include "common/compat.h"

#include <ctype.h>
#include <strings.h>

#include "common/log.h"
#include "worker/agent/signs_priv.h"

static bool
starts(const char *p, size_t len, const char *what)
{
	size_t n = strlen(what);

	return p != NULL && len >= n && memcmp(p, what, n) == 0;
}

static bool
holds(const char *p, size_t len, const char *what)
{
	return memmem(p, len, what, strlen(what)) != NULL;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* A word that begins with "test", or the name of a runner. */
bool
signs_has_test(const char *s, size_t len)
{
	static const char *const names[] = { "unittest", "pytest", "jest",
		"mocha", "vitest", "nose", "discover" };
	size_t i, k;

	for (i = 0; i < len; i++) {
		for (k = 0; k < nitems(names); k++) {
			size_t n = strlen(names[k]);

			if (i + n <= len &&
			    strncasecmp(s + i, names[k], n) == 0)
				return true;
		}
		/* That of regular expressions is none. */
		if (i > 0 && s[i - 1] == '.' && starts(s + i, len - i, "test("))
			continue;
		if (i + 4 <= len && strncasecmp(s + i, "test", 4) == 0 &&
		    (i == 0 || !isalpha((unsigned char)s[i - 1])))
			return true;
	}
	return false;
}

/* --- comments ------------------------------------------------------------ */

#define HASHES (PY | SH | MK | CONF | PL)

/* Does a comment that ends with the line begin at p[i]? In Python a string of
 * several lines may end behind the "#": then it is none. */
static bool
is_rest(const struct lexer *x, const char *p, size_t i, size_t len)
{
	if ((x->langs & HASHES) != 0) {
		if (p[i] != '#')
			return false;
		if ((x->langs & PY) != 0)
			return !holds(p + i, len - i, "\"\"\"") &&
			    !holds(p + i, len - i, "'''");
		return i == 0 || is_blank(p[i - 1]);
	}
	return starts(p + i, len - i, "//");
}

static void
put(struct buf *b, size_t start, char c)
{
	bool first = b->len == start;

	if (is_blank(c)) {
		if (first || buf_str(b)[b->len - 1] == ' ')
			return;
		c = ' ';
	}
	/* "#  define" is "#define". */
	if (b->len == start + 2 && memcmp(buf_str(b) + start, "# ", 2) == 0 &&
	    is_name(c))
		b->data[--b->len] = '\0';
	(void)buf_addc(b, c);
}

void
signs_strip(struct lexer *x, const char *p, size_t len, struct buf *ret)
{
	size_t i = 0, start = ret->len;
	char quote = 0;

	while (i < len && is_blank(p[i]))
		i++;
	/* A hunk may begin within a comment. */
	if (x->at_start && (x->langs & (C | JS | GO | RS)) != 0 &&
	    x->open == 0 && i < len && p[i] == '*' &&
	    (i + 1 == len || is_blank(p[i + 1])))
		return;
	x->at_start = x->at_start && i == len;
	for (; i < len; i++) {
		char c = p[i];

		if (x->open == '*') {
			if (starts(p + i, len - i, "*/")) {
				x->open = 0;
				put(ret, start, ' ');
				i++;
			}
			continue;
		}
		if (quote == 0 && x->open == 0) {
			if (is_rest(x, p, i, len))
				break;
			if ((x->langs & (C | JS | GO | RS)) != 0 &&
			    starts(p + i, len - i, "/*")) {
				x->open = '*';
				i++;
				continue;
			}
		}
		if (c == '\\' && i + 1 < len) {
			put(ret, start, c);
			c = p[++i];
		} else if (x->open == '`' && c == '`') {
			x->open = 0;
		} else if (x->open == 0 && quote == 0 && c == '`' &&
		    (x->langs & (JS | GO)) != 0) {
			x->open = '`';
		} else if (x->open == 0 && (c == '"' || c == '\'') &&
		    (quote == 0 || quote == c)) {
			quote = quote == 0 ? c : 0;
		}
		put(ret, start, c);
	}
	while (ret->len > start && ret->data[ret->len - 1] == ' ')
		ret->data[--ret->len] = '\0';
}

/* --- what no single word says -------------------------------------------- */

static bool
is_shell_word(const char *p, size_t n)
{
	static const char *const names[] = { "[", "[[", "alias", "break", "cmp",
		"command", "diff", "echo", "eval", "exec", "exit", "expr",
		"false", "grep", "kill", "printf", "read", "return", "set",
		"test", "trap", "true", "unset" };
	size_t i;

	for (i = 0; i < nitems(names); i++) {
		if (strlen(names[i]) == n && memcmp(p, names[i], n) == 0)
			return true;
	}
	return false;
}

const char *
signs_shell_name(const char *p, size_t len)
{
	bool alias = starts(p, len, "alias "), fn = starts(p, len, "function ");
	size_t i = alias ? 6 : fn ? 9 : 0, n;

	while (alias && i < len &&
	    (p[i] == '\'' || p[i] == '"' || p[i] == '\\' || p[i] == ' '))
		i++;
	for (n = i; n < len && strchr(" ()='\"\\", p[n]) == NULL; n++)
		continue;
	if (!is_shell_word(p + i, n - i))
		return NULL;
	if (!alias && !fn) {
		while (n < len && p[n] == ' ')
			n++;
		if (n == len || p[n] != '(')
			return NULL;
		for (n++; n < len && p[n] == ' '; n++)
			continue;
		if (n == len || p[n] != ')')
			return NULL;
	}
	return "changes what a command of the shell does";
}

/* A target of that name, with what follows it. */
static bool
is_target(const char *p, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (!starts(p, len, name))
		return false;
	while (n < len && (is_name(p[n]) || strchr("-/% .", p[n]) != NULL))
		n++;
	return n < len && p[n] == ':' && (n + 1 == len || p[n + 1] != '=');
}

/* A variable that says with what commands are run, and how. */
static bool
is_variable(const char *p, size_t len)
{
	static const char *const names[] = { "SHELL", "PATH", "MAKE",
		"MAKEFILES" };
	static const char *const before[] = { "override ", "export ",
		"define " };
	size_t i, n;

	for (i = 0; i < nitems(before); i++) {
		if (!starts(p, len, before[i]))
			continue;
		p += strlen(before[i]);
		len -= strlen(before[i]);
		i = (size_t)-1;
	}
	for (i = 0; i < nitems(names); i++) {
		n = strlen(names[i]);
		if (starts(p, len, names[i]) &&
		    (n == len || strchr(" :+?!=", p[n]) != NULL))
			return true;
	}
	return false;
}

const char *
signs_make_line(const char *raw, const char *p, size_t len)
{
	const char *eq, *semi;

	if (*raw == '\t')
		return NULL;
	eq = memchr(p, '=', len);
	semi = memchr(p, ';', len);
	if (is_target(p, len, "check") || is_target(p, len, "test") ||
	    is_variable(p, len) || (eq != NULL && semi != NULL && eq < semi))
		return "changes how the tests are built or run";
	return NULL;
}

/* "exit 2" and "exit(EXIT_FAILURE)" say that something is wrong. */
bool
signs_is_exit(unsigned langs, const char *p, size_t len)
{
	const char *s = p, *hit, *end = p + len;

	if ((langs & (C | SH | PL)) == 0)
		return false;
	for (; (hit = memmem(s, (size_t)(end - s), "exit", 4)) != NULL;
	     s = hit + 4) {
		const char *q = hit + 4;

		if (hit > p && (is_name(hit[-1]) || hit[-1] == '$'))
			continue;
		while (q < end && *q == ' ')
			q++;
		if ((langs & C) != 0 && (q == end || *q++ != '('))
			continue;
		if (q < end &&
		    ((*q >= '1' && *q <= '9') || *q == '-' ||
			starts(q, (size_t)(end - q), "EXIT_FAILURE") ||
			starts(q, (size_t)(end - q), "EX_")))
			continue;
		/* In shell it is a command. */
		if ((langs & C) == 0 &&
		    ((hit > p && strchr(" ;&|({\t\n", hit[-1]) == NULL) ||
			(q < end && strchr("0$\"'`;})&|(\n", *q) == NULL)))
			continue;
		return true;
	}
	return false;
}

bool
signs_sets(const char *p, size_t len)
{
	size_t i = 0, dots = 0;

	if (holds(p, len, "setattr(") || holds(p, len, "__bases__"))
		return true;
	if (starts(p, len, "self.") || starts(p, len, "cls.") ||
	    starts(p, len, "this.") || starts(p, len, "super"))
		return false;
	for (; i < len && (is_name(p[i]) || p[i] == '.'); i++)
		dots += p[i] == '.';
	while (i < len && p[i] == ' ')
		i++;
	return dots > 0 && i + 1 < len && p[i] == '=' && p[i + 1] != '=';
}
