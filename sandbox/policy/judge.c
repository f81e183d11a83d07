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

	judge_history(j, c);
	redirections(j, c);
	for (size_t i = 0; i < c->n_assigns; i++)
		piece_tmpdir(&p, &c->assigns[i]);
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

/* Where a shell is that has begun a subshell, which may go elsewhere. */
struct scope {
	unsigned sub;
	struct strv dirs;
	bool dir_unknown;
};

struct scopes {
	struct scope *v;
	size_t n;
	unsigned last; /* the last that was entered */
};

static bool
is_within(const struct sh_script *s, unsigned sub, unsigned outer)
{
	while (sub > outer)
		sub = s->subs[sub];
	return sub == outer;
}

/* Out of those that sub is not in, and into it. */
static void
scope_to(struct judge *j, struct scopes *scopes, unsigned sub)
{
	const struct sh_script *s = j->script;
	unsigned at, next;
	struct scope *top;

	for (; scopes->n > 0; scopes->n--) {
		top = &scopes->v[scopes->n - 1];
		if (is_within(s, sub, top->sub))
			break;
		strv_clear(&j->dirs);
		j->dirs = top->dirs;
		j->dir_unknown = top->dir_unknown;
	}
	at = scopes->n > 0 ? scopes->v[scopes->n - 1].sub : 0;
	for (; at < sub; at = next) {
		for (next = sub; s->subs[next] != at;)
			next = s->subs[next];
		scopes->v =
		    xreallocarray(scopes->v, scopes->n + 1, sizeof *scopes->v);
		top = &scopes->v[scopes->n++];
		*top = (struct scope){ .sub = next,
			.dir_unknown = j->dir_unknown };
		strv_copy(&top->dirs, &j->dirs);
		/* A here-document's text may be of one that has ended. */
		j->dir_unknown |= next <= scopes->last;
		scopes->last = next > scopes->last ? next : scopes->last;
	}
}

void
judge_text(struct judge *j, const char *text, size_t len)
{
	struct scopes scopes = { 0 };
	struct judge before = *j;
	const bool plain = j->plain;
	struct sh_script *s;
	char why[300];
	bool unread, other;
	size_t i;

	/* Texts in texts, made to be hard to read, must not hold up anyone. */
	if (j->depth >= JUDGE_DEPTH || j->work > j->max_work) {
		judge_part(j, text, len, RULING_ASK, NULL, LAYER_BUILTIN,
		    "commands in commands, too many to follow");
		return;
	}
	j->plain = false; /* not of the texts inside */
	s = plain ? sh_parse_plain(text, len) : sh_parse(text, len);
	j->work += len + s->work;
	j->depth++;
	j->script = s;
	j->text = text;
	j->dirs = (struct strv){ 0 };
	strv_copy(&j->dirs, &before.dirs);
	judge_ahead(j, text, len);
	judge_written_ahead(j, s);
	for (i = 0; i < s->n; i++) {
		scope_to(j, &scopes, s->cmds[i].sub);
		one_command(j, &s->cmds[i]);
	}
	scope_to(j, &scopes, 0);
	free(scopes.v);
	unread = s->error[0] != '\0';
	other = !plain && s->bash_only;
	/* A plain sh stops there. */
	if (unread && !(plain && s->refused) && !j->only_known) {
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
	if (other)
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
		.whole = command,
		.globs = GLOBS_MAX,
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
	strv_clear(&j.written);
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
