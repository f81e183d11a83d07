#include "common/compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "orchestrator/run/meter.h"

double
run_now(const struct run *r)
{
	return (double)(loop_now_ms() - r->t0_ms) / 1000.0;
}

void
run_event(struct run *r, const char *name, json_t *fields)
{
	struct err e = { 0 };
	json_t *ev;
	char *text;
	double t = run_now(r);

	if (r->loading) {
		json_decref(fields);
		return;
	}
	ev = json_pack("{s:s, s:s, s:f}", "event", name, "run",
	    store_id(r->store), "t", (double)(long)(t * 1000.0) / 1000.0);
	if (fields != NULL)
		(void)json_object_update(ev, fields);
	json_decref(fields);
	text = json_text(ev);
	/* A record that can't be written is told once, the run goes on: the
	 * audit chain and the summaries are what it depends on. */
	if (store_event(r->store, t, name, text, &e) < 0)
		log_warn("event %s: %s", name, e.text);
	if (r->o.json) {
		(void)fputs(text, stdout);
		(void)fputc('\n', stdout);
		if (fflush(stdout) != 0 || ferror(stdout))
			run_end(r, EXIT_FATAL, "error",
			    "stdout: nobody reads the events any more");
	}
	meter_event(r, name, ev);
	if (r->plain != NULL)
		plain_event(r->plain, name, ev);
	free(text);
	json_decref(ev);
}
