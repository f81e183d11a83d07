/* The table's text, endpoints, and what the kernel says of us. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fdio.h"
#include "orchestrator/metrics/endpoint.h"
#include "orchestrator/metrics/process.h"
#include "orchestrator/metrics/table.h"

static char *
text_of(const struct figures *f)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	metrics_text(f, &b);
	return buf_detach(&b, NULL);
}

static void
has(const char *text, const char *line)
{
	if (strstr(text, line) == NULL)
		fail_msg("\"%s\" is not in:\n%s", line, text);
}

static void
test_text(void **state)
{
	struct figures f = { .run = "r\\1\"\n", .slots = 5, .left_calls = 3 };
	char *text;

	(void)state;
	f.left_tokens = f.left_micro = UINT64_MAX;
	f.left_ms = 61002;
	f.cost_micro = 1234567;
	f.summaries[figures_place(names_verdict, "stuck")] = 2;
	f.summaries[figures_place(names_verdict, "what a peer says")]++;
	f.summaries[figures_place(names_verdict, NULL)]++;
	f.models[0].provider = "a\"b";
	f.models[0].model = "m\\";
	f.models[0].state.requests[CLASS_429] = 7;
	histogram_add(&f.models[0].call, bounds_call, 10);
	histogram_add(&f.models[0].call, bounds_call, 11);
	histogram_add(&f.models[0].call, bounds_call, 400000);
	text = text_of(&f);
	has(text, "foray_run_info{run=\"r\\\\1\\\"\\n\",version=\"");
	has(text, "\n# TYPE foray_slots gauge\nforay_slots 5\n");
	has(text, "\nforay_budget_left_calls 3\n");
	has(text, "\nforay_budget_left_seconds 61.002\n");
	has(text, "\nforay_cost_dollars_total 1.234567\n");
	has(text, "\nforay_summaries_total{verdict=\"stuck\"} 2\n");
	has(text, "\nforay_summaries_total{verdict=\"other\"} 2\n");
	has(text,
	    "\nforay_model_requests_total{provider=\"a\\\"b\",model=\"m\\\\\","
	    "class=\"429\"} 7\n");
	has(text, "le=\"0.01\"} 1\n");
	has(text, "le=\"0.025\"} 2\n");
	has(text, "le=\"320\"} 2\n");
	has(text, "le=\"+Inf\"} 3\n");
	has(text, "_sum{provider=\"a\\\"b\",model=\"m\\\\\"} 400.021\n");
	has(text, "_count{provider=\"a\\\"b\",model=\"m\\\\\"} 3\n");
	/* No limit, no number; a second model is not there. */
	assert_null(strstr(text, "foray_budget_left_tokens"));
	assert_null(strstr(text, "foray_budget_left_dollars"));
	assert_null(strstr(text, "provider=\"\""));
	free(text);
}

static void
test_names(void **state)
{
	const char *const *const all[] = { names_host_state, names_worker,
		names_subtask, names_verdict, names_exit, names_tool,
		names_call, names_token, names_class };
	size_t i, n;

	(void)state;
	for (i = 0; i < nitems(all); i++) {
		for (n = 0; all[i][n] != NULL; n++)
			assert_int_equal(figures_place(all[i], all[i][n]), n);
		assert_true(n <= FIGURES_NAMES);
	}
	for (n = 0; names_class[n] != NULL;)
		n++;
	assert_int_equal(n, PROVIDER_CLASSES);
}

static void
test_endpoint(void **state)
{
	static const char *const good[] = { "localhost:1", ":0", "9464",
		"[::1]:65535", "unix:/x", "127.0.0.1:80" };
	static const char *const bad[] = { "", ":", "a", "a:", "a:65536",
		"::1:1", "[::1]", "a:1:2", "unix:", "unix:x", "a:-1", "a: 1" };
	struct sockaddr_storage sa;
	socklen_t len = sizeof sa;
	char *url, *path;
	struct err e;
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < nitems(good); i++)
		assert_int_equal(endpoint_check(good[i], &e), 0);
	for (i = 0; i < nitems(bad); i++) {
		assert_int_equal(endpoint_check(bad[i], &e), ERR_USAGE);
		assert_non_null(strstr(e.text, "HOST:PORT"));
	}
	assert_int_equal(endpoint_listen(":0", &fd, &url, &path, &e), 0);
	assert_null(path);
	assert_int_equal(strncmp(url, "http://127.0.0.1:", 17), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &len), 0);
	free(url);
	fd_close(&fd);
}

static void
test_process(void **state)
{
	struct figures f;

	(void)state;
	process_figures(&f);
	assert_true(f.resident > 100000 && f.resident < f.virtual_bytes);
	assert_true(f.fds >= 3 && f.fds < f.max_fds);
	assert_true(f.start_us != UINT64_MAX && f.cpu_us != UINT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_endpoint),
		cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
