/* judge_priv.h - what the judge_*.c files share; for nobody else. */
#ifndef SANDBOX_POLICY_JUDGE_PRIV_H
#define SANDBOX_POLICY_JUDGE_PRIV_H

#include "sandbox/policy/judge.h"
#include "sandbox/policy/opts.h"
#include "sandbox/policy/programs.h"

#define JUDGE_DEPTH 12  /* of texts and commands in others */
#define JUDGE_LEVELS 16 /* wrappers before one command */
#define JUDGE_DIRS 8
#define JUDGE_FINDINGS 8
#define UNSPELLED SIZE_MAX
/* Pairs of characters of names with wildcards and rules: some 50 ms. */
#define GLOBS_MAX ((size_t)1 << 22)

struct judge {
	const struct rules *rules;
	const struct judge_place *where;
	struct verdict *out;
	unsigned depth;
	/* Where a command may be when it runs. */
	struct strv dirs;
	bool dir_unknown;
	bool moved; /* the text that was judged last changed its directory */
	/* Of the text that is judged. */
	const char *text, *whole; /* whole: the outermost */
	const struct sh_script *script;
	bool linear; /* each command runs in the shell itself, in order */
	bool fed;    /* a group of commands has a here-document */
	bool functions_hold; /* calls of its functions are such calls */
	bool home_unknown;   /* HOME is set: "~" is anywhere */
	bool cd_unknown;     /* CDPATH is, or cdable_vars */
	bool pwd_unknown;    /* PWD is */
	bool posix;          /* only a plain sh reads it so: judge_posix.c */
	bool plain;          /* it is to read the next text */
	unsigned n_posix;
	size_t work, max_work; /* of reading, so far (SH_MAX_WORK) */
	size_t checks;         /* judge_afford() */
	size_t globs;          /* left of GLOBS_MAX */
	bool only_blocks;      /* what is inside needs no allow rule */
	bool only_known;       /* and what is computed in it is let be */
	bool evaluates; /* something of any text runs what is in a name */
	bool holds;     /* and a variable holds a command */
	struct sh_word history; /* the file of HISTFILE=, or no text */
	const char *tainted;    /* a variable that changes what runs, or NULL */
	struct strv kept;       /* strings that words point into */
	struct strv written;    /* names and texts of scripts, in turn */
	struct sh_word **arrays;
	size_t n_arrays;
};

enum finding_kind {
	FIND_POWER,  /* no star covers it */
	FIND_OPAQUE, /* what runs can't be told */
	FIND_ASK     /* the built-in rules ask */
};

struct finding {
	enum finding_kind kind;
	size_t at; /* its word, or UNSPELLED: no rule can name it */
	char what[160];
};

/* A simple command while it is judged. */
struct piece {
	struct judge *j;
	const char *src;
	size_t src_len;
	const struct sh_cmd *cmd; /* its redirections; NULL: it is started */
	const struct sh_word *w;
	size_t n;
	size_t levels[JUDGE_LEVELS]; /* where commands begin in w */
	size_t n_levels;
	size_t off;   /* the innermost */
	size_t shift; /* of it: words of global options behind the name */
	struct finding f[JUDGE_FINDINGS];
	size_t n_f;
	bool needs_cover;
	struct strv dirs; /* the judge's before -C, when chdir is set */
	bool chdir, dir_unknown;
	const char *taint; /* a variable that is set for it, or NULL */
	/* The strictest so far. */
	enum ruling ruling;
	const char *rule;
	enum rule_layer layer;
	char why[400];
};

struct call;

/* judge.c */
void judge_text(struct judge *j, const char *text, size_t len);
void judge_argv(
    struct piece *outer, const struct sh_word *w, size_t n, bool needs_cover);
void judge_part(struct judge *j, const char *src, size_t len,
    enum ruling ruling, const char *rule, enum rule_layer layer,
    const char *why);
/* Room for n words, freed with the judge. */
struct sh_word *judge_words(struct judge *j, size_t n);
const char *judge_keep(struct judge *j, char *s); /* takes s */

/* judge_ahead.c: before the commands of j->script are judged. */
void judge_ahead(struct judge *j, const char *text, size_t len);
/* Is the word at that place a call of a function that the text has defined by
 * then? */
