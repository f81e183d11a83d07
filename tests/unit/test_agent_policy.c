/* The pure parts of the loop: context marks, shortening, what counts as stuck,
 * notes, front matter, images. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/log.h"
#include "worker/agent/context.h"
#include "worker/agent/image.h"
#include "worker/agent/notes.h"
#include "worker/agent/skills.h"
#include "worker/agent/watch.h"

/* --- context ------------------------------------------------------------- */

static void
test_marks(void **state)
{
	struct context x;

	(void)state;
	context_init(&x, 0, 0);
	assert_int_equal(x.window, 128000);
	assert_int_equal(x.high, 102400);
	assert_int_equal(x.low, 64000);
	/* room for the answer */
	context_init(&x, 10000, 4000);
	assert_int_equal(x.high, 6000);
	assert_int_equal(x.low, 3750);
	/* nonsense still leaves room for a question */
	context_init(&x, 10000, UINT32_MAX);
	assert_int_equal(x.high, 5000);
	context_init(&x, UINT32_MAX, UINT32_MAX);
	assert_true(x.low < x.high && x.high < x.window);
	context_init(&x, 1, 1);
	assert_true(x.high <= x.window);
}

static void
test_measure(void **state)
{
	struct context x;
	struct conv c = { 0 };

	(void)state;
	context_init(&x, 1000, 0);
	assert_int_equal(conv_add_user(&c, NULL, "0123456789", NULL), 0);
	context_measure(&x, &c, 0, 0);
	assert_int_equal(x.per_kib, 256);
	context_measure(&x, &c, 0, c.v[0].len / 2);
	assert_int_equal(x.per_kib, 512);
	/* a provider that counts nonsense */
	context_measure(&x, &c, 0, UINT32_MAX);
	assert_int_equal(x.per_kib, 1024);
	context_measure(&x, &c, 100000, 1);
	assert_int_equal(x.per_kib, 64);
	conv_clear(&c);
}

/* A group: a message with one call, and its result. */
static void
group(struct conv *c, const char *text)
{
	static const char call[] = "{\"role\":\"assistant\",\"content\":\"\"}";

	assert_int_equal(
	    conv_add_text(c, CONV_ASSISTANT, call, strlen(call), NULL), 0);
	assert_int_equal(
	    conv_add(c, conv_result("t", "grep", text, strlen(text)), NULL), 0);
}

static void
fixed_part(struct context *x, struct conv *c)
{
	static const char tools[] = "{\"role\":\"tools\"}";

	assert_int_equal(
	    conv_add_text(c, CONV_TOOLS, tools, strlen(tools), NULL), 0);
	assert_int_equal(conv_add_user(c, NULL, "task", NULL), 0);
	x->fixed = c->n;
}

static void
test_strip(void **state)
{
	struct context x;
	struct conv c = { 0 };
	enum context_need need;
	char *same = xmalloc(4001);

	(void)state;
	context_init(&x, 3000, 0);
	fixed_part(&x, &c);
	for (size_t i = 0; i < 4000; i++)
		same[i] = i % 2 != 0 ? '\n' : '.';
	same[4000] = '\0';
	group(&c, same);
	memset(same, 'y', 3000);
	group(&c, same);
	group(&c, "last");
	group(&c, same);
	assert_int_equal(
	    context_retreat(&x, &c, false, NULL, NULL, &need, NULL), 0);
	assert_int_equal(need, CONTEXT_FITS);
	assert_non_null(strstr(c.v[3].text, "times more]"));
	assert_true(c.v[3].len < 3600);
	assert_non_null(strstr(c.v[5].text, "the same as a later result"));
	assert_null(strstr(c.v[9].text, "the same as"));
	assert_false(c.v[3].known);
	free(same);
	conv_clear(&c);
}

static void
saved(void *ctx, const char *text, size_t len, char *dst, size_t size)
{
	(void)text;
	*(size_t *)ctx += len;
	snprintf(dst, size, "/tmp/x");
}

