/* items_command.c - a command line, down to its simple commands; items.h. */
#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/monitor/items.h"
#include "sandbox/policy/programs.h"
#include "sandbox/policy/rules.h"

#define DEPTH 4   /* of texts in texts */
#define LEVELS 8  /* of wrappers before one command */
#define TEXTS 256 /* in one act */

struct reader {
	const struct monitor_place *place;
	struct items *out;
	const char *dirs[2]; /* the working directory, and where cd went */
	char *moved;
	unsigned depth, texts;
	bool decodes; /* something before decodes or fetches */
};

static void read_text(struct reader *r, const char *text, size_t len);

static bool
is_in(const char *name, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

/* --- payloads ------------------------------------------------------------- */

static bool
has_word(const struct sh_word *w, size_t n, const char *a, const char *b)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (strcmp(w[i].text, a) == 0 ||
		    (b != NULL && strcmp(w[i].text, b) == 0))
			return true;
	return false;
}

/* Does it turn text into what could be a program, or get it from elsewhere? */
static bool
is_source(const char *name, const struct sh_word *w, size_t n)
{
	static const char *const fetch[] = { "curl", "wget", "nc", "ncat" };

	if (is_in(name, fetch, nitems(fetch)))
		return true;
	if (text_starts(name, "base64") || text_starts(name, "base32"))
		return has_word(w, n, "-d", "--decode") ||
		    has_word(w, n, "-D", "-di");
	if (strcmp(name, "openssl") == 0)
		return has_word(w, n, "-d", NULL);
	return strcmp(name, "xxd") == 0 && has_word(w, n, "-r", "-rp");
}

/* python -c "exec(base64.b64decode(...))" and its kind. */
static bool
code_decodes(const char *code)
{
	static const char *const decode[] = { "b64decode", "atob(",
		"decode_base64", "unhexlify", "fromhex", "urlopen", "'base64')",
		"\"base64\")", "unpack(" };
	static const char *const run[] = { "exec(", "eval(", "os.system(",
		"subprocess", "eval ", "Function(", "execSync(" };
	size_t i, k;

	for (i = 0; i < nitems(decode); i++)
		if (strstr(code, decode[i]) != NULL)
			break;
	for (k = 0; k < nitems(run); k++)
		if (strstr(code, run[k]) != NULL)
			break;
	return i < nitems(decode) && k < nitems(run);
}

static void
payload(struct reader *r, const struct sh_cmd *c)
{
	char *src = xstrndup(c->src, c->src_len < 200 ? c->src_len : 200);

	items_add(r->out, CLASS_PAYLOAD, 1, src);
	free(src);
}

/* --- what a command starts ------------------------------------------------ */

static void
read_words(struct reader *r, const struct sh_word *w, size_t n)
{
	struct buf b;
	size_t i;

	buf_init(&b, SH_MAX_BYTES);
	for (i = 0; i < n; i++)
		if (buf_printf(&b, "%s%s", i > 0 ? " " : "", w[i].text) < 0)
			break;
	read_text(r, buf_str(&b), b.len);
	buf_clear(&b);
}

/* The first operand, and whether -c was there. */
static size_t
shell_operand(const struct sh_word *w, size_t n, bool *ret_text)
{
	size_t i;

	*ret_text = false;
	for (i = 1; i < n; i++) {
		const char *s = w[i].text;

		if ((s[0] != '-' && s[0] != '+') || s[1] == '\0')
			break;
		if (strcmp(s, "--") == 0)
			return i + 1;
		if (s[1] != '-')
			*ret_text |= strchr(s, 'c') != NULL;
		if (s[1] != '-' && strchr(s, 'o') != NULL && i + 1 < n)
			i++;
	}
	return i;
}

static void
shell(
    struct reader *r, const struct sh_cmd *c, const struct sh_word *w, size_t n)
{
	bool text;
	size_t at = shell_operand(w, n, &text), i;

	if (text && at < n) {
		if (r->decodes && (w[at].flags & SH_COMPUTED) != 0)
			payload(r, c);
		read_text(r, w[at].text, w[at].len);
		return;
	}
	for (i = 0; i < c->n_redirs; i++)
		if (c->redirs[i].op == SH_HEREDOC ||
		    c->redirs[i].op == SH_HERESTRING)
			read_text(r, c->redirs[i].target.text,
			    c->redirs[i].target.len);
	/* curl x | sh, bash <(curl x), bash <<<"$(base64 -d ...)" */
	if (r->decodes &&
	    (at >= n ? c->piped || c->n_redirs > 0
		     : text_starts(w[at].text, "<(") ||
			strcmp(w[at].text, "-") == 0))
		payload(r, c);
}

/* Behind the options of a wrapper: where the command that it starts begins. n:
 * nowhere. */
