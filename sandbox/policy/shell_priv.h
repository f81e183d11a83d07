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
	unsigned sub;
};

struct sh_parser {
	struct sh_script *out;
	const char *s;
	size_t len, at;
	unsigned depth;
	bool failed;
	bool plain;       /* as a plain sh reads it */
	unsigned sub;     /* of out->subs */
	bool substituted; /* within $(...), <(...) or >(...) */
	bool piped;       /* commands here have a pipe for standard input */
	struct sh_pending pending[16];
	size_t n_pending;
	size_t base_pending;   /* of them: those of the text around this one */
	size_t work, max_work; /* what was done so far: nothing may take long */
};

/* shell_arena.c */
void *sh_alloc(struct sh_script *s, size_t size); /* zeroed */
char *sh_dup(struct sh_script *s, const char *p, size_t len);
/* Room for one more of size bytes in an array that the arena holds. */
void *sh_grow(struct sh_script *s, void *array, size_t n, size_t size);

/* shell_draft.c: characters; -1 is the end of the text. */
int sh_ahead(const struct sh_parser *p, size_t n);
bool sh_joined(const struct sh_parser *p, size_t n); /* \ and a newline there */
/* A backslash and a newline go; the next character, not consumed. */
int sh_peek(struct sh_parser *p);
bool sh_is_meta(int c); /* ends a word; so does the end of the text */
bool sh_is_blank(int c);
bool sh_is_name_start(int c);
bool sh_is_name(int c);
/* Is a word here? (No blank, no operator, no end.) */
bool sh_at_word(const struct sh_parser *p);
/* Every way back costs the bytes that are read again, and so does every
 * expansion; false: stop. */
bool sh_step(struct sh_parser *p, size_t bytes);

/* A word in the making. */
struct sh_draft {
	char *text;
	bool *plain; /* that byte was not quoted */
	size_t n, size;
	unsigned flags;
	bool assign; /* NAME= has been read */
	char *var;   /* in the arena */
};
void sh_put(struct sh_draft *d, int c, bool plain);
/* As it stands in the text, from start to where we are. */
void sh_put_source(struct sh_parser *p, struct sh_draft *d, size_t start);
void sh_computed(
    struct sh_parser *p, struct sh_draft *d, const char *var, size_t len);
void sh_draft_clear(struct sh_draft *d);

/* shell_quote.c, shell_expand.c: from p->at, which is at what opens them. Each
 * leaves p->failed set when it can't. */
void sh_single_quote(struct sh_parser *p, struct sh_draft *d);
void sh_double_quote(struct sh_parser *p, struct sh_draft *d);
void sh_ansi_quote(struct sh_parser *p, struct sh_draft *d); /* behind the $ */
/* Text with expansions and no quotes: a here-document's body. */
void sh_body(
    struct sh_parser *p, const char *text, size_t len, struct sh_word *ret);
void sh_dollar(struct sh_parser *p, struct sh_draft *d, bool in_quotes);
void sh_backquote(struct sh_parser *p, struct sh_draft *d, bool in_quotes);
/* From behind "$(", "<(" or ">(" to behind the parenthesis. */
void sh_substitution(struct sh_parser *p);
/* One step through text whose words don't matter, only what they start. */
void sh_skim(struct sh_parser *p, bool in_quotes);

/* shell_arith.c: what was seen of arithmetic, outside of expansions. */
struct sh_math {
	bool odd;    /* quotes that can't be told: it is not to be read */
	bool quoted; /* within double quotes */
	bool names;
	bool brace;       /* one that closes */
	bool blank, meta; /* a blank; what else ends a word or a command */
};
void sh_arith_step(struct sh_parser *p, struct sh_math *m);
void sh_arith_end(struct sh_parser *p, const struct sh_math *m);
/* From behind a bracket to behind the one that closes it. */
struct sh_math sh_brackets(struct sh_parser *p);
/* Arithmetic, up to the parenthesis that closes it; p->at is behind "((". True:
 * it was ended by "))", and is consumed. False: p->at is as it was, or it
 * failed. ret_plain, or NULL: no quote was in it that can't be told. */
bool sh_arith(struct sh_parser *p, bool *ret_plain);

/* shell_brace.c: a draft becomes one word or several. */
void sh_expand_braces(
    struct sh_parser *p, struct sh_draft *d, struct sh_word **words, size_t *n);

/* shell_word.c */
enum sh_place {
	SH_ARGUMENT,
	SH_PREFIX,  /* assignments may stand here */
	SH_DECLARE, /* arguments of declare, export, ... */
	SH_ELEMENT, /* of an array: [...]= may start it */
	SH_REGEX    /* behind =~ */
};
/* Reads one word; adds to *words. */
void sh_word(struct sh_parser *p, enum sh_place place, struct sh_word **words,
    size_t *n);
/* The same, and exactly one: of a redirection, a for loop's name. */
void sh_one_word(struct sh_parser *p, struct sh_word *ret);
/* Is it NAME=..., NAME+=... or NAME[...]=...? */
bool sh_is_assignment(const struct sh_word *w);
/* [[ ... ]], from behind the first word. */
void sh_conditional(struct sh_parser *p);

/* shell_redir.c */
/* How long the descriptor before an operator is; SIZE_MAX: none starts here. */
size_t sh_redirection_at(const struct sh_parser *p);
void sh_redirection(struct sh_parser *p, size_t cmd, size_t fd_len);
/* At a newline: it is consumed, and the bodies that were waiting for it. */
void sh_newline(struct sh_parser *p);
void sh_newlines(struct sh_parser *p);
void sh_take_body(struct sh_parser *p, const struct sh_pending *h);

/* shell_parse.c */
void sh_fail(struct sh_parser *p, const char *fmt, ...) printflike(2, 3);
/* No shell would take it either. */
void sh_refuse(struct sh_parser *p, const char *what);
/* What only bash knows is here. False: it is nothing special now. */
bool sh_bash(const struct sh_parser *p);
void sh_blanks(struct sh_parser *p); /* and comments */
/* Up to one of stops, a closing parenthesis, ";;" or the end. */
void sh_list(struct sh_parser *p, const char *const *stops);
/* A list up to the character end (')' or -1 for the end of the text), which is
 * consumed. */
void sh_list_until(struct sh_parser *p, int end);
/* Text of its own, as in backquotes. */
void sh_nested(struct sh_parser *p, const char *text, size_t len);
/* A subshell begins: what is then to be put back into p->sub. */
unsigned sh_enter(struct sh_parser *p);
void sh_simple(struct sh_parser *p);
/* What a compound command redirects is an act of its own. */
void sh_compound_redirections(struct sh_parser *p);
/* An unquoted word of ordinary letters, where a reserved one may be; *ret_end
 * is behind it. */
bool sh_plain_word(
    struct sh_parser *p, char *ret, size_t size, size_t *ret_end);
bool sh_is_one_of(const char *word, const char *const *list);
bool sh_at_keyword(struct sh_parser *p, const char *const *stops);
bool sh_take_keyword(struct sh_parser *p, const char *word);
void sh_expect(struct sh_parser *p, const char *word);
void sh_add_function(struct sh_parser *p, const char *name);
void sh_function_body(struct sh_parser *p);

/* shell_compound.c: any command, a simple one too. */
void sh_command(struct sh_parser *p);

#endif
