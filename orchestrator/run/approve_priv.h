/* approve_priv.h - what approve.c and approve_watch.c share; for nobody else.
 */
#ifndef ORCHESTRATOR_RUN_APPROVE_PRIV_H
#define ORCHESTRATOR_RUN_APPROVE_PRIV_H

#include "orchestrator/monitor/rules.h"
#include "orchestrator/run/approve.h"
#include "sandbox/policy/judge.h"

#define WAITING_MAX 256 /* more is denied */

enum asked_as {
	ASKED_AUDIT, /* or a SUMMARY */
	ASKED_FETCH,
	ASKED_HOOK /* a hook asks: HOOK */
};

/* An act that waits for the person. */
struct asked {
	TAILQ_ENTRY(asked) entry;
	char *worker;
	char *act, *subject, *detail;
	char *reason;
	uint64_t seq;
	enum asked_as as;
	const struct monitor_rule *rule; /* the monitor's; NULL: of rules */
	/* SUMMARY: a copy, and who sent it; he may be gone. */
	struct msg *summary;
	struct worker of;
};

TAILQ_HEAD(asked_list, asked);

struct approvals {
	struct run *run;
	struct rules *rules;
	char *cwd, *home;
	struct judge_place where;
	struct terminal *terminal;
	enum ask_how how;
	uint64_t wait_ms;
	struct asked_list list; /* the first one is being shown */
	size_t n;
	struct strv granted; /* for this run: keys, */
	struct strv files;   /* and paths that may be written */
	char *once;          /* the fetch that was just granted */
	bool once_watched;   /* ... in spite of the monitor */
};

/* approve_words.c */
/* What is asked, for a terminal. */
void approve_words(const struct asked *q, struct buf *ret);
/* An act as it is remembered "for this run"; yours. Of a write it is the file,
 * not what is written; of candidates their check and files. Of a question: of
 * its act, or of the monitor's rule. */
char *approve_key(const char *act, const char *subject, const char *detail);
char *approve_key_of(const struct asked *q);
/* What is kept of an act's detail; yours, NULL: nothing. What would be written
 * may be a credential: it is shown, and not kept; of candidates it is a part,
 * "shown". */
char *approve_kept(const char *act, const char *detail);
/* For this run: the act; and the files that it writes, whether it makes the
 * change or tries some in copies. */
void approve_grant(struct approvals *a, const struct asked *q);
bool approve_granted(const struct approvals *a, const struct asked *q);

/* The verdict: on record, then sent. reason: NULL when nothing is against it.
 * by: who decided. */
void approve_tell(struct run *r, struct worker *w, uint64_t seq,
    const char *act, const char *subject, const char *detail, bool allow,
    const char *reason, const char *by);
/* The same, when the monitor has looked at it: it may ask, deny or end. */
void approve_decide(struct approvals *a, struct worker *w,
    const struct msg_audit *m, bool allow, const char *reason, const char *by);

/* At the end of the list; approve_next() shows the first one. */
struct asked *approve_question(struct approvals *a, const char *worker,
    uint64_t seq, const char *act, const char *subject, const char *detail,
    const char *reason, enum asked_as as);
void approve_next(struct approvals *a);
/* A summary that was held is taken, or its subtask ends without it. */
void approve_summary(
    struct approvals *a, struct asked *q, bool allow, const char *by);

#endif
