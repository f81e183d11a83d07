/*
 * Is the edit of fix.patch among the candidates, and at which rank? Asked for
 * some bugs of tests/bugs, whose edit must be there; for all fixable ones of a
 * directory given (`make bench-repair` says what becomes of them). The tests of
 * the bug are run once for their output; without their interpreter the ranks
 * are only worse. Prints a table.
 */
#include "common/compat.h"

#include <sys/stat.h>

#include <dirent.h>
#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "common/text.h"
#include "orchestrator/repair/queue.h"
#include "orchestrator/repair/suspect.h"
#include "orchestrator/repair/trace.h"

#define FILES_MAX 60
#define RANK_MAX 400

struct repo {
	struct source *src[FILES_MAX];
	size_t n_src, n;
};

static const char *const must[] = { "c-csv", "c-ignore", "c-jobqueue",
	"c-matrix", "c-timers", "js-retry", "js-route", "js-semver", "js-wrap",
	"py-cache", "py-cron", "py-depot", "py-freebusy", "py-ledger",
	"py-outline", "py-template", "py-transit", "sh-conf", "sh-prune",
	"sh-rotate" };

static const char *dir = "tests/bugs";
static bool all;
static size_t all_tried;

static void
load(struct repo *r, const char *root, const char *rel, bool tests)
{
	char *path = path_join(root, rel);
	DIR *d = opendir(path);
	struct dirent *de;

	free(path);
	while (d != NULL && (de = readdir(d)) != NULL) {
		char *sub = *rel == '\0' ? xstrdup(de->d_name)
					 : path_join(rel, de->d_name);
		char *full = path_join(root, sub);
		struct stat st;
		struct buf b;

		buf_init(&b, SOURCE_MAX_BYTES);
		if (de->d_name[0] != '.' && lstat(full, &st) == 0) {
			if (S_ISDIR(st.st_mode))
				load(r, root, sub, tests);
			else if (r->n < FILES_MAX &&
			    suspect_is_test(sub) == tests &&
			    file_read(full, true, &b, NULL) == 0) {
				r->src[r->n] =
				    source_create(sub, buf_str(&b), b.len);
				r->n += r->src[r->n] != NULL;
			}
		}
		buf_clear(&b);
		free(full);
		free(sub);
	}
	if (d != NULL)
		closedir(d);
}

/* "FAIL: test_x (...)", "not ok 3 - title", "FAIL title". */
static void
failing_names(const char *out, struct strv *names)
{
	static const char *const marks[] = { "FAIL: ", "ERROR: ", "not ok ",
		"FAIL " };

	for (const char *p = out; p != NULL && *p != '\0';
	     p = strchr(p, '\n'), p += p != NULL) {
		const char *q = p + strspn(p, " ");
		size_t len = strcspn(q, "\n");

		for (size_t k = 0; k < nitems(marks); k++) {
			size_t m = strlen(marks[k]);

			if (strncmp(q, marks[k], m) != 0 || len <= m)
				continue;
			q += m;
			len -= m;
			if (k == 2) {
				size_t skip = strspn(q, "0123456789 -");

				q += skip;
				len -= skip;
			}
			if (names->n < 20 && !text_ends(q, ".js"))
				strv_addn(names, q, len);
			break;
		}
	}
}

static char *
canonical(const char *s, size_t len)
{
	char *r = xmalloc(len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (strchr(" \t\n", s[i]) == NULL)
			r[n++] = s[i];
	}
	r[n] = '\0';
	return r;
}

