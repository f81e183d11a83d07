#include "common/compat.h"

#include <ctype.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/recipe.h"

#define MAX_MAKEFILE (1u << 20)
#define BLANKS " \t"

/* The next word of *s; its length, 0 at the end. */
static size_t
word(const char **s)
{
	*s += strspn(*s, BLANKS);
	return strcspn(*s, BLANKS "\n");
}

static bool
is_interpreter(const char *s, size_t len)
{
	static const char *const names[] = { "sh", "bash", "dash", "python",
		"python3", "node", "perl", "ruby", "$(PYTHON)", "$(SHELL)",
		"$(NODE)" };
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (strlen(names[i]) == len && memcmp(names[i], s, len) == 0)
			return true;
	return false;
}

/* A recipe's line: "@python3 -B verify.py ..." */
static void
recipe_line(const char *s, struct strv *ret)
{
	size_t len;

	s += strspn(s, BLANKS "@-+");
	len = word(&s);
	if (!is_interpreter(s, len))
		return;
	s += len;
	while ((len = word(&s)) > 0 && *s == '-') {
		if (strncmp(s, "-c", 2) == 0 || strncmp(s, "-m", 2) == 0)
			return; /* no script; a module is a word of its own */
		s += len;
	}
	if (len > 0)
		strv_addf(ret, "sh %.*s", (int)len, s);
}

static void
target(const char *text, const char *name, size_t name_len, struct strv *ret)
{
	const char *line = text;
	bool in = false;

	while (*line != '\0') {
		size_t len = strcspn(line, "\n");

		if (in && *line == '\t')
			recipe_line(line, ret);
		else if (!isspace((unsigned char)*line))
			in = strncmp(line, name, name_len) == 0 &&
			    line[name_len + strspn(line + name_len, BLANKS)] ==
				':';
		line += len + (line[len] == '\n');
	}
}

static char *
read_makefile(const char *dir)
{
	static const char *const names[] = { "GNUmakefile", "makefile",
		"Makefile" };
	struct buf b;
	size_t i;

	buf_init(&b, MAX_MAKEFILE);
	for (i = 0; i < nitems(names) && b.len == 0; i++) {
		char *path = path_join(dir, names[i]);

		(void)file_read(path, true, &b, NULL);
		free(path);
	}
	return buf_detach(&b, NULL);
}

void
recipe_commands(const char *dir, struct strv *commands)
{
	struct strv found = { 0 };
	char *text = NULL;
	size_t i, len;

	for (i = 0; i < commands->n; i++) {
		const char *s = commands->v[i];

		len = word(&s);
		if (len != 4 || strncmp(s, "make", 4) != 0)
			continue;
		if (text == NULL)
			text = read_makefile(dir);
		for (s += len; text != NULL && (len = word(&s)) > 0; s += len)
			target(text, s, len, &found);
	}
	strv_extend(commands, &found);
	strv_clear(&found);
	free(text);
}
