/* The audit chain: intact, and every way of damage is named by its line. */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/store/audit.h"

static char dir[] = "/tmp/foray-test-audit-XXXXXX";

static int
setup(void **state unused_arg)
{
	memcpy(dir + sizeof dir - 7, "XXXXXX", 6);
	return mkdtemp(dir) == NULL || setenv("XDG_STATE_HOME", dir, 1) < 0;
}

static int
teardown(void **state unused_arg)
{
	return path_rmtree(dir, NULL);
}

/* A run with n audit lines; its audit.jsonl. */
static char *
make_chain(int n, struct store **ret)
{
	struct audit *a;
	int i;

	assert_int_equal(store_create(ret, NULL), 0);
	assert_int_equal(audit_open(*ret, &a, NULL), 0);
	for (i = 0; i < n; i++)
		assert_int_equal(
		    audit_write(a, i, "w1", "command", "echo \"a\\b\"\n\xff",
			"{\"k\":[1,2]}", "allow", NULL),
		    0);
	audit_close(a);
	return path_join(store_dir(*ret), "audit.jsonl");
}

static int
verify(struct store *s, char *note, struct err *e)
{
	uint64_t n;

	e->text[0] = '\0';
	return audit_verify(s, &n, note, 256, e);
}

static void
test_intact(void **state unused_arg)
{
	struct store *s;
	char *path = make_chain(5, &s), note[256];
	struct err e;

	assert_int_equal(verify(s, note, &e), 0);
	assert_string_equal(note, "");
	free(path);
	store_close(s);
}

static void
test_empty(void **state unused_arg)
{
	struct store *s;
	char *path = make_chain(0, &s), note[256];
	struct err e;

	assert_int_equal(verify(s, note, &e), 0);
	free(path);
	store_close(s);
}

/* Every single byte of the file, changed: its line is named. */
static void
test_any_byte(void **state unused_arg)
{
	struct store *s;
	char *path = make_chain(4, &s), note[256], want[32];
	struct buf b;
	struct err e;
	size_t i, line = 1;

	buf_init(&b, 1 << 20);
	assert_int_equal(file_read(path, true, &b, NULL), 0);
	for (i = 0; i < b.len; i++) {
		char old = b.data[i];

		if (old == '\n') {
			line++;
			continue; /* two lines become one: said as well */
		}
		b.data[i] = (char)(old ^ 1);
		assert_int_equal(
		    file_write(path, b.data, b.len, 0600, NULL), 0);
		assert_true(verify(s, note, &e) < 0);
		(void)snprintf(want, sizeof want, "line %zu ", line);
		if (b.data[i] != '\n' && strstr(e.text, want) == NULL)
			fail_msg("byte %zu: \"%s\" does not name %s", i, e.text,
			    want);
		b.data[i] = old;
	}
	buf_clear(&b);
	free(path);
	store_close(s);
}

static void
cut(const char *path, size_t drop_line, size_t of)
{
	struct buf b, out;
	char *p, *nl;
	size_t line = 1;

	buf_init(&b, 1 << 20);
	buf_init(&out, 1 << 20);
	assert_int_equal(file_read(path, true, &b, NULL), 0);
	for (p = b.data; (nl = strchr(p, '\n')) != NULL; p = nl + 1, line++)
		if (line != drop_line)
			assert_int_equal(
			    buf_add(&out, p, (size_t)(nl - p) + 1), 0);
	assert_int_equal(line - 1, of);
	assert_int_equal(file_write(path, out.data, out.len, 0600, NULL), 0);
	buf_clear(&b);
	buf_clear(&out);
}

static void
test_missing_lines(void **state unused_arg)
{
	struct store *s;
	char note[256], *path;
	struct err e;

	path = make_chain(4, &s);
	cut(path, 4, 4);
	assert_true(verify(s, note, &e) < 0);
	assert_non_null(strstr(e.text, "line 4 is missing"));
	free(path);
	store_close(s);

	path = make_chain(4, &s);
	cut(path, 2, 4);
	assert_true(verify(s, note, &e) < 0);
	assert_non_null(strstr(e.text, "line 2 "));
	free(path);
	store_close(s);
}

/* What a crash leaves is said and is no damage. */
static void
test_torn(void **state unused_arg)
{
	struct store *s;
	char *path = make_chain(3, &s), note[256];
	struct err e;
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, "{\"n\":4", 6), 0);
	fd_close(&fd);
	assert_int_equal(verify(s, note, &e), 0);
	assert_non_null(strstr(note, "torn"));
	free(path);
	store_close(s);
}

static void
copy_to(const char *path, const char *data, size_t len)
{
	struct err e;

	if (file_write(path, data, len, 0600, &e) < 0)
		fail_msg("%s", e.text);
}

