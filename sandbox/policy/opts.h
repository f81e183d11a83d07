/*
 * opts.h - walks the words of a command as getopt_long(3) would, by a table in
 * a string: which options take a value, and what comes of them.
 *
 *	"o=W k=A --output=W --compress-program=R -exec=R"
 *
 * A token is an option and its kind: a letter alone is a short option, "-name"
 * a long one with one dash, "--name" with two. Options that are not listed are
 * harmless and take no value. Long options are found by any beginning of
 * their names, since many programs accept that. A table that begins with "+"
 * is of a program whose options end at its first operand.
 */
#ifndef SANDBOX_POLICY_OPTS_H
#define SANDBOX_POLICY_OPTS_H

#include "sandbox/policy/shell.h"

enum opt_kind {
	OPT_OPERAND = 'o',
	OPT_COMPUTED = '?',  /* an operand that may turn out to be an option */
	OPT_FLAG = 'F',      /* harmless */
	OPT_VALUE = 'A',     /* takes a value, harmless */
	OPT_MAYBE = 'O',     /* takes what is attached to it, harmless */
	OPT_NUMBER = 'V',    /* takes a number that is attached to it */
	OPT_MAYBE_RUN = 'M', /* what is attached to it is a command */
	OPT_POWER = 'P',     /* more than the program's name promises */
	OPT_POWER_VALUE = 'Q',
	OPT_RUN = 'R',     /* its value is a command */
	OPT_WRITE = 'W',   /* its value is a file that is written */
	OPT_READ = 'L',    /* and one that is read */
	OPT_READ_AT = 'T', /* a file that is read is in it, behind a '@' */
	OPT_INTO = 'U', /* its value is a directory that files are put into */
	OPT_DIR = 'K',  /* and one that it goes to first */
	OPT_ASK = 'B',  /* the built-in rules ask */
	OPT_ASK_VALUE = 'C',
	OPT_DRY = 'N',     /* the others of kind B do nothing then */
	OPT_SCRIPT = 'S',  /* sed, awk */
	OPT_CODE = 'E',    /* of an interpreter */
	OPT_IMPORT = 'J',  /* a module's name, or code behind one */
	OPT_SHELL = 'X',   /* its value is shell text */
	OPT_CONFIG = 'G',  /* git: KEY=VALUE */
	OPT_INPLACE = 'I', /* operands are written; may have a value attached */
	OPT_REST = 'D',    /* the words behind it are a command */
	OPT_LAST = 'Z'     /* its value, and then operands alone */
};

struct opt {
	enum opt_kind kind;
	size_t at;        /* its word; of an operand: that */
	char letter;      /* of a short option, else NUL */
	const char *name; /* as the table has it; "": not listed */
	size_t name_len;
	struct sh_word value; /* of an option that takes one, and operands */
	bool has_value;
};

struct opts {
	const char *spec;
	const struct sh_word *w;
	size_t n, i;
	const char *cluster; /* within "-abc" */
	size_t cluster_at;
	bool operands; /* no options from here on */
};

/* opts_word.c: may an operand turn out to be an option when it is expanded? Not
 * "<(...)", which is a name below /dev, nor what begins with a directory. */
bool word_may_be_option(const struct sh_word *w);

/* w[0] is the program; begins behind it. */
void opts_begin(
    struct opts *o, const char *spec, const struct sh_word *w, size_t n);
bool opts_next(struct opts *o, struct opt *ret);
/* Does the table list an option of one of these kinds? */
bool opts_has(const char *spec, const char *kinds);

/* Is the word, or a part of a cluster, this option ("-n", "--no-verify")? For
 * options that a person names; spec says what takes a value (may be ""). The
 * index of the word, 0: not there. */
size_t opts_find(
    const char *spec, const struct sh_word *w, size_t n, const char *option);

#endif
