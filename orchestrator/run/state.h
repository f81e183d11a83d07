/*
 * state.h - what a run is made of while it runs; private to run/.
 *
 * A run goes through phases. Work is a list of subtasks: `baseline` first, with
 * green tests and a task `reproduce` and `confirm` (reproduce.h), before a paid
 * model a pass of the built-in one (pass.h), then `plan`, which yields one
 * `explore` a hypothesis; each explore that says "fixed" yields a `verify`. A
 * subtask is tried in numbered attempts, each by a worker of its own; its first
 * summary counts. sched.c gives subtasks to free slots, results.c takes
 * summaries, run.c begins and ends.
 */
#ifndef ORCHESTRATOR_RUN_STATE_H
#define ORCHESTRATOR_RUN_STATE_H

#include <sys/queue.h>
#include <sys/tree.h>

#include "common/loop.h"
#include "orchestrator/gateway/gateway.h"
#include "orchestrator/gateway/http.h"
#include "orchestrator/gateway/model.h"
#include "orchestrator/run/fleet.h"
#include "orchestrator/run/hosts.h"
#include "orchestrator/run/lease.h"
#include "orchestrator/run/limits.h"
#include "orchestrator/run/pace.h"
#include "orchestrator/run/reproducer.h"
#include "orchestrator/run/run.h"
#include "orchestrator/store/audit.h"
#include "orchestrator/store/store.h"
#include "orchestrator/view/plain.h"
#include "sandbox/profile_def.h"
#include "sandbox/snapshot.h"

enum phase {
	PHASE_START,
	PHASE_BASELINE,
	PHASE_PLAN,
	PHASE_EXPLORE,
	PHASE_END
};

enum kind {
	KIND_BASELINE,
	KIND_PLAN,
	KIND_EXPLORE,
	KIND_VERIFY,
	KIND_REPRODUCE,
	KIND_CONFIRM,
	KIND_REVIEW,
	KIND_TOOL
};

enum subtask_state {
	SUBTASK_WAITING,
	SUBTASK_RUNNING,
	SUBTASK_DONE,
	SUBTASK_FAILED
};

#define SUBTASK_ID 33 /* 32 hex digits and NUL */
#define MAX_ATTEMPTS 3
#define MAX_TURNS 300 /* of a worker of a paid model */

struct subtask {
	TAILQ_ENTRY(subtask) entry;
	char id[SUBTASK_ID];
	enum kind kind;
	enum subtask_state state;
	unsigned attempts;
	bool pass;     /* of the built-in model's pass: pass.h */
	bool reopened; /* it had ended and is to go on: resume.c */
	/* Of them: before the run went on, or not its fault. */
	unsigned attempts_before;
	unsigned unbegun; /* of those: no worker of it has said a word */
	struct host_mark failed_on; /* the last ones, so many, all there */
	unsigned failed;
	char *label;         /* "H3", "verify H3", "baseline" */
	char *hypothesis;    /* explore, and verify of it */
	char *hypothesis_id; /* "H3" */
	char *verdict;       /* when done */
	char *reason;
	char *shown; /* the hypothesis of its summary, else its own */
	/* explore, reproduce: what it found; verify, confirm: what it checks */
	char *patch;
	size_t patch_len;
	struct host_mark made_on; /* explore: where; not known after a resume */
	char *fix;          /* verify: what the patch does, for a person */
	bool holds;         /* verify: and nothing more is against it */
	struct subtask *of; /* verify, confirm: that which found the patch */
	struct reproducer *repro; /* reproduce: it is well-formed */
	char *wrong;              /* reproduce, confirm: why it was refused */
	struct strv findings;
	STAILQ_ENTRY(subtask) told; /* run.found */
	struct ledger ledger;       /* of its attempts together */
};

TAILQ_HEAD(subtask_list, subtask);

/* How many, lately: handle.c. */
struct recent {
	unsigned n;
	uint64_t ms;
};

