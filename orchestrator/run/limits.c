#include "common/compat.h"

#include "orchestrator/run/limits.h"

#define AT(f) offsetof(struct run_limits, f)

/* max: as in messages.def. */
static const struct {
	const char *name;
	size_t at;
	uint64_t min, max;
} table[] = {
	{ "memory_mib", AT(memory_mib), 32, 1073741824 },
	{ "pids", AT(pids), 16, 1048576 },
	{ "cpu_milli", AT(cpu_milli), 10, 1048576 },
	{ "disk_mib", AT(disk_mib), 1, 1073741824 },
	{ "data_mib", AT(data_mib), 1, 1048576 },
	{ "file_mib", AT(file_mib), 1, 1048576 },
	{ "procs", AT(procs), 8, 1048576 },
	{ "cpu_s", AT(cpu_s), 1, 31536000 },
	{ "output_mib", AT(output_mib), 1, 1048576 },
	{ "call_s", AT(call_s), 1, 31536000 },
	{ "subtask_s", AT(subtask_s), 1, 31536000 },
};

static int
take(const char *key, const json_t *v, struct run_limits *l, struct err *e)
{
	json_int_t n = json_integer_value(v);
	uint64_t *to;

	for (size_t i = 0; i < nitems(table); i++) {
		if (strcmp(key, table[i].name) != 0)
			continue;
		if (!json_is_integer(v) || n < 0 ||
		    (n != 0 && (uint64_t)n < table[i].min) ||
		    (uint64_t)n > table[i].max)
			return err_set(e, ERR_SYNTAX,
			    "settings: limits.%s is a number from %ju to %ju, "
			    "or 0",
			    key, (uintmax_t)table[i].min,
			    (uintmax_t)table[i].max);
		to = (uint64_t *)(void *)((char *)l + table[i].at);
		*to = (uint64_t)n;
		return 0;
	}
	return err_set(
	    e, ERR_SYNTAX, "settings: limits: unknown key \"%s\"", key);
}

int
limits_parse(const json_t *j, struct run_limits *ret, struct err *e)
{
	struct run_limits l = { 0 };
	const char *key;
	json_t *v;
	int r = 0;

	if (j != NULL && !json_is_object(j))
		return err_set(
		    e, ERR_SYNTAX, "settings: \"limits\" is no object");
	json_object_foreach ((json_t *)(uintptr_t)j, key, v) {
		r = take(key, v, &l, e);
		if (r < 0)
			return r;
	}
	*ret = l;
	return 0;
}

void
limits_assign(const struct run_limits *l, struct msg_assign *a)
{
	a->memory_mib = l->memory_mib;
	a->pids = l->pids;
	a->cpu_milli = l->cpu_milli;
	a->disk_mib = l->disk_mib;
	a->data_mib = l->data_mib;
	a->file_mib = l->file_mib;
	a->procs = l->procs;
	a->cpu_s = l->cpu_s;
	a->output_mib = l->output_mib;
	if (l->subtask_s > 0 && l->subtask_s * 1000 < a->wall_ms)
		a->wall_ms = l->subtask_s * 1000;
}

void
limits_task(const struct run_limits *l, struct msg_task *t)
{
	if (l->call_s > 0)
		t->call_ms = l->call_s * 1000;
}
