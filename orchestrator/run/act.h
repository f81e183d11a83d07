/* act.h - what the rules say of an act that a worker announces (AUDIT). */
#ifndef ORCHESTRATOR_RUN_ACT_H
#define ORCHESTRATOR_RUN_ACT_H

#include "orchestrator/run/state.h"
#include "sandbox/policy/judge.h"

/* A test command or a check of the person's is theirs: not judged; of
 * candidates, rules that ask don't ask about these files. *v is to be cleared
 * (verdict_clear). */
void act_judge(const struct run *r, const struct rules *rules,
    const struct judge_place *where, const struct strv *files,
    const struct msg_audit *m, struct verdict *v);

/* The first file of a patch that a rule denies to be edited, whoever wrote it
 * and how: the rule's reason, yours; NULL: none. */
char *act_judge_patch(const struct run *r, const struct rules *rules,
    const struct judge_place *where, const char *patch, size_t len);

#endif
