/* batch_cmd.c - see batch_cmd.h. */
#include "common/compat.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "worker/agent/batch_cmd.h"

#define WORDS_MAX 200
#define SHEBANG_MAX 256
#define PYTEST_CACHE "cache_dir=/tmp/pytest-cache"

/* --- words --------------------------------------------------------------- */

/* What means itself to a shell, wherever it stands in a word. */
static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') ||
	    (c != '\0' && strchr("_./:=,@%+-", c) != NULL);
}

/* The next word, without its quotes; false: there is none like that. *quoted:
 * some of it was quoted. */
static bool
take_word(const char **at, struct strv *words)
{
	struct buf b;
	const char *p = *at;
	bool good = true;
	char q;

	buf_init(&b, BUF_NOMAX);
	while (good && *p != '\0' && *p != ' ' && *p != '\t') {
		if (is_plain(*p)) {
			(void)buf_addc(&b, *p++);
			continue;
		}
		good = *p == '\'' || *p == '"';
		if (!good)
			break;
		for (q = *p++; *p != '\0' && *p != q && good; p++) {
			good = q == '\'' || strchr("$`\\", *p) == NULL;
			(void)buf_addc(&b, *p);
		}
		good = good && *p == q;
		p += good;
	}
	if (good)
		strv_add(words, buf_str(&b));
	buf_clear(&b);
	*at = p;
	return good && words->n <= WORDS_MAX;
}

static const char *
skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

static bool
split(const char *p, struct strv *words)
{
	size_t i;

	for (i = 0; p[i] != '\0'; i++)
		if ((unsigned char)p[i] < ' ' && p[i] != '\t')
			return false;
	for (p = skip_blanks(p); *p != '\0'; p = skip_blanks(p)) {
		if (strncmp(p, "2>&1", 4) == 0 && *skip_blanks(p + 4) == '\0')
			break;
		if (!take_word(&p, words))
			return false;
	}
	return words->n > 0;
}

/* --- its parts ----------------------------------------------------------- */

/* NAME=value; what decides where programs are found, or what a shell takes for
 * itself, is left to a shell. */
