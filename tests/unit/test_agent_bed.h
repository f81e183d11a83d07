/*
 * test_agent_bed.h - host and orchestrator for the tests of foray-worker.
 *
 * The built foray-worker runs unsandboxed (as the uid that workers have) on a
 * link directory of the test's, with a copied tree. Its commands run in real
 * inner sandboxes. The model is a script: one message after the other.
 */
#ifndef TESTS_UNIT_TEST_AGENT_BED_H
#define TESTS_UNIT_TEST_AGENT_BED_H

#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/hash.h"
#include "common/json.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "proto/peer.h"
#include "sandbox/probe.h"
#include "sandbox/profile.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"
#include "sandbox/workspace.h"

#define BED_TMP "/tmp/cmd"
#define BED_MAX 64

struct bed {
	char dir[64];
	char *tree, *base, *link;
	struct loop *loop;
	void *zctx;
	struct peer *peer;
	struct msg task;
	/* the script */
	char *replies[BED_MAX];
	size_t n_replies, used;
	bool ask_bodies; /* answer the first MODEL with "need" */
	/* what came */
	struct strv results;  /* contents of tool messages */
	struct strv audits;   /* "act subject" */
	struct strv bodies;   /* all of them */
	struct strv late;     /* of each request, "" for none */
	struct strv progress; /* "what text" */
	struct strv conv;     /* the last request's messages */
	unsigned rewrites;    /* requests that did not begin with the last */
	unsigned models;
	bool twice;          /* send each answer twice */
	const char *workdir; /* below the tree; NULL: the tree */
	/* What else the model does: with m's status set, m is sent. */
	void (*model)(struct bed *b, const struct msg_model *q, struct msg *m);
	struct msg *summary;
	int status;
	bool gone;
	bool caged; /* in its outer sandbox */
	enum layout layout;
	struct workspace ws;
};

static inline void
bed_reply(struct bed *b, const struct peer_addr *to, const struct msg *m)
{
	struct err e;

	if (peer_send(b->peer, to, "w1", m, &e) < 0)
		fail_msg("%s", e.text);
}

/* The text of a message that was sent before. */
static inline const char *
bed_body(const struct bed *b, const unsigned char *hash)
{
	unsigned char h[HASH_LEN];

	for (size_t i = b->bodies.n; i-- > 0;) {
		hash_bytes(b->bodies.v[i], strlen(b->bodies.v[i]), h);
		if (memcmp(h, hash, HASH_LEN) == 0)
			return b->bodies.v[i];
	}
	return NULL;
}

/* Keep the request's messages; does it begin with the last one's? */
static inline void
bed_keep_conv(struct bed *b, const struct msg_model *q)
{
	struct strv conv = { 0 };
	const unsigned char *h = q->hashes;
	const char *text;
	bool same = true;

	for (size_t i = 0; i < q->hashes_len / HASH_LEN; i++) {
		text = bed_body(b, h + i * HASH_LEN);
		assert_non_null(text);
		strv_add(&conv, text);
	}
	for (size_t i = 0; i < b->conv.n && same; i++)
		same = i < conv.n && strcmp(conv.v[i], b->conv.v[i]) == 0;
	b->rewrites += !same;
	strv_clear(&b->conv);
	b->conv = conv;
	strv_add(&b->late, msg_str(q->late));
}

static inline void
bed_on_model(
    struct bed *b, const struct peer_addr *from, const struct msg_model *q)
{
	struct msg m = { .type = MSG_MODEL_RESULT };
	const char *role;
	json_t *j;

	b->models++;
	for (size_t i = 0; i < q->bodies.n; i++) {
		const char *s = q->bodies.v[i];

		strv_add(&b->bodies, s);
		assert_int_equal(
		    json_parse(s, strlen(s), 1 << 20, &j, NULL), 0);
		role = json_string_value(json_object_get(j, "role"));
		if (strcmp(role, "tool") == 0)
			strv_add(&b->results,
			    json_string_value(json_object_get(j, "content")));
		json_decref(j);
	}
	m.u.model_result.turn = q->turn;
	if (b->ask_bodies && b->models == 1) {
		m.u.model_result.status = "need";
		m.u.model_result.need = q->hashes;
		m.u.model_result.need_len = 64;
		bed_reply(b, from, &m);
		return;
	}
	bed_keep_conv(b, q);
	if (b->model != NULL)
		b->model(b, q, &m);
	if (m.u.model_result.status != NULL) {
		/* said already */
	} else if (b->used < b->n_replies) {
		m.u.model_result.status = "ok";
		m.u.model_result.message = b->replies[b->used++];
	} else {
		m.u.model_result.status = "budget";
		m.u.model_result.error = "the script is over";
	}
	bed_reply(b, from, &m);
	if (b->twice)
		bed_reply(b, from, &m);
}