/* Killed at any byte of a line: the next one to write mends it and says so. */
static void
test_killed_anywhere(void **state unused_arg)
{
	const char *sign = "\"act\":\"repair\"";
	struct store *s;
	char *path = make_chain(3, &s), *head, note[256];
	struct audit *a;
	struct buf old, whole, now;
	struct err e;
	size_t n;

	buf_init(&old, 1 << 20);
	buf_init(&whole, 1 << 20);
	buf_init(&now, 1 << 20);
	head = store_get(s, "audit_head");
	assert_int_equal(file_read(path, true, &old, NULL), 0);
	assert_int_equal(audit_open(s, &a, &e), 0);
	assert_int_equal(
	    audit_write(a, 1, "w", "command", "x", NULL, "allow", &e), 0);
	audit_close(a);
	assert_int_equal(file_read(path, true, &whole, NULL), 0);
	for (n = old.len; n <= whole.len; n++) {
		copy_to(path, whole.data, n);
		assert_int_equal(store_set(s, "audit_head", head, &e), 0);
		if (audit_open(s, &a, &e) < 0)
			fail_msg("cut at %zu: %s", n, e.text);
		assert_int_equal(
		    audit_write(a, 2, "w", "command", "y", NULL, "allow", &e),
		    0);
		audit_close(a);
		if (verify(s, note, &e) < 0)
			fail_msg("cut at %zu: %s", n, e.text);
		assert_string_equal(note, "");
		buf_reset(&now);
		assert_int_equal(file_read(path, true, &now, NULL), 0);
		assert_true(
		    (strstr(buf_str(&now), sign) != NULL) == (n > old.len));
	}
	buf_clear(&old);
	buf_clear(&whole);
	buf_clear(&now);
	free(head);
	free(path);
	store_close(s);
}

/* The record of another run, with its head: each is intact by itself. */
static void
test_of_another(void **state unused_arg)
{
	struct store *s, *t;
	char *path = make_chain(3, &s), *other = make_chain(4, &t), note[256];
	char *head = store_get(t, "audit_head");
	struct buf b;
	struct err e;

	buf_init(&b, 1 << 20);
	assert_int_equal(file_read(other, true, &b, NULL), 0);
	assert_non_null(strstr(buf_str(&b), store_id(t)));
	copy_to(path, b.data, b.len);
	assert_int_equal(store_set(s, "audit_head", head, &e), 0);
	assert_int_equal(verify(s, note, &e), ERR_DENIED);
	assert_non_null(strstr(e.text, store_id(t)));
	/* with its run.db, too */
	assert_int_equal(store_set(s, "id", store_id(t), &e), 0);
	assert_int_equal(verify(s, note, &e), ERR_DENIED);
	assert_non_null(strstr(e.text, "run.db"));
	buf_clear(&b);
	free(head);
	free(path);
	free(other);
	store_close(s);
	store_close(t);
}

/* A chain that names no run: of old, it verifies, and that is said. */
static void
test_of_old(void **state unused_arg)
{
	struct store *s;
	char *path = make_chain(0, &s), *own, *from, note[256];
	struct audit *a;
	struct buf b;
	struct err e;

	buf_init(&b, 1 << 20);
	own = path_join(store_dir(s), "own");
	assert_int_equal(audit_open_dir(own, &a, NULL), 0);
	assert_int_equal(
	    audit_write(a, 1, "w", "command", "x", NULL, "allow", &e), 0);
	audit_close(a);
	from = path_join(own, "audit.jsonl");
	assert_int_equal(file_read(from, true, &b, NULL), 0);
	copy_to(path, b.data, b.len);
	free(from);
	from = path_join(own, "audit.head");
	buf_reset(&b);
	assert_int_equal(file_read(from, true, &b, NULL), 0);
	assert_int_equal(store_set(s, "audit_head", buf_str(&b), &e), 0);
	/* run.db knows its run: the chain must, too */
	assert_int_equal(verify(s, note, &e), ERR_DENIED);
	assert_int_equal(store_set(s, "id", NULL, &e), 0);
	assert_int_equal(verify(s, note, &e), 0);
	assert_non_null(strstr(note, "can't be told"));
	buf_clear(&b);
	free(from);
	free(own);
	free(path);
	store_close(s);
}

