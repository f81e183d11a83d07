/*
 * test_host_intake.c - a host that lacks a snapshot, against an orchestrator
 * that answers well, late, wrongly or not at all.
 */
#include "common/compat.h"

#include "test_host_bed.h"
#include "test_host_worker.h"

#include "sandbox/snapshot.h"
#include "sandbox/snapshot_export.h"

static struct snapshot snap;
static struct snapshot_export *export;
static size_t drop;      /* so many NEEDs are not heard */
static const char *says; /* an error to answer with */
static bool spoil;       /* other bytes than promised */
static uint64_t ticket;  /* the last one given */
static size_t settled;   /* of them that came back */

static void
answer(struct bed *b, const struct msg_need *m)
{
	struct snapshot_range r[SNAPSHOT_RANGES];
	struct snapshot_facts facts = { 0 };
	struct msg out = { .type = MSG_SNAPSHOT };
	struct msg_snapshot *o = &out.u.snapshot;
	struct buf data;
	struct err e;
	size_t n;

	settled += m->ticket != 0 && m->ticket <= ticket;
	if (drop > 0) {
		drop--;
		return;
	}
	assert_string_equal(m->snapshot, snap.id);
	assert_int_equal(
	    snapshot_ranges_get(m->ranges, m->ranges_len, r, &n, &e), 0);
	buf_init(&data, SNAPSHOT_CHUNK);
	if (snapshot_export_read(export, r, n, &data, &facts, &e) < 0)
		fail_msg("%s", e.text);
	if (spoil && r[0].entry < SNAPSHOT_PACK)
		data.data[0] ^= 1;
	o->snapshot = m->snapshot;
	o->seq = m->seq;
	o->ticket = ++ticket;
	o->error = says;
	if (says == NULL) {
		o->data = data.data;
		o->data_len = data.len;
		o->total = facts.total;
		o->owner = facts.owner;
		o->mode = facts.mode;
		o->mtime_ns = facts.mtime_ns;
	}
	bed_send(b, NULL, &out);
	/* Once more; nobody has asked for that. */
	bed_send(b, NULL, &out);
	buf_clear(&data);
}

static void
put(const char *dir, const char *name, size_t len)
{
	char *path = path_join(dir, name), *text = xcalloc(1, len + 1);
	struct err e;

	memset(text, 'x', len);
	assert_int_equal(file_write(path, text, len, 0644, &e), 0);
	free(text);
	free(path);
}

/* So many small files, and one that takes several chunks. */
static void
open_with(struct bed *b, int files)
{
	char *root, *store, *dir, name[32];
	struct snapshot_opts o = { 0 };
	struct err e;

	bed_open(b);
	root = bed_mkdir(b, "origin", 0755, false);
	dir = bed_mkdir(b, "origin/sub", 0755, false);
	store = path_joinf(b->dir, "origin-store");
	for (int i = 0; i < files; i++) {
		(void)snprintf(name, sizeof name, "f%d", i);
		put(dir, name, (size_t)(i * (900 / files)));
	}
	put(root, "hello.txt", 1500000);
	o.store = store;
	if (snapshot_create(root, &o, &snap, &e) < 0 ||
	    snapshot_export_open(store, snap.id, &export, &e) < 0)
		fail_msg("%s", e.text);
	drop = 0;
	says = NULL;
	spoil = false;
	ticket = settled = 0;
	b->on_need = answer;
	free(root);
	free(dir);
	free(store);
	bed_start_wait(b);
}

static void
open_all(struct bed *b)
{
	open_with(b, 60);
}

static void
close_all(struct bed *b)
{
	snapshot_export_close(export);
	snapshot_clear(&snap);
	bed_quit(b);
}

static void
assign(struct bed *b, const char *name)
{
	struct msg m = { .type = MSG_ASSIGN };

	m.u.assign.subtask = "sub";
	m.u.assign.attempt = 1;
	m.u.assign.snapshot = snap.id;
	m.u.assign.root = b->root;
	m.u.assign.wall_ms = 60000;
	bed_send(b, name, &m);
}

static void
wait_needs(struct bed *b, size_t n)
{
	uint64_t end = loop_now_ms() + WAIT_MS;

	while (b->needs < n) {
		assert_true(loop_now_ms() < end);
		assert_true(loop_once(b->loop, 20) >= 0);
	}
}

/* Names in the host's store that begin so. */
static size_t
in_store(const struct bed *b, const char *start)
{
	char *path = path_joinf(b->dir, "cache/snapshots");
	DIR *dir = opendir(path);
	struct dirent *d;
	size_t n = 0;

	assert_non_null(dir);
	while ((d = readdir(dir)) != NULL)
		n += strncmp(d->d_name, start, strlen(start)) == 0;
	closedir(dir);
	free(path);
	return n;
}

static void
wait_no_tmp(const struct bed *b)
{
	uint64_t end = loop_now_ms() + WAIT_MS;

	while (in_store(b, "tmp-") > 0) {
		assert_true(loop_now_ms() < end);
		bed_nap(20);
	}
}

