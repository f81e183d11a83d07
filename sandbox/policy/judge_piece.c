/* judge_piece.c - a simple command: what it starts, layer by layer, and
 * whether rules block or cover it; see judge.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* --- what is noted -------------------------------------------------------- */

void
piece_found(
    struct piece *p, enum finding_kind kind, size_t at, const char *fmt, ...)
{
	struct finding *f;
	va_list ap;
	size_t i;

	/* The last place stands for all that find none: the strictest kind,
	 * and nothing that a rule could name. */
	if (p->n_f == JUDGE_FINDINGS) {
		f = &p->f[p->n_f - 1];
		f->at = UNSPELLED;
		if (kind <= f->kind)
			return;
	} else {
		for (i = 0; i < p->n_f; i++)
			if (p->f[i].kind == kind && p->f[i].at == at)
				return;
		f = &p->f[p->n_f++];
		f->at = at;
	}
	f->kind = kind;
	va_start(ap, fmt);
	(void)vsnprintf(f->what, sizeof f->what, fmt, ap);
	va_end(ap);
}

void
piece_raise(struct piece *p, enum ruling v, const char *rule,
    enum rule_layer layer, const char *fmt, ...)
{
	va_list ap;

	if (v < p->ruling || (v == p->ruling && p->why[0] != '\0'))
		return;
	p->ruling = v;
	p->rule = rule;
	p->layer = layer;
	va_start(ap, fmt);
	(void)vsnprintf(p->why, sizeof p->why, fmt, ap);
	va_end(ap);
}

/* --- deny and ask rules --------------------------------------------------- */

/* Words without the global options between the name and the verb; p->shift
 * says how many those are. NULL: there are none. */
static const struct sh_word *
without_globals(struct piece *p, const struct sh_word *w, size_t n)
{
	const char *spec = program_globals(rule_base(w[0].text));
	struct sh_word *plain;
	struct opts o;
	struct opt t;

	p->shift = 0;
	if (spec == NULL || n < 2 || w[1].text[0] != '-')
		return NULL;
	opts_begin(&o, spec, w, n);
	do {
		if (!opts_next(&o, &t))
			return NULL; /* no verb */
	} while (t.kind != OPT_OPERAND && t.kind != OPT_COMPUTED);
	p->shift = t.at - 1;
	plain = judge_words(p->j, n - p->shift);
	plain[0] = w[0];
	memcpy(plain + 1, w + t.at, (n - t.at) * sizeof *w);
	return plain;
}

/* "$@" of a command line is nothing, and what follows is the command. */
static bool
is_positional(const struct sh_word *w, size_t n)
{
	return n > 1 && w->text[0] == '$' && w->text[1] != '\0' &&
	    strchr("@*123456789", w->text[1]) != NULL && w->text[2] == '\0';
}

static void
blocked_by(
    struct piece *p, const struct rule *r, const struct sh_word *w, size_t n)
{
	enum rule_match m = rule_blocks(r, w, n);
	const char *var = NULL;
	size_t i;

	if (m == MATCH_YES)
		piece_raise(p, r->ruling, r->text, r->layer, "%s by %s (%s)",
		    r->ruling == RULING_DENY ? "denied" : "asked for", r->text,
		    layer_str(r->layer));
	for (i = 0; i < n && var == NULL; i++)
		if ((w[i].flags & (SH_COMPUTED | SH_GLOB)) != 0)
			var = w[i].text;
	if (m == MATCH_MAYBE && !p->j->only_known &&
	    !(p->j->posix && (w->flags & (SH_COMPUTED | SH_GLOB)) != 0 &&
		!is_positional(w, n)))
		piece_raise(p, RULING_ASK, r->text, r->layer,
		    "what comes of %.80s may make it match %s (%s)", var,
		    r->text, layer_str(r->layer));
}

static void
option_blocked(struct piece *p, const struct rule_option *o,
    const struct sh_word *w, size_t n)
{
	const struct program *prog;
	size_t i;

	for (i = 0; i < o->words.n; i++)
		if (i >= n || (w[i].flags & SH_COMPUTED) != 0 ||
		    strcmp(i == 0 ? rule_base(w[i].text) : w[i].text,
			o->words.v[i]) != 0)
			return;
	prog = program_find(o->words.v[0], n > 1 ? w[1].text : NULL);
	for (i = 0; i < o->options.n; i++)
		if (opts_find(prog != NULL ? prog->spec : "", w, n,
			o->options.v[i]) > 0)
			piece_raise(p, RULING_DENY,
			    judge_keep(p->j,
				xasprintf("deny_option %s: %s", o->text,
				    o->options.v[i])),
			    o->layer, "%s denies %s the option %s",
			    layer_str(o->layer), o->text, o->options.v[i]);
}