static size_t
inner(struct reader *r, const struct wrapper *wr, const struct sh_word *w,
    size_t n)
{
	unsigned skip = wr->skip;
	size_t subs = 0;
	const char *s;
	struct opts o;
	struct opt t;

	for (s = wr->sub; s != NULL && *s != '\0'; subs++)
		s += strcspn(s, " ") + strspn(s + strcspn(s, " "), " ");
	opts_begin(&o, wr->spec, w, n);
	o.i = 1 + subs;
	while (opts_next(&o, &t)) {
		if (t.kind == OPT_REST)
			return t.at + 1;
		if (t.kind == OPT_SHELL && t.has_value)
			read_text(r, t.value.text, t.value.len);
		if (t.kind == OPT_DRY && (wr->flags & WRAP_LOOKUP) != 0)
			return n;
		if (t.kind != OPT_OPERAND && t.kind != OPT_COMPUTED)
			continue;
		if ((wr->flags & WRAP_ASSIGNS) != 0 &&
		    strchr(w[t.at].text, '=') != NULL)
			continue;
		if (skip > 0)
			skip--;
		else if (strcmp(w[t.at].text, "-") != 0 &&
		    strcmp(w[t.at].text, "--") != 0)
			return t.at;
	}
	return n;
}

static void
change_dir(struct reader *r, const struct sh_word *w, size_t n)
{
	char *joined;

	if (n < 2 || w[1].text[0] == '~' || (w[1].flags & SH_COMPUTED) != 0)
		return;
	joined = w[1].text[0] == '/'
	    ? xstrdup(w[1].text)
	    : path_join(r->moved != NULL ? r->moved : r->dirs[0], w[1].text);
	free(r->moved);
	r->moved = path_normal(joined);
	r->dirs[1] = r->moved;
	free(joined);
}

/* The programs that find starts. */
static void find_exec(struct reader *r, const struct sh_cmd *c,
    const struct sh_word *w, size_t n);

static void
simple(struct reader *r, const struct sh_cmd *c, const struct sh_word *w,
    size_t n, bool fed)
{
	const struct wrapper *wr;
	const char *name;
	unsigned level;
	size_t at, i;

	for (level = 0; n > 0 && level < LEVELS; level++) {
		struct program_act a = { r->place, r->dirs,
			r->moved != NULL ? 2 : 1, w, n, fed, r->out };

		name = rule_base(w[0].text);
		items_program(&a);
		r->decodes |= is_source(name, w, n);
		if (strcmp(name, "cd") == 0 || strcmp(name, "pushd") == 0)
			change_dir(r, w, n);
		if (is_interpreter(name))
			for (i = 1; i < n; i++)
				if (code_decodes(w[i].text))
					payload(r, c);
		if (strcmp(name, "find") == 0)
			find_exec(r, c, w, n);
		if ((wr = wrapper_find(name, w, n)) == NULL)
			return;
		if (wr->kind == WRAP_SH) {
			shell(r, c, w, n);
			return;
		}
		at = inner(r, wr, w, n);
		if (at >= n)
			return;
		if (wr->kind == WRAP_SHELL) {
			if (r->decodes && strcmp(name, "eval") == 0 &&
			    (w[at].flags & SH_COMPUTED) != 0)
				payload(r, c);
			read_words(r, w + at, n - at);
			return;
		}
		fed |= wr->kind == WRAP_INPUT;
		w += at;
		n -= at;
	}
}

static void
find_exec(
    struct reader *r, const struct sh_cmd *c, const struct sh_word *w, size_t n)
{
	size_t i;

	for (i = 1; i + 1 < n; i++)
		if (text_starts(w[i].text, "-exec") ||
		    text_starts(w[i].text, "-ok")) {
			if (r->depth < DEPTH) {
				r->depth++;
				simple(r, c, w + i + 1, n - i - 1, false);
				r->depth--;
			}
			return;
		}
}

static void
redirections(struct reader *r, const struct sh_cmd *c)
{
	struct program_act a = { r->place, r->dirs, r->moved != NULL ? 2 : 1,
		NULL, 0, false, r->out };
	size_t i;

	for (i = 0; i < c->n_redirs; i++) {
		const struct sh_redir *d = &c->redirs[i];

		if (text_starts(d->target.text, "/dev/tcp/") ||
		    text_starts(d->target.text, "/dev/udp/"))
			items_add(r->out, CLASS_NETWORK, 1, d->target.text);
		else if (d->op == SH_IN)
			items_read(&a, d->target.text);
		else if (d->op == SH_OUT || d->op == SH_APPEND ||
		    d->op == SH_RDWR || d->op == SH_BOTH)
			items_write(&a, d->target.text);
	}
}

/* Fetched or decoded anywhere in the text: substitutions stand before or
 * behind what uses them. */
static bool
has_source(const struct sh_script *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->cmds[i].n_words > 0 &&
		    is_source(rule_base(s->cmds[i].words[0].text),
			s->cmds[i].words, s->cmds[i].n_words))
			return true;
	return false;
}

static void
read_text(struct reader *r, const char *text, size_t len)
{
	struct sh_script *s;
	size_t i;

	if (r->depth >= DEPTH || r->texts >= TEXTS)
		return;
	r->depth++;
	r->texts++;
	s = sh_parse(text, len);
	r->decodes |= has_source(s);
	for (i = 0; i < s->n; i++) {
		simple(r, &s->cmds[i], s->cmds[i].words, s->cmds[i].n_words,
		    false);
		redirections(r, &s->cmds[i]);
	}
	sh_free(s);
	r->depth--;
}

void
items_command(const struct monitor_place *p, const char *text, struct items *v)
{
	struct reader r = { .place = p, .out = v };

	r.dirs[0] = p->workdir;
	read_text(&r, text, strlen(text));
	free(r.moved);
}