static void
test_comes(void **state)
{
	struct bed b;
	size_t needs;

	(void)state;
	open_with(&b, 900);
	drop = 1; /* the second question is the first, again */
	assign(&b, "good");
	assign(&b, "good-2");
	wait_needs(&b, 1);
	while (bed_wait(&b, MSG_HEARTBEAT, NULL)->number != 2)
		;
	bed_wait(&b, MSG_READY, "good");
	bed_wait(&b, MSG_READY, "good-2");
	assert_int_equal(in_store(&b, snap.id), 1);
	assert_int_equal(in_store(&b, "tmp-"), 0);
	needs = b.needs;
	assert_in_range(needs, 8, 20);
	assert_in_range(settled, needs - 6, needs);
	/* It is here now. */
	assign(&b, "good-3");
	bed_wait(&b, MSG_READY, "good-3");
	assert_int_equal(b.needs, needs);
	close_all(&b);
}

static void
test_refused(void **state)
{
	struct bed b;

	(void)state;
	open_all(&b);
	says = "the disk has burnt";
	assign(&b, "good");
	assign(&b, "good-2");
	bed_wait_exit(&b, "good", "start", "the disk has burnt");
	bed_wait_exit(&b, "good-2", "start", "the disk has burnt");
	says = NULL;
	spoil = true;
	wait_no_tmp(&b);
	assign(&b, "good");
	bed_wait_exit(&b, "good", "start", "has other content than promised");
	wait_no_tmp(&b);
	assert_int_equal(in_store(&b, snap.id), 0);
	spoil = false;
	assign(&b, "good");
	bed_wait(&b, MSG_READY, "good");
	close_all(&b);
}

static void
test_cancel(void **state)
{
	struct msg m = { .type = MSG_CANCEL };
	struct bed b;

	(void)state;
	open_all(&b);
	drop = 1000;
	assign(&b, "good");
	assign(&b, "good-2");
	wait_needs(&b, 1);
	m.u.cancel.reason = "enough";
	bed_send(&b, "good", &m);
	bed_wait_exit(&b, "good", "cancelled", "enough");
	/* The other one still wants it. */
	drop = 0;
	bed_wait(&b, MSG_READY, "good-2");
	bed_send(&b, NULL, &m);
	bed_wait_exit(&b, "good-2", "cancelled", "enough");
	close_all(&b);

	open_all(&b);
	drop = 3;
	assign(&b, "good");
	wait_needs(&b, 1);
	bed_send(&b, NULL, &m);
	bed_wait_exit(&b, "good", "cancelled", "enough");
	wait_no_tmp(&b);
	assert_int_equal(in_store(&b, snap.id), 0);
	drop = 0;
	assign(&b, "good");
	bed_wait(&b, MSG_READY, "good");
	close_all(&b);
}

/* The child that takes it in, as we count; 0: none. */
static pid_t
intake_pid(const struct bed *b)
{
	char path[300], name[64];
	struct dirent *d;
	pid_t pid = 0;
	DIR *dir = opendir("/proc");
	FILE *f;

	assert_non_null(dir);
	while ((d = readdir(dir)) != NULL) {
		(void)snprintf(path, sizeof path, "/proc/%s/comm", d->d_name);
		f = d->d_name[0] >= '1' && d->d_name[0] <= '9'
		    ? fopen(path, "re")
		    : NULL;
		if (f == NULL)
			continue;
		if (fgets(name, sizeof name, f) != NULL &&
		    strcmp(name, "foray-intake\n") == 0 &&
		    bed_is_marked(b, d->d_name))
			pid = (pid_t)atoi(d->d_name);
		fclose(f);
	}
	closedir(dir);
	return pid;
}

static void
test_child_killed(void **state)
{
	struct bed b;
	pid_t pid;

	(void)state;
	open_all(&b);
	drop = 1000;
	assign(&b, "good");
	wait_needs(&b, 1);
	pid = intake_pid(&b);
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	bed_wait_exit(&b, "good", "start", "ended with status 137");
	drop = 0;
	assign(&b, "good");
	bed_wait(&b, MSG_READY, "good");
	/* What the killed one has left is swept. */
	assert_int_equal(in_store(&b, "tmp-"), 0);
	close_all(&b);
}

/* The host goes in the middle. */
static void
test_end(void **state)
{
	struct bed b;

	(void)state;
	open_all(&b);
	drop = 1000;
	assign(&b, "good");
	wait_needs(&b, 1);
	bed_quit(&b);
	snapshot_export_close(export);
	snapshot_clear(&snap);
}

/* Nothing comes for a while, as when much has to be looked at: it is said that
 * it goes on. */
static void
test_still(void **state)
{
	struct bed b;

	(void)state;
	open_all(&b);
	b.on_need = NULL;
	assign(&b, "slow");
	bed_wait(&b, MSG_PROGRESS, "slow");
	b.on_need = answer;
	bed_wait(&b, MSG_READY, "slow");
	close_all(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_child_killed),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_still),
	};

	if (access(IN_LINK "/worker.json", F_OK) == 0)
		return tw_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
