/* judge.c - a text, its commands, and the verdict on all; see judge.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

#define SHOWN_MAX 400 /* bytes of a part's command */

/* --- the verdict ---------------------------------------------------------- */

static void
part_clear(struct part *p)
{
	free(p->command);
	free(p->rule);
	free(p->why);
}

void
verdict_clear(struct verdict *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		part_clear(&v->parts[i]);
	free(v->parts);
	free(v->reason);
	*v = (struct verdict){ 0 };
}

static void
shorten(const char *s, size_t len, char *dst, size_t size)
{
	while (len > 0 && strchr(" \t\n", s[len - 1]) != NULL)
		len--;
	(void)text_escape_to(dst, size, s, len);
}

static void
set_reason(struct verdict *v, const struct part *p)
{
	free(v->reason);
	v->reason = xasprintf("%.160s%s: %s", p->command,
	    strlen(p->command) > 160 ? "..." : "", p->why);
}

void
judge_part(struct judge *j, const char *src, size_t len, enum ruling ruling,
    const char *rule, enum rule_layer layer, const char *why)
{
	struct verdict *v = j->out;
	char shown[SHOWN_MAX];
	bool decides = v->reason == NULL || ruling > v->ruling;
	struct part p = { .ruling = ruling, .layer = layer };

	/* The place of one that decides nothing is given to one that does. */
	if (v->n >= VERDICT_PARTS_MAX) {
		v->more++;
		if (!decides)
			return;
		part_clear(&v->parts[--v->n]);
	}
	shorten(src, len, shown, sizeof shown);
	p.command = xstrdup(shown);
	p.rule = rule != NULL ? xstrdup(rule) : NULL;
	p.why = xstrdup(why);
	v->parts = xreallocarray(v->parts, v->n + 1, sizeof *v->parts);
	v->parts[v->n++] = p;
	if (decides) {
		v->ruling = ruling;
		set_reason(v, &p);
	}
}

bool
judge_afford(struct judge *j, size_t rules, const char *src, size_t len)
{
	if (j->checks > CHECKS_MAX)
		return false;
	j->checks += rules + 1;
	if (j->checks <= CHECKS_MAX)
		return true;
	judge_part(j, src, len, RULING_ASK, NULL, LAYER_BUILTIN,
	    "too many commands, files and rules to be judged");
	return false;
}

void
verdict_join(struct verdict *v, struct verdict *other)
{
	size_t i;

	if (v->reason == NULL || other->ruling > v->ruling) {
		free(v->reason);
		v->reason = other->reason;
		other->reason = NULL;
		v->ruling = other->ruling;
	}
	for (i = 0; i < other->n; i++) {
		if (v->n >= VERDICT_PARTS_MAX) {
			v->more++;
			part_clear(&other->parts[i]);
			continue;
		}
		v->parts = xreallocarray(v->parts, v->n + 1, sizeof *v->parts);
		v->parts[v->n++] = other->parts[i];
	}
	v->more += other->more;
	other->n = 0;
	verdict_clear(other);
}

json_t *
verdict_json(const struct verdict *v)
{
	json_t *parts = json_array();
	size_t i;

	for (i = 0; i < v->n; i++) {
		const struct part *p = &v->parts[i];

		(void)json_array_append_new(parts,
		    json_pack("{s:o, s:s, s:o, s:s}", "command",
			json_str_lossy(p->command, strlen(p->command)),
			"verdict", ruling_str(p->ruling), "rule",
			p->rule != NULL
			    ? json_str_lossy(p->rule, strlen(p->rule))
			    : json_null(),
			"layer", layer_str(p->layer)));
	}
	return json_pack("{s:s, s:o, s:o}", "verdict", ruling_str(v->ruling),
	    "reason", json_str_lossy(v->reason, strlen(v->reason)), "parts",
	    parts);
}

/* --- what words point into ------------------------------------------------ */

