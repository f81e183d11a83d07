/*
 * settings.h - the person's settings: $XDG_CONFIG_HOME/foray/settings.json.
 *
 *	{"model": "openai/NAME",
 *	 "providers": {NAME: {...}},              gateway/model.h
 *	 "sandbox": {"profile": "build", ...},    sandbox/profile_def.h
 *	 "network": {...},                        fetch.h, network.h
 *	 "monitor": {...},                        monitor/rules.h
 *	 "hooks": {EVENT: [...]},                 hooks/hook_conf.h
 *	 "builtin_pass": "10s",                   pass.h
 *	 "review": true}                          review.h
 *
 * Unknown keys are refused by name, since a misspelt limit is no limit.
 */
#ifndef ORCHESTRATOR_RUN_SETTINGS_H
#define ORCHESTRATOR_RUN_SETTINGS_H

#include "common/err.h"
#include "common/json.h"
#include "orchestrator/gateway/model.h"
#include "sandbox/profile_def.h"

#define SETTINGS_MAX ((size_t)1 << 20)

/* An object, {} when there is no file. ERR_SYNTAX naming file and place. */
int settings_load(json_t **ret, struct err *e);
/* Their file stands before an error that only says which of them is wrong;
 * returns r, which may be no error. */
int settings_in(struct err *e, int r);
/* A warning about the settings, once however often they are read. */
void settings_note(const char *text);

/* The sandbox that the settings ask for: "sandbox" on top of the profile that
 * it names, or of named (--profile) when that is not NULL, else "default". */
int settings_profile(const json_t *settings, const char *named,
    struct profile_def *ret, struct err *e);

/* model_find(); what is wrong in the settings names their file. */
int settings_model(const char *name, const json_t *settings,
    struct endpoint **ret, struct err *e);

/* Is all that a run in root (the top of a work tree) would read from them in
 * order: profile, rules of both, network, hooks, monitor, model? The model that
 * it would use; yours. ret_model NULL: all but the model. */
int settings_check(const char *root, char **ret_model, struct err *e);

/* How long the built-in model's pass may take, in milliseconds; 0: false. *ret
 * stays as it is when the settings don't say. */
int settings_pass(const json_t *settings, uint64_t *ret, struct err *e);

/* The person's own notes for models, $XDG_CONFIG_HOME/foray/AGENTS.md: clean
 * text of at most max bytes; "" when there is none. Yours. */
int settings_notes(size_t max, char **ret, struct err *e);

#endif
