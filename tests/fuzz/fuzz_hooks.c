/* Hooks: settings, and what a hook writes. The first byte chooses: settings, or
 * the answer of a hook of that event. Whatever it is, what is taken keeps its
 * limits, and no answer widens. */
#include "common/compat.h"

#include <assert.h>

#include "common/text.h"
#include "orchestrator/hooks/hook_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
settings(const char *p, size_t size)
{
	const struct hook *v[HOOKS_MAX];
	struct strv wanted = { 0 };
	struct hook_conf *c;
	json_t *j;
	size_t n, i, ev;

	if (json_parse(p, size, 1 << 20, &j, NULL) < 0)
		return;
	if (hook_conf_parse(j, "settings", &c, NULL, NULL) == 0 && c != NULL) {
		for (ev = 0; ev < HOOK_EVENTS; ev++) {
			n = hook_conf_find(c, (enum hook_event)ev,
			    "run_command", v, HOOKS_MAX);
			for (i = 0; i < n; i++) {
				assert(v[i]->event == (enum hook_event)ev);
				assert(v[i]->timeout_ms >= 1000 &&
				    v[i]->timeout_ms <= 600000);
				assert(
				    strlen(v[i]->command) <= HOOK_COMMAND_MAX);
			}
		}
		hook_conf_wanted(c, &wanted);
		assert(wanted.n <= 128);
		strv_clear(&wanted);
		hook_conf_free(c);
	}
	json_decref(j);
}

static void
check_text(const char *s)
{
	assert(s == NULL ||
	    (strlen(s) <= (size_t)4 * HOOK_TEXT_MAX &&
		text_is_utf8(s, strlen(s)) && strchr(s, '\x1b') == NULL));
}

static void
answer(enum hook_event ev, int status, const char *p, size_t size)
{
	struct hook h = { .event = ev,
		.command = (char *)(uintptr_t) "cmd",
		.fail_closed = status % 2 == 1 && hook_event_blocks(ev) };
	struct hook_run r = { .status = status,
		.out = p,
		.out_len = size < HOOK_OUTPUT_MAX ? size : HOOK_OUTPUT_MAX,
		.err = p,
		.err_len = size < HOOK_OUTPUT_MAX ? size : HOOK_OUTPUT_MAX };
	struct hook_answer a, sum = { 0 };

	hook_answer_read(&h, &r, &a);
	assert((a.verdict != HOOK_NONE) == (a.reason != NULL));
	assert(!a.stop || a.verdict == HOOK_DENY);
	assert(a.updated == NULL || ev == HOOK_PRE_TOOL);
	assert(status != 2 || a.verdict == HOOK_DENY || !hook_event_blocks(ev));
	check_text(a.reason);
	check_text(a.context);
	check_text(a.message);
	hook_answer_join(&sum, &a);
	hook_answer_clear(&a);
	hook_answer_clear(&sum);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = { 0, 0, 2, 1 };
	const char *p = (const char *)data + 1;

	if (size == 0)
		return 0;
	if (data[0] == 's')
		settings(p, size - 1);
	else
		answer((enum hook_event)(data[0] % HOOK_EVENTS),
		    statuses[data[0] / HOOK_EVENTS % 4], p, size - 1);
	return 0;
}