struct sh_word *
judge_words(struct judge *j, size_t n)
{
	struct sh_word *w = xcalloc(n + 1, sizeof *w);

	j->arrays =
	    xreallocarray(j->arrays, j->n_arrays + 1, sizeof(struct sh_word *));
	return j->arrays[j->n_arrays++] = w;
}

const char *
judge_keep(struct judge *j, char *s)
{
	strv_take(&j->kept, &s);
	return j->kept.v[j->kept.n - 1];
}

/* --- a text --------------------------------------------------------------- */

/* Does anything in it run in another shell, or perhaps not at all? Quoted
 * characters count too: then a place is one of several. */
static bool
is_linear(const char *s, size_t len)
{
	static const char *const words[] = { "if", "while", "until", "for",
		"case", "select" };
	size_t i, k, n;

	for (i = 0; i < len; i++) {
		if (s[i] == '(' || s[i] == '`')
			return false;
		if (s[i] == '|' && i + 1 < len && s[i + 1] == '|')
			return false;
		if (s[i] == '&' && i + 1 < len && s[i + 1] == '&') {
			i++;
			continue;
		}
		if (s[i] == '&' && (i == 0 || s[i - 1] != '>') &&
		    (i + 1 >= len || s[i + 1] != '>'))
			return false;
		for (k = 0; k < nitems(words); k++) {
			n = strlen(words[k]);
			if (len - i > n && strncmp(s + i, words[k], n) == 0 &&
			    (i == 0 || strchr(" \t\n;", s[i - 1]) != NULL) &&
			    strchr(" \t\n", s[i + n]) != NULL)
				return false;
		}
	}
	return true;
}

/* A call of a function is one only where the definition has been run: not in a
 * subshell, under no condition, and nothing has taken it back. */
static bool
functions_hold(const struct sh_script *s, const char *text, size_t len)
{
	size_t i, last = 0, n = 0;
	bool hold;
	char *plain;

	for (i = 0; i < s->n; i++)
		if (s->cmds[i].n_words > 0 &&
		    (strcmp(s->cmds[i].words[0].text, "unset") == 0 ||
			strcmp(s->cmds[i].words[0].text, "alias") == 0))
			return false;
	for (i = 0; i + 1 < len; i++)
		if ((text[i] == '(' && text[i + 1] == ')') ||
		    (len - i > 9 && strncmp(text + i, "function ", 9) == 0))
			last = i;
	plain = xmalloc(last + 1);
	for (i = 0; i < last; i++) {
		if (text[i] == '(' && text[i + 1] == ')')
			i++;
		else
			plain[n++] = text[i];
	}
	hold = is_linear(plain, n) && memchr(plain, '|', n) == NULL;
	free(plain);
	return hold;
}

static void
taint_by_name(struct judge *j, const char *name, size_t len)
{
	if (len > 0 && name_is_dangerous(name, len))
		j->tainted = judge_keep(j, xstrndup(name, len));
}

/* "for NAME", "select NAME", "${NAME:=...}": set without an assignment. */
static void
look_for_names(struct judge *j, const char *text, size_t len)
{
	static const char *const before[] = { "for ", "select ", "${" };
	const char *p, *end = text + len;
	size_t i, n;

	for (i = 0; i < nitems(before); i++)
		for (p = text; (p = memmem(p, (size_t)(end - p), before[i],
				    strlen(before[i]))) != NULL;) {
			p += strlen(before[i]);
			for (n = 0; p + n < end &&
			     (p[n] == '_' || (p[n] >= 'A' && p[n] <= 'Z'));)
				n++;
			if (i < 2 ||
			    ((size_t)(end - p) > n + 1 &&
				(p[n] == '=' ||
				    (p[n] == ':' && p[n + 1] == '='))))
				taint_by_name(j, p, n);
		}
}

/* exec, perhaps behind "command" or "builtin". */
static bool
is_exec(const struct sh_cmd *c)
{
	size_t i;

	for (i = 0; i < c->n_words && i < 4; i++)
		if (strcmp(c->words[i].text, "exec") == 0)
			return true;
	return false;
}

