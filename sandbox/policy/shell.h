/*
 * shell.h - reads a command as bash would, without running anything.
 *
 * What comes out is flat: every simple command of the text, wherever it stands
 * (lists, pipelines, groups, loops, functions, substitutions in words, in
 * here-documents and in arithmetic), with its words after quote removal. The
 * reader is conservative: what it can't make sense of ends it with an error,
 * and what depends on values that are known only when it runs is marked
 * SH_COMPUTED. Source of the grammar: the POSIX shell command language (IEEE
 * Std 1003.1, XCU 2) and the reference manual of bash 5. A plain sh, which has
 * only what the former says, finds other commands in some texts (s->bash_only):
 * sh_parse_plain() reads as it does.
 *
 *	struct sh_script *s = sh_parse(text, len);
 *	for (i = 0; i < s->n; i++) ... s->cmds[i] ...
 *	if (s->error[0] != '\0') ... it goes on in a way that can't be told
 *	sh_free(s);
 */
#ifndef SANDBOX_POLICY_SHELL_H
#define SANDBOX_POLICY_SHELL_H

#include "common/compat.h"

/* Longer texts and deeper nesting are errors. */
#define SH_MAX_BYTES ((size_t)256 << 10)
#define SH_MAX_DEPTH 600
#define SH_MAX_COMMANDS 20000
/* Work for a text of that many bytes, in bytes that are looked at once more.
 * Ways back nest, and so would double with each level. */
#define SH_MAX_WORK(len) (((size_t)64 << 10) + 32 * (size_t)(len))

enum sh_word_flags {
	SH_COMPUTED = 1, /* holds an expansion: its value is not known */
	SH_QUOTED = 2,   /* some part was quoted */
	SH_GLOB = 4,     /* file names take its place */
	SH_TILDE = 8,    /* begins with an unquoted ~ */
	SH_ASSIGN = 16   /* NAME=, NAME+= or NAME[...]=, unquoted */
};

struct sh_word {
	char *text; /* after quote removal; expansions stand as written */
	size_t len;
	unsigned flags;
	char *var; /* the first variable it depends on, or NULL */
};

enum sh_op {
	SH_IN,        /* <     */
	SH_OUT,       /* >  >| */
	SH_APPEND,    /* >>    */
	SH_RDWR,      /* <>    */
	SH_BOTH,      /* &>  &>>  >&WORD that is no descriptor */
	SH_DUP,       /* <&N  >&N  N>&- */
	SH_HEREDOC,   /* <<  <<- */
	SH_HERESTRING /* <<<  */
};

#define SH_FD_NAMED 10 /* {NAME}<: bash takes one from there on */

struct sh_redir {
	enum sh_op op;
	int fd;                /* -1: the default of op; 0 of a bare <& */
	struct sh_word target; /* of HEREDOC: the body */
};

struct sh_cmd {
	struct sh_word *words; /* may be none: assignments or redirections */
	size_t n_words;
	struct sh_word *assigns; /* NAME=value, before the first word */
	size_t n_assigns;
	struct sh_redir *redirs;
	size_t n_redirs;
	const char *src; /* in the text that was read, or a copy of it */
	size_t src_len;
	unsigned sub; /* the subshell that it is in, of sh_script.subs */
	bool piped;   /* its standard input is a pipe */
};

struct sh_script {
	struct sh_cmd *cmds;
	size_t n;
	/* Subshells and substitutions: the one that each is in, in the order in
	 * which they begin. 0 is the shell itself. */
	unsigned *subs;
	size_t n_subs;
	char **functions; /* names that the text defines */
	size_t n_functions;
	char error[200]; /* "" when all was read */
	/* Arithmetic, ${x@P} and the like may run what a variable holds. */
	bool evaluates;
	bool bash_only; /* something in it is nothing special to a plain sh */
	bool refused;   /* error: it is one of syntax, and nothing runs */
	size_t work;    /* what reading it took, of SH_MAX_WORK */
	struct sh_arena *arena; /* all of it is in here */
};

/* Never NULL; dies only when memory is out. text need not end in NUL. */
struct sh_script *sh_parse(const char *text, size_t len);
struct sh_script *sh_parse_plain(const char *text, size_t len);
void sh_free(struct sh_script *s);

#endif
