/*
 * checkers.h - what the test commands run without naming it: what decides how
 * tests run is protected, also when only a make file, package.json or a shell
 * script names it.
 */
#ifndef ORCHESTRATOR_RUN_CHECKERS_H
#define ORCHESTRATOR_RUN_CHECKERS_H

#include "common/strv.h"

/* Follows make targets, npm scripts and shell scripts that the commands run in
 * dir, and adds "sh FILE" to commands for each file (as seen from dir) that
 * - is given to an interpreter ("python3 verify.py") or is a script ("./x"),
 *   not told what to work on, and no builder by its name ("build.js",
 * "gen.py"),
 * - has the main() of a C or C++ program that runs without arguments and is
 *   built from other files, too, and is called a test, compares what those
 *   return with values of its own, or is built by no rule but the test's: its
 *   status is the verdict on them. The main file of what "all" makes or
 *   "install" installs is free otherwise,
 * - a shell test sources or calls to judge with: it has the name of a helper
 *   ("assert.sh", "test-lib.sh"), or most functions that it defines are such;
 *   what else it sources is what it tests,
 * - is run by a loop of a shell script ("for t in a*.sh"),
 * - is what diff or cmp compare with, or the input that makes it, was there
 *   before and is made by no rule and no command.
 * Of what else a shell script runs the last line counts.
 * What something else judges ("./calc <in | diff - out") is no checker.
 *
 * This is reading by words, as people write these files: what functions of make
 * or a shell compute is guessed at best. files: all that may be protected, as
 * seen from dir, sorted. dir is hostile: sizes, depths and numbers are limited,
 * nothing is run. */
void checkers_find(
    const char *dir, const struct strv *files, struct strv *commands);

#endif