/* Assignments outlast their command, wherever they stand. */
static void
look_ahead(struct judge *j, const char *text, size_t len)
{
	static const char *const declare[] = { "export", "declare", "typeset",
		"readonly", "local" };
	static const char *const setters[] = { "read", "mapfile", "readarray",
		"printf", "getopts" };
	const struct sh_script *s = j->script;
	char name[64];
	size_t i, k, m;

	j->linear = is_linear(text, len);
	look_for_names(j, text, len);
	j->functions_hold = s->n_functions > 0 && functions_hold(s, text, len);
	for (i = 0; i < s->n; i++) {
		const struct sh_cmd *c = &s->cmds[i];
		const struct sh_word *w = c->assigns;
		size_t n = c->n_assigns;

		/* Of a group, of "exec", or of what may call a function: the
		 * commands inside have it too. */
		if (c->n_words == 0 || s->n_functions > 0 || is_exec(c)) {
			struct piece p = { .j = j, .cmd = c };

			j->fed |= piece_has_input(&p);
		}
		for (m = 0; c->n_words > 0 && m < nitems(setters); m++)
			if (strcmp(c->words[0].text, setters[m]) == 0)
				for (k = 1; k < c->n_words; k++)
					taint_by_name(j, c->words[k].text,
					    c->words[k].len);
		for (m = 0; c->n_words > 0 && m < nitems(declare); m++)
			if (strcmp(c->words[0].text, declare[m]) == 0) {
				w = c->words + 1;
				n = c->n_words - 1;
				break;
			}
		if (c->n_words > 0 && w == c->assigns)
			continue; /* before a command: for that alone */
		for (k = 0; k < n; k++)
			if (assign_is_dangerous(w[k].text, name, sizeof name)) {
				j->tainted = judge_keep(j, xstrdup(name));
				assign_for_all(j, c, &w[k]);
			}
	}
}

/* Text in a variable that arithmetic, or "${x@P}", may run. */
static void
look_for_evaluated(struct judge *j, const char *text, size_t len)
{
	const struct sh_script *s = j->script;
	size_t i, k;

	/* "[[ 'a[$(x)]' -eq 1 ]]": no variable is needed. */
	if (s->evaluates &&
	    (memmem(text, len, "[$(", 3) != NULL ||
		memmem(text, len, "[`", 2) != NULL)) {
		judge_part(j, text, len, RULING_ASK, NULL, LAYER_BUILTIN,
		    "arithmetic may run the command in an index");
		return;
	}
	for (i = 0; s->evaluates && i < s->n; i++) {
		const struct sh_cmd *c = &s->cmds[i];

		for (k = 0; k < c->n_assigns + c->n_words; k++) {
			const struct sh_word *w = k < c->n_assigns
			    ? &c->assigns[k]
			    : &c->words[k - c->n_assigns];

			if ((k >= c->n_assigns &&
				(w->flags & SH_ASSIGN) == 0) ||
			    (w->flags & SH_COMPUTED) != 0 ||
			    (strstr(w->text, "$(") == NULL &&
				strchr(w->text, '`') == NULL))
				continue;
			judge_part(j, c->src, c->src_len, RULING_ASK, NULL,
			    LAYER_BUILTIN,
			    "the variable holds a command that arithmetic "
			    "elsewhere in the text may run");
			return;
		}
	}
}

/* bash expands WORD of ">&WORD" twice: quotes do not hold in it. */
static void
expanded_twice(struct judge *j, const struct sh_word *target)
{
	char *text;

	if (strstr(target->text, "<(") != NULL ||
	    strstr(target->text, ">(") != NULL)
		judge_part(j, target->text, target->len, RULING_ASK, NULL,
		    LAYER_BUILTIN, "bash may run what is in a name behind >&");
	if (strstr(target->text, "$(") == NULL &&
	    strstr(target->text, "${") == NULL &&
	    strchr(target->text, '`') == NULL)
		return;
	text = xasprintf("x=\"%s\"", target->text);
	judge_text(j, judge_keep(j, text), strlen(text));
}

