/*
 * rules.h - the rules of the monitor, from JSON.
 *
 *	struct monitor_rules r = { 0 };
 *	monitor_rules_supplied(&r, &e);                 part of the program
 *	monitor_rules_apply(&r, settings_monitor, "settings.json", &e);
 *	... r.v[i] ...
 *	monitor_rules_clear(&r);
 *
 * The settings' "monitor" is an object:
 *
 *	{"rules": [RULE...],                     more rules, each with "name"
 *	 "mass-deletion": {"action": "kill"},    another action, or "off", for
 *	 "history-rewrite": {"action": "off"}}   a supplied rule
 *
 * A RULE:
 *
 *	{"name": "secret-then-network",  a-z, 0-9 and "-"; of a supplied rule
 *	                                 the name of its file
 *	 "why": "one sentence, for a person",
 *	 "action": "flag",               flag, steer, pause, kill (monitor.h)
 *	 "message": "...",               steer: what the model is told; "why"
 *	                                 when it is left out
 *	 "scope": "worker",              worker (the default): the acts of each
 *	                                 by itself; run: of all together
 *	 "same": "subject",              only acts on one path or host count
 *	                                 together
 *	 "within": "10m",                all of it within this time, ...
 *	 "events": 200,                  ... and within so many acts; left out:
 *	                                 the whole run
 *	 "steps": [STEP...]}             1 to 4, which must follow each other
 *
 * A STEP counts acts:
 *
 *	{"act": ["command"],       these acts alone (audit.h); a string or a
 *list "class": ["secret-path"], what is in them (class.h): any of these; left
 *	                           out: each act counts once
 *	 "subject": "*.sql",       the command, path or host; "*" is any bytes
 *	 "verdict": "deny",        allow, deny, any, or of a summary its own;
 *left out: whatever was not denied "count": 5,               1 to 64 of them; 1
 *when it is left out "distinct": "subject"}    subject or worker: different
 *ones alone count
 *
 * Every error names the file, the rule, the key and what may stand there;
 * unknown keys are refused, since a misspelt condition is none.
 */
#ifndef ORCHESTRATOR_MONITOR_RULES_H
#define ORCHESTRATOR_MONITOR_RULES_H

#include "common/err.h"
#include "common/json.h"
#include "common/strv.h"

#define MONITOR_RULES_MAX 64
#define MONITOR_STEPS_MAX 4
#define MONITOR_COUNT_MAX 64
#define MONITOR_TEXT_MAX 400 /* bytes of why and message */
#define MONITOR_NAME_MAX 48
#define MONITOR_FILE_MAX ((size_t)1 << 20)

enum monitor_action {
	MONITOR_OFF,
	MONITOR_FLAG,
	MONITOR_STEER,
	MONITOR_PAUSE,
	MONITOR_KILL
};

enum monitor_distinct {
	DISTINCT_NONE,
	DISTINCT_SUBJECT,
	DISTINCT_WORKER
};

struct monitor_step {
	struct strv acts; /* none: any */
	unsigned classes; /* none: the acts themselves */
	char *subject;    /* NULL: any */
	char *verdict;    /* NULL: not denied */
	unsigned count;
	enum monitor_distinct distinct;
};

struct monitor_rule {
	char *name, *why, *message; /* message: NULL, why is said */
	enum monitor_action action;
	bool run;                   /* scope */
	bool same;                  /* each subject by itself */
	uint64_t within_ms, events; /* 0: no limit */
	struct monitor_step steps[MONITOR_STEPS_MAX];
	size_t n_steps;
};

struct monitor_rules {
	struct monitor_rule *v;
	size_t n;
};

/* ERR_SYNTAX only when the program was built wrong. */
int monitor_rules_supplied(struct monitor_rules *ret, struct err *e);
/* j: an object as above, or NULL. ERR_SYNTAX; r is then to be cleared. */
int monitor_rules_apply(
    struct monitor_rules *r, const json_t *j, const char *file, struct err *e);
void monitor_rules_clear(struct monitor_rules *r);

const char *monitor_action_str(enum monitor_action a);

/* Made from rules/ at build time; ends with NULL. */
struct monitor_supplied {
	const char *name, *text;
};
extern const struct monitor_supplied monitor_supplied[];

#endif
