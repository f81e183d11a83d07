/* notes.c - see notes.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/notes.h"
#include "worker/agent/output.h"

#define ITEM_MAX 400
#define LINE_MAX_BYTES 200

void
notes_clear(struct notes *n)
{
	strv_clear(&n->failed);
	free(n->tests);
	*n = (struct notes){ 0 };
}

static void
remember(struct notes *n, const char *item)
{
	size_t i;

	for (i = 0; i < n->failed.n; i++) {
		if (strcmp(n->failed.v[i], item) != 0)
			continue;
		/* Again: the newest stands last. */
		free(n->failed.v[i]);
		memmove(n->failed.v + i, n->failed.v + i + 1,
		    (n->failed.n - i) * sizeof *n->failed.v);
		n->failed.n--;
		break;
	}
	if (n->failed.n == NOTES_FAILED_MAX) {
		free(n->failed.v[0]);
		memmove(n->failed.v, n->failed.v + 1,
		    n->failed.n * sizeof *n->failed.v);
		n->failed.n--;
	}
	strv_add(&n->failed, item);
}

static bool
is_test(const struct msg_strs *tests, const char *command)
{
	size_t i;

	for (i = 0; i < tests->n; i++) {
		if (*tests->v[i] != '\0' &&
		    strstr(command, tests->v[i]) != NULL)
			return true;
	}
	return false;
}

static void
one_line(char *dst, size_t size, const char *s, size_t len)
{
	text_escape_to(dst, size, s, len);
}

void
notes_add(struct notes *n, const struct msg_strs *tests, const char *name,
    const char *line, const char *text)
{
	char about[LINE_MAX_BYTES], first[LINE_MAX_BYTES], last[ITEM_MAX];
	char raw[ITEM_MAX], *item;
	size_t head = strcspn(text, "\n");
	bool command = strcmp(name, "run_command") == 0, test;
	bool ran = command && !text_starts(text, "error: ");

	one_line(about, sizeof about, line, strlen(line));
	one_line(first, sizeof first, text, head);
	output_last_line(text + head, strlen(text + head), raw, sizeof raw);
	one_line(last, sizeof last, raw, strlen(raw));
	item = xasprintf("%.60s %s: %s%s%s", name, about, first,
	    *last != '\0' ? ": " : "", last);
	if (ran) {
		test = is_test(tests, line);
		if (test || !n->is_test) {
			free(n->tests);
			n->tests = xasprintf("`%s`: %s%s%s", about, first,
			    *last != '\0' ? ": " : "", last);
			n->is_test = test;
		}
		if (!text_starts(text, "exit status 0"))
			remember(n, item);
	} else if (text_starts(text, "error: ") ||
	    strstr(text, "\"passed\":[]") != NULL) {
		remember(n, item);
	}
	free(item);
}

void
notes_failed(const struct notes *n, size_t max, bool list, struct buf *ret)
{
	size_t i = n->failed.n, used = 0;

	while (i > 0 && used + strlen(n->failed.v[i - 1]) + 4 <= max)
		used += strlen(n->failed.v[--i]) + 4;
	for (; i < n->failed.n; i++)
		(void)buf_printf(ret, list ? "- %s\n" : "%s; ", n->failed.v[i]);
}