/* A full disk: the next line does not follow on half of one. */
static void
test_full(void **state unused_arg)
{
	struct rlimit lim = { 0, RLIM_INFINITY }, none;
	struct store *s;
	char *path = make_chain(3, &s), note[256];
	struct audit *a;
	struct stat st;
	struct err e;

	assert_int_equal(audit_open(s, &a, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &none), 0);
	lim = none;
	lim.rlim_cur = (rlim_t)st.st_size + 20;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
	assert_true(
	    audit_write(a, 1, "w", "command", "x", NULL, "allow", &e) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(
	    audit_write(a, 2, "w", "command", "y", NULL, "allow", &e), 0);
	audit_close(a);
	if (verify(s, note, &e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(note, "");
	free(path);
	store_close(s);
}

static void
sql(struct store *s, const char *text)
{
	char *path = path_join(store_dir(s), "run.db");
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	free(path);
}

/* The line is written and there is no room for the head: no second line comes
 * before it, now or when the run is taken up again. */
static void
test_full_head(void **state unused_arg)
{
	struct store *s;
	char *path = make_chain(3, &s), note[256];
	struct audit *a;
	struct err e;

	assert_int_equal(audit_open(s, &a, &e), 0);
	sql(s,
	    "CREATE TRIGGER full BEFORE INSERT ON fact WHEN NEW.key = "
	    "'audit_head' BEGIN SELECT RAISE(FAIL, 'full'); END");
	for (int i = 0; i < 3; i++)
		assert_true(audit_write(a, 1, "w", "command", "x", NULL,
				"allow", &e) < 0);
	audit_close(a);
	if (verify(s, note, &e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(note, "line 4 was written as the run was killed");
	/* Room again, in the middle of a run, and for the next one. */
	assert_true(audit_open(s, &a, &e) < 0);
	sql(s, "DROP TRIGGER full");
	assert_int_equal(audit_open(s, &a, &e), 0);
	assert_int_equal(
	    audit_write(a, 2, "w", "command", "y", NULL, "allow", &e), 0);
	sql(s,
	    "CREATE TRIGGER full BEFORE INSERT ON fact WHEN NEW.key = "
	    "'audit_head' BEGIN SELECT RAISE(FAIL, 'full'); END");
	assert_true(
	    audit_write(a, 3, "w", "command", "z", NULL, "allow", &e) < 0);
	sql(s, "DROP TRIGGER full");
	audit_close(a);
	if (verify(s, note, &e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(note, "");
	free(path);
	store_close(s);
}

/* --- a chain of its own, written by many ---------------------------------- */

#define WRITERS 4
#define LINES 50

static int
verify_dir(uint64_t *ret_n, char *note, struct err *e)
{
	e->text[0] = '\0';
	return audit_verify_dir(dir, ret_n, note, 256, e);
}

static void
write_lines(int n)
{
	struct audit *a;
	struct err e;
	int i;

	if (audit_open_dir(dir, &a, &e) < 0)
		fail_msg("%s", e.text);
	for (i = 0; i < n; i++)
		if (audit_write(a, i, "w", "network", "CONNECT a:1",
			"{\"id\":1}", "allow", &e) < 0)
			fail_msg("%s", e.text);
	audit_close(a);
}

static void
test_shared(void **state unused_arg)
{
	char note[256];
	struct err e;
	uint64_t n;
	int i, status;

	for (i = 0; i < WRITERS; i++) {
		if (fork() == 0) {
			struct audit *a;
			int k, bad = audit_open_dir(dir, &a, &e) < 0;

			for (k = 0; k < LINES && !bad; k++)
				bad = audit_write(a, k, "w", "network", "x",
					  NULL, "allow", &e) < 0;
			_exit(bad);
		}
	}
	for (i = 0; i < WRITERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	if (verify_dir(&n, note, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(n, WRITERS * LINES);
	assert_string_equal(note, "");
}

/* A torn line goes, a whole one that the head does not know is taken. */
static void
test_shared_crash(void **state unused_arg)
{
	char note[256], *path = path_join(dir, "audit.jsonl");
	char *head = path_join(dir, "audit.head");
	struct buf old;
	struct err e;
	uint64_t n;
	int fd;

	write_lines(2);
	buf_init(&old, 4096);
	assert_int_equal(file_read(head, true, &old, NULL), 0);
	write_lines(1);
	assert_int_equal(file_write(head, old.data, old.len, 0600, NULL), 0);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(fd_write_all(fd, "{\"n\":4", 6), 0);
	fd_close(&fd);
	assert_int_equal(verify_dir(&n, note, &e), 0);
	assert_int_equal(n, 3);
	assert_true(note[0] != '\0');
	write_lines(2);
	if (verify_dir(&n, note, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(n, 6); /* one says what was mended */
	assert_string_equal(note, "");
	buf_clear(&old);
	free(path);
	free(head);
}

/* Nothing is added to a chain that was cut or changed. */
static void
test_shared_changed(void **state unused_arg)
{
	char note[256], *path = path_join(dir, "audit.jsonl");
	struct audit *a;
	struct err e;
	uint64_t n;

	write_lines(4);
	cut(path, 4, 4);
	assert_true(verify_dir(&n, note, &e) < 0);
	assert_non_null(strstr(e.text, "line 4 is missing"));
	assert_int_equal(audit_open_dir(dir, &a, &e), 0);
	assert_true(
	    audit_write(a, 0, "w", "network", "x", NULL, "allow", &e) < 0);
	assert_non_null(strstr(e.text, "begin a new chain"));
	audit_close(a);
	free(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_intact, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_missing_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_torn, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_killed_anywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_of_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_old, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_full_head, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shared, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_shared_crash, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_shared_changed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
