/* plain_priv.h - what plain.c and plain_out.c share; for nobody else. */
#ifndef ORCHESTRATOR_VIEW_PLAIN_PRIV_H
#define ORCHESTRATOR_VIEW_PLAIN_PRIV_H

#include "common/strv.h"
#include "orchestrator/view/plain.h"

/* Between two lines about the same, where none can be rewritten. */
#define PLAIN_STEADY_S 30

struct plain {
	FILE *out;
	bool tty;
	bool rewrites;     /* it is one where a line can be rewritten */
	bool status;       /* a status line stands on the screen */
	double last;       /* time of the last status line, or of its like */
	bool held;         /* no status line now */
	bool begun;        /* it came so far that it can be resumed */
	bool resumed;      /* and was */
	bool others;       /* hosts of other machines have come */
	double said;       /* time of the last line */
	bool again;        /* it said only what goes on */
	char *who, *doing; /* what goes on, without lines of its own; or NULL */
	double since;
	struct strv warned; /* what hooks failed with, once each */
};

/* A line; what workers said in it is escaped. */
void plain_say(struct plain *p, double t, const char *who, const char *what);
/* The line that is rewritten; it stays until something is said. */
void plain_status(struct plain *p, double t, const char *text);
void plain_clear(struct plain *p);
/* Who does what from now on, until it is told how it ended: then NULL. */
void plain_goes(struct plain *p, double t, const char *who, const char *doing);

#endif
