/*
 * canary.h - does a test whose exit status is all that it says come to its end,
 * and can it fail there?
 *
 * A test file that is a script or a program by itself (Python, JavaScript, C,
 * shell) gets a statement at its end that must fail, by the file's own asserts
 * where it has them, with a word in the output that nobody could know. The end
 * is before the last statement, where a harness may end the process; files that
 * may end it elsewhere without a failure get it behind their imports. An end
 * that is not reached says nothing against a patch that has nothing to do with
 * ends.
 */
#ifndef WORKER_AGENT_CANARY_H
#define WORKER_AGENT_CANARY_H

#include "worker/agent/testrun.h"

enum canary_place {
	CANARY_END,
	CANARY_HEAD /* behind the imports */
};

struct canaries {
	struct strv files; /* below root */
	struct strv tokens;
	bool named; /* the commands name these files */
};

/* The test files that commands name, else all of them, up to a limit; those of
 * runners, to which tests can be added, are none. false: there is none. */
bool canary_find(const struct agent *a, int base_fd, struct canaries *ret);
/* Into the files as the base has them, with new words. Files that can't hold
 * one are dropped. */
void canary_plant(
    struct agent *a, int base_fd, enum canary_place where, struct canaries *c);
/* How many failed as they must; drop: those are taken out. */
size_t canary_seen(struct canaries *c, const struct test_run *t, bool drop);
void canary_clear(struct canaries *c);
/* Does a line that the patch adds have a word of what ends or replaces a
 * process, or hides one that does? Generous: it says where to look. */
bool canary_may_end(const char *patch, size_t len);
/* Does a line that the patch adds have one of the words? NULL ends them. */
bool canary_adds(const char *patch, size_t len, const char *const *words);

/* canary_place.c: where to put it into text, a file of that name. */
enum canary_lang {
	CANARY_NONE,
	CANARY_PY,
	CANARY_JS,
	CANARY_C,
	CANARY_SH
};
enum canary_lang canary_lang(const char *rel, const char *text);
/* false: there is no such place. */
bool canary_place(enum canary_lang lang, const char *text,
    enum canary_place where, size_t *ret);
/* The statement, appended; "@" stands for the word. */
void canary_text(enum canary_lang lang, const char *text, struct buf *ret);

#endif