static void
test_drop_is_one_batch(void **state)
{
	struct context x;
	struct conv c = { 0 };
	enum context_need need;
	size_t kept = 0, i, stubs = 0;
	uint64_t n;
	char text[1001];

	(void)state;
	context_init(&x, 8000, 0);
	fixed_part(&x, &c);
	for (i = 0; context_tokens(&x, &c, 0, c.n) < x.high; i++) {
		memset(text, 'a' + (int)(i % 26), 1000);
		text[1000] = '\0';
		text[0] = (char)('A' + i / 26);
		group(&c, text);
	}
	assert_int_equal(
	    context_retreat(&x, &c, false, saved, &kept, &need, NULL), 0);
	assert_int_equal(need, CONTEXT_FITS);
	n = context_tokens(&x, &c, 0, c.n);
	assert_in_range(n, x.low - 300, x.low);
	for (i = 0; i < c.n; i++)
		stubs += c.v[i].stub;
	assert_int_equal(kept, stubs * 1000);
	assert_true(c.v[x.fixed + 1].stub && !c.v[c.n - 1].stub);
	/* hysteresis: nothing more happens before the high mark */
	group(&c, text);
	kept = 0;
	assert_int_equal(
	    context_retreat(&x, &c, false, saved, &kept, &need, NULL), 0);
	assert_int_equal(kept, 0);
	conv_clear(&c);
}

static void
test_tail_is_complete(void **state)
{
	struct context x;
	struct conv c = { 0 };
	size_t at;
	char text[401];

	(void)state;
	context_init(&x, 2000, 0);
	fixed_part(&x, &c);
	assert_int_equal(context_tail(&x, &c), c.n);
	memset(text, 'x', 400);
	text[400] = '\0';
	for (int i = 0; i < 10; i++)
		group(&c, text);
	at = context_tail(&x, &c);
	assert_in_range(at, c.n - 6, c.n - 2);
	assert_int_equal(c.v[at].role, CONV_ASSISTANT);
	conv_clear(&c);
}

static void
test_barren(void **state)
{
	struct context x;
	struct conv c = { 0 };
	struct err e;

	(void)state;
	context_init(&x, 1000, 0);
	fixed_part(&x, &c);
	assert_int_equal(context_compacted(&x, &c, 900, &e), 0);
	assert_int_equal(context_compacted(&x, &c, 1, &e), 0);
	assert_int_equal(context_compacted(&x, &c, 900, &e), 0); /* progress */
	assert_int_equal(context_barren(&x, &c, &e), 0);
	assert_int_equal(context_barren(&x, &c, &e), ERR_LIMIT);
	assert_non_null(strstr(e.text, "context too small"));
	conv_clear(&c);
}

/* --- watch, notes -------------------------------------------------------- */

static void
test_watch(void **state)
{
	struct watch w = { 0 };
	char text[40];

	(void)state;
	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof text, "%d", i);
		watch_add(&w, "a", "{}", text, false);
		assert_int_equal(watch_period(&w), 0);
	}
	/* a duration makes no difference, a count does */
	for (int i = 0; i < 4; i++) {
		snprintf(text, sizeof text, "2 failed in 0.%d2s", i);
		watch_add(&w, "t", "{}", text, true);
	}
	assert_int_equal(watch_period(&w), 1);
	assert_int_equal(w.errors, 4);
	for (int i = 0; i < 4; i++) {
		snprintf(text, sizeof text, "%d failed", i);
		watch_add(&w, "t", "{}", text, false);
	}
	assert_int_equal(watch_period(&w), 0);
	assert_int_equal(w.errors, 0);
	for (int i = 0; i < 12; i++)
		watch_add(&w, (const char *const[]){ "a", "b", "c" }[i % 3],
		    "{}", "x1s2", false);
	assert_int_equal(watch_period(&w), 3);
}