static bool
is_assignment(const char *s)
{
	static const char *const others[] = { "PATH", "HOME", "IFS", "PWD",
		"OLDPWD", "CDPATH", "ENV", "TMPDIR", "LD_PRELOAD",
		"LD_LIBRARY_PATH" };
	size_t n = strspn(s,
	    "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	size_t i;

	if (n == 0 || s[n] != '=' || (s[0] >= '0' && s[0] <= '9'))
		return false;
	for (i = 0; i < nitems(others); i++)
		if (strlen(others[i]) == n && memcmp(others[i], s, n) == 0)
			return false;
	return true;
}

/* python, python3, python3.11, also with a directory. */
static bool
is_python(const char *word)
{
	const char *base = path_base(word);

	return text_starts(base, "python") &&
	    base[6 + strspn(base + 6, "0123456789.")] == '\0';
}

/* How many words an option of the interpreter takes that does not change what
 * a batch does; 0: it is another one. */
static size_t
option_words(const char *s)
{
	static const char *const single[] = { "-B", "-u", "-O", "-OO", "-s",
		"-E", "-b", "-bb" };
	size_t i;

	for (i = 0; i < nitems(single); i++)
		if (strcmp(s, single[i]) == 0)
			return 1;
	if (s[0] == '-' && (s[1] == 'W' || s[1] == 'X'))
		return s[2] == '\0' ? 2 : 1;
	return 0;
}

/* What looks at the last run has to find it where it is. */
static bool
wants_cache(const struct strv *args)
{
	static const char *const options[] = { "--lf", "--last-failed", "--ff",
		"--failed-first", "--nf", "--new-first", "--lfnf",
		"--last-failed-no-failures", "--sw", "--stepwise", "--cache-",
		"cache_dir" };
	size_t i, k;

	for (i = 0; i < args->n; i++)
		for (k = 0; k < nitems(options); k++)
			if (text_starts(args->v[i], options[k]) ||
			    text_starts(args->v[i], "-ocache_dir"))
				return true;
	return false;
}

/* pytest notes in the tree what failed; here that would be the next one's. Of a
 * candidate that fails nobody reads more than a line, and to show why is a
 * third of what it costs. */
static bool
pytest_args(struct batch_cmd *c)
{
	struct strv given = c->args;

	if (wants_cache(&given))
		return false;
	c->args = (struct strv){ 0 };
	strv_addl(&c->args, "-o", PYTEST_CACHE, "--tb=no", (char *)NULL);
	strv_extend(&c->args, &given);
	strv_clear(&given);
	return true;
}

/* "#!/usr/bin/python3" or "#!/usr/bin/env python3": that interpreter. */
static bool
script_python(const char *file, struct strv *ret)
{
	char line[SHEBANG_MAX + 1], *p, *end;
	ssize_t n;
	int fd;

	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	n = fd >= 0 ? read(fd, line, SHEBANG_MAX) : -1;
	fd_close(&fd);
	line[n > 0 ? n : 0] = '\0';
	end = strchr(line, '\n');
	if (end == NULL || !text_starts(line, "#!"))
		return false;
	*end = '\0';
	p = line + 2 + strspn(line + 2, " ");
	if (text_starts(p, "/usr/bin/env "))
		p += strlen("/usr/bin/env ");
	else if (*p != '/')
		return false;
	if (strpbrk(p, " \t\r") != NULL || !is_python(p))
		return false;
	strv_add(ret, p);
	return true;
}

static bool
take_script(const char *word, const char *path_env, struct batch_cmd *c)
{
	if (strcmp(word, "pytest") != 0 && strcmp(word, "py.test") != 0)
		return false;
	if (path_env == NULL || path_search(word, path_env, &c->name) < 0)
		return false;
	return script_python(c->name, &c->python);
}

/* From the interpreter's word on. */
static bool
take_python(const struct strv *w, size_t i, struct batch_cmd *c)
{
	size_t n, k;

	strv_add(&c->python, w->v[i++]);
	while (i < w->n && (n = option_words(w->v[i])) > 0) {
		for (k = 0; k < n && i < w->n; k++)
			strv_add(&c->python, w->v[i++]);
	}
	if (i + 1 < w->n && strcmp(w->v[i], "-m") == 0) {
		c->module = true;
		i++;
	}
	if (i >= w->n || w->v[i][0] == '-')
		return false;
	c->name = xstrdup(w->v[i++]);
	for (; i < w->n; i++)
		strv_add(&c->args, w->v[i]);
	return c->module
	    ? strcmp(c->name, "unittest") == 0 || strcmp(c->name, "pytest") == 0
	    : text_ends(c->name, ".py");
}

static bool
parse(const struct strv *w, size_t i, const char *path_env, struct batch_cmd *c)
{
	bool pytest;

	for (; i < w->n && is_assignment(w->v[i]); i++)
		strv_add(&c->env, w->v[i]);
	if (i == w->n)
		return false;
	if (is_python(w->v[i])) {
		if (!take_python(w, i, c))
			return false;
		pytest = c->module && strcmp(c->name, "pytest") == 0;
	} else {
		if (!take_script(w->v[i], path_env, c))
			return false;
		for (i++; i < w->n; i++)
			strv_add(&c->args, w->v[i]);
		pytest = true;
	}
	return !pytest || pytest_args(c);
}

/* "cd DIR && ": DIR, and what follows; NULL: it is not like that. */
static const char *
take_cd(const char *check, struct batch_cmd *c)
{
	struct strv words = { 0 };
	const char *p = skip_blanks(check);

	if (!text_starts(p, "cd ") && !text_starts(p, "cd\t"))
		return check;
	p = skip_blanks(p + 2);
	if (!take_word(&p, &words)) {
		strv_clear(&words);
		return NULL;
	}
	p = skip_blanks(p);
	if (words.v[0][0] != '-' && words.v[0][0] != '\0' &&
	    text_starts(p, "&&"))
		c->cwd = xstrdup(words.v[0]);
	strv_clear(&words);
	return c->cwd != NULL ? p + 2 : NULL;
}

bool
batch_cmd_parse(const char *check, const char *path_env, struct batch_cmd *ret)
{
	struct batch_cmd c = { 0 };
	struct strv words = { 0 };
	const char *rest = take_cd(check, &c);
	bool good = rest != NULL && split(rest, &words) &&
	    parse(&words, 0, path_env, &c);

	strv_clear(&words);
	if (!good)
		batch_cmd_clear(&c);
	*ret = c;
	return good;
}

void
batch_cmd_clear(struct batch_cmd *c)
{
	free(c->cwd);
	free(c->name);
	strv_clear(&c->env);
	strv_clear(&c->python);
	strv_clear(&c->args);
	*c = (struct batch_cmd){ 0 };
}
