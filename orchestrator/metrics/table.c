#include "common/compat.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "orchestrator/metrics/table.h"

enum type {
	COUNTER,
	GAUGE,
	HISTOGRAM
};

/* How a number is written: Prometheus knows base units only. */
enum unit {
	ONE,
	MILLI,
	MICRO
};

struct row {
	const char *name;
	enum type type;
	enum unit unit;
	bool per_model; /* at is in struct model_figures */
	size_t at;
	/* A label with one number for each of its values; or NULL. */
	const char *label;
	const char *const *values;
	const uint64_t *bounds; /* HISTOGRAM, in ms */
	const char *help;
};

#define RUN(field) .at = offsetof(struct figures, field)
#define MODEL(field) \
	.per_model = true, .at = offsetof(struct model_figures, field)
#define BY(label_, values_) .label = (label_), .values = (values_)

static const struct row rows[] = {
	{ "foray_hosts", GAUGE, RUN(hosts), BY("state", names_host_state),
	    .help = "Hosts of the run; a draining one takes no more." },
	{ "foray_slots", GAUGE, RUN(slots),
	    .help = "Subtasks that the hosts can run at once." },
	{ "foray_slots_busy", GAUGE, RUN(slots_busy),
	    .help = "Slots that are in use." },
	{ "foray_wanted_slots", GAUGE, RUN(slots_wanted),
	    .help = "Slots that the run could use now beyond those it has." },
	{ "foray_workers", GAUGE, RUN(workers), BY("state", names_worker),
	    .help = "Workers that are alive." },
	{ "foray_subtasks", GAUGE, RUN(subtasks), BY("state", names_subtask),
	    .help = "Subtasks of the run, by their state now." },
	{ "foray_attempts_total", COUNTER, RUN(attempts),
	    .help = "Attempts at subtasks that were given to a host." },
	{ "foray_summaries_total", COUNTER, RUN(summaries),
	    BY("verdict", names_verdict),
	    .help = "Summaries of workers that were accepted." },
	{ "foray_worker_exits_total", COUNTER, RUN(exits),
	    BY("reason", names_exit), .help = "Workers that are gone." },
	{ "foray_model_calls_total", COUNTER, MODEL(calls),
	    BY("result", names_call),
	    .help = "Model calls of workers that were answered; recorded ones "
		    "cost nothing." },
	{ "foray_model_requests_total", COUNTER, MODEL(state.requests),
	    BY("class", names_class),
	    .help = "Requests to a model's server by the class of the HTTP "
		    "status; 429 is not in 4xx." },
	{ "foray_model_retries_total", COUNTER, MODEL(state.retries),
	    .help = "Requests to be made again after a failure." },
	{ "foray_model_call_duration_seconds", HISTOGRAM, MODEL(call),
	    .bounds = bounds_call,
	    .help = "Time from a request to the end of its accepted reply." },
	{ "foray_model_added_duration_seconds", HISTOGRAM, MODEL(added),
	    .bounds = bounds_added,
	    .help = "What waiting, retries and foray itself added to a model "
		    "call." },
	{ "foray_model_calls_waiting", GAUGE, RUN(calls_waiting),
	    .help = "Model calls that wait for the budget or for the first "
		    "one." },
	{ "foray_limiter_queue_length", GAUGE, MODEL(state.queued),
	    .help = "Requests that wait for the provider's limiter." },
	{ "foray_limiter_requests_in_flight", GAUGE, MODEL(state.in_flight),
	    .help = "Requests that the limiter has let in." },
	{ "foray_limiter_width", GAUGE, MODEL(state.width),
	    .help = "Requests that the limiter lets in at once now." },
	{ "foray_tokens_total", COUNTER, RUN(tokens), BY("kind", names_token),
	    .help = "Tokens of the run's paid model, before a resume included; "
		    "the kinds are disjoint." },
	{ "foray_cost_dollars_total", COUNTER, MICRO, RUN(cost_micro),
	    .help = "Money spent, before a resume included." },
	{ "foray_budget_left_calls", GAUGE, RUN(left_calls),
	    .help = "Of --max-calls." },
	{ "foray_budget_left_tokens", GAUGE, RUN(left_tokens),
	    .help = "Of --max-tokens." },
	{ "foray_budget_left_dollars", GAUGE, MICRO, RUN(left_micro),
	    .help = "Of --max-usd." },
	{ "foray_budget_left_seconds", GAUGE, MILLI, RUN(left_ms),
	    .help = "Of --max-time." },
	{ "foray_tool_calls_total", COUNTER, RUN(tools),
	    BY("verdict", names_tool), .help = "Tool calls of workers." },
	{ "foray_candidates_tried_total", COUNTER, RUN(tried),
	    .help = "Edits that were tried, by all workers." },
	{ "foray_audit_records_total", COUNTER, RUN(audit),
	    .help = "Lines of the audit chain." },
	{ "foray_messages_bad_total", COUNTER, RUN(bad),
	    .help = "Messages of hosts and workers that were refused." },
	{ "foray_store_bytes", GAUGE, RUN(store_bytes),
	    .help = "Size of run.db, its log and audit.jsonl." },
	{ "foray_loop_busy_max_seconds", GAUGE, MICRO, RUN(busy_us),
	    .help = "Longest time that the event loop was busy since the last "
		    "scrape." },
	{ "process_cpu_seconds_total", COUNTER, MICRO, RUN(cpu_us),
	    .help = "Processor time of foray itself, user and system." },
	{ "process_resident_memory_bytes", GAUGE, RUN(resident),
	    .help = "Resident memory." },
	{ "process_virtual_memory_bytes", GAUGE, RUN(virtual_bytes),
	    .help = "Virtual memory." },
	{ "process_open_fds", GAUGE, RUN(fds), .help = "Open descriptors." },
	{ "process_max_fds", GAUGE, RUN(max_fds),
	    .help = "Descriptors that may be open." },
	{ "process_start_time_seconds", GAUGE, MICRO, RUN(start_us),
	    .help = "Start since 1970, in seconds." },
};