static void
block(struct piece *p, const struct sh_word *w, size_t n)
{
	const struct rules *r = p->j->rules;
	const struct sh_word *plain;
	size_t i;

	plain = without_globals(p, w, n);
	if (!r->blocks_commands ||
	    !judge_afford(p->j, r->n + r->n_options, p->src, p->src_len))
		return;
	for (i = 0; i < r->n; i++) {
		if (r->v[i].about != RULE_COMMAND ||
		    r->v[i].ruling == RULING_ALLOW)
			continue;
		blocked_by(p, &r->v[i], w, n);
		if (plain != NULL)
			blocked_by(p, &r->v[i], plain, n - p->shift);
	}
	for (i = 0; i < r->n_options; i++)
		option_blocked(
		    p, &r->options[i], plain != NULL ? plain : w, n - p->shift);
}

/* --- allow rules ---------------------------------------------------------- */

/* What no star may stand for and the words that a rule spells out, from..to of
 * the piece, do not hold; not those of the global options, which it skips. */
static const struct finding *
uncovered(const struct piece *p, size_t from, size_t to, size_t skipped)
{
	size_t i;

	for (i = 0; i < p->n_f; i++)
		if (p->f[i].at < from || p->f[i].at >= to ||
		    (p->f[i].at > from && p->f[i].at <= from + skipped))
			return &p->f[i];
	return NULL;
}

static const struct rule *
cover(struct piece *p, const struct sh_word *plain, const struct rule **near)
{
	const struct rules *r = p->j->rules;
	size_t i, k, spelled;

	if (!judge_afford(p->j, r->n * p->n_levels, p->src, p->src_len))
		return NULL;
	for (i = 0; i < r->n; i++) {
		const struct rule *x = &r->v[i];

		if (x->about != RULE_COMMAND || x->ruling != RULING_ALLOW ||
		    x->pattern == NULL)
			continue;
		for (k = 0; k < p->n_levels; k++) {
			size_t l = p->levels[k];

			if (!rule_allows(x, p->w + l, p->n - l))
				continue;
			*near = x;
			if (l != p->off && l + x->spelled <= p->off)
				continue;
			if (uncovered(p, l, l + x->spelled, 0) == NULL)
				return x;
		}
		if (plain == NULL ||
		    !rule_allows(x, plain, p->n - p->off - p->shift))
			continue;
		*near = x;
		spelled = p->off + x->spelled + (x->spelled > 1 ? p->shift : 0);
		if (uncovered(p, p->off, spelled, p->shift) == NULL)
			return x;
	}
	return NULL;
}

static const struct rule *
allows_all(const struct rules *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->v[i].about == RULE_COMMAND &&
		    r->v[i].ruling == RULING_ALLOW && r->v[i].pattern == NULL)
			return &r->v[i];
	return NULL;
}

/* The length of what was found without the comma that ends a clause. */
static int
clause(const struct finding *f)
{
	size_t n = strlen(f->what);

	return (int)(n > 0 && f->what[n - 1] == ',' ? n - 1 : n);
}

static void
not_covered(struct piece *p, const struct rule *near)
{
	const struct rules *r = p->j->rules;
	const struct finding *f = p->n_f > 0 ? uncovered(p, 0, 0, 0) : NULL;

	if (near != NULL && f != NULL)
		piece_raise(p, r->def.ruling, NULL, r->def.layer,
		    "%s is more than %s covers", f->what, near->text);
	else if (near != NULL && r->def.ruling != RULING_ALLOW)
		piece_raise(p, r->def.ruling, NULL, r->def.layer,
		    "%s does not spell out what it may start", near->text);
	else if (f != NULL && r->def.ruling != RULING_ALLOW)
		piece_raise(p, r->def.ruling, NULL, r->def.layer,
		    "no rule allows it: there is %.*s", clause(f), f->what);
	else if (r->def.ruling != RULING_ALLOW)
		piece_raise(p, r->def.ruling, NULL, r->def.layer,
		    "no rule allows it, and the default is %s (%s)",
		    ruling_str(r->def.ruling), layer_str(r->def.layer));
	else
		piece_raise(p, RULING_ALLOW, NULL, r->def.layer,
		    "no rule is against it");
}

