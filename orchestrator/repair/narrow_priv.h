/* narrow_priv.h - what the narrow_*.c files share; for nobody else. */
#ifndef REPAIR_NARROW_PRIV_H
#define REPAIR_NARROW_PRIV_H

#include "common/buf.h"
#include "orchestrator/repair/narrow.h"
#include "sandbox/policy/opts.h"

/* Letters of opts.h that mean something of their own here: with such an option
 * nothing is narrowed; such an option, with its value, is left out. */
#define NARROW_NEVER OPT_SHELL
#define NARROW_DROP OPT_WRITE
#define NARROW_DROP_FLAG OPT_DRY

struct narrow {
	/* What is given. */
	const struct sh_word *w; /* w[0] is the runner: its arguments follow */
	size_t n;
	const struct strv *failing;
	const char *output;
	bool files; /* their files rather than them alone */
	/* What comes out. */
	bool *drop;         /* of n words */
	size_t split;       /* options are put before this word */
	struct strv before; /* options */
	struct strv after;  /* operands, behind everything */
};

/* One runner; false: it can't be done. */
typedef bool narrow_fn(struct narrow *);

/*
 * Goes through the words by a table of opts.h. An option that it does not list
 * is one that takes no value, as far as can be seen; where a word follows that
 * might be its value nothing is certain. Operands are left out when drop is
 * set. False: nothing is to be narrowed.
 */
bool narrow_options(struct narrow *x, const char *spec, bool drop);
/* The same for words [from, to) alone, as if word 0 stood before them. */
bool narrow_span(
    struct narrow *x, const char *spec, size_t from, size_t to, bool drop);
/* The words of all failing tests, each once: one makes a word of a name, or
 * NULL when it can't. False: there are none, or too many. */
bool narrow_names(struct narrow *x,
    char *(*one)(const struct narrow *, const char *), size_t max,
    struct strv *ret);
/* A name that was neither cut nor damaged and has no control characters. */
bool narrow_is_clean(const char *name);
/* Does s consist of word characters (letters, digits, "_", all beyond ASCII)
 * and those of more? */
bool narrow_is_word(const char *s, size_t len, const char *more);
/* Append s so that it means itself in a regular expression. */
void narrow_escape(struct buf *b, const char *s, size_t len);
/* "one", or "(one|two)" of several; before and after go around it. */
char *narrow_choice(
    const char *before, const struct strv *list, const char *after);

/* narrow_python.c */
narrow_fn narrow_pytest, narrow_unittest, narrow_script, narrow_django;
/* narrow_js.c */
narrow_fn narrow_node, narrow_jest, narrow_vitest, narrow_mocha;
/* narrow_other.c */
narrow_fn narrow_go, narrow_cargo, narrow_ctest, narrow_prove;

#endif
