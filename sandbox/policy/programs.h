/*
 * programs.h - what is known of programs: which of them start others, and
 * which of their options and operands run or write something. Tables alone.
 */
#ifndef SANDBOX_POLICY_PROGRAMS_H
#define SANDBOX_POLICY_PROGRAMS_H

#include "sandbox/policy/opts.h"

/* --- wrappers ------------------------------------------------------------- */

enum wrapper_kind {
	WRAP_ARGV,  /* the words behind its options are a command */
	WRAP_SHELL, /* they are joined to shell text */
	WRAP_INPUT, /* xargs: as ARGV, with words that come from its input */
	WRAP_SH     /* a shell: -c TEXT, a file, or its input */
};

enum wrapper_flags {
	WRAP_OWN = 1, /* an allow rule for the inner command is not enough */
	WRAP_POWER = 128, /* a rule must name both it and the inner command */
	WRAP_PRIV = 2,    /* another user, another machine: always ask */
	WRAP_ASSIGNS = 4, /* NAME=VALUE may stand before the command */
	WRAP_LOOKUP = 8,  /* command -v: nothing is started */
	WRAP_LISTED = 16, /* parallel: up to ":::" */
	WRAP_FIRST = 32,  /* trap: the first operand alone */
	WRAP_EACH = 64    /* each operand is a text of its own */
};

struct wrapper {
	const char *name;
	enum wrapper_kind kind;
	unsigned flags;
	unsigned skip;   /* operands before the command, behind sub */
	const char *sub; /* words that make it a wrapper, or NULL */
	const char *spec;
};

/* name: of the command word w[0], without its path. NULL: no wrapper. */
const struct wrapper *wrapper_find(
    const char *name, const struct sh_word *w, size_t n);

/* --- options and operands ------------------------------------------------- */

struct program {
	const char *name;
	const char *sub;      /* of git, npm and so on; NULL: any */
	const char *operands; /* which are files: see below; NULL: none */
	const char *spec;
};
/* operands: "w" all are written, "x" all go or are replaced, with what is in
 * them, "w-1" all but the first, "w-2" all but two, "w1" the first, "w2" the
 * second, "wl" the last; "wb": so is what is in them, "wi": where an option
 * says so, else read; "r" all are read, "r-1" all but the first, "r1" the
 * first; "rw1": all are, and the first is written; "rwl": the last is written,
 * the others are read; "rw2": the second is written; "wr": all are both, and
 * may lose a suffix; "w+", "r+": "+x" is a command of its own; "sed", "awk":
 * the first is a script; "c": the first is code of an interpreter; "i": the
 * first is a script, "ii": and the others are files, where the code is in an
 * option; "db": the first is both, the others are commands; "zip": the first is
 * written, the others are read; "pack": with what is in them; "to": to the
 * last, from the others; "unpack": it unpacks, "into": to the second; "here":
 * what is in the directory is written; "url": files are named by what is
 * fetched; "names": files go, under names that the first makes; "any", "patch":
 * what the input names is written. */

/* The rows are in two files: those of one name in one of them. */
extern const struct program programs_archive[];
extern const size_t programs_archive_n;

/* Options of what packs one file in its place. */
#define PROGRAM_PACKER \
	"c=N k=F l=N t=N --stdout=N --to-stdout=N --list=N --test=N T=A"

/* The name that the tables have for it. */
const char *program_alias(const char *name);
const struct program *program_find(const char *name, const char *sub);

/* Options that stand before a subcommand ("git -C dir status"); NULL: the
 * program has none. */
const char *program_globals(const char *name);

/* What comes of the k-th operand, from 0, of n. */
enum program_use {
	USE_READ = 1,
	USE_WRITE = 2,
	USE_REMOVE = 4,
	USE_BELOW = 8,   /* also of what is in it */
	USE_INPLACE = 16 /* only where an option says so */
};

unsigned program_use(const char *operands, size_t k, size_t n);

/* --- names ---------------------------------------------------------------- */

/* Does a variable of this name change which programs run? */
bool name_is_dangerous(const char *name, size_t len);
/* Does a git setting with this key name a program, or let one run? */
bool git_key_runs(const char *key);
/* Does code of this interpreter start programs, as far as its words tell? */
bool code_starts(const char *program, const char *code);
/* Is the program an interpreter whose option -c or -e code_starts() knows? */
bool is_interpreter(const char *name);

#endif
