/*
 * judge_code.c - code of interpreters in words and here-documents. It is not
 * parsed: words of it tell whether it may start programs or write files, and
 * each of its strings may name a file. So what it comes to is asked about, and
 * never denied; a name that it computes is not seen.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

#define NAME_MAX_BYTES 200

/* Modes of open() and its like. */
static bool
is_mode(const char *s, size_t len)
{
	size_t i;

	if (len == 0 || len > 3 || strchr("warx", s[0]) == NULL ||
	    (s[0] == 'r' && memchr(s, '+', len) == NULL))
		return false;
	for (i = 1; i < len; i++)
		if (strchr("bt+", s[i]) == NULL)
			return false;
	return true;
}

static bool
has_write_word(const char *code)
{
	static const char *const words[] = { "put_contents", "truncate",
		"unlink", "remove", "rename", "os.replace", "delete", "rmtree",
		"rmdir", "rmSync", "fs.rm", ".rm(", "FileUtils", "copy",
		"move(", "symlink", "link(", "chmod", "touch", "append_text",
		"appendFile", "dump(", "save(", "extractall", "to_csv",
		"to_json", "with-temp-file", "append-to-file", "save-buffer" };
	const char *s;
	size_t i;

	for (i = 0; i < nitems(words); i++)
		if (strstr(code, words[i]) != NULL)
			return true;
	for (s = code; (s = strstr(s, "rite")) != NULL; s++) {
		if (s == code || (s[-1] != 'w' && s[-1] != 'W'))
			continue;
		/* what is shown is no file */
		if (s - code < 8 ||
		    (strncmp(s - 8, "stdout.w", 8) != 0 &&
			strncmp(s - 8, "stderr.w", 8) != 0))
			return true;
	}
	return false;
}

/* Where the string ends that begins at s, behind its quote. NULL: it does not
 * on this line, as an apostrophe. */
static const char *
literal_end(const char *s, char quote)
{
	for (; *s != quote; s++) {
		if (*s == '\\' && s[1] != '\0')
			s++;
		if (*s == '\0' || *s == '\n')
			return NULL;
	}
	return s;
}

/* A name that leads out of where the code runs, and no route of a server. */
static bool
is_outward(const char *s)
{
	static const char *const tops[] = { "/bin/", "/boot/", "/dev/", "/etc/",
		"/home/", "/lib/", "/media/", "/mnt/", "/opt/", "/proc/",
		"/root/", "/run/", "/sbin/", "/srv/", "/sys/", "/tmp/", "/usr/",
		"/var/", "~/", "../" };
	size_t i;

	for (i = 0; i < nitems(tops); i++)
		if (text_starts(s, tops[i]))
			return true;
	return false;
}

/* One string, as a name. */
static void
may_name(struct piece *p, const char *s, size_t len, bool writes)
{
	unsigned how = REACH_MAYBE | REACH_RULES;
	struct sh_word w = { 0 };

	/* open(F, ">name") */
	while (writes && len > 0 && strchr("<>+ ", *s) != NULL) {
		s++;
		len--;
	}
	if (len == 0 || len > NAME_MAX_BYTES || memchr(s, ' ', len) != NULL ||
	    (len == 1 && strchr("./~", *s) != NULL))
		return;
	w.text = (char *)(uintptr_t)judge_keep(p->j, xstrndup(s, len));
	w.len = len;
	if (is_outward(w.text)) {
		how = REACH_MAYBE;
		w.flags |= w.text[0] == '~' ? SH_TILDE : 0;
	}
	if (writes)
		judge_reach(
		    p->j, RULE_EDIT, how | REACH_BELOW, &w, p->src, p->src_len);
	judge_reach(p->j, RULE_READ, how, &w, p->src, p->src_len);
}

/* A program that writes or removes what it is given. */
static bool
is_writer(const char *s, size_t len)
{
	static const char *const other[] = { "to", "sed", "dd", "patch" };
	char name[16];
	const struct program *prog;
	size_t i;

	if (len == 0 || len >= sizeof name)
		return false;
	memcpy(name, s, len);
	name[len] = '\0';
	prog = program_find(name, NULL);
	if (prog == NULL || prog->operands == NULL)
		return false;
	for (i = 0; i < nitems(other); i++)
		if (strcmp(prog->operands, other[i]) == 0)
			return true;
	return (program_use(prog->operands, 1, 3) & (USE_WRITE | USE_REMOVE)) !=
	    0;
}

/* "rm -r x", when it can be read as such. */
static void
may_run(struct piece *p, const char *s, size_t len)
{
	struct sh_script *script;
	char *text;
	bool reads;

	if (len > NAME_MAX_BYTES || memchr(s, ' ', len) == NULL)
		return;
	if (!judge_spend(p->j, len)) {
		judge_some(p, RULE_EDIT, "commands in code");
		return;
	}
	text = xstrndup(s, len);
	script = sh_parse(text, len);
	reads = script->error[0] == '\0';
	sh_free(script);
	if (reads)
		piece_named(p, text, UNSPELLED);
	free(text);
}