static inline void
bed_on_msg(struct peer *p, const struct peer_addr *from, const char *worker,
    const struct msg *m, const void *raw, size_t raw_len, void *ctx)
{
	struct bed *b = ctx;
	struct msg a = { 0 };

	(void)p;
	assert_string_equal(worker, "w1");
	switch (m->type) {
	case MSG_READY:
		assert_string_equal(m->u.ready.token, "00ff");
		bed_reply(b, from, &b->task);
		break;
	case MSG_AUDIT:
		strv_addf(
		    &b->audits, "%s %s", m->u.audit.act, m->u.audit.subject);
		a.type = MSG_VERDICT;
		a.u.verdict.seq = m->u.audit.seq;
		a.u.verdict.verdict =
		    strstr(m->u.audit.subject, "DENY") ? "deny" : "allow";
		a.u.verdict.reason = "the test says no";
		bed_reply(b, from, &a);
		break;
	case MSG_PROGRESS:
		strv_addf(&b->progress, "%s %s", m->u.progress.what,
		    msg_str(m->u.progress.text));
		break;
	case MSG_MODEL:
		bed_on_model(b, from, &m->u.model);
		break;
	case MSG_SUMMARY:
		if (b->summary == NULL)
			assert_int_equal(
			    msg_decode(raw, raw_len, &b->summary, NULL), 0);
		a.type = MSG_SUMMARY_ACK;
		a.u.summary_ack.subtask = m->u.summary.subtask;
		bed_reply(b, from, &a);
		break;
	default:
		break;
	}
}

