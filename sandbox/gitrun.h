/*
 * gitrun.h - the git program, deaf to configuration: no file of the system's
 * or the user's, no hook, no file system monitor, no transport, no prompt, no
 * object fetched that is missing. A repository's own configuration is read only
 * when env names it (GIT_DIR); else git sees no repository.
 */
#ifndef SANDBOX_GITRUN_H
#define SANDBOX_GITRUN_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

struct gitrun {
	struct strv args; /* after "git" */
	struct strv env;  /* in addition */
	const char *cwd;
	/* In the person's name: with their configuration and identity, in the
	 * repository that holds cwd. The rest of the above holds. */
	bool persons;
	const void *input;
	size_t input_len;
	struct buf *out;     /* may be NULL */
	uint64_t timeout_ms; /* 0: ten minutes */
	char said[512];      /* what it wrote on stderr, cleaned */
};

/* The exit status, or negative when it did not run or end by itself
 * (ERR_NOTFOUND: there is no git). out too small: ERR_LIMIT. */
int gitrun(struct gitrun *g, struct err *e);
void gitrun_clear(struct gitrun *g);
/* A git command ended with a status it should not have: tells e. */
int gitrun_failed(const struct gitrun *g, int status, struct err *e);

#endif