static int
by_char(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* Equal text, or the same tokens in another order where tokens were added. */
static bool
same_edit(const char *a, const char *b, const char *old)
{
	char *x = canonical(a, strlen(a)), *y = canonical(b, strlen(b));
	char *o = canonical(old, strlen(old));
	bool same = strcmp(x, y) == 0;

	if (!same && strlen(x) == strlen(y) && strlen(y) > strlen(o) + 3) {
		qsort(x, strlen(x), 1, by_char);
		qsort(y, strlen(y), 1, by_char);
		same = strcmp(x, y) == 0;
	}
	free(x);
	free(y);
	free(o);
	return same;
}

/* The old and new lines of a patch with one hunk. */
static void
read_patch(const char *patch, struct buf *old, struct buf *new_text)
{
	for (const char *p = strstr(patch, "@@"); p != NULL && *p != '\0';
	     p = strchr(p, '\n'), p += p != NULL) {
		size_t len = strcspn(p, "\n");

		if (*p == '-')
			(void)buf_printf(old, "%s%.*s", old->len ? "\n" : "",
			    (int)len - 1, p + 1);
		else if (*p == '+')
			(void)buf_printf(new_text, "%s%.*s",
			    new_text->len ? "\n" : "", (int)len - 1, p + 1);
	}
}

/* The text of lines [from, to) of a source, 1-based; then from there on. */
static void
add_lines(struct buf *b, const struct source *s, size_t from, size_t to)
{
	size_t a = s->line_off[from - 1];
	size_t e = to - 1 <= s->n_line ? s->line_off[to - 1] : s->len;

	(void)buf_add(b, s->text + a, (e < s->len ? e : s->len) - a);
}

/* The file as a patch with one hunk makes it. */
static char *
fixed_text(const struct source *s, const char *patch)
{
	const char *p = strstr(patch, "@@ -");
	size_t line = strtoul(p + 4, NULL, 10), len;
	struct buf b;
	char *text;

	buf_init(&b, BUF_NOMAX);
	if (line > 1)
		add_lines(&b, s, 1, line);
	for (p = strchr(p, '\n') + 1; *p != '\0'; p += len + (p[len] == '\n')) {
		len = strcspn(p, "\n");
		if (*p == ' ' || *p == '+')
			(void)buf_printf(&b, "%.*s\n", (int)len - 1, p + 1);
		line += *p == ' ' || *p == '-';
	}
	if (line <= s->n_line)
		add_lines(&b, s, line, s->n_line + 1);
	text = canonical(buf_str(&b), b.len);
	buf_clear(&b);
	return text;
}

/* Does the candidate make that of the file? */
static bool
makes(const struct cand *c, const struct source *s, const char *want)
{
	struct buf b;
	char *text;
	bool same;

	buf_init(&b, BUF_NOMAX);
	if (c->line > 1)
		add_lines(&b, s, 1, c->line);
	(void)buf_printf(&b, "%s\n", c->new_text);
	if (c->line + c->n_lines <= s->n_line)
		add_lines(&b, s, c->line + c->n_lines, s->n_line + 1);
	text = canonical(buf_str(&b), b.len);
	same = strcmp(text, want) == 0;
	buf_clear(&b);
	free(text);
	return same;
}

/* 1-based rank, 0: not there. */
static size_t
rank_of(const struct queue *q, const char *file, uint32_t line,
    const char *patch, const char *old, const char *new_text,
    const char **ret_op)
{
	char *want = NULL;
	size_t rank = 0;

	for (size_t i = 0; i < queue_n_cand(q) && rank == 0; i++) {
		const struct cand *c = queue_cand(q, i);
		const struct source *s = queue_source(q, i);

		if (strcmp(s->path, file) != 0)
			continue;
		if (want == NULL)
			want = fixed_text(s, patch);
		if ((c->line == line &&
			same_edit(c->new_text, new_text, old)) ||
		    (strlen(new_text) >= strlen(old) && makes(c, s, want)))
			rank = i + 1;
		*ret_op = rank > 0 ? repair_ops[c->op].name : *ret_op;
	}
	free(want);
	return rank;
}

/* How many candidates four workers try, 20 at a time, until this one. */
static size_t
tried_until(struct queue *q, size_t rank)
{
	uint32_t got[20];
	char name[8];
	size_t tried = 0, n, dealt = 1;

	while (rank > 0 && dealt > 0) {
		dealt = 0;
		for (uint32_t w = 1; w <= 4; w++) {
			snprintf(name, sizeof name, "H%u", w);
			n = queue_next(q, w, name, nitems(got), got);
			dealt += n;
			for (size_t i = 0; i < n; i++) {
				tried++;
				queue_settle(q, got[i], false);
				if (got[i] == rank - 1)
					return tried;
			}
		}
	}
	return 0;
}

static void
run_in(const char *tmp, const char *command, struct buf *out)
{
	struct strv argv = { 0 };
	struct spawn sp = {
		.argv = &argv, .out = out, .err = out, .timeout_ms = 60000
	};
	struct spawn_result res;

	strv_addl(&argv, "sh", "-c", NULL);
	strv_addf(&argv, "TMPDIR='%s'; export TMPDIR; cd '%s/repo'\n%s", tmp,
	    tmp, command);
	(void)spawn_run(&sp, &res, NULL);
	strv_clear(&argv);
}

/* The tests' output, and which lines they execute. */
static bool
run_bug(const char *root, const char *test, enum token_dialect d,
    struct buf *out, struct spectrum *ret)
{
	char tmp[] = "/tmp/repair-bug-XXXXXX", *call[TRACE_MAX_CALLS], *copy;
	char *abs = realpath(root, NULL);
	struct buf report;
	size_t n;
	bool found;

	if (abs == NULL || mkdtemp(tmp) == NULL) {
		free(abs);
		return false;
	}
	buf_init(&report, 1 << 20);
	copy = xasprintf("%s/repo", tmp);
	(void)mkdir(copy, 0700);
	free(copy);
	copy = xasprintf("cp -r '%s/.' '%s/repo'", abs, tmp);
	run_in(tmp, copy, out);
	free(copy);
	run_in(tmp, test, out);
	n = trace_commands(test, d, false, NULL, "0123456789abcdef", call);
	for (size_t i = 0; i < n; i++) {
		run_in(tmp, call[i], &report);
		free(call[i]);
	}
	found = spectrum_parse(ret, buf_str(&report), "0123456789abcdef") == 0;
	buf_clear(&report);
	(void)path_rmtree(tmp, NULL);
	free(abs);
	return found;
}

static size_t
one_bug(const char *name, json_t *bug, const char *patch)
{
	struct repo r = { 0 };
	struct buf out, old, new_text;
	struct strv names = { 0 };
	struct suspect_facts f = { .failing = &names };
	struct spectrum sp = { 0 };
	struct cands c = { 0 };
	struct hints hints;
	float *weight[FILES_MAX];
	struct queue *q;
	const char *op = "-";
	char *root = path_joinf(dir, "%s/repo", name);
	const char *file = json_string_value(json_object_get(bug, "file"));
	uint32_t line =
	    (uint32_t)json_integer_value(json_object_get(bug, "line"));
	size_t rank, tried;

	buf_init(&out, 1 << 20);
	buf_init(&old, 65536);
	buf_init(&new_text, 65536);
	load(&r, root, "", false);
	r.n_src = r.n;
	load(&r, root, "", true);
	if (run_bug(root, json_string_value(json_object_get(bug, "test")),
		dialect_of(file, NULL, 0), &out, &sp) &&
	    getenv("REPAIR_BUGS_NO_SPECTRUM") == NULL)
		f.spectrum = &sp;
	failing_names(buf_str(&out), &names);
	f.output = buf_str(&out);
	if (getenv("REPAIR_BUGS_OUTPUT") != NULL)
		printf("%s\n", f.output);
	hints_init(&hints, &names);
	f.hints = &hints;
	suspect_lines(&f, r.src, r.n_src, r.n, weight);
	c.hints = &hints;
	for (size_t i = 0; i < r.n_src; i++)
		repair_generate(&c, r.src, r.n_src, (uint32_t)i, weight[i]);
	q = queue_create(&c, r.src, r.n_src, CAND_MAX, 0);
	hints_clear(&hints);
	read_patch(patch, &old, &new_text);
	rank = rank_of(
	    q, file, line, patch, buf_str(&old), buf_str(&new_text), &op);
	printf("# %-14s rank %5zu of %5zu  %-20s hypotheses %2zu  "
	       "4 workers: %zu\n",
	    name, rank, queue_n_cand(q), op, queue_n_hypo(q),
	    tried = tried_until(q, rank));
	all_tried += tried;
	if (getenv("REPAIR_BUGS_VERBOSE") != NULL) {
		for (size_t i = 0; i < r.n_src; i++) {
			for (size_t k = 0; k < r.src[i]->n_region; k++)
				printf("#   %.2f %s %s\n",
				    (double)weight
					[i][r.src[i]->region[k].first_line - 1],
				    r.src[i]->path, r.src[i]->region[k].name);
		}
		for (size_t o = 0; o < n_repair_ops; o++) {
			size_t n = 0;

			for (size_t i = 0; i < rank; i++)
				n += queue_cand(q, i)->op == o;
			if (n > 0)
				printf("#   %zu %s before it\n", n,
				    repair_ops[o].name);
		}
		for (size_t i = 0; i < queue_n_hypo(q); i++)
			printf("#   %s %zu: %s\n", queue_hypo(q, i)->name,
			    queue_hypo(q, i)->total,
			    queue_hypo(q, i)->sentence);
	}
	spectrum_clear(&sp);
	queue_free(q);
	for (size_t i = 0; i < r.n; i++) {
		if (i < r.n_src)
			free(weight[i]);
		source_free(r.src[i]);
	}
	strv_clear(&names);
	buf_clear(&out);
	buf_clear(&old);
	buf_clear(&new_text);
	free(root);
	return rank;
}

static bool
is_must(const char *name)
{
	for (size_t i = 0; i < nitems(must); i++) {
		if (strcmp(name, must[i]) == 0)
			return true;
	}
	return false;
}

static void
test_bugs(void **state)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, NULL, alphasort), missing = 0, far = 0;
	size_t n_must = 0;

	(void)state;
	for (int i = 0; i < n; i++) {
		char *bp = path_joinf(dir, "%s/bug.json", list[i]->d_name);
		char *pp = path_joinf(dir, "%s/fix.patch", list[i]->d_name);
		struct buf b, p;
		json_t *bug = NULL;

		buf_init(&b, 65536);
		buf_init(&p, 65536);
		if ((all || is_must(list[i]->d_name)) &&
		    file_read(bp, true, &b, NULL) == 0 &&
		    file_read(pp, true, &p, NULL) == 0 &&
		    json_parse(buf_str(&b), b.len, 65536, &bug, NULL) == 0 &&
		    json_is_true(json_object_get(bug, "fixable"))) {
			size_t rank =
			    one_bug(list[i]->d_name, bug, buf_str(&p));

			missing += rank == 0;
			far += rank > RANK_MAX;
			n_must += rank > 0 && is_must(list[i]->d_name);
		}
		json_decref(bug);
		buf_clear(&b);
		buf_clear(&p);
		free(bp);
		free(pp);
		free(list[i]);
	}
	free(list);
	printf("# %d missing, %d beyond rank %d, %zu tried\n", missing, far,
	    RANK_MAX, all_tried);
	if (!all)
		assert_int_equal(n_must, nitems(must));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_bugs) };

	all = argc > 1;
	if (all)
		dir = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
