/* shell_expand.c - expansions and substitutions: what starts with "$", "`" or
 * "<(". */
#include "common/compat.h"

#include "sandbox/policy/shell_priv.h"

/* --- substitutions ---------------------------------------------------------
 */

/* From behind "$(", "<(" or ">(" to behind the parenthesis. */
void
sh_substitution(struct sh_parser *p)
{
	size_t outer = p->base_pending;
	bool piped = p->piped, substituted = p->substituted;
	unsigned sub;

	/* Its input is that of the command around it: piped stays. */
	if (!sh_step(p, 0))
		return;
	p->base_pending = p->n_pending;
	p->substituted = true;
	sub = sh_enter(p);
	sh_list_until(p, ')');
	p->sub = sub;
	if (p->n_pending > p->base_pending)
		sh_fail(p, "a here-document has no body");
	p->base_pending = outer;
	p->substituted = substituted;
	p->piped = piped;
}

void
sh_backquote(struct sh_parser *p, struct sh_draft *d, bool in_quotes)
{
	size_t start = p->at;
	struct sh_draft in = { 0 }, kept = { 0 };
	const unsigned sub = sh_enter(p);
	bool differ = false;
	int next;

	sh_computed(p, d, NULL, 0);
	p->at++;
	while (sh_ahead(p, 0) != '`' && sh_ahead(p, 0) >= 0) {
		next = sh_ahead(p, 1);
		if (sh_joined(p, 0)) { /* before all else */
			p->at += 2;
			continue;
		}
		if (sh_ahead(p, 0) == '\\' &&
		    (next == '$' || next == '`' || next == '\\')) {
			p->at++;
		} else if (in_quotes && sh_ahead(p, 0) == '\\' && next == '"') {
			/* Gone within double quotes, and not in a
			 * here-document: read both ways. */
			sh_put(&kept, '\\', false);
			differ = true;
			p->at++;
		}
		sh_put(&in, sh_ahead(p, 0), false);
		sh_put(&kept, sh_ahead(p, 0), false);
		p->at++;
	}
	if (sh_ahead(p, 0) < 0)
		sh_refuse(p, "a backquote is not closed");
	p->at++;
	if (sh_step(p, in.n))
		sh_nested(p, sh_dup(p->out, in.text, in.n), in.n);
	if (differ && sh_step(p, kept.n))
		sh_nested(p, sh_dup(p->out, kept.text, kept.n), kept.n);
	p->sub = sub;
	sh_draft_clear(&in);
	sh_draft_clear(&kept);
	if (!p->failed)
		sh_put_source(p, d, start);
}

/* One step through text whose words don't matter, only what they start. */
void
sh_skim(struct sh_parser *p, bool in_quotes)
{
	const bool piped = p->piped;
	struct sh_draft d = { 0 };
	int c = sh_ahead(p, 0);

	if (c == '\\' && sh_ahead(p, 1) >= 0)
		p->at += 2;
	else if (c == '\'' && !in_quotes)
		sh_single_quote(p, &d);
	else if (c == '"')
		sh_double_quote(p, &d);
	else if (c == '$')
		sh_dollar(p, &d, in_quotes);
	else if (c == '`')
		sh_backquote(p, &d, in_quotes);
	else if ((c == '<' || c == '>') && sh_ahead(p, 1) == '(' &&
	    !in_quotes) {
		p->at += 2;
		p->piped |= c == '>';
		sh_substitution(p);
		p->piped = piped;
	} else {
		p->at++;
	}
	sh_draft_clear(&d);
}

