/* shell_priv.h - what the shell_*.c files share; for nobody else. */
#ifndef SANDBOX_POLICY_SHELL_PRIV_H
#define SANDBOX_POLICY_SHELL_PRIV_H

#include "sandbox/policy/shell.h"

/* A here-document whose body comes after the line. */
struct sh_pending {
	char *delim;
	size_t delim_len;
	bool literal;      /* the delimiter was quoted */
	bool tabs;         /* <<-: leading tabs go */
	size_t cmd, redir; /* whose body it is */
};

struct sh_parser {
	struct sh_script *out;
	const char *s;
	size_t len, at;
	unsigned depth;
	bool failed;
	bool piped; /* commands here have a pipe for standard input */
	struct sh_pending pending[16];
	size_t n_pending;
	size_t base_pending; /* of them: those of the text around this one */
	size_t steps;        /* what was done so far: nothing may take long */
};

/* shell_arena.c */
void *sh_alloc(struct sh_script *s, size_t size); /* zeroed */
char *sh_dup(struct sh_script *s, const char *p, size_t len);
/* Room for one more of size bytes in an array that the arena holds. */
void *sh_grow(struct sh_script *s, void *array, size_t n, size_t size);

/* shell_word.c: from p->at. Each leaves p->failed set when it can't. */

/* Is a word here? (No blank, no operator, no end.) */
bool sh_at_word(const struct sh_parser *p);
/* Reads one word; brace expansion makes several of it. assign: NAME=(...) and
 * NAME[...]= are understood. Adds to *words. */
enum sh_place {
	SH_ARGUMENT,
	SH_PREFIX, /* assignments may stand here */
	SH_DECLARE /* arguments of declare, export, ... */
};
void sh_word(struct sh_parser *p, enum sh_place place, struct sh_word **words,
    size_t *n);
/* The same, and exactly one: of a redirection, a for loop's name. */
void sh_one_word(struct sh_parser *p, struct sh_word *ret);
/* Is it NAME=..., NAME+=... or NAME[...]=...? */
bool sh_is_assignment(const struct sh_word *w);
/* Text with expansions and no quotes: a here-document's body. */
void sh_body(
    struct sh_parser *p, const char *text, size_t len, struct sh_word *ret);
/* Arithmetic, up to the parenthesis that closes it; p->at is behind "((". True:
 * it was ended by "))", and is consumed. False: p->at is as it was. */
bool sh_arith(struct sh_parser *p);
/* [[ ... ]], from behind the first word. */
void sh_conditional(struct sh_parser *p);
/* A backslash and a newline go; returns the next character or -1, without
 * consuming it. */
int sh_peek(struct sh_parser *p);

/* shell_parse.c */
void sh_fail(struct sh_parser *p, const char *fmt, ...) printflike(2, 3);
/* A list up to the character end (')' or -1 for the end of the text), which is
 * consumed. */
void sh_list_until(struct sh_parser *p, int end);
/* Text of its own, as in backquotes. */
void sh_nested(struct sh_parser *p, const char *text, size_t len);
void sh_blanks(struct sh_parser *p); /* and comments */
void sh_newlines(struct sh_parser *p);

#endif
