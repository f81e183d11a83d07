/* hook_match.h - a matcher of hooks: what it may be is in hook_conf.h. */
#ifndef ORCHESTRATOR_HOOKS_HOOK_MATCH_H
#define ORCHESTRATOR_HOOKS_HOOK_MATCH_H

#include <regex.h>

#include "orchestrator/hooks/hook_conf.h"

/* What an event has that a matcher can match. */
enum hook_match_by {
	HOOK_MATCH_NOTHING,
	HOOK_MATCH_NAME,
	HOOK_MATCH_TOOL
};

struct hook_match {
	bool all;
	bool is_regex;
	struct strv names; /* here, aliases resolved */
	regex_t regex;
};

/* m: zeroed. s: as it was written, or NULL. where stands in errors. */
int hook_match_set(struct hook_match *m, const char *s, enum hook_match_by by,
    const char *where, struct err *e);
/* Is there anything that it can match? names: of the event, NULL at the end;
 * NULL: not known. ERR_SYNTAX says what there is. */
int hook_match_check(const struct hook_match *m, enum hook_match_by by,
    const char *const *names, const char *where, struct err *e);
/* name may be NULL. tool: it has names from elsewhere, too. */
bool hook_match_is(const struct hook_match *m, const char *name, bool tool);
void hook_match_free(struct hook_match *m);

#endif