static void
test_notes(void **state)
{
	static const char *const cmds[] = { "make test" };
	struct msg_strs tests = { cmds, 1 };
	struct notes n = { 0 };
	struct buf b;
	char line[40];

	(void)state;
	buf_init(&b, BUF_NOMAX);
	notes_add(&n, &tests, "run_command", "ls", "exit status 0\nx\n");
	assert_string_equal(n.tests, "`ls`: exit status 0: x");
	notes_add(&n, &tests, "run_command", "cd a && make test 2>&1",
	    "exit status 2\nmuch\n1 failed\n");
	notes_add(&n, &tests, "run_command", "ls", "exit status 0\nx\n");
	assert_string_equal(
	    n.tests, "`cd a && make test 2>&1`: exit status 2: 1 failed");
	notes_add(&n, &tests, "read_file", "a", "a (lines 1-1 of 1)\nerror: x");
	assert_int_equal(n.failed.n, 1);
	notes_add(&n, &tests, "try_edits", "make",
	    "{\"tried\":3,\"passed\":[],\"results\":[]}");
	assert_int_equal(n.failed.n, 2);
	for (int i = 0; i < 200; i++) {
		snprintf(line, sizeof line, "f%d\n", i % 100);
		notes_add(&n, &tests, "read_file", line, "error: gone");
	}
	assert_int_equal(n.failed.n, NOTES_FAILED_MAX);
	notes_failed(&n, 100, true, &b);
	assert_true(b.len <= 100 && b.len > 60);
	assert_non_null(strstr(buf_str(&b), "f99\\n: error: gone\n"));
	buf_clear(&b);
	notes_clear(&n);
}

/* --- front matter, images ------------------------------------------------ */

static void
head_is(const char *s, const char *name, const char *text, const char *body)
{
	char *n, *d;
	size_t at = skill_head(s, strlen(s), &n, &d);

	assert_string_equal(s + at, body);
	assert_string_equal(n != NULL ? n : "-", name);
	assert_string_equal(d != NULL ? d : "-", text);
	free(n);
	free(d);
}

static void
test_skill_head(void **state)
{
	(void)state;
	head_is("", "-", "-", "");
	head_is("text\n---\n", "-", "-", "text\n---\n");
	head_is("---\nname: a\n", "-", "-", "---\nname: a\n"); /* no end */
	head_is("---\n---", "-", "-", "");
	head_is("---\nname:a\ndescription: \"b: c\"\n---\nB", "a", "b: c", "B");
	head_is("---\nx:\n  name: no\ndescription: |\n  one\n\n  two\n"
		"license: z\n---\n",
	    "-", "one two", "");
	head_is("---\nname: '\n---\n", "'", "-", "");
	assert_true(skill_name_ok("a-b_c.1"));
	assert_false(skill_name_ok(""));
	assert_false(skill_name_ok(".x"));
	assert_false(skill_name_ok("a/b"));
	assert_false(skill_name_ok("a\nb"));
}

static void
image_is(const char *s, size_t len, const char *want)
{
	char got[80] = "-";
	char *exact = xmalloc(len != 0 ? len : 1); /* for the sanitizer */

	memcpy(exact, s, len);
	(void)image_describe(exact, len, got, sizeof got);
	assert_string_equal(got, want);
	free(exact);
}

static void
test_image(void **state)
{
#define I(s, want) image_is(s, sizeof(s) - 1, want)
	(void)state;
	I("", "-");
	I("text", "-");
	I("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x23\x28\0\0\0\x64",
	    "PNG image, 9000x100 pixels");
	I("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "-");
	I("GIF89a\x10\0\x20\0", "GIF image, 16x32 pixels");
	I("\xff\xd8\xff\xe0\0\4ab\xff\xc0\0\x11\x08\0\x64\x23\x28\3",
	    "JPEG image, 9000x100 pixels");
	I("\xff\xd8\xff\xe0\0\0", "JPEG image");
	I("\xff\xd8\xff\xe0\xff\xff", "JPEG image");
	I("RIFF\0\0\0\0WEBPVP8 ", "WebP image");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_measure),
		cmocka_unit_test(test_strip),
		cmocka_unit_test(test_drop_is_one_batch),
		cmocka_unit_test(test_tail_is_complete),
		cmocka_unit_test(test_barren),
		cmocka_unit_test(test_watch),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_skill_head),
		cmocka_unit_test(test_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