struct worker {
	TAILQ_ENTRY(worker) entry;
	RB_ENTRY(worker) node; /* by name */
	char name[PEER_WORKER_MAX + 1];
	struct host *host;
	struct subtask *subtask;
	unsigned attempt;
	uint64_t pid;
	struct lease lease;
	struct host_mark mark; /* of its host, who may be gone before it */
	struct spend spend;    /* accepted replies */
	uint64_t tools;
	uint64_t audit_seq; /* of its last act that was recorded */
	bool audit_allowed;
	struct hook_side *hook; /* hooks.h; NULL: it has had none */
	bool ready;
	bool summary; /* it has sent one */
	/* watch.h: its next act is asked about, for this rule; it is held until
	 * the person has answered; it is ended, nothing of it counts. */
	const struct monitor_rule *pause;
	bool held, ended;
	unsigned reads;     /* told of and put on record */
	uint64_t tried;     /* of the try_edits call that runs */
	struct recent told; /* events of its progress */
	struct recent acts; /* that went on record; and all of them: */
	uint64_t acts_all, acts_bytes;
};

TAILQ_HEAD(worker_list, worker);
RB_HEAD(worker_tree, worker);

/* What the tests say before anything is changed. */
struct baseline {
	struct strv failing, flaky;
	char *output;
	uint64_t passed, failed;
	uint64_t test_ms, slowest_ms;
	bool per_test;
};

struct run {
	struct run_opts o; /* borrows from the caller */
	struct strv tests; /* given or detected */
	char *root;        /* top of the tree, absolute */
	char *workdir;     /* below root, "" for root itself */
	struct store *store;
	struct audit *audit;
	struct loop *loop;
	struct hosts *hosts;
	struct fleet fleet;
	struct supply *supply; /* of the snapshot to hosts; holds it */
	struct gateway *gateway;
	struct pass *pass; /* pass.h; NULL: there is none */
	struct ledger ledger;
	struct snapshot snap;
	struct profile_def profile; /* the sandbox of workers' commands */
	struct strv guarded, freed; /* protected.h */
	struct baseline base;
	struct plain *plain;
	struct pace pace; /* of try_edits, all workers */
	enum phase phase;
	struct subtask_list subtasks;
	/* Explorers that have findings, as they came. */
	STAILQ_HEAD(found_list, subtask) found;
	struct worker_list workers;
	struct worker_tree by_name; /* the same */
	unsigned next_worker;
	unsigned cpus;
	char *system; /* prompt shared by all workers */
	uint64_t t0_ms;
	uint64_t tick_ms;               /* of lease.h */
	struct subtask *winner;         /* a verified verify */
	const struct reproducer *repro; /* the confirmed one, of its subtask */
	struct tool_result *tool;
	struct endpoint
	    *endpoint; /* until the provider takes it; NULL: builtin */
	struct http *http;
	struct fetches *fetches;     /* fetch.h */
	struct network *network;     /* network.h; NULL: commands have none */
	struct approvals *approvals; /* approve.h */
	struct watch *watch;         /* watch.h */
	struct hooks *hooks;         /* hooks.h; NULL: there are none */
	char *model;                 /* its name, as it is shown */
	bool review;                 /* settings: review.h */
	struct meter *meter;         /* meter.h; NULL: no --metrics */
	char *notes;                 /* the person's own AGENTS.md, or NULL */
	uint64_t
	    turn_micro; /* what one turn may cost; 0: nothing, or unknown */
	uint64_t context, max_output; /* tokens; 0: not known */
	int exit;                     /* status to be, once phase is END */
	const char *status;           /* of run_finished */
	char *why;
	/* A run that goes on, or is played again: resume.h. */
	struct store *old; /* the one that is played again */
	json_t *saved;
	struct strv saved_checks, saved_protect, saved_unprotect;
	struct strv saved_allow;
	bool loading;     /* what is told was told before */
	bool planned;     /* there is, or was, a plan */
	bool local_began; /* a worker of this machine was READY */
	bool no_more;     /* a budget is spent: start nothing new */
	int interrupts;
	uint64_t refused;       /* messages of workers, by handle.c */
	uint64_t wanted, slots; /* as was told last: wanted.h */
};

/* event.c */
double run_now(const struct run *r);
/* Record and show an event; takes fields (may be NULL). */
void run_event(struct run *r, const char *name, json_t *fields);

