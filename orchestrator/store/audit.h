/*
 * audit.h - the chain of everything that a run did, written before it is done.
 *
 * audit.jsonl has one JSON object a line:
 *	{"n":3,"prev":"<hash of line
 *2>","t":1.234,"worker":"w1","act":"command",
 *	 "subject":"...","detail":...,"verdict":"allow","hash":"<own hash>"}
 * "hash" covers the line's bytes up to it; "prev" is the "hash" of the line
 * before (64 zeros in the first). The first line of a run's chain has its id
 * besides ("run"): audit_verify() compares it with the directory's name and
 *with the one in run.db, so that another run's record does not pass for this
 *one's. The head (count and last hash) is also in run.db, so that a cut tail
 *shows. A crash can leave one line more than the head knows, or one torn line
 *at the end: both are said, neither is damage. When the chain goes on after
 *that, the torn line is taken away, and a line of its own ("act":"repair") says
 *which of the two it was.
 */
#ifndef ORCHESTRATOR_STORE_AUDIT_H
#define ORCHESTRATOR_STORE_AUDIT_H

#include "orchestrator/store/store.h"

struct audit;

int audit_open(struct store *s, struct audit **ret, struct err *e);
void audit_close(struct audit *a);
/* detail: JSON text or NULL. On return the line is in the file; an error means
 * the act must not happen. */
int audit_write(struct audit *a, double t, const char *worker, const char *act,
    const char *subject, const char *detail, const char *verdict,
    struct err *e);
uint64_t audit_lines(const struct audit *a); /* so far */

/* A chain that belongs to no run, in a directory that is made when it is
 * missing: audit.jsonl as above, "t" counting from 1970, and its head in
 * audit.head. Any number of processes may write to it at the same time: each
 * line is written under a lock, after the last one that is there. */
int audit_open_dir(const char *dir, struct audit **ret, struct err *e);
int audit_verify_dir(const char *dir, uint64_t *ret_lines, char *note,
    size_t note_size, struct err *e);

/* Check the whole chain. 0: intact, *ret_lines lines, a note ("", what a
 * crash left, or that an old chain names no run) in note; negative: e names the
 * line and what is wrong. */
int audit_verify(struct store *s, uint64_t *ret_lines, char *note,
    size_t note_size, struct err *e);

#endif