static void
add_label(struct buf *b, bool first, const char *name, const char *value)
{
	(void)buf_printf(b, "%s%s=\"", first ? "{" : ",", name);
	for (; *value != '\0'; value++) {
		if (*value == '\\' || *value == '"')
			(void)buf_printf(b, "\\%c", *value);
		else if (*value == '\n')
			(void)buf_adds(b, "\\n");
		else
			(void)buf_add(b, value, 1);
	}
	(void)buf_adds(b, "\"");
}

static void
add_number(struct buf *b, enum unit unit, uint64_t n)
{
	switch (unit) {
	case ONE:
		(void)buf_printf(b, "%" PRIu64, n);
		break;
	case MILLI:
		(void)buf_printf(
		    b, "%" PRIu64 ".%03" PRIu64, n / 1000, n % 1000);
		break;
	case MICRO:
		(void)buf_printf(
		    b, "%" PRIu64 ".%06" PRIu64, n / 1000000, n % 1000000);
		break;
	}
}

/* One line: what more is, and a label (name may be NULL). */
static void
add_sample(struct buf *b, const struct row *r, const char *suffix,
    const struct model_figures *m, const char *label, const char *value)
{
	(void)buf_printf(b, "%s%s", r->name, suffix);
	if (m != NULL) {
		add_label(b, true, "provider", m->provider);
		add_label(b, false, "model", m->model);
	}
	if (label != NULL)
		add_label(b, m == NULL, label, value);
	(void)buf_adds(b, m != NULL || label != NULL ? "} " : " ");
}

static void
add_histogram(struct buf *b, const struct row *r, const struct model_figures *m,
    const struct histogram *h)
{
	uint64_t sum = 0;
	char le[32];
	size_t i;

	for (i = 0; i <= HISTOGRAM_BUCKETS; i++) {
		sum += h->at[i];
		if (i < HISTOGRAM_BUCKETS)
			(void)snprintf(
			    le, sizeof le, "%g", (double)r->bounds[i] / 1000.0);
		add_sample(b, r, "_bucket", m, "le",
		    i < HISTOGRAM_BUCKETS ? le : "+Inf");
		(void)buf_printf(b, "%" PRIu64 "\n", sum);
	}
	add_sample(b, r, "_sum", m, NULL, NULL);
	add_number(b, MILLI, h->sum_ms);
	(void)buf_adds(b, "\n");
	add_sample(b, r, "_count", m, NULL, NULL);
	(void)buf_printf(b, "%" PRIu64 "\n", h->n);
}

static void
add_values(struct buf *b, const struct row *r, const struct model_figures *m,
    const void *base)
{
	const void *at = (const char *)base + r->at;
	const uint64_t *n = at;
	size_t i;

	if (r->type == HISTOGRAM) {
		add_histogram(b, r, m, at);
		return;
	}
	for (i = 0; r->label == NULL ? i < 1 : r->values[i] != NULL; i++) {
		if (n[i] == UINT64_MAX)
			continue;
		add_sample(b, r, "", m, r->label,
		    r->label != NULL ? r->values[i] : NULL);
		add_number(b, r->unit, n[i]);
		(void)buf_adds(b, "\n");
	}
}

static bool
is_known(const struct figures *f, const struct row *r)
{
	const void *at = (const char *)f + r->at;

	if (r->per_model || r->label != NULL)
		return true;
	return *(const uint64_t *)at != UINT64_MAX;
}

void
metrics_text(const struct figures *f, struct buf *b)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	size_t i, k;

	(void)buf_adds(b,
	    "# HELP foray_run_info The run and the release of foray.\n"
	    "# TYPE foray_run_info gauge\nforay_run_info");
	add_label(b, true, "run", f->run);
	add_label(b, false, "version", FORAY_VERSION);
	(void)buf_adds(b, "} 1\n");
	for (i = 0; i < nitems(rows); i++) {
		const struct row *r = &rows[i];

		if (!is_known(f, r))
			continue;
		(void)buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", r->name,
		    r->help, r->name, types[r->type]);
		if (!r->per_model)
			add_values(b, r, NULL, f);
		for (k = 0; r->per_model && k < FIGURES_MODELS; k++)
			if (f->models[k].provider != NULL)
				add_values(b, r, &f->models[k], &f->models[k]);
	}
}