static void
redirections(struct judge *j, const struct sh_cmd *c)
{
	for (size_t i = 0; i < c->n_redirs; i++) {
		const struct sh_redir *r = &c->redirs[i];

		if (r->op == SH_BOTH || r->op == SH_DUP)
			expanded_twice(j, &r->target);
		if (r->op == SH_OUT || r->op == SH_APPEND || r->op == SH_BOTH ||
		    r->op == SH_RDWR)
			judge_write(j, &r->target, c->src, c->src_len);
		if (r->op == SH_IN || r->op == SH_RDWR)
			judge_read(j, &r->target, c->src, c->src_len);
	}
}

static void
one_command(struct judge *j, const struct sh_cmd *c)
{
	struct piece p = { .j = j,
		.src = c->src,
		.src_len = c->src_len,
		.cmd = c,
		.w = c->words,
		.n = c->n_words,
		.needs_cover = !j->only_blocks };

	redirections(j, c);
	if (c->n_words > 0)
		piece_judge(&p);
}

void
judge_argv(
    struct piece *outer, const struct sh_word *w, size_t n, bool needs_cover)
{
	struct judge *j = outer->j;
	struct judge before = *j;
	struct piece p = { .j = j,
		.src = outer->src,
		.src_len = outer->src_len,
		.w = w,
		.n = n,
		.needs_cover = needs_cover && !j->only_blocks };

	if (n == 0)
		return;
	if (j->depth >= JUDGE_DEPTH) {
		judge_part(j, outer->src, outer->src_len, RULING_ASK, NULL,
		    LAYER_BUILTIN, "commands in commands, too deep to follow");
		return;
	}
	if (outer->taint != NULL)
		j->tainted = outer->taint;
	j->only_blocks = !p.needs_cover;
	j->fed |= piece_has_input(outer);
	j->depth++;
	piece_judge(&p);
	j->depth--;
	j->tainted = before.tainted;
	j->only_blocks = before.only_blocks;
	j->fed = before.fed;
}

void
judge_text(struct judge *j, const char *text, size_t len)
{
	struct judge before = *j;
	struct sh_script *s;
	char why[300];
	bool unread;
	size_t i;

	/* Texts in texts, made to be hard to read, must not hold up anyone. */
	if (j->depth >= JUDGE_DEPTH || j->work > j->max_work) {
		judge_part(j, text, len, RULING_ASK, NULL, LAYER_BUILTIN,
		    "commands in commands, too many to follow");
		return;
	}
	s = sh_parse(text, len);
	j->work += len + s->work;
	j->depth++;
	j->script = s;
	j->text = text;
	j->dirs = (struct strv){ 0 };
	strv_copy(&j->dirs, &before.dirs);
	look_ahead(j, text, len);
	look_for_evaluated(j, text, len);
	for (i = 0; i < s->n; i++)
		one_command(j, &s->cmds[i]);
	unread = s->error[0] != '\0';
	if (unread && !j->posix) {
		(void)snprintf(why, sizeof why, "can't parse it: %s", s->error);
		judge_part(j, text, len, RULING_ASK, NULL, LAYER_BUILTIN, why);
	}
	sh_free(s);
	j->moved = j->dir_unknown != before.dir_unknown ||
	    j->dirs.n != before.dirs.n ||
	    strcmp(j->dirs.v[0], before.dirs.v[0]) != 0;
	/* What a text inside does to its place is its own affair. */
	strv_clear(&j->dirs);
	j->dirs = before.dirs;
	j->dir_unknown = before.dir_unknown;
	j->script = before.script;
	j->text = before.text;
	j->linear = before.linear;
	j->fed = before.fed;
	j->functions_hold = before.functions_hold;
	j->tainted = before.tainted;
	j->depth = before.depth;
	if (!unread)
		judge_posix(j, text, len);
}