struct code {
	struct piece *p;
	const char *text;
	bool starts, writes;
};

/* Each string, until one is more than allowed; at first, what they say of the
 * code. */
static void
strings(struct code *c, const char *quotes, bool judges)
{
	const struct verdict *out = c->p->j->out;
	const enum ruling before = out->ruling;
	const char *s, *end;
	size_t len;

	for (s = c->text; *s != '\0'; s++) {
		if (*s == '\\' && s[1] != '\0') {
			s++;
			continue;
		}
		if (strchr(quotes, *s) == NULL ||
		    (end = literal_end(s + 1, *s)) == NULL)
			continue;
		len = (size_t)(end - s) - 1;
		c->writes |= is_mode(s + 1, len) || (s[1] == '>' && len > 1) ||
		    (c->starts && is_writer(s + 1, len));
		if (judges)
			may_name(c->p, s + 1, len, c->writes);
		if (judges && c->starts)
			may_run(c->p, s + 1, len);
		if (judges && out->ruling > before)
			return;
		s = end;
	}
}

static struct code
code_of(struct piece *p, const char *name, const char *text)
{
	return (struct code){ .p = p,
		.text = text,
		.starts = code_starts(name, text) || strcmp(name, "awk") == 0,
		.writes = has_write_word(text) };
}

static bool
concerns(const struct rules *r)
{
	return r->blocks_edits || r->blocks_reads;
}

static bool
is_js(const char *name)
{
	return text_starts(name, "node") || strcmp(name, "bun") == 0 ||
	    strcmp(name, "deno") == 0;
}

bool
code_files(struct piece *p, const char *name, const char *text)
{
	const char *quotes = is_js(name) ? "'\"`" : "'\"";
	struct code c;

	if (!concerns(p->j->rules))
		return false;
	c = code_of(p, name, text);
	strings(&c, quotes, false);
	strings(&c, quotes, true);
	return c.writes;
}

void
code_piped(struct piece *p, const char *name)
{
	static const char *const quotes[] = { "'", "\"", "`" };
	struct code c;
	size_t i, n = is_js(name) ? 3 : 2;

	if (p->j->text == NULL || !concerns(p->j->rules))
		return;
	if (!judge_spend(p->j, strlen(p->j->text))) {
		judge_some(p, RULE_EDIT, "names in code");
		judge_some(p, RULE_READ, "names in code");
		return;
	}
	/* Strings within the shell's own; and that text is judged already. */
	c = code_of(p, name, p->j->text);
	for (i = 0; i < n; i++)
		strings(&c, quotes[i], false);
	c.starts = false;
	for (i = 0; i < n; i++)
		strings(&c, quotes[i], true);
}

static void
code_commands(const struct code *c)
{
	const char *s, *end;

	for (s = c->text; *s != '\0'; s++)
		if ((*s == '"' || *s == '\'') &&
		    (end = literal_end(s + 1, *s)) != NULL) {
			char *text = xstrndup(s + 1, (size_t)(end - s) - 1);

			piece_named(c->p, text, UNSPELLED);
			free(text);
			s = end;
		}
}

void
view_code(struct view *v, const struct sh_word *w, size_t at)
{
	if ((w->flags & SH_COMPUTED) != 0 ||
	    code_starts(v->prog->name, w->text))
		piece_found(v->p, FIND_OPAQUE, at,
		    "%s code that may run programs", v->prog->name);
	v->writes |= code_files(v->p, v->prog->name, w->text);
}

/* cargo --config 'target.x.runner="COMMAND"': each of its strings may be. */
bool
special_cargo(const struct call *c)
{
	struct code code = { .p = c->p };
	/* Before the verb, too. */
	const struct sh_word *w = c->p->w + c->p->off;
	const size_t n = c->p->n - c->p->off;

	for (size_t i = 1; i < n; i++) {
		const char *s = w[i].text, *eq = strchr(s, '=');

		if (!text_starts(s, "--config"))
			continue;
		if (eq == NULL && i + 1 < n) {
			s = w[i + 1].text;
			eq = strchr(s, '=');
		}
		code.text = s;
		code_commands(&code);
		if (text_starts(s, "--config="))
			eq = strchr(eq + 1, '=');
		if (eq != NULL && strpbrk(eq + 1, "\"'") == NULL)
			piece_named(c->p, eq + 1, UNSPELLED);
	}
	return false;
}

void
view_import(struct view *v, const struct sh_word *w, size_t at)
{
	size_t n = strspn(w->text,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");

	/* node --import URL, perl -MNAME=VALUE */
	if (!text_starts(w->text, "data:") &&
	    (is_js(v->prog->name) || w->text[n] == '\0' || w->text[n] == '='))
		return;
	view_code(v, w, at);
}