/* sched.c */
const char *kind_str(enum kind k);
struct subtask *sched_add(struct run *r, enum kind kind, const char *label,
    const char *hypothesis_id, const char *hypothesis, const void *patch,
    size_t patch_len);
void sched_pump(struct run *r);
/* Subtasks that could begin if there was a place for them. */
unsigned sched_ready(const struct run *r);
const char *sched_state_str(enum subtask_state s);
struct worker *sched_worker(struct run *r, const char *name);
/* Was there ever one of that name? */
bool sched_was_worker(const struct run *r, const char *name);
/* The worker is gone; without a summary its subtask is tried again. */
void sched_worker_exit(
    struct run *r, struct worker *w, const struct msg_worker_exit *m);
void sched_host_down(struct run *r, struct host *h, const char *why);
/* The attempt has failed, whatever its worker still says: that one is told to
 * end, and has its slot until it has. reason: of worker_gone. w is gone. */
void sched_give_up(
    struct run *r, struct worker *w, const char *reason, const char *why);
/* It was cut off, and has these workers now: the others are gone, or never
 * came to be; those that are not ours any more it is told to end. */
void sched_host_back(
    struct run *r, struct host *h, const struct msg_strs *workers);
void sched_cancel(
    struct run *r, bool (*which)(const struct subtask *), const char *why);
size_t sched_count(
    const struct run *r, enum kind kind, enum subtask_state state);
bool sched_idle(const struct run *r); /* nothing waits, nothing runs */
/* Explores at once, of those that are played by the same model. */
unsigned sched_workers(const struct run *r, const struct subtask *t);
/* Candidates that one of these tries at once: its share of the processors. */
unsigned sched_parallel(const struct run *r, const struct subtask *t);
/* The same for any subtask; most try none. */
unsigned sched_parallel_of(const struct run *r, const struct subtask *t);
void sched_close(struct run *r);
void sched_free(struct run *r);

/* handle.c: messages of workers */
void handle_msg(struct run *r, struct worker *w, const struct msg *m);
/* What can't be encoded ends the run: nobody may wait for it. */
void handle_send(struct run *r, struct worker *w, const struct msg *m);

/* models.c: the model and its gateway */
int models_find(struct run *r, struct err *e);
int models_start(struct run *r, struct err *e);
void models_free(struct run *r);
/* Does the built-in model play it? */
bool models_builtin(const struct run *r, const struct subtask *t);
/* Its name; NULL: nobody is asked for this one. */
const char *models_of(const struct run *r, const struct subtask *t);
struct gateway *models_gateway(const struct run *r, const struct subtask *t);
/* The most that so many workers may still cost, in dollars; NULL: nothing. */
json_t *models_ceiling(const struct run *r, size_t workers);

/* results.c */
void results_summary(
    struct run *r, struct worker *w, const struct msg_summary *m);
/* It is stored and taken; of w its name, subtask and attempt are used. */
void results_settle(
    struct run *r, struct worker *w, const struct msg_summary *m);
/* The same of a summary that is on record; its patch is in t already. */
void results_take(
    struct run *r, struct subtask *t, const struct msg_summary *m);
/* The same as an event has it, and where its patch is kept. Yours. */
json_t *results_json(const struct worker *w, const struct msg_summary *m);
char *results_patch_path(const struct run *r, const struct subtask *t);
/* After loading: what follows from the summaries and was not written. */
void results_consequences(struct run *r);
/* A verified patch is taken; one that was not good enough is tried again. */
void results_accept(struct run *r, struct subtask *verify);
/* The verified patches besides the winner's, for the end's event; NULL: none.
 */
json_t *results_others(const struct run *r);
void results_again(struct run *r, const struct subtask *found);
void results_failed(struct run *r, struct subtask *t, const char *why);
/* After each change: is the run over? */
void results_check(struct run *r);

/* prompt.c; yours */
char *prompt_system(const struct run *r);
char *prompt_task(const struct run *r, const struct subtask *t);
char *prompt_role(const struct run *r, const struct subtask *t);
/* What changes from turn to turn; added to b. */
void prompt_late(const struct run *r, const char *worker, struct buf *b);

/* run.c */
void run_end(struct run *r, int exit, const char *status, const char *fmt, ...)
    printflike(4, 5);

#endif
