/* judge_script.c - do programs in the languages of sed and awk run or write
 * something? Source: POSIX, and the manuals of GNU sed and gawk. */
#include "common/compat.h"

#include "common/log.h"
#include "sandbox/policy/judge_priv.h"

/* --- sed ------------------------------------------------------------------ */

/* Behind the delimiter that ends a part; NULL: it does not end. */
static const char *
sed_part(const char *s, char end)
{
	bool set = false;

	for (; *s != '\0'; s++) {
		if (*s == '\\' && s[1] != '\0')
			s++;
		else if (!set && *s == '[' && end != '[')
			set = true;
		else if (set && *s == ']')
			set = false;
		else if (*s == end && !set)
			return s + 1;
		else if (*s == '\n')
			set = false;
	}
	return NULL;
}

/* In the replacement a bracket means nothing. */
static const char *
sed_text(const char *s, char end)
{
	for (; *s != '\0'; s++) {
		if (*s == '\\' && s[1] != '\0')
			s++;
		else if (*s == end)
			return s + 1;
	}
	return NULL;
}

static const char *
sed_address(const char *s)
{
	for (;;) {
		s += strspn(s, " \t");
		if (*s >= '0' && *s <= '9')
			s += strspn(s, "0123456789~");
		else if (*s == '$')
			s++;
		else if (*s == '+' || *s == '~')
			s += 1 + strspn(s + 1, "0123456789");
		else if (*s == '/')
			s = sed_part(s + 1, '/');
		else if (*s == '\\' && s[1] != '\0')
			s = sed_part(s + 2, s[1]);
		else if (*s != ',')
			break;
		else
			s++;
		if (s == NULL)
			return NULL;
		if (*s == 'I' || *s == 'M')
			s++;
	}
	return s + strspn(s, "! \t");
}

static const char *
sed_file(const char *s, struct strv *files)
{
	size_t n;

	s += strspn(s, " \t");
	n = strcspn(s, "\n");
	if (files != NULL && n > 0)
		strv_addn(files, s, n);
	return s + n;
}

/* Flags of s///; those with a file end the line. */
static const char *
sed_flags(const char *s, struct strv *files, unsigned *does)
{
	for (; *s != '\0' && strchr("\n;} \t#", *s) == NULL; s++) {
		if (*s == 'w')
			return sed_file(s + 1, files);
		if (*s == 'e')
			*does |= SCRIPT_RUNS;
		else if (strchr("gpiImM0123456789", *s) == NULL)
			*does |= SCRIPT_UNREAD;
	}
	return s;
}

static const char *
sed_command(const char *s, struct strv *files, unsigned *does)
{
	char c = *s++;

	switch (c) {
	case 'e':
		*does |= SCRIPT_RUNS;
		return s + strcspn(s, "\n");
	case 'w':
	case 'W':
		return sed_file(s, files);
	case 'r':
	case 'R':
		return sed_file(s, NULL);
	case 'a':
	case 'i':
	case 'c':
		while (*s != '\0' && *s != '\n') {
			if (*s == '\\' && s[1] != '\0')
				s++;
			s++;
		}
		return s;
	case 's':
	case 'y':
		if (*s == '\0' || *s == '\n' || *s == '\\')
			return NULL;
		c = *s;
		s = sed_part(s + 1, c);
		if (s != NULL)
			s = sed_text(s, c);
		return s != NULL ? sed_flags(s, files, does) : NULL;
	case ':':
	case 'b':
	case 't':
	case 'T':
	case 'v':
		return s + strcspn(s, c == ':' ? "\n" : "\n;}");
	case 'q':
	case 'Q':
	case 'l':
	case 'L':
		s += strspn(s, " \t");
		return s + strspn(s, "0123456789");
	case '#':
		return s + strcspn(s, "\n");
	default:
		return strchr("=dDFgGhHnNpPxz{}", c) != NULL ? s : NULL;
	}
}

unsigned
script_sed(const char *s, struct strv *files)
{
	unsigned does = 0;

	for (;;) {
		s += strspn(s, " \t\n;");
		if (*s == '\0')
			return does;
		s = sed_address(s);
		if (s == NULL)
			return does | SCRIPT_UNREAD;
		if (*s == '\0' || *s == '\n')
			return does | SCRIPT_UNREAD;
		s = sed_command(s, files, &does);
		if (s == NULL)
			return does | SCRIPT_UNREAD;
	}
}

/* --- awk ------------------------------------------------------------------ */

/* Behind a string or a regular expression. */
static const char *
awk_quoted(const char *s, char end)
{
	for (; *s != '\0' && *s != '\n'; s++) {
		if (*s == '\\' && s[1] != '\0')
			s++;
		else if (*s == end)
			return s + 1;
	}
	return s;
}

static bool
is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_';
}

/* What print writes to: a file by name, or one that is not known. */
static const char *
awk_target(const char *s, struct strv *files, unsigned *does)
{
	const char *end;

	s += strspn(s, "> \t");
	if (*s != '"') {
		*does |= SCRIPT_WRITES;
		return s;
	}
	end = awk_quoted(s + 1, '"');
	if (end > s + 2)
		strv_addn(files, s + 1, (size_t)(end - s) - 2);
	return end;
}

unsigned
script_awk(const char *s, struct strv *files)
{
	bool value = false, prints = false;
	unsigned does = 0, parens = 0;
	size_t n;

	while (*s != '\0') {
		char c = *s;

		if (is_name(c)) {
			for (n = 0; is_name(s[n]);)
				n++;
			if (n == 6 && strncmp(s, "system", 6) == 0)
				does |= SCRIPT_RUNS;
			value = true;
			if ((n == 5 && strncmp(s, "print", 5) == 0) ||
			    (n == 6 && strncmp(s, "printf", 6) == 0)) {
				prints = true;
				parens = 0;
				value = false;
			} else if (n == 6 && strncmp(s, "return", 6) == 0) {
				value = false;
			}
			s += n;
			continue;
		}
		s++;
		if (c == '"') {
			s = awk_quoted(s, '"');
			value = true;
		} else if (c == '/' && !value) {
			s = awk_quoted(s, '/');
			value = true;
		} else if (c == '#') {
			s += strcspn(s, "\n");
		} else if (c == '|' && *s == '|') {
			s++;
			value = false;
		} else if (c == '|' || c == '@') {
			/* print | "cmd", "cmd" | getline, @load */
			does |= SCRIPT_RUNS;
			value = false;
		} else if (c == '>' && prints && parens == 0 && *s != '=') {
			s = awk_target(s, files, &does);
			value = true;
		} else if (c == ';' || c == '\n' || c == '{' || c == '}') {
			prints = false;
			value = false;
		} else if (c == '(') {
			parens++;
			value = false;
		} else if (c == ')' || c == ']') {
			parens -= c == ')' && parens > 0;
			value = true;
		} else if (c != ' ' && c != '\t') {
			value = c == '$';
		}
	}
	return does;
}
