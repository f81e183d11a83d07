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

/* One string, as a name. */
static void
may_name(struct piece *p, const char *s, size_t len, bool writes)
{
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
	if (writes)
		judge_reach(p->j, RULE_EDIT,
		    REACH_MAYBE | REACH_RULES | REACH_BELOW, &w, p->src,
		    p->src_len);
	judge_reach(
	    p->j, RULE_READ, REACH_MAYBE | REACH_RULES, &w, p->src, p->src_len);
}

/* Each string, until one is more than allowed. */
static void
strings(struct piece *p, const char *code, const char *quotes, bool *writes,
    bool judges)
{
	const struct verdict *out = p->j->out;
	enum ruling before = out->ruling;
	const char *s, *end;

	for (s = code; *s != '\0'; s++) {
		if (*s == '\\' && s[1] != '\0') {
			s++;
			continue;
		}
		if (strchr(quotes, *s) == NULL ||
		    (end = literal_end(s + 1, *s)) == NULL)
			continue;
		*writes |= is_mode(s + 1, (size_t)(end - s) - 1) ||
		    (s[1] == '>' && end > s + 2);
		if (judges)
			may_name(p, s + 1, (size_t)(end - s) - 1, *writes);
		if (judges && out->ruling > before)
			return;
		s = end;
	}
}

bool
code_is_js(const char *name)
{
	return text_starts(name, "node") || strcmp(name, "bun") == 0 ||
	    strcmp(name, "deno") == 0;
}

bool
code_files(struct piece *p, const char *code, bool backquotes)
{
	const struct rules *r = p->j->rules;
	const char *quotes = backquotes ? "'\"`" : "'\"";
	bool writes;

	if (!r->blocks_edits && !r->blocks_reads)
		return false;
	writes = has_write_word(code);
	strings(p, code, quotes, &writes, false);
	strings(p, code, quotes, &writes, true);
	return writes;
}

void
code_piped(struct piece *p, bool backquotes)
{
	const char *code = p->j->text;
	bool writes;

	if (code == NULL ||
	    (!p->j->rules->blocks_edits && !p->j->rules->blocks_reads))
		return;
	/* Strings within the shell's own. */
	writes = has_write_word(code);
	strings(p, code, "'", &writes, false);
	strings(p, code, "\"", &writes, false);
	strings(p, code, "'", &writes, true);
	strings(p, code, "\"", &writes, true);
	if (backquotes)
		strings(p, code, "`", &writes, true);
}

void
view_code(struct view *v, const struct sh_word *w, size_t at)
{
	if ((w->flags & SH_COMPUTED) != 0 ||
	    code_starts(v->prog->name, w->text))
		piece_found(v->p, FIND_OPAQUE, at,
		    "%s code that may run programs", v->prog->name);
	v->writes |= code_files(v->p, w->text, code_is_js(v->prog->name));
}