bool judge_defined(
    struct judge *j, const char *name, const char *src, size_t src_len);
/* The word behind "command" and "builtin"; is it this one? */
size_t judge_first(const struct sh_cmd *c);
bool judge_calls(const struct sh_cmd *c, const char *name);
/* A variable of this name is set. */
void judge_set(struct judge *j, const char *name, size_t len);
/* A new name for a command: not followed where it is used. */
void judge_alias(struct piece *p, const struct sh_word *w);
/* What runs can't be told, where there are rules that it may be against. */
void judge_vague(struct judge *j, const char *src, size_t len, const char *why);

/* judge_evaluated.c: text that arithmetic and the like may run. */
void judge_evaluated(struct judge *j, const char *text, size_t len);
/* It names the file of the history. */
void judge_history(struct judge *j, const struct sh_cmd *c);
/* The shell's own, of piece_special(). */
bool special_complete(const struct call *c);
bool special_fc(const struct call *c);
bool special_history(const struct call *c);

/* judge_posix.c: once more, where a plain sh finds other commands in the text
 * than bash. */
void judge_posix(struct judge *j, const char *text, size_t len);
/* In that reading: is it no command, as far as can be told? */
bool posix_is_none(struct piece *p);

/* judge_piece.c: all words of a piece, from its first command on. */
void piece_judge(struct piece *p);
void piece_found(struct piece *p, enum finding_kind kind, size_t at,
    const char *fmt, ...) printflike(4, 5);
void piece_raise(struct piece *p, enum ruling v, const char *rule,
    enum rule_layer layer, const char *fmt, ...) printflike(5, 6);
/* A variable that changes what runs is set. */
void piece_taint(struct piece *p, const char *name, size_t at);

/* "git -C DIR", "env -C DIR": for this piece alone. */
void piece_chdir(struct piece *p, const struct sh_word *dir, bool replace);

/* judge_peel.c */
/* A command that an option or an alias names: rules must not block it. */
void piece_named(struct piece *p, const char *text, size_t at);
/* judge_wrap.c. True: another command begins at p->off. False: nothing more is
 * inside; what is left is judged by itself when p->needs_cover is still set. */
bool piece_peel(struct piece *p, const struct wrapper *wr);
bool piece_has_input(const struct piece *p);
/* Which of its descriptors the word names ("-", "/dev/fd/3"), or -1. */
int piece_descriptor(const struct piece *p, const struct sh_word *w);
/* The redirection that *fd comes from, NULL: none of its own; *fd is then the
 * one that it is a copy of. */
const struct sh_redir *piece_redir(const struct piece *p, int *fd);
/* A file that a shell runs before all else. */
void piece_startup(struct piece *p, const struct sh_word *file, size_t at);
/* Its input is shell text. True: that was there to be judged. */
bool piece_input(struct piece *p, int fd);
/* Shell text that it runs. computed: parts of it are not known. */
void piece_text(struct piece *p, const char *text, bool computed,
    const char *var, size_t at);
/* The same of words, joined by blanks. */
void piece_words(struct piece *p, const struct sh_word *w, size_t n, size_t at);
/* A shell. True: what it runs is told by its parts. */
bool piece_shell(struct piece *p, const struct sh_word *w, size_t n);
/* judge_env.c: does the assignment change what runs? Its name into name. */
void assign_command(struct piece *p, const struct sh_word *w);
void assign_for_all(
    struct judge *j, const struct sh_cmd *c, const struct sh_word *w);
bool assign_is_dangerous(const char *text, char *name, size_t size);

/* judge_program.c: options and operands of the innermost command. */
void piece_program(struct piece *p, const char *name);

/* A call of a program that has a grammar of its own. */
struct call {
	struct piece *p;
	const char *name;
	const struct sh_word *w;
	size_t n;
};

/* The word of the piece that is its i-th. */
static inline size_t
call_place(const struct call *c, size_t i)
{
	return c->p->off + (i == 0 ? 0 : i + c->p->shift);
}

