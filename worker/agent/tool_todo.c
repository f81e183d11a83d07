/* tool_todo.c - update_todos. */
#include "common/compat.h"

#include "worker/agent/agent.h"
#include "worker/agent/tool.h"

#define TODOS_MAX 100

static void
update_todos(struct agent *a, const json_t *args, struct tool_result *r)
{
	const json_t *list = json_object_get(args, "todos"), *v;
	size_t i, done = 0;

	if (json_array_size(list) > TODOS_MAX) {
		tool_fail(r, "at most %d todos", TODOS_MAX);
		return;
	}
	strv_clear(&a->todos);
	json_array_foreach (list, i, v) {
		strv_addf(&a->todos, "[%c] %.500s",
		    arg_bool(v, "done") ? 'x' : ' ', arg_str(v, "text", ""));
		done += arg_bool(v, "done");
	}
	tool_printf(r, "%zu todos, %zu done", a->todos.n, done);
}

const struct tool tool_update_todos = {
	"update_todos",
	"Keep a list of steps: each call gives the whole list anew.",
	"{\"type\":\"object\",\"properties\":{\"todos\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\",\"properties\":{"
	"\"text\":{\"type\":\"string\"},\"done\":{\"type\":\"boolean\"}},"
	"\"required\":[\"text\",\"done\"]}}},\"required\":[\"todos\"]}",
	update_todos,
};
