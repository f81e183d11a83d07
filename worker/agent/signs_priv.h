/* signs_priv.h - the parts of signs.c. */
#ifndef WORKER_AGENT_SIGNS_PRIV_H
#define WORKER_AGENT_SIGNS_PRIV_H

#include "common/buf.h"
#include "worker/agent/agent.h"

enum lang {
	PY = 1,
	JS = 2,
	C = 4,
	SH = 8,
	GO = 16,
	RS = 32,
	MK = 64,
	CONF = 128,
	PL = 256,
	CODE = PY | JS | C | SH | GO | RS | PL
};

enum weight {
	GRAVE,
	LIGHT,
	EXIT
};

/* A line with all words of mark (between blanks of two), in any of these
 * languages. In also stand for what is wanted besides: "?line" for a word of
 * tests (signs_has_test()) in the line, "?test" for one there or beside it,
 * "?file" for one in any line that the patch adds to the file; "?set" and
 * "?sets" for an assignment to what is another's, in the line or the file;
 * "?mock" for that word in what the patch adds to the file. */
struct rule {
	unsigned langs;
	enum weight weight;
	const char *mark, *also;
	const char *what;
};

extern const struct rule signs_rules[];
extern const size_t signs_n_rules;

#define SIGNS_FILE_MAX ((size_t)4 << 20)
#define SIGNS_SETUP_MAX 64 /* protected files looked into for a name */

/* signs_readers.c. A shell's or Python's by its first line. */
unsigned signs_lang_of_script(const char *text);
/* The protected file that reads this one (borrowed from a), or NULL. */
const char *signs_reader(const struct agent *a, int base_fd, const char *rel);
/* The test among the protected files that names a file so, whole, as in
 * "golden/total.txt" (borrowed from a), or NULL. */
const char *signs_named_by(
    const struct agent *a, int base_fd, const char *name);
/* signs_case.c: "has a case of its own for what tests/test_app.py:9 asks": the
 * protected test has what the line compares with and the literals that it, or
 * the next line, gives back; yours, or NULL. removed: lines that the patch
 * takes out; *looked: how often the tests were looked through, counted on. */
char *signs_case(const struct agent *a, int base_fd, unsigned langs,
    const char *p, size_t len, const char *next, size_t next_len,
    const struct strv *removed, size_t *looked);

/* By the file's name; 0: none. */
unsigned signs_lang(const char *rel);

bool signs_has_test(const char *s, size_t len);

/* Where the text stands: in a comment or string of several lines, or, at the
 * start of a hunk, perhaps within a comment. */
struct lexer {
	unsigned langs;
	char open; /* '*' of a comment, '`' of a string, 0 */
	bool at_start;
};

/* Adds the line without its comments and its further blanks, no newline. */
void signs_strip(struct lexer *x, const char *p, size_t len, struct buf *ret);

/* What a line does that no word says; p is stripped, raw is not. NULL: none. */
const char *signs_shell_name(const char *p, size_t len);
const char *signs_make_line(const char *raw, const char *p, size_t len);
/* signs_code.c: what code does to what is not its own, in a line; *ret is its
 * weight. ids: the patch takes an object's address, see signs_has_id(). NULL:
 * nothing. */
const char *signs_code(unsigned langs, const char *raw, size_t raw_len,
    const char *p, size_t len, bool ids, enum weight *ret);
bool signs_has_id(const char *p, size_t len); /* id(x) of Python */
/* The name that a line of C defines as a macro; its length, 0: none. */
size_t signs_macro(const char *p, size_t len, const char **ret);
/* Does the tree have a function of that name? Static ones count in rel alone.
 */
bool signs_is_function(
    int base_fd, const char *rel, const char *name, size_t len);
/* exit(x) where x may be zero. */
bool signs_is_exit(unsigned langs, const char *p, size_t len);
/* signs_equal.c. A line of no use for comparing. */
bool signs_compares_nothing(const char *p, size_t len);
/* A comparison that looks at nothing of its object but the class. head: what
 * stands before its first parameter; body: NULL: behind the ":". */
bool signs_equal(const char *def, size_t def_len, const char *head,
    const char *body, size_t len, enum weight *ret);
/* A __ne__ that is never true: in one line, or (first) its first one. */
bool signs_never_unequal(const char *p, size_t len, bool first);
/* "a.b = x", where a is neither self nor this; setattr(). */
bool signs_sets(const char *p, size_t len);

#endif