static void
decide(struct piece *p)
{
	const struct rules *r = p->j->rules;
	const struct rule *near = NULL, *rule, *all;
	const struct sh_word *plain =
	    without_globals(p, p->w + p->off, p->n - p->off);
	bool strict; /* what is not allowed is not */
	size_t i;

	all = allows_all(r);
	strict = all == NULL && r->def.ruling != RULING_ALLOW;
	rule = cover(p, plain, &near);
	for (i = 0; rule == NULL && i < p->n_f; i++) {
		const struct finding *f = &p->f[i];

		if (f->kind == FIND_ASK)
			piece_raise(p, RULING_ASK,
			    judge_keep(p->j, xstrdup(f->what)), LAYER_BUILTIN,
			    "asked for: %s (built in)%s%s%s", f->what,
			    near != NULL ? "; " : "",
			    near != NULL ? near->text : "",
			    near != NULL
				? " has a star there: a rule in full would allow it"
				: "");
		else if (f->kind == FIND_OPAQUE && !p->j->only_known &&
		    (r->blocks_commands || strict))
			piece_raise(p, RULING_ASK, NULL, LAYER_BUILTIN,
			    "%.*s, and there are rules that it may be against",
			    clause(f), f->what);
	}
	if (!p->needs_cover) {
		if (p->why[0] == '\0')
			return; /* its parts speak for it */
	} else if (rule != NULL) {
		piece_raise(p, RULING_ALLOW, rule->text, rule->layer,
		    "allowed by %s (%s)", rule->text, layer_str(rule->layer));
	} else if (all != NULL) {
		piece_raise(p, RULING_ALLOW, all->text, all->layer,
		    "allowed by %s (%s)", all->text, layer_str(all->layer));
	} else {
		not_covered(p, near);
	}
	judge_part(
	    p->j, p->src, p->src_len, p->ruling, p->rule, p->layer, p->why);
}

/* --- assignments ---------------------------------------------------------- */

void
piece_taint(struct piece *p, const char *name, size_t at)
{
	piece_found(p, FIND_POWER, at, "%s=, which changes what runs,", name);
	p->taint = judge_keep(p->j, xstrdup(name));
	judge_set(p->j, name, strlen(name));
}

/* git writes there, whatever directory it is in. */
static void
work_tree(struct piece *p, const struct sh_word *w)
{
	static const char name[] = "GIT_WORK_TREE=";
	struct sh_word dir = *w;

	if (!text_starts(w->text, name) ||
	    strcmp(rule_base(p->w[0].text), "git") != 0)
		return;
	dir.text += strlen(name);
	dir.len = strlen(dir.text);
	piece_chdir(p, &dir, false);
}

static void
assignments(struct piece *p)
{
	const struct sh_cmd *c = p->cmd;
	char name[64];
	size_t i;

	if (p->j->tainted != NULL)
		piece_taint(p, p->j->tainted, UNSPELLED);
	for (i = 0; c != NULL && i < c->n_assigns; i++) {
		work_tree(p, &c->assigns[i]);
		judge_set(p->j, c->assigns[i].text,
		    strcspn(c->assigns[i].text, "=+["));
		if (!assign_is_dangerous(c->assigns[i].text, name, sizeof name))
			continue;
		if (strcmp(name, "IFS") == 0 &&
		    (strcmp(p->w[0].text, "read") == 0 ||
			strcmp(p->w[0].text, "mapfile") == 0))
			continue;
		piece_taint(p, name, UNSPELLED);
		assign_command(p, &c->assigns[i]);
	}
}

/* --- all of it ------------------------------------------------------------ */

static bool
is_function(const struct piece *p, const char *word)
{
	const struct sh_script *s = p->j->script;
	size_t i;

	for (i = 0; p->cmd != NULL && i < s->n_functions; i++)
		if (strcmp(s->functions[i], word) == 0)
			return true;
	return false;
}

/* Only where the search path finds it is it the program that a rule means. */
static bool
is_elsewhere(const char *word)
{
	static const char *const dirs[] = { "/bin/", "/usr/bin/", "/sbin/",
		"/usr/sbin/", "/usr/local/bin/" };
	size_t i;

	if (strchr(word, '/') == NULL)
		return false;
	for (i = 0; i < nitems(dirs); i++)
		if (text_starts(word, dirs[i]) &&
		    strchr(word + strlen(dirs[i]), '/') == NULL)
			return false;
	return true;
}

