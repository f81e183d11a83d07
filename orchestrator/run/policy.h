/*
 * policy.h - the rules of a run, from the settings: the built-in ones, the
 * person's ("permissions" in settings.json) and the repository's
 * (.foray/settings.json at the top of the work tree). The repository may be
 * hostile: its rules only tighten, and nothing else in that file is looked at,
 * nor in the settings that it has for other tools: both are told as ignored.
 */
#ifndef ORCHESTRATOR_RUN_POLICY_H
#define ORCHESTRATOR_RUN_POLICY_H

#include "sandbox/policy/judge.h"

#define POLICY_REPO_FILE ".foray/settings.json"

/* root: the top of the work tree. ERR_SYNTAX names the file and the rule. What
 * the repository asked for in vain is in (*ret)->ignored. */
int policy_load(const char *root, struct rules **ret, struct err *e);
/* The built-in rules and this file's alone (foray gate --policy). */
int policy_file(const char *path, struct rules **ret, struct err *e);

#endif
