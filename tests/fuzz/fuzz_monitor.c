/* Rules of the monitor, acts that they look at, and the shapes of credentials:
 * what stands before the first NUL is a rule file, the rest acts. */
#include "common/compat.h"

#include <assert.h>
#include <stdlib.h>

#include "common/log.h"
#include "orchestrator/monitor/monitor.h"
#include "orchestrator/monitor/shapes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
feed(struct monitor *m, char *text)
{
	static const char *const acts[] = { "command", "write", "fetch",
		"summary", "read_file", "try" };
	struct monitor_hit hits[4];
	struct monitor_act a = { .worker = "w1", .detail = text };
	size_t i, k, n;

	for (i = 0; i < nitems(acts); i++) {
		a.t += 1;
		a.act = acts[i];
		a.subject = text;
		a.verdict = i % 2 != 0 ? "deny" : "allow";
		n = monitor_feed(m, &a, hits, nitems(hits));
		assert(n <= nitems(hits));
		for (k = 0; k < n; k++) {
			assert(hits[k].rule != NULL);
			free(hits[k].subject);
		}
	}
	assert(monitor_windows(m) <=
	    MONITOR_RULES_MAX * (MONITOR_KEYS_RUN + MONITOR_KEYS));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct monitor_rules rules = { 0 };
	struct monitor_place place = { 0 };
	struct monitor *m;
	json_t *j = NULL;
	const char *nul = memchr(data, '\0', size);
	size_t n = nul != NULL ? (size_t)(nul - (const char *)data) : size;
	char *text, *s;
	struct err e;

	(void)shape_find(data, size);
	assert(monitor_rules_supplied(&rules, &e) == 0);
	if (json_parse((const char *)data, n, 1 << 20, &j, &e) == 0 &&
	    monitor_rules_apply(&rules, j, "fuzz", &e) < 0)
		assert(e.code == ERR_SYNTAX && e.text[0] != '\0');
	json_decref(j);
	place.root = xstrdup("/w");
	place.workdir = xstrdup("/w/d");
	m = monitor_create(&rules, &place);
	text = xcalloc(1, size + 1);
	memcpy(text, data, size);
	for (s = text + n; s < text + size; s += strlen(s) + 1)
		feed(m, s);
	free(text);
	monitor_free(m);
	return 0;
}
