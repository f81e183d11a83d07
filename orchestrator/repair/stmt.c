/*
 * Statements: runs of tokens between what ends a statement in each dialect,
 * with the heads of if, for and function bodies as statements of their own.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/token.h"

static const char head_words[] =
    "if elif while for switch with except match catch until unless synchronized "
    "using elsif case";
static const char inert_words[] =
    "import from package use require mod include #include namespace";

struct cutter {
	struct source *s;
	size_t size;
	size_t first; /* of the statement that is being read */
	bool open;
};

static uint8_t
classify(const struct source *s, size_t a, size_t b, bool head)
{
	size_t i = a;

	if (s->tok[a].kind == TOK_DIRECTIVE)
		return a == b ? STMT_INERT : STMT_DECL;
	if (tok_in(s, i, inert_words) && !tok_is(s, a + 1, "("))
		return STMT_INERT;
	while (i < b &&
	    tok_in(s, i,
		"async export static pub public private "
		"protected default"))
		i++;
	if (tok_in(s, i,
		"def class fn func function struct enum interface "
		"trait impl type typedef union"))
		return tok_in(s, i, "struct enum union") && !head ? STMT_DECL
								  : STMT_DEF;
	if (head)
		return STMT_HEADER;
	if (s->dialect == DIALECT_C &&
	    (tok_flag(s, i, TF_TYPE) ||
		(tok_kind(s, i, TOK_IDENT) &&
		    (tok_kind(s, i + 1, TOK_IDENT) ||
			(tok_is(s, i + 1, "*") &&
			    tok_kind(s, i + 2, TOK_IDENT) && i + 2 <= b &&
			    (tok_in(s, i + 3, "= ;") || i + 2 == b))))))
		return STMT_DECL;
	if (tok_in(s, i,
		"let const var global nonlocal local readonly "
		"declare"))
		return STMT_DECL;
	for (i = a; i <= b && s->tok[i].kind == TOK_STRING; i++)
		;
	return i > b ? STMT_INERT : STMT_SIMPLE;
}

static void
cut(struct cutter *c, size_t end, bool head)
{
	struct source *s = c->s;

	if (!c->open)
		return;
	c->open = false;
	if (s->n_stmt == c->size) {
		c->size = c->size == 0 ? 128 : c->size * 2;
		s->stmt = xreallocarray(s->stmt, c->size, sizeof *s->stmt);
	}
	s->stmt[s->n_stmt++] = (struct stmt){ .first = (uint32_t)c->first,
		.last = (uint32_t)end,
		.kind = classify(s, c->first, end, head) };
}

static void
take(struct cutter *c, size_t i)
{
	if (!c->open) {
		c->open = true;
		c->first = i;
	}
	c->s->tok[i].stmt = (uint32_t)c->s->n_stmt;
}

/* Is the brace at i one of a literal, not of a block? */
static bool
brace_is_literal(const struct source *s, size_t i)
{
	if (i == 0)
		return false;
	if (s->lines) /* `T{1}`; a block has a blank before it */
		return s->tok[i].off == s->tok[i - 1].off + s->tok[i - 1].len;
	if (s->dialect == DIALECT_C)
		return tok_in(s, i - 1, "= , ( { [ return") ||
		    (s->tok[i].match > 0 && tok_is(s, i - 1, "]"));
	return tok_in(s, i - 1,
		   "= ( [ , : return ? && || + => of in from export default import "
		   "{ } ; const let var ...") &&
	    (!tok_in(s, i - 1, "=> { } ; :") ||
		(tok_is(s, i - 1, ":") && tok_in(s, i + 2, ": , }"))) &&
	    !(tok_is(s, i - 1, "=>"));
}

/* Does the literal at i have methods, `{ f(x) { ... } }`? */
static bool
has_bodies(const struct source *s, size_t i)
{
	if (s->dialect != DIALECT_JS)
		return false;
	for (size_t j = i + 1; (int32_t)j < s->tok[i].match; j++)
		if (tok_is(s, j, "{") && tok_is(s, j - 1, ")") &&
		    s->tok[j - 1].match > 0 &&
		    tok_in(s, (size_t)s->tok[j - 1].match - 2, "{ , }"))
			return true;
	return false;
}

/* Where the head that begins with the statement's first token may end. */
static bool
head_ends_here(const struct source *s, size_t first, size_t i)
{
	size_t k = first;

	if (tok_in(s, i, "else do try finally") && i == first)
		return !tok_is(s, i + 1, "if");
	if (tok_is(s, k, "else"))
		k++;
	if (tok_in(s, k, "for") && tok_in(s, k + 1, "await"))
		k++;
	if (!tok_in(s, k, head_words) || !tok_is(s, k + 1, "("))
		return false;
	return s->tok[k + 1].match == (int32_t)i;
}