void
piece_chdir(struct piece *p, const struct sh_word *dir, bool replace)
{
	struct judge *j = p->j;

	if (!p->chdir) {
		strv_copy(&p->dirs, &j->dirs);
		p->dir_unknown = j->dir_unknown;
		p->chdir = true;
	}
	judge_cd(j, dir, replace);
}

static void
chdir_back(struct piece *p)
{
	struct judge *j = p->j;

	if (!p->chdir)
		return;
	strv_clear(&j->dirs);
	j->dirs = p->dirs;
	j->dir_unknown = p->dir_unknown;
}

/* "npm --loglevel x exec ..." is a wrapper as "npm exec" is, and an option that
 * is not listed may take the next word: read again without them, for what
 * blocks it. */
static void
behind_globals(struct piece *p, const char *name)
{
	const struct sh_word *w = p->w + p->off;
	const size_t n = p->n - p->off;
	const char *spec = program_globals(name);
	struct sh_word *plain;
	size_t from = 0;
	struct opts o;
	struct opt t;

	if (spec == NULL || n < 3 || w[1].text[0] != '-')
		return;
	opts_begin(&o, spec, w, n);
	while (opts_next(&o, &t) && from == 0) {
		if (t.kind == OPT_FLAG && t.name[0] == '\0' &&
		    o.cluster == NULL && strchr(w[t.at].text, '=') == NULL)
			from = o.i + 1;
		else if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			break;
	}
	if (p->shift > 0 && judge_spend(p->j, n)) {
		plain = judge_words(p->j, n - p->shift);
		plain[0] = w[0];
		memcpy(plain + 1, w + 1 + p->shift,
		    (n - p->shift - 1) * sizeof *w);
		if (wrapper_find(name, plain, n - p->shift) != NULL)
			judge_argv(p, plain, n - p->shift, false);
	}
	if (from == 0 || from >= n || !judge_spend(p->j, n))
		return;
	plain = judge_words(p->j, n);
	plain[0] = w[0];
	memcpy(plain + 1, w + from, (n - from) * sizeof *w);
	judge_argv(p, plain, n - from + 1, false);
}

void
piece_judge(struct piece *p)
{
	const struct wrapper *wr;
	const struct sh_word *w;
	const char *name;

	assignments(p);
	for (;;) {
		w = p->w + p->off;
		if (p->n_levels == JUDGE_LEVELS) {
			piece_found(p, FIND_ASK, UNSPELLED,
			    "so many commands that start others");
			break;
		}
		p->levels[p->n_levels++] = p->off;
		block(p, w, p->n - p->off);
		if (posix_is_none(p)) {
			p->needs_cover = false;
			break;
		}
		if ((w->flags & (SH_COMPUTED | SH_GLOB)) != 0) {
			piece_found(p, FIND_OPAQUE, p->off,
			    "the command's name is computed%s%.60s",
			    w->var != NULL ? " from $" : "",
			    w->var != NULL ? w->var : "");
			/* It may be no word at all. */
			if ((w->flags & (SH_QUOTED | SH_GLOB)) == 0 &&
			    strchr("$`", w->text[0]) != NULL)
				judge_argv(p, w + 1, p->n - p->off - 1, false);
			break;
		}
		/* No name of a variable to the shell, but one to others. */
		if (text_starts(w->text, "BASH_FUNC_"))
			piece_found(p, FIND_OPAQUE, p->off,
			    "a function that comes through the environment");
		/* bash's own */
		if (strcmp(w->text, "[[") == 0) {
			p->needs_cover = false;
			break;
		}
		if (p->off == 0 && is_function(p, w->text)) {
			/* Its body is among the parts; so is the program of
			 * that name, where it is not defined by then. */
			if (p->j->rules->def.ruling == RULING_ALLOW ||
			    judge_defined(p->j, w->text, p->src, p->src_len))
				p->needs_cover = false;
		}
		name = rule_base(w->text);
		wr = wrapper_find(name, w, p->n - p->off);
		if (wr != NULL && is_elsewhere(w->text))
			piece_found(p, FIND_POWER, p->off,
			    "%.100s, which may be any program,", w->text);
		behind_globals(p, name);
		if (wr == NULL && strchr(w->text, '/') != NULL)
			piece_written(p, w, p->off);
		if (wr == NULL || !piece_peel(p, wr)) {
			if (p->needs_cover || wr == NULL)
				piece_program(p, name);
			break;
		}
	}
	decide(p);
	chdir_back(p);
}
