/*
 * detect.h - the usual test command of a tree, when none was given.
 */
#ifndef ORCHESTRATOR_RUN_DETECT_H
#define ORCHESTRATOR_RUN_DETECT_H

#include "common/err.h"
#include "common/strv.h"

/* dir: where commands will run; files: the tree's files below dir, relative to
 * it; name is dir as the person called it, for the error. One command is added
 * to ret, and *ret_why (borrowed, static) says what told it. ERR_NOTFOUND says
 * what was looked for. */
int detect_tests(const char *dir, const char *name, const struct strv *files,
    struct strv *ret, const char **ret_why, struct err *e);

#endif