static void
cut_braces(struct source *s)
{
	struct cutter c = { .s = s };
	size_t lit_end = 0;
	int paren = 0;

	for (size_t i = 0; i < s->n_tok; i++) {
		struct token *t = &s->tok[i];
		bool brace = tok_is(s, i, "{");

		if (t->kind == TOK_NEWLINE) {
			t->stmt = (uint32_t)s->n_stmt;
			if (i >= lit_end && paren == 0)
				cut(&c, i - 1, false);
			continue;
		}
		if (brace && i >= lit_end && !brace_is_literal(s, i)) {
			t->flags |= TF_BLOCK;
			if (t->match > 0)
				s->tok[t->match].flags |= TF_BLOCK;
		} else if (brace && i >= lit_end && t->match > 0 &&
		    t->match - (int32_t)i < 400 && !has_bodies(s, i)) {
			lit_end = (size_t)t->match + 1;
		}
		if (t->flags & TF_BLOCK) {
			t->stmt = (uint32_t)s->n_stmt;
			cut(&c, i - 1, brace);
			t->stmt = (uint32_t)s->n_stmt;
			paren = 0;
			continue;
		}
		if (tok_is(s, i, ";") && paren == 0 && i >= lit_end) {
			t->stmt = (uint32_t)s->n_stmt;
			cut(&c, i - 1, false);
			continue;
		}
		take(&c, i);
		if (tok_in(s, i, "( ["))
			paren++;
		else if (tok_in(s, i, ") ]") && paren > 0)
			paren--;
		if (paren == 0 && head_ends_here(s, c.first, i))
			cut(&c, i, true);
		else if (tok_is(s, i, ":") && paren == 0 && c.open &&
		    tok_in(s, c.first, "case default"))
			cut(&c, i, true);
	}
	cut(&c, s->n_tok - 1, false);
}

/* Python: the `:` after which a body comes. */
static bool
colon_ends(const struct source *s, size_t first, size_t i, int paren)
{
	size_t k = first;

	if (!tok_is(s, i, ":") || paren > 0)
		return false;
	if (tok_is(s, k, "async"))
		k++;
	if (!tok_in(s, k, head_words) &&
	    !tok_in(s, k, "else try finally def class"))
		return false;
	for (size_t j = first; j < i; j++) {
		if (tok_is(s, j, "lambda") && i - j < 12 &&
		    s->tok[i].line == s->tok[j].line &&
		    !tok_kind(s, i + 1, TOK_NEWLINE))
			return false;
	}
	return true;
}

static void
cut_python(struct source *s)
{
	struct cutter c = { .s = s };
	int paren = 0;

	for (size_t i = 0; i < s->n_tok; i++) {
		struct token *t = &s->tok[i];

		t->stmt = (uint32_t)s->n_stmt;
		if (t->kind == TOK_NEWLINE ||
		    (tok_is(s, i, ";") && paren == 0)) {
			cut(&c, i - 1, false);
			paren = 0;
			continue;
		}
		take(&c, i);
		if (tok_in(s, i, "( [ {"))
			paren++;
		else if (tok_in(s, i, ") ] }") && paren > 0)
			paren--;
		if (colon_ends(s, c.first, i, paren))
			cut(&c, i, true);
	}
	cut(&c, s->n_tok - 1, false);
}

static void
cut_shell(struct source *s)
{
	struct cutter c = { .s = s };

	for (size_t i = 0; i < s->n_tok; i++) {
		struct token *t = &s->tok[i];
		bool brace = tok_in(s, i, "{ }") && t->match >= 0 &&
		    !tok_is(s,
			(size_t)(t->match < (int32_t)i ? t->match
						       : (int32_t)i) -
			    1,
			"$");

		t->stmt = (uint32_t)s->n_stmt;
		if (t->kind == TOK_NEWLINE || tok_in(s, i, "; ;;")) {
			cut(&c, i - 1,
			    tok_in(s, c.first, "if elif while until for case"));
			continue;
		}
		if (brace)
			t->flags |= TF_BLOCK;
		if (brace || tok_in(s, i, "then do else done fi esac")) {
			cut(&c, i - 1, brace);
			continue;
		}
		if (tok_is(s, i, ")") && t->match < 0 && c.open) {
			t->stmt = (uint32_t)s->n_stmt;
			cut(&c, i, true); /* a pattern of `case` */
			continue;
		}
		take(&c, i);
	}
	cut(&c, s->n_tok - 1, false);
}

void
source_statements(struct source *s)
{
	struct token *t;

	if (s->n_tok == 0)
		return;
	if (s->dialect == DIALECT_PY)
		cut_python(s);
	else if (s->dialect == DIALECT_SH)
		cut_shell(s);
	else
		cut_braces(s);
	for (size_t i = 0; i < s->n_tok; i++) {
		t = &s->tok[i];
		if (t->stmt >= s->n_stmt)
			t->stmt = s->n_stmt > 0 ? (uint32_t)s->n_stmt - 1 : 0;
	}
}
