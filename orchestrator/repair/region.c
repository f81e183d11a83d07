/*
 * Functions, by simple rules: an indented `def`, a block after `name(...)`, a
 * shell's `name() {`. Classes give no region of their own.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/token.h"

static const char not_names[] =
    "if for while switch catch with synchronized return else do sizeof "
    "elif until unless match function";

static const char never_names[] =
    "if for while switch catch return else do sizeof function const type var "
    "import";

static void
add_region(
    struct source *s, size_t *size, size_t name, size_t first, size_t last)
{
	const struct token *n = &s->tok[name];
	struct region *r;

	if (s->n_region == *size) {
		*size = *size == 0 ? 32 : *size * 2;
		s->region = xreallocarray(s->region, *size, sizeof *s->region);
	}
	r = &s->region[s->n_region++];
	*r = (struct region){ .first_line = n->line,
		.first_tok = (uint32_t)first,
		.last_tok = (uint32_t)last };
	r->last_line = source_line(s, s->tok[last].off);
	snprintf(r->name, sizeof r->name, "%.*s",
	    n->len < 60 ? (int)n->len : 60, s->text + n->off);
}

static size_t
column(const struct source *s, size_t i)
{
	size_t off = s->tok[i].off, n = 0;
	const char *t = s->text;
	size_t from = s->line_off[s->tok[i].line - 1];

	for (size_t p = from; p < off && (t[p] == ' ' || t[p] == '\t'); p++)
		n += t[p] == '\t' ? 8 - n % 8 : 1;
	return n;
}

static void
find_python(struct source *s)
{
	size_t size = 0;

	for (size_t k = 0; k < s->n_stmt; k++) {
		size_t i = s->stmt[k].first, last, col;

		if (s->stmt[k].kind != STMT_DEF)
			continue;
		if (tok_is(s, i, "async"))
			i++;
		if (!tok_is(s, i, "def") || !tok_kind(s, i + 1, TOK_IDENT))
			continue;
		col = column(s, s->stmt[k].first);
		last = s->stmt[k].last;
		for (size_t m = k + 1; m < s->n_stmt; m++) {
			size_t f = s->stmt[m].first;

			if (s->tok[f].line != s->tok[i].line &&
			    column(s, f) <= col)
				break;
			last = s->stmt[m].last;
		}
		add_region(s, &size, i + 1,
		    s->stmt[k].last + (s->stmt[k].last < last), last);
	}
}

/* A function may be called like a word of another language: `long signed() {`,
 * `int match(char *s) {`, `delete(key) {`. */
static bool
is_named_like(const struct source *s, size_t m)
{
	if (m == 0 || tok_in(s, m, never_names) ||
	    (!tok_kind(s, m, TOK_KEYWORD) && s->dialect != DIALECT_C))
		return false;
	if (s->dialect == DIALECT_C)
		return tok_kind(s, m - 1, TOK_IDENT) ||
		    tok_flag(s, m - 1, TF_TYPE) ||
		    tok_in(s, m - 1, "> ] * func fn");
	return s->dialect == DIALECT_JS &&
	    (tok_flag(s, m - 1, TF_BLOCK) ||
		tok_in(s, m - 1, "async static * get set"));
}

/* The name of the function whose block opens at i; n_tok: it is none. */
static size_t
name_before(const struct source *s, size_t i)
{
	size_t none = s->n_tok, j = i, m;
	bool arrow = false;

	if (i > 1 && tok_kind(s, i - 1, TOK_IDENT) &&
	    tok_in(s, i - 2, "sub function"))
		return i - 1; /* Perl's take no list */
	for (int n = 0; n < 14 && j-- > 0; n++) {
		const struct token *t = &s->tok[j];

		if (tok_is(s, j, "=>"))
			arrow = true;
		if (tok_is(s, j, ")") && t->match > 0)
			break;
		if ((t->flags & TF_BLOCK) || tok_in(s, j, "; = } else do"))
			return none;
	}
	if (j >= i || !tok_is(s, j, ")") || s->tok[j].match <= 0)
		return none;
	m = (size_t)s->tok[j].match;
	if (tok_is(s, m - 1, ")") && s->tok[m - 1].match > 0 && !arrow)
		m = (size_t)s->tok[m - 1].match; /* Go's results */
	if (m == 0)
		return none;
	m--;
	if (!arrow && s->tok[i - 1].stmt < s->n_stmt &&
	    tok_in(s, s->stmt[s->tok[i - 1].stmt].first,
		"if else for while switch case"))
		return none; /* `if f(x) {` */
	if (m > 0 && tok_in(s, m - 1, "my our foreach"))
		return none; /* what a loop gives its values to */
	if (!arrow &&
	    ((tok_kind(s, m, TOK_IDENT) && !tok_in(s, m, not_names)) ||
		is_named_like(s, m)))
		return m;
	/* function (x) {, (x) => {: named by what they are given to. */
	if (tok_in(s, m, "function async") && m > 0)
		m--;
	if (tok_is(s, m, "async") && m > 0)
		m--;
	if (tok_in(s, m, "= :") && m > 0 && tok_kind(s, m - 1, TOK_IDENT))
		return m - 1;
	return none;
}

static void
find_braces(struct source *s)
{
	size_t size = 0, name;

	for (size_t i = 1; i < s->n_tok; i++) {
		const struct token *t = &s->tok[i];

		if ((t->flags & TF_BLOCK) && tok_is(s, i, "{") &&
		    t->match > (int32_t)i + 1) {
			name = name_before(s, i);
			if (name < s->n_tok) {
				add_region(
				    s, &size, name, i + 1, (size_t)t->match);
				if (s->tok[i - 1].stmt < s->n_stmt)
					s->stmt[s->tok[i - 1].stmt].kind =
					    STMT_DEF;
			}
		} else if (tok_is(s, i, "=>") && !tok_is(s, i + 1, "{") &&
		    t->stmt < s->n_stmt) {
			const struct stmt *st = &s->stmt[t->stmt];

			if (tok_in(s, st->first, "const let var") &&
			    tok_kind(s, st->first + 1, TOK_IDENT) &&
			    tok_is(s, st->first + 2, "=") && st->last > i &&
			    (i == st->first + 4 ||
				s->tok[i - 1].match == (int32_t)st->first + 3))
				add_region(
				    s, &size, st->first + 1, i + 1, st->last);
		}
	}
}

static void
find_shell(struct source *s)
{
	size_t size = 0, m;

	for (size_t i = 1; i < s->n_tok; i++) {
		if (!tok_is(s, i, "{") || !(s->tok[i].flags & TF_BLOCK) ||
		    s->tok[i].match < (int32_t)i)
			continue;
		m = i;
		while (m > 0 &&
		    (tok_in(s, m - 1, "( )") ||
			tok_kind(s, m - 1, TOK_NEWLINE)))
			m--;
		if (m == 0 || !tok_kind(s, m - 1, TOK_IDENT) ||
		    (m == i && !tok_is(s, m - 2, "function")))
			continue;
		add_region(s, &size, m - 1, i + 1, (size_t)s->tok[i].match);
		s->stmt[s->tok[m - 1].stmt].kind = STMT_DEF;
	}
}

void
source_regions(struct source *s)
{
	if (s->n_stmt == 0)
		return;
	if (s->dialect == DIALECT_PY)
		find_python(s);
	else if (s->dialect == DIALECT_SH)
		find_shell(s);
	else
		find_braces(s);
}