/* A program's words without global options, and back to the piece's. */
struct view {
	struct piece *p;
	const struct sh_word *w;
	size_t n;
	const struct program *prog;
	bool dry, inplace, scripted, coded, module, recursive, fetches, unnamed;
	bool writes;            /* its code does, as far as its words tell */
	bool hidden;            /* it also looks at what is hidden or ignored */
	bool narrowed, widened; /* at names alone that no rule is against */
	struct sh_word into;    /* where files are put; none: here */
	struct finding asks[4]; /* undone by --dry-run */
	size_t n_asks;
	size_t shift; /* words before those of a python module */
};

static inline size_t
view_place(const struct view *v, size_t i)
{
	return v->p->off + (i == 0 ? 0 : i + v->p->shift + v->shift);
}

/* Options and operands by the row v->prog. */
void view_judge(struct view *v);

/* judge_operand.c */
void view_operands(
    struct view *v, const struct sh_word *w, const size_t *at, size_t n);
void view_script(
    struct view *v, const struct sh_word *text, size_t at, bool sed);
/* python -m NAME ..., from the word behind the name */
void view_module(struct view *v, const struct sh_word *name, size_t from);
void view_read_at(struct view *v, const struct opt *t);

/* judge_search.c: grep and its like. */
void view_search_option(struct view *v, const struct opt *t);
void view_search(struct view *v, const struct sh_word *w, size_t n);

/* judge_code.c: code of interpreters, and the files that it names. */
void view_code(struct view *v, const struct sh_word *w, size_t at);
/* The same, of a module that is loaded first. */
void view_import(struct view *v, const struct sh_word *w, size_t at);
/* In code that may write, each string may name a file, and one with blanks be
 * a command where it may start some. True: it may write. */
bool code_files(struct piece *p, const char *name, const char *code);
/* Commands of sqlite3 that open other files. */
void code_database(struct piece *p, const char *text);
/* Text that comes through a pipe: it stands somewhere in the whole. */
void code_piped(struct piece *p, const char *name);

/* judge_written.c: what the text writes itself, noted before it is judged. */
void judge_written_ahead(struct judge *j, const struct sh_script *s);
/* The text of that file, NULL: not known. */
const char *judge_written(const struct judge *j, const struct sh_word *file);
/* It is run: as far as its text is known, for what blocks it. */
void piece_written(struct piece *p, const struct sh_word *file, size_t at);
/* The same of an interpreter's script: the files that its strings name. */
void view_written(struct view *v, const struct sh_word *file);
/* TMPDIR=DIR */
void piece_tmpdir(struct piece *p, const struct sh_word *w);
bool special_mktemp(const struct call *c);
bool special_java(const struct call *c);
bool special_pytest(const struct call *c);
bool special_cargo(const struct call *c);
bool special_gdb(const struct call *c);
void git_others(const struct call *c);
/* judge_lost.c: work is thrown away. */
void git_lost(const struct call *c);

/* judge_made.c: files that programs name by themselves. */
/* Which one is not known: as strict as any. */
void judge_some(struct piece *p, enum rule_about about, const char *what);
/* What may be put into a directory, or is in it. */
void judge_into(
    struct piece *p, enum rule_about about, const struct sh_word *dir);
void view_fetch_option(struct view *v, const struct opt *t);
void view_fetched(struct view *v, const struct sh_word *url);
void view_local(struct view *v, const struct sh_word *url);
void view_made(struct view *v, const struct sh_word *w);
/* judge_build.c: options of builders and test runners. */
void piece_builds(
    struct piece *p, const char *name, const struct sh_word *w, size_t n);
/* Does a variable of flags for a compiler let it run something? */
bool flags_run(const char *name, const char *value);
/* judge_named.c: a program may read what it is given, with operands: where
 * nothing is known of those; else by what its options are called. */
void piece_may_read(struct piece *p, const char *name, const struct sh_word *w,
    size_t n, bool operands);
/* Nothing is known of it: is it given a command that a rule is against? */
void piece_may_run(
    struct piece *p, const char *name, const struct sh_word *w, size_t n);
void piece_unlisted(
    struct piece *p, const char *name, const struct sh_word *w, size_t n);