/* From behind "${" to behind the brace. */
static void
parameter(struct sh_parser *p, struct sh_draft *d, bool in_quotes)
{
	struct sh_math m = { 0 };
	size_t name;
	bool arith;
	int c = sh_ahead(p, 0);

	if ((c == '!' || c == '#') && sh_ahead(p, 1) != '}')
		p->at++;
	name = p->at;
	while (sh_is_name(sh_ahead(p, 0)))
		p->at++;
	if (p->at == name && sh_ahead(p, 0) > 0 &&
	    strchr("@*#?-$!", sh_ahead(p, 0)) != NULL)
		p->at++;
	sh_computed(p, d, p->s + name, p->at - name);
	if (sh_joined(p, 0) || (p->at == name && sh_ahead(p, 0) != '}'))
		sh_fail(p, "${...} is none of the known forms");
	if (sh_ahead(p, 0) == '[') {
		p->at++;
		/* Shells end it at the first brace. */
		if (sh_brackets(p).brace)
			sh_fail(p, "a brace in a subscript");
	}
	/* ${x@P} is expanded like a prompt: substitutions run; ${x:n} is
	 * arithmetic. */
	arith = sh_ahead(p, 0) == ':' && sh_ahead(p, 1) > 0 &&
	    strchr("-=?+", sh_ahead(p, 1)) == NULL;
	p->out->evaluates |= arith || sh_ahead(p, 0) == '@';
	while (!p->failed && (c = sh_ahead(p, 0)) != '}') {
		if (c < 0)
			sh_refuse(p, "${ is not closed");
		else if (sh_joined(p, 0))
			sh_fail(p, "a line ends within an expansion");
		else if (arith)
			sh_arith_step(p, &m);
		/* Shells differ in what it quotes here. */
		else if (c == '\'' && in_quotes)
			sh_fail(p, "a single quote in \"${...}\"");
		else
			sh_skim(p, in_quotes);
	}
	sh_arith_end(p, &m);
	p->at++;
}

/* At the dollar sign. */
static void
expansion(struct sh_parser *p, struct sh_draft *d, bool in_quotes)
{
	size_t start = p->at, name;
	bool plain = true;
	int c = sh_ahead(p, 1);

	if (sh_joined(p, 1) || (c == '(' && sh_joined(p, 2)))
		sh_fail(p, "a line ends within an expansion");
	if (!sh_step(p, 0))
		return;
	if (c == '\'' && !in_quotes && sh_bash(p)) {
		p->at++;
		sh_ansi_quote(p, d);
		return;
	}
	if (c == '"' && !in_quotes && sh_bash(p)) {
		p->at++;
		sh_double_quote(p, d);
		return;
	}
	p->at += 2;
	if (c == '(') {
		sh_computed(p, d, NULL, 0);
		if (sh_ahead(p, 0) == '(') {
			p->at++;
			if (!sh_arith(p, &plain)) {
				/* Other shells take it for arithmetic. */
				if (!plain)
					sh_fail(p, "quotes behind \"$((\"");
				p->at--;
				sh_substitution(p);
			}
		} else {
			sh_substitution(p);
		}
	} else if (c == '{') {
		parameter(p, d, in_quotes);
	} else if (c == '[' && sh_bash(p)) {
		sh_computed(p, d, NULL, 0);
		(void)sh_brackets(p);
	} else if (sh_is_name_start(c)) {
		name = p->at - 1;
		while (sh_is_name(sh_ahead(p, 0)))
			p->at++;
		if (sh_joined(p, 0)) /* the name may go on */
			sh_fail(p, "a line ends within an expansion");
		sh_computed(p, d, p->s + name, p->at - name);
	} else if (c > 0 && strchr("@*#?-$!0123456789", c) != NULL) {
		sh_computed(p, d, p->s + p->at - 1, 1);
	} else {
		p->at--; /* just a dollar sign */
		sh_put(d, '$', true);
		return;
	}
	if (!p->failed)
		sh_put_source(p, d, start);
}

void
sh_dollar(struct sh_parser *p, struct sh_draft *d, bool in_quotes)
{
	if (++p->depth > SH_MAX_DEPTH)
		sh_fail(p, "nested more than %d deep", SH_MAX_DEPTH);
	expansion(p, d, in_quotes);
	p->depth--;
}
