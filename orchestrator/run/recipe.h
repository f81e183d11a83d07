/*
 * recipe.h - the checkers that `make TARGET` runs: what decides how tests run
 * is protected, also when only the make file names it.
 */
#ifndef ORCHESTRATOR_RUN_RECIPE_H
#define ORCHESTRATOR_RUN_RECIPE_H

#include "common/strv.h"

/* For each command that is make with targets: the lines of these targets'
 * recipes that give one script to an interpreter ("python3 verify.py"), as
 * "INTERPRETER SCRIPT", are added to commands. dir: where make runs. */
void recipe_commands(const char *dir, struct strv *commands);

#endif
