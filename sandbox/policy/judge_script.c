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
		if (*s == '\\' && s[1] != '\0') {
			/* "[\\]" ends with it, or goes on: nobody knows. */
			if (set && s[1] == ']')
				return NULL;
			s++;
		} else if (!set && *s == '[' && end != '[') {
			set = true;
			/* "]" as its first character is one. */
			s += s[1] == '^';
			s += s[1] == ']';
		} else if (set && *s == ']')
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
	if (n > 0)
		strv_addn(files, s, n);
	return s + n;
}

/* Flags of s///; those with a file end the line. */
static const char *
sed_flags(const char *s, struct script_files *files, unsigned *does)
{
	for (; *s != '\0' && strchr("\n;} \t#", *s) == NULL; s++) {
		if (*s == 'w')
			return sed_file(s + 1, &files->writes);
		if (*s == 'e')
			*does |= SCRIPT_RUNS;
		else if (strchr("gpiImM0123456789", *s) == NULL)
			*does |= SCRIPT_UNREAD;
	}
	return s;
}

static const char *
sed_command(const char *s, struct script_files *files, unsigned *does)
{
	char c = *s++;

	switch (c) {
	case 'e':
		*does |= SCRIPT_RUNS;
		return s + strcspn(s, "\n");
	case 'w':
	case 'W':
		return sed_file(s, &files->writes);
	case 'r':
	case 'R':
		return sed_file(s, &files->reads);
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
		/* The end of a label, where any sed may see it. */
		s += strspn(s, " \t");
		return s + strcspn(s, "\n; \t}");
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
script_sed(const char *s, struct script_files *files)
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

/* Blanks; a line goes on behind its end. */
static const char *
awk_blanks(const char *s)
{
	for (;;) {
		s += strspn(s, " \t");
		if (s[0] != '\\' || s[1] != '\n')
			return s;
		s += 2;
	}
}

/* A string that stands alone is the name of a file; what is computed, also of
 * several strings, is not known. */
static const char *
awk_target(const char *s, struct strv *files, unsigned *does, unsigned unknown)
{
	const char *end, *next;

	s = awk_blanks(s + strspn(s, ">"));
	if (*s != '"') {
		*does |= unknown;
		return s;
	}
	end = awk_quoted(s + 1, '"');
	next = awk_blanks(end);
	if (memchr(s, '\\', (size_t)(end - s)) != NULL ||
	    (*next != '\0' && strchr(";\n})#&|>=?:,<", *next) == NULL))
		*does |= unknown;
	else if (end > s + 2)
		strv_addn(files, s + 1, (size_t)(end - s) - 2);
	return end;
}

/* "[/]" ends a regular expression for one awk, and does not for another. */
static bool
awk_is_clear(const char *s)
{
	const char *end = awk_quoted(s, '/'),
		   *set = memchr(s, '[', (size_t)(end - s));

	for (; set != NULL && set < end;
	     set = memchr(set, '[', (size_t)(end - set))) {
		if (set > s && set[-1] == '\\') {
			set++;
			continue;
		}
		set++;
		set += *set == '^';
		set += *set == ']';
		while (set < end && *set != ']')
			set += *set == '\\' ? 2 : 1;
		if (set >= end)
			return false;
	}
	return true;
}

struct awk {
	struct script_files *files;
	unsigned does, parens;
	bool value;  /* the last was one: "/" divides */
	bool prints; /* ">" is for output */
	bool inputs; /* "<" is for input */
};

static const char *
awk_word(struct awk *a, const char *s)
{
	size_t n = 0;

	while (is_name(s[n]))
		n++;
	if (n == 6 && strncmp(s, "system", 6) == 0)
		a->does |= SCRIPT_RUNS;
	if (n == 4 && strncmp(s, "ARGV", 4) == 0)
		a->does |= SCRIPT_READS; /* files that it adds */
	a->inputs |= n == 7 && strncmp(s, "getline", 7) == 0;
	a->value = true;
	if ((n == 5 && strncmp(s, "print", 5) == 0) ||
	    (n == 6 && strncmp(s, "printf", 6) == 0)) {
		a->prints = true;
		a->parens = 0;
		a->value = false;
	} else if (n == 6 && strncmp(s, "return", 6) == 0) {
		a->value = false;
	}
	return s + n;
}

/* Behind c. */
static const char *
awk_sign(struct awk *a, const char *s, char c)
{
	if (c == '"') {
		a->value = true;
		return awk_quoted(s, '"');
	}
	if (c == '/' && !a->value) {
		if (!awk_is_clear(s))
			a->does |= SCRIPT_UNREAD;
		a->value = true;
		return awk_quoted(s, '/');
	}
	if (c == '#')
		return s + strcspn(s, "\n");
	if (c == '|' && *s == '|') {
		a->value = false;
		return s + 1;
	}
	if (c == '|' || c == '@') {
		/* print | "cmd", "cmd" | getline, @load */
		a->does |= SCRIPT_RUNS;
		a->value = false;
	} else if (c == '>' && a->prints && a->parens == 0 && *s != '=') {
		a->value = true;
		return awk_target(
		    s, &a->files->writes, &a->does, SCRIPT_WRITES);
	} else if (c == '<' && a->inputs && *s != '=') {
		a->inputs = false;
		a->value = true;
		return awk_target(s, &a->files->reads, &a->does, SCRIPT_READS);
	} else if (c == ';' || c == '\n' || c == '{' || c == '}') {
		a->prints = a->inputs = false;
		a->value = false;
	} else if (c == '(') {
		a->parens++;
		a->value = false;
	} else if (c == ')' || c == ']') {
		a->parens -= c == ')' && a->parens > 0;
		a->value = true;
	} else if (c != ' ' && c != '\t') {
		a->value = c == '$';
	}
	return s;
}

unsigned
script_awk(const char *s, struct script_files *files)
{
	struct awk a = { .files = files };

	while (*s != '\0') {
		if (is_name(*s))
			s = awk_word(&a, s);
		else if (s[0] == '\\' && s[1] == '\n')
			s += 2;
		else
			s = awk_sign(&a, s + 1, *s);
	}
	return a.does;
}
