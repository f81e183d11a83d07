/* makefile.c - see makefile.h. */
#include "common/compat.h"

#include <ctype.h>

#include "common/buf.h"
#include "common/log.h"
#include "orchestrator/run/makefile.h"

#define MAX_VALUE 65536
#define MAX_DEPTH 6 /* of variables in variables */
#define BLANKS " \t"

void
makefile_init(struct makefile *m, char **text)
{
	char *p, *to;

	m->text = *text;
	*text = NULL;
	for (p = to = m->text; *p != '\0'; p++) {
		if (p[0] == '\\' && p[1] == '\n') {
			*to++ = ' ';
			p++;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

void
makefile_clear(struct makefile *m)
{
	free(m->text);
	m->text = NULL;
}

static const char *
line_end(const char *s)
{
	return s + strcspn(s, "\n");
}

static const char *
next_line(const char *s)
{
	s = line_end(s);
	return s + (*s == '\n');
}

/* NAME = value, with any of make's equals signs; NULL: no such line. */
static char *
variable(const struct makefile *m, const char *name, size_t len)
{
	const char *s, *p;

	for (s = m->text; *s != '\0'; s = next_line(s)) {
		if (strncmp(s, name, len) != 0)
			continue;
		p = s + len + strspn(s + len, BLANKS);
		p += strspn(p, ":?+");
		if (*p == '=')
			return xstrndup(p + 1, (size_t)(line_end(p) - p - 1));
	}
	return NULL;
}

/* What $(NAME), $@ and $< stand for; what is not known stays as it is. */
static void
expand(const struct makefile *m, const char *s, size_t len, const char *target,
    const char *needs, unsigned depth, struct buf *ret)
{
	const char *end = s + len;

	while (s < end) {
		size_t n = strcspn(s, "$"), name;
		char *value = NULL, close;

		n = n < (size_t)(end - s) ? n : (size_t)(end - s);
		(void)buf_add(ret, s, n);
		s += n;
		if (s + 1 >= end)
			break;
		if (s[1] == '$') {
			(void)buf_addc(ret, '$');
			s += 2;
		} else if (s[1] == '@' || s[1] == '<' || s[1] == '^') {
			const char *v = s[1] == '@' ? target : needs;

			v += strspn(v, BLANKS);
			(void)buf_add(ret, v,
			    s[1] == '<' ? strcspn(v, BLANKS) : strlen(v));
			s += 2;
		} else if (s[1] == '(' || s[1] == '{') {
			close = s[1] == '(' ? ')' : '}';
			for (name = 0; s + 2 + name < end &&
			     (isalnum((unsigned char)s[2 + name]) ||
				 strchr("_-.", s[2 + name]) != NULL);
			     name++)
				;
			if (depth < MAX_DEPTH && s + 2 + name < end &&
			    s[2 + name] == close)
				value = variable(m, s + 2, name);
			if (value != NULL)
				expand(m, value, strlen(value), target, needs,
				    depth + 1, ret);
			else
				(void)buf_add(ret, s, name + 2);
			s += name + 2 + (value != NULL);
			free(value);
		} else {
			(void)buf_addc(ret, *s++);
		}
	}
}

static char *
expanded(const struct makefile *m, const char *s, size_t len,
    const char *target, const char *needs)
{
	struct buf b;
	char *ret;

	buf_init(&b, MAX_VALUE);
	expand(m, s, len, target, needs, 0, &b);
	ret = xstrdup(buf_str(&b));
	buf_clear(&b);
	return ret;
}

/* Is it "... NAME ...: needs"? Then needs, yours. */
static char *
rule_needs(const struct makefile *m, const char *line, const char *name)
{
	size_t colon = strcspn(line, ":=#\n");
	struct strv targets = { 0 };
	char *left, *ret = NULL;
	const char *p;

	if (line[colon] != ':' || line[colon + 1] == '=' || *line == '\t' ||
	    strncmp(line + colon, "::=", 3) == 0)
		return NULL;
	left = expanded(m, line, colon, "", "");
	strv_words(&targets, left);
	if (strv_has(&targets, name)) {
		p = line + colon + 1 + (line[colon + 1] == ':');
		ret = expanded(m, p, strcspn(p, ";#|\n"), name, "");
	}
	strv_clear(&targets);
	free(left);
	return ret;
}

bool
makefile_is_phony(const struct makefile *m, const char *name)
{
	struct strv all = { 0 };
	const char *s;
	bool ret;

	for (s = m->text; *s != '\0'; s = next_line(s)) {
		char *needs = rule_needs(m, s, ".PHONY");

		if (needs != NULL)
			strv_words(&all, needs);
		free(needs);
	}
	ret = strv_has(&all, name);
	strv_clear(&all);
	return ret;
}

void
makefile_rule(const struct makefile *m, const char *name, struct strv *needs,
    struct strv *recipe)
{
	const char *s = m->text, *p;
	char *need, *text;

	while (*s != '\0') {
		need = rule_needs(m, s, name);
		if (need != NULL)
			strv_words(needs, need);
		s = next_line(s);
		for (; *s == '\t' || *s == '\n'; s = next_line(s)) {
			if (need == NULL || *s == '\n')
				continue;
			p = s + strspn(s, BLANKS "@-+");
			text = expanded(
			    m, p, (size_t)(line_end(p) - p), name, need);
			strv_take(recipe, &text);
		}
		free(need);
	}
}

char *
makefile_first(const struct makefile *m)
{
	const char *s;
	size_t n;

	for (s = m->text; *s != '\0'; s = next_line(s)) {
		n = strcspn(s, BLANKS ":=#$%\n");
		if (n > 0 && *s != '.' && s[n] == ':' && s[n + 1] != '=')
			return xstrndup(s, n);
	}
	return NULL;
}