/* judge_git.c, judge_archive.c: of piece_special(). */
bool special_git(const struct call *c);
bool special_tar(const struct call *c);
bool special_ar(const struct call *c);
bool special_cpio(const struct call *c);
bool special_pax(const struct call *c);
bool special_mount(const struct call *c);
bool special_container(const struct call *c);
/* judge_names.c: names with wildcards that find gives to its action, the word
 * at end; room for as many as it has words. 0: they are not known. */
size_t find_names(const struct call *c, size_t end, struct sh_word *ret);
/* The same of what comes through the pipe. */
size_t piped_names(struct piece *p, struct sh_word **ret);
/* judge_special.c: programs with a grammar of their own. True: all is said. */
bool piece_special(
    struct piece *p, const char *name, const struct sh_word *w, size_t n);
/* judge_relay.c: commands of vi that write. */
void piece_editor(struct piece *p, const char *text);
/* Likewise, programs that hand text to others. */
bool piece_relay(
    struct piece *p, const char *name, const struct sh_word *w, size_t n);
void piece_git_config(struct piece *p, const struct sh_word *value, size_t at);

/* May so many rules be compared? What a model wrote times what a repository has
 * of rules must not hold up a run: at the limit (some 50 ms) it is asked about,
 * and nothing more is compared. */
#define CHECKS_MAX ((size_t)1 << 16)
bool judge_afford(struct judge *j, size_t rules, const char *src, size_t len);

/* The same for reading n bytes of the text once more. */
static inline bool
judge_spend(struct judge *j, size_t n)
{
	j->work += n;
	return j->work <= j->max_work;
}

/* judge_path.c */
void judge_write(
    struct judge *j, const struct sh_word *target, const char *src, size_t len);
/* It goes, and all that is in it. */
void judge_remove(
    struct judge *j, const struct sh_word *target, const char *src, size_t len);
void judge_read(
    struct judge *j, const struct sh_word *target, const char *src, size_t len);
/* How far it goes. */
enum reach {
	REACH_TREE = 1,  /* all that is in it, too */
	REACH_BELOW = 2, /* what is in it is asked about at most */
	REACH_MAYBE = 4, /* so is all of it */
	REACH_ANY = 8, /* rules for any directory may be about what is in it */
	REACH_WHOLE = 16, /* they are where it is the whole workspace */
	REACH_RULES = 32  /* rules alone, no defaults for a side of the wall */
};
void judge_reach(struct judge *j, enum rule_about about, unsigned how,
    const struct sh_word *target, const char *src, size_t len);
/* Does a rule of that kind speak of it? Read covers grep too. */
bool judge_speaks(const struct rule *x, enum rule_about about);
/* judge_glob.c: may a name with wildcards be one that rules are against? */
bool judge_may_meet(struct judge *j, enum rule_about about, unsigned how,
    const struct sh_word *w, const char *cwd);
void judge_cd(struct judge *j, const struct sh_word *dir, bool replace);
/* A clean absolute path; yours. */
char *judge_path(const char *text, bool tilde, const char *cwd,
    const struct judge_place *where);
enum ruling judge_file(const struct rules *r, enum rule_about about,
    const char *path, const struct judge_place *where, bool tool,
    const char **rule, enum rule_layer *layer);

/* judge_transfer.c: cp, mv, ln and their like. */
struct transfer {
	struct piece *p;
	const char *name;
	struct sh_word target; /* of -t */
	bool has_target, recursive, no_dir, parents, makes_dirs;
	bool links, symbolic, relative, moves;
};
/* w: the option's word */
void transfer_option(
    struct transfer *t, const struct opt *o, const struct sh_word *w);
/* "a.c" hardly is a directory, "lib" may be one. */
bool transfer_may_be_dir(const char *name);
void transfer_judge(struct transfer *t, const struct sh_word *w, size_t n);

/* judge_script.c: programs in the languages of sed and awk. */
enum script_does {
	SCRIPT_RUNS = 1,
	SCRIPT_WRITES = 2, /* where is not known */
	SCRIPT_UNREAD = 4, /* it could not be read */
	SCRIPT_READS = 8   /* what is not known */
};
/* Files that it names for writing and for reading. */
struct script_files {
	struct strv writes, reads;
};
unsigned script_sed(const char *s, struct script_files *files);
unsigned script_awk(const char *s, struct script_files *files);

#endif
