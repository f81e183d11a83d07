/*
 * token.h - source text of a dozen languages as tokens, statements and
 * functions, by one tokenizer with four dialects and no grammar.
 *
 *	struct source *s = source_create("inventory.py", text, len);
 *	for (size_t i = 0; i < s->n_tok; i++)
 *		... tok_is(s, i, "<=")
 *	source_free(s);
 *
 * The text is hostile: whatever it holds, the result is bounded and every
 * index in it is valid. Comments become no tokens; a newline becomes one only
 * where it ends a statement. A token's bytes are s->text + off, len of them.
 * Templates (f-strings, `${x}`, "$x" of a shell) are cut: their code becomes
 * tokens, the text around it STRING tokens marked TF_CHUNK.
 */
#ifndef REPAIR_TOKEN_H
#define REPAIR_TOKEN_H

#include "common/compat.h"

#define SOURCE_MAX_BYTES (256 * 1024)
#define SOURCE_MAX_TOKENS (80 * 1000)

enum token_dialect {
	DIALECT_NONE = 0,
	DIALECT_C = 1, /* C, C++, Java, Go, Rust ... */
	DIALECT_JS = 2,
	DIALECT_PY = 4,
	DIALECT_SH = 8
};

enum tok_kind {
	TOK_IDENT,
	TOK_KEYWORD,
	TOK_NUMBER,
	TOK_STRING,
	TOK_OP,        /* brackets, commas, `and`, `not in`, `-lt` too */
	TOK_DIRECTIVE, /* a line for the C preprocessor */
	TOK_NEWLINE
};

enum tok_flag {
	TF_VALUE = 1, /* a keyword that is an operand: None, true, this */
	TF_TYPE = 2,  /* a keyword that is a type */
	TF_CHUNK = 4, /* part of a template: neither whole nor an operand */
	TF_BLOCK = 8, /* a brace around statements */
	TF_VAR = 16,  /* shell: the name of a variable */
	TF_ARITH = 32 /* shell: inside $(( )) */
};

struct token {
	uint32_t off, len;
	uint32_t line; /* 1-based, of its first byte */
	int32_t match; /* the other bracket, -1: none */
	uint32_t stmt; /* index of its statement */
	uint8_t kind;
	uint8_t flags;
	uint8_t prec; /* of a binary operator, see expr.h */
};

enum stmt_kind {
	STMT_SIMPLE,
	STMT_HEADER, /* `if c`, `for (...)`: what stands before a body */
	STMT_DEF,    /* the head of a function or class */
	STMT_DECL,   /* a declaration without which names are missing */
	STMT_INERT   /* imports, directives, documentation */
};

struct stmt {
	uint32_t first, last; /* tokens, without the `;`; last >= first */
	uint8_t kind;
};

struct region { /* a function: the body's lines and its head's */
	char name[64];
	uint32_t first_line, last_line;
	uint32_t first_tok, last_tok; /* first: the first after its head */
};

struct source {
	char *path;
	char *text; /* NUL-terminated */
	size_t len;
	enum token_dialect dialect;
	const char *comments; /* language.h */
	bool lines;           /* language.h */
	struct token *tok;
	size_t n_tok;
	uint32_t *line_off; /* n_line + 1 offsets; the last is len + 1 */
	size_t n_line;
	struct stmt *stmt;
	size_t n_stmt;
	struct region *region; /* by first token; inner ones come later */
	size_t n_region;
};

/* By the extension of path, else by the #! line at the start of text. */
enum token_dialect dialect_of(const char *path, const char *text, size_t len);

/* NULL when the dialect is unknown or the text is too long or binary. */
struct source *source_create(const char *path, const char *text, size_t len);
void source_free(struct source *s);

/* Any index is allowed: false beyond the end. */
bool tok_is(const struct source *s, size_t i, const char *text);
bool tok_same(const struct source *s, size_t i, size_t j);
bool tok_kind(const struct source *s, size_t i, enum tok_kind kind);
bool tok_flag(const struct source *s, size_t i, enum tok_flag flag);
/* One of the words in list, which are parted by single blanks. */
bool tok_in(const struct source *s, size_t i, const char *list);

/* 1-based line of an offset. */
uint32_t source_line(const struct source *s, size_t off);
/* The bytes of a line without its newline. */
const char *source_line_text(
    const struct source *s, uint32_t line, size_t *ret_len);
/* Index of the innermost function around a token or line, or -1. */
int source_region(const struct source *s, uint32_t line);

/* For the parts of the tokenizer only. */
struct lexer {
	struct source *s;
	size_t pos, end;
	size_t size;    /* tokens allocated */
	unsigned depth; /* nesting of templates */
	int paren;      /* open ( and [, in Python { too */
	uint32_t line;
	size_t here; /* shell: where the delimiter of a here-document is */
	size_t here_len;
	bool full;
};
bool lex_add(struct lexer *lx, enum tok_kind kind, size_t from, size_t to,
    unsigned flags);
void lex_move(struct lexer *lx, size_t pos);
void lex_token(struct lexer *lx); /* one token, or blanks, at pos */
void lex_shell(struct lexer *lx);
void source_statements(struct source *s); /* stmt.c */
void source_regions(struct source *s);    /* region.c */
void source_precedence(struct source *s); /* expr.c */

#endif