void
judge_command(const struct rules *r, const char *command,
    const struct judge_place *where, struct verdict *ret)
{
	const size_t len = strlen(command);
	struct judge j = { .rules = r,
		.where = where,
		.out = ret,
		.max_work = SH_MAX_WORK(len) };
	size_t i;

	*ret = (struct verdict){ 0 };
	strv_add(&j.dirs, where->cwd);
	judge_text(&j, command, len);
	if (ret->reason == NULL)
		ret->reason = xstrdup("no command is run");
	for (i = 0; i < j.n_arrays; i++)
		free(j.arrays[i]);
	free(j.arrays);
	strv_clear(&j.dirs);
	strv_clear(&j.kept);
}

/* --- other tools ---------------------------------------------------------- */

/* "host" of "https://user@host:port/path", or what is a host already. */
static char *
host_of(const char *url)
{
	const char *s = strstr(url, "://"), *at;
	size_t n;

	s = s != NULL ? s + 3 : url;
	n = strcspn(s, "/?#\\");
	at = memrchr(s, '@', n);
	if (at != NULL) {
		n -= (size_t)(at + 1 - s);
		s = at + 1;
	}
	if (*s == '[')
		n = strcspn(s, "]") + 1 <= n ? strcspn(s, "]") + 1 : n;
	else if (memchr(s, ':', n) != NULL)
		n = (size_t)((const char *)memchr(s, ':', n) - s);
	return xstrndup(s, n);
}

static enum ruling
by_name(const struct rules *r, const char *tool, enum rule_about about,
    const char *host, const char **rule, enum rule_layer *layer)
{
	enum ruling v;
	size_t i;

	for (v = RULING_DENY;; v--) {
		for (i = 0; i < r->n; i++) {
			const struct rule *x = &r->v[i];

			if (x->ruling != v || x->about != about ||
			    (about == RULE_TOOL &&
				strcmp(x->tool, tool) != 0) ||
			    (about == RULE_FETCH && !rule_covers_host(x, host)))
				continue;
			*rule = x->text;
			*layer = x->layer;
			return v;
		}
		if (v == RULING_ALLOW)
			break;
	}
	*layer = r->def.layer;
	/* What reaches nothing is not subject to a default that is meant for
	 * commands and files. */
	return about == RULE_TOOL ? RULING_ALLOW : r->def.ruling;
}

void
judge_tool(const struct rules *r, const char *tool, const char *subject,
    const struct judge_place *where, struct verdict *ret)
{
	struct judge j = { .rules = r, .where = where, .out = ret };
	enum rule_about about = RULE_TOOL;
	const char *known = rules_tool(tool, &about), *rule = NULL;
	enum rule_layer layer = LAYER_BUILTIN;
	enum ruling v;
	char *what, why[300], *s;

	if (about == RULE_COMMAND) {
		judge_command(r, subject != NULL ? subject : "", where, ret);
		return;
	}
	*ret = (struct verdict){ 0 };
	if (known == NULL)
		known = tool;
	if (about == RULE_TOOL || about == RULE_FETCH) {
		s = host_of(subject != NULL ? subject : "");
		v = by_name(r, known, about, s, &rule, &layer);
	} else {
		s = judge_path(
		    subject != NULL ? subject : ".", false, where->cwd, where);
		v = judge_file(r, about, s, where, true, &rule, &layer);
	}
	free(s);
	(void)snprintf(why, sizeof why, "%s by %s (%s)",
	    v == RULING_ALLOW     ? "allowed"
		: v == RULING_ASK ? "asked for"
				  : "denied",
	    rule != NULL ? rule : "the default", layer_str(layer));
	what = xasprintf("%s %s", known, subject != NULL ? subject : "");
	judge_part(&j, what, strlen(what), v, rule, layer, why);
	free(what);
}
