/* tool_read.c - read_file. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/agent.h"
#include "worker/agent/edit.h"
#include "worker/agent/image.h"
#include "worker/agent/output.h"
#include "worker/agent/tool.h"

#define LINES_MAX 1000
#define BYTES_MAX 32768

static uint64_t
count_lines(const char *s, size_t len)
{
	const char *p = s, *end = s + len;
	uint64_t n = 0;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		n++;
		p++;
	}
	return n + (len > 0 && s[len - 1] != '\n');
}

/* Control bytes as their pictures, so that cleaning, which plays the terminal,
 * takes nothing away; the end of a line is a newline. */
static void
add_shown(struct buf *ret, const char *s, size_t len)
{
	size_t i, from = 0;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 || c == '\n' || c == '\t')
			continue;
		(void)buf_add(ret, s + from, i - from);
		from = i + 1;
		if (c == '\r' && i + 1 < len && s[i + 1] == '\n')
			continue;
		(void)buf_printf(ret, "\xe2\x90%c", 0x80 + c); /* U+2400 + c */
	}
	(void)buf_add(ret, s + from, len - from);
}

/* Lines from..from+n-1 of s; at most BYTES_MAX bytes, whole lines but one that
 * is longer than that. Returns how many. */
static uint64_t
add_lines(struct buf *ret, const char *s, size_t len, uint64_t from, uint64_t n)
{
	const char *p = s, *end = s + len, *nl;
	uint64_t line = 1, given = 0;
	size_t k, used = 0;

	for (; p < end && line < from; line++) {
		nl = memchr(p, '\n', (size_t)(end - p));
		p = nl != NULL ? nl + 1 : end;
	}
	for (; p < end && given < n; given++) {
		nl = memchr(p, '\n', (size_t)(end - p));
		k = nl != NULL ? (size_t)(nl + 1 - p) : (size_t)(end - p);
		if (used + k > BYTES_MAX) {
			if (given > 0)
				break;
			(void)text_head_tail(ret, p, k, BYTES_MAX);
			return 1;
		}
		(void)buf_add(ret, p, k);
		used += k;
		p += k;
	}
	return given;
}

/* Images are for the eye, and the rest for no one: never in a conversation. */
static void
refuse_binary(const char *path, const struct buf *data, struct tool_result *r)
{
	char what[80];

	if (!image_describe(buf_str(data), data->len, what, sizeof what))
		snprintf(what, sizeof what, "binary file");
	tool_fail(r,
	    "%.200s can't be read as text: %s, %zu bytes. Use run_command with "
	    "a program that understands it",
	    path, what, data->len);
}

static void
read_file(struct agent *a, const json_t *args, struct tool_result *r)
{
	const char *path = arg_str(args, "path", "");
	uint64_t from = arg_u64(args, "offset", 1), total, given;
	uint64_t want = arg_u64(args, "limit", LINES_MAX);
	struct treefs_name name = { 0 };
	struct buf data, text;
	struct err e;

	buf_init(&data, TREEFS_MAX_FILE);
	buf_init(&text, BUF_NOMAX);
	if (from == 0)
		from = 1;
	if (want == 0 || want > LINES_MAX)
		want = LINES_MAX;
	if (treefs_name(&a->fs, path, &name, &e) < 0 ||
	    treefs_read(&a->fs, &name, &data, NULL, &e) < 0) {
		tool_fail_err(r, &e);
		goto out;
	}
	if (edit_is_binary(buf_str(&data), data.len)) {
		refuse_binary(path, &data, r);
		goto out;
	}
	total = count_lines(buf_str(&data), data.len);
	if (total == 0) {
		tool_printf(r, "%s (empty file)", path);
		goto out;
	}
	if (from > total) {
		tool_fail(r, "%s has only %llu lines", path,
		    (unsigned long long)total);
		goto out;
	}
	given = add_lines(&text, buf_str(&data), data.len, from, want);
	tool_printf(r, "%s (lines %llu-%llu of %llu)\n", path,
	    (unsigned long long)from, (unsigned long long)(from + given - 1),
	    (unsigned long long)total);
	add_shown(&r->text, buf_str(&text), text.len);
out:
	treefs_name_clear(&name);
	buf_clear(&data);
	buf_clear(&text);
}

const struct tool tool_read_file = {
	"read_file",
	"Read a text file. The first line of the result names the file and the "
	"lines shown; the text follows as it is, at most 1000 lines or 32 KiB "
	"a call.",
	"{\"type\":\"object\",\"properties\":{"
	"\"path\":{\"type\":\"string\",\"description\":\"relative to the "
	"working directory, or absolute\"},"
	"\"offset\":{\"type\":\"integer\",\"description\":\"first line, from "
	"1\"},"
	"\"limit\":{\"type\":\"integer\",\"description\":\"number of lines\"}},"
	"\"required\":[\"path\"]}",
	read_file,
};