static inline bool
bed_tell(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* Commands have /tmp/cmd as their /tmp here, not one of a sandbox around the
 * worker. In a child: a place that only it sees is there from now on. */
static inline bool
bed_own_tmp(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char users[64], groups[64];

	snprintf(users, sizeof users, "%u %u 1", uid, uid);
	snprintf(groups, sizeof groups, "%u %u 1", gid, gid);
	if (unshare(CLONE_NEWNS | (uid == 0 ? 0 : CLONE_NEWUSER)) < 0)
		return false;
	if (uid != 0 &&
	    (!bed_tell("/proc/self/setgroups", "deny") ||
		!bed_tell("/proc/self/uid_map", users) ||
		!bed_tell("/proc/self/gid_map", groups)))
		return false;
	return mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
	    mount("none", BED_TMP, "tmpfs", MS_NOSUID | MS_NODEV,
		"mode=0777") == 0;
}

static bool bed_owns_tmp;

/* Where that can't be it is the machine's: one program at a time, or they write
 * over each other's files. Held until it ends. */
static inline void
bed_alone(void)
{
	static int fd = -1;
	int status;
	pid_t pid;
	char *path;

	if (fd >= 0 || bed_owns_tmp)
		return;
	(void)mkdir(BED_TMP, 0700);
	if ((pid = fork()) == 0)
		_exit(bed_own_tmp() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if ((bed_owns_tmp = status == 0))
		return;
	path = xasprintf("/tmp/foray-agent-%ju.lock", (uintmax_t)geteuid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	free(path);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
}

static inline void
bed_open(struct bed *b)
{
	static const struct peer_ops ops = { .on_msg = bed_on_msg,
		.accept_from = 1u << ROLE_WORKER };
	char *endpoint;
	struct err e;

	bed_alone();
	*b = (struct bed){ .dir = "/tmp/foray-agent-XXXXXX" };
	assert_non_null(mkdtemp(b->dir));
	assert_int_equal(chmod(b->dir, 0755), 0);
	b->tree = path_join(b->dir, "tree");
	b->base = path_join(b->dir, "base");
	b->link = path_join(b->dir, "link");
	assert_int_equal(mkdir(b->tree, 0755), 0);
	assert_int_equal(mkdir(b->link, 0755), 0);
	b->loop = loop_create();
	b->zctx = zmq_ctx_new();
	endpoint = xasprintf("ipc://%s/s", b->link);
	if (peer_bind(b->loop, b->zctx, endpoint, true, &ops, b, &b->peer, &e) <
	    0)
		fail_msg("%s", e.text);
	free(endpoint);
	b->task.type = MSG_TASK;
	b->task.u.task.kind = "tool";
	b->task.u.task.subtask = "sub1";
	b->task.u.task.attempt = 1;
	b->task.u.task.system = "system";
	b->task.u.task.prompt = "prompt";
}

static inline void
bed_close(struct bed *b)
{
	peer_free(b->peer);
	loop_free(b->loop);
	zmq_ctx_term(b->zctx);
	for (size_t i = 0; i < b->n_replies; i++)
		free(b->replies[i]);
	strv_clear(&b->results);
	strv_clear(&b->audits);
	strv_clear(&b->bodies);
	strv_clear(&b->late);
	strv_clear(&b->progress);
	strv_clear(&b->conv);
	msg_free(b->summary);
	(void)path_rmtree(b->dir, NULL);
	free(b->tree);
	free(b->base);
	free(b->link);
}

static inline void
bed_put(struct bed *b, const char *rel, const void *p, size_t len, mode_t mode)
{
	char *path = path_join(b->tree, rel), *dir = path_dir(path);
	struct err e;

	if (path_mkdirs(dir, 0755, &e) < 0 ||
	    file_write(path, p, len, mode, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(chmod(path, mode), 0);
	free(dir);
	free(path);
}

static inline void
bed_text(struct bed *b, const char *rel, const char *text)
{
	bed_put(b, rel, text, strlen(text), 0644);
}

/* The file as it is now; yours, NULL: not there. */
static inline char *
bed_get(struct bed *b, const char *rel)
{
	char *path = path_join(b->tree, rel), *s = NULL;
	struct buf data;

	buf_init(&data, 1 << 20);
	if (file_read(path, true, &data, NULL) >= 0)
		s = buf_detach(&data, NULL);
	free(path);
	return s;
}

static inline void
bed_expect(struct bed *b, const char *rel, const char *text)
{
	char *s = bed_get(b, rel);

	assert_non_null(s);
	assert_string_equal(s, text);
	free(s);
}

static inline void
bed_has(const char *s, const char *part)
{
	if (s == NULL)
		s = "(none)";
	if (strstr(s, part) == NULL)
		fail_msg("\"%s\" is not in: %s", part, s);
}

static inline void
bed_has_not(const char *s, const char *part)
{
	if (s == NULL)
		s = "(none)";
	if (strstr(s, part) != NULL)
		fail_msg("\"%s\" is in: %s", part, s);
}

/* Another message of the model's, as it is. */
static inline void
bed_say(struct bed *b, const char *message)
{
	assert_true(b->n_replies < BED_MAX);
	b->replies[b->n_replies++] = xstrdup(message);
}

/* A message with one call; args are JSON text. */
static inline void
bed_call(struct bed *b, const char *tool, const char *args)
{
	json_t *j;
	char *s;

	j = json_pack("{s:s, s:n, s:[{s:s, s:s, s:s}]}", "role", "assistant",
	    "content", "tool_calls", "id", "t1", "name", tool, "arguments",
	    args);
	assert_non_null(j);
	s = json_text(j);
	bed_say(b, s);
	free(s);
	json_decref(j);
}

static inline void
bed_finish(struct bed *b, const char *verdict)
{
	char *s = xasprintf("{\"verdict\":\"%s\"}", verdict);

	bed_call(b, "finish", s);
	free(s);
}

static inline void
bed_config(struct bed *b)
{
	struct profile p = { .root = b->tree, .tree_src = b->tree };
	struct sandbox_spec inner, candidate;
	struct profile c = p;
	char *path, *text, *workdir;
	json_t *j;

	workdir = path_join(b->tree, b->workdir != NULL ? b->workdir : ".");
	c.tree_src = "@merged";
	profile_inner(&p, false, &inner);
	profile_inner(&c, true, &candidate);
	j = json_pack("{s:i, s:s, s:s, s:s, s:s, s:i, s:o, s:o}", "protocol",
	    PROTO_VERSION, "token", "00ff", "worker", "w1", "root", b->tree,
	    "workdir", workdir, "parallel", 2, "inner", spec_to_json(&inner),
	    "candidate", spec_to_json(&candidate));
	free(workdir);
	assert_non_null(j);
	if (b->caged) {
		json_object_set_new(
		    j, "socket", json_string("ipc://" IN_LINK "/s"));
		json_object_set_new(
		    j, "layout", json_string(layout_str(b->ws.layout)));
	} else {
		json_object_set_new(
		    j, "socket", json_sprintf("ipc://%s/s", b->link));
		json_object_set_new(j, "layout", json_string("copy"));
		json_object_set_new(j, "base", json_string(b->base));
	}
	text = json_text(j);
	path = path_join(b->link, "worker.json");
	assert_int_equal(file_write(path, text, strlen(text), 0644, NULL), 0);
	free(path);
	free(text);
	json_decref(j);
	spec_clear(&inner);
	spec_clear(&candidate);
}

static inline void
bed_shell(const char *command)
{
	assert_int_equal(system(command), 0);
}

static inline void
bed_on_exit(pid_t pid, int status, void *ctx)
{
	struct bed *b = ctx;

	(void)pid;
	b->status = spawn_status(status);
	b->gone = true;
}

/* build/tests/unit/test_x -> build/foray-worker. As root a copy in the bed: the
 * uid that workers have may not get through to the build directory. */
static inline char *
bed_worker(const struct bed *b)
{
	char self[4096], *dir, *up, *top, *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	assert_true(n > 0);
	self[n] = '\0';
	dir = path_dir(self);
	up = path_dir(dir);
	top = path_dir(up);
	path = path_join(top, "foray-worker");
	free(dir);
	free(up);
	free(top);
	if (getuid() == 0) {
		struct buf program;
		char *copy = path_join(b->dir, "foray-worker");

		buf_init(&program, BUF_NOMAX);
		assert_int_equal(file_read(path, false, &program, NULL), 0);
		assert_int_equal(
		    file_write(copy, program.data, program.len, 0755, NULL), 0);
		buf_clear(&program);
		free(path);
		path = copy;
	}
	return path;
}

static inline pid_t
bed_start_free(struct bed *b, const char *worker)
{
	uid_t uid = stage_uid();
	pid_t pid;

	/* Before the fork: we have threads, and the child must not wait for a
	 * lock of a sanitizer's allocator. */
	assert_int_equal(setenv("FORAY_LINK", b->link, 1), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	spawn_child_clean(NULL, 0);
	if (bed_owns_tmp && !bed_own_tmp())
		_exit(97);
	if (getuid() == 0 &&
	    (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
		setresuid(uid, uid, uid) < 0))
		_exit(99);
	execl(worker, worker, (char *)NULL);
	_exit(98);
}

static inline pid_t
bed_start_caged(struct bed *b, const char *worker)
{
	struct profile p = { .root = b->tree,
		.tree_src = b->ws.tree_src,
		.base_src = b->base,
		.up_src = b->ws.up_src,
		.link_src = b->link,
		.worker_src = worker };
	struct sandbox_start s = { .fds = { -1, 2, 2 },
		.stage = getuid() == 0 };
	struct sandbox_spec spec;
	struct sandbox_proc proc;
	struct err e;

	profile_outer(&p, &spec);
	s.spec = &spec;
	if (b->ws.layout != LAYOUT_COPY)
		s.overlay = &b->ws.overlay;
	if (sandbox_start(&s, &proc, &e) < 0)
		fail_msg("%s", e.text);
	spec_clear(&spec);
	return proc.pid;
}

/* Copies the tree as the base, starts the worker, plays until it is gone. */
static inline void
bed_run(struct bed *b)
{
	char *cmd, *worker = bed_worker(b);
	uint64_t end = loop_now_ms() + 400000;
	uid_t uid = stage_uid();
	struct err e;
	pid_t pid;

	cmd = xasprintf("cp -a %s %s && chown -R %u:%u %s/tree %s/base",
	    b->tree, b->base, uid, uid, b->dir, b->dir);
	bed_shell(cmd);
	free(cmd);
	if (b->caged) {
		cmd = path_join(b->dir, "w");
		if (workspace_create(cmd, b->base, b->layout, &b->ws, &e) < 0)
			fail_msg("%s", e.text);
		free(cmd);
	}
	bed_config(b);
	pid = b->caged ? bed_start_caged(b, worker) : bed_start_free(b, worker);
	free(worker);
	loop_child_add(b->loop, pid, bed_on_exit, b);
	while (!b->gone && loop_now_ms() < end)
		(void)loop_once(b->loop, 200);
	if (!b->gone) {
		(void)kill(pid, SIGKILL);
		fail_msg("the worker did not end");
	}
	if (b->caged)
		workspace_remove(&b->ws);
	assert_int_equal(b->status, 0);
	assert_non_null(b->summary);
}

/* Can inner sandboxes be made here? Asked first in main(): the probe forks, and
 * a bed has threads, which may hold a lock just then. */
static struct err bed_no_sandbox;
static int bed_sandbox = 1;

static inline void
bed_probe(void)
{
	bed_sandbox = probe_sandbox(&bed_no_sandbox);
}

static inline void
bed_need_sandbox(void)
{
	assert_true(bed_sandbox <= 0); /* main() has asked */
	if (bed_sandbox < 0) {
		if (getenv("FORAY_SANDBOX_MUST_WORK") != NULL)
			fail_msg("%s", bed_no_sandbox.text);
		print_message("skipped: %s\n", bed_no_sandbox.text);
		skip();
	}
}

#endif
