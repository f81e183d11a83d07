/* batch_lane.c - see batch_lane.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/path.h"
#include "worker/agent/batch_lane.h"
#include "worker/agent/scripts.h"

/* As batch.py has them. */
#define PLACE "/run/foray-batch"
#define GRACE_MS 15000 /* for what it does besides the check */
#define NO_LIMIT_MS 86400000
#define IN_MAX (2 * LANE_KEEP_MAX + LANE_HEAD_MAX)

/* --- what it writes ------------------------------------------------------ */

static bool
take_number(const char **at, const char *end, uint64_t max, uint64_t *ret)
{
	const char *p = *at;
	uint64_t n = 0;

	while (p < end && *p >= '0' && *p <= '9') {
		if (n > max)
			return false;
		n = n * 10 + (uint64_t)(*p++ - '0');
	}
	if (p == *at || n > max || p == end || (*p != ' ' && *p != '\n'))
		return false;
	*at = p + 1;
	*ret = n;
	return true;
}

int
lane_parse(const char *s, size_t len, unsigned seq, struct lane_answer *ret)
{
	static const char hows[] = "etox";
	static const uint64_t most[] = { 255, UINT64_MAX / 100, 1,
		LANE_KEEP_MAX, LANE_KEEP_MAX };
	uint64_t v[nitems(most)], n;
	const char *p = s, *end, *how;

	end = memchr(s, '\n', len < LANE_HEAD_MAX ? len : LANE_HEAD_MAX);
	if (end == NULL)
		return len < LANE_HEAD_MAX ? 0 : -EINVAL;
	end++;
	if (!take_number(&p, end, UINT32_MAX, &n) || n != seq || end - p < 2 ||
	    (how = memchr(hows, *p, strlen(hows))) == NULL || p[1] != ' ')
		return -EINVAL;
	p += 2;
	for (size_t i = 0; i < nitems(most); i++)
		if (!take_number(&p, end, most[i], &v[i]))
			return -EINVAL;
	if (p != end || len - (size_t)(end - s) > v[3] + v[4])
		return -EINVAL;
	if (len - (size_t)(end - s) < v[3] + v[4])
		return 0;
	ret->how = (enum lane_how)(how - hows);
	ret->status = (int)v[0];
	ret->total = v[1];
	ret->dirty = v[2] != 0;
	(void)buf_add(&ret->out, end, (size_t)v[3]);
	(void)buf_add(&ret->modules, end + v[3], (size_t)v[4]);
	return 1;
}

static void
answer_init(struct lane_answer *ret)
{
	*ret = (struct lane_answer){ 0 };
	buf_init(&ret->out, LANE_KEEP_MAX);
	buf_init(&ret->modules, LANE_KEEP_MAX);
}

void
lane_answer_clear(struct lane_answer *ans)
{
	buf_clear(&ans->out);
	buf_clear(&ans->modules);
}

/* True: there is something for lane_hear(). */
static bool
sink(void *arg, const char *p, size_t len)
{
	struct lane *l = arg;
	struct lane_answer ans;
	int r = -ENOBUFS;

	answer_init(&ans);
	if (buf_add(&l->in, p, len) == 0)
		r = lane_parse(buf_str(&l->in), l->in.len, l->seq, &ans);
	lane_answer_clear(&ans);
	l->broken |= r < 0 || !l->busy;
	l->whole = r == 1;
	return l->broken || l->whole;
}

bool
lane_hear(struct lane *l, struct lane_answer *ret)
{
	bool good;

	answer_init(ret);
	good = l->whole && !l->broken && l->c.x.state == EXEC_RUNNING &&
	    lane_parse(buf_str(&l->in), l->in.len, l->seq, ret) == 1;
	if (!good)
		log_info("a batch ended early: %.200s", buf_str(&l->in));
	else if (ret->status != 0)
		ret->oom = exec_oom_count() - l->oom_before;
	ret->ms = loop_now_ms() - l->sent_ms;
	buf_reset(&l->in);
	l->busy = l->whole = false;
	return good;
}

/* --- what it reads ------------------------------------------------------- */

static void
put(struct buf *b, const void *p, size_t len)
{
	(void)buf_printf(b, "%zu:", len);
	if (len > 0)
		(void)buf_add(b, p, len);
	(void)buf_addc(b, ',');
}

static void
put_str(struct buf *b, const char *s)
{
	put(b, s, strlen(s));
}

static void
put_pair(struct buf *b, const char *key, const char *value)
{
	put_str(b, key);
	put_str(b, value);
}

static void
put_number(struct buf *b, uint64_t n)
{
	char text[32];

	(void)snprintf(text, sizeof text, "%llu", (unsigned long long)n);
	put_str(b, text);
}

static int
write_file(
    const struct lane *l, const char *name, const struct buf *b, struct err *e)
{
	char *path = path_join(l->spool, name);
	int fd, r;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	r = fd < 0 ? -errno : fd_write_all(fd, buf_str(b), b->len);
	fd_close(&fd);
	if (r < 0)
		r = err_set(e, ERR_SANDBOX, "write %s: %s", path, strerror(-r));
	free(path);
	return r;
}

/* The sandbox's own places, which have to be as they were for the next one. */
static void
put_scratch(struct buf *b, const struct sandbox_spec *s)
{
	size_t i, k;

	for (i = 0; i < s->n_mounts; i++) {
		const struct sandbox_mount *m = &s->mounts[i];

		if (m->kind != MOUNT_TMPFS)
			continue;
		for (k = i + 1; k < s->n_mounts; k++)
			if (s->mounts[k].kind == MOUNT_REMOUNT_RO &&
			    strcmp(s->mounts[k].dst, m->dst) == 0)
				break;
		if (k == s->n_mounts)
			put_pair(b, "scratch", m->dst);
	}
}

static int
describe(const struct agent *a, const struct lane *l,
    const struct batch_cmd *cmd, const struct buf *modules, struct err *e)
{
	struct buf b;
	size_t i;
	int r;

	buf_init(&b, BUF_NOMAX);
	put_pair(&b, "root", a->cfg.root);
	put_pair(&b, "kind", cmd->module ? "module" : "file");
	put_pair(&b, "name", cmd->name);
	for (i = 0; i < cmd->args.n; i++)
		put_pair(&b, "args", cmd->args.v[i]);
	for (i = 0; i < cmd->python.n; i++)
		put_pair(&b, "words", cmd->python.v[i]);
	if (cmd->module)
		put_pair(&b, "words", "-m");
	put_pair(&b, "words", cmd->name);
	for (i = 0; i < cmd->args.n; i++)
		put_pair(&b, "words", cmd->args.v[i]);
	put_scratch(&b, &l->c.spec);
	put_str(&b, "modules");
	put(&b, buf_str(modules), modules->len);
	r = write_file(l, "check", &b, e);
	buf_clear(&b);
	return r;
}

/* --- its life ------------------------------------------------------------ */

static int
make_spool(struct agent *a, struct lane *l, struct err *e)
{
	l->spool = path_joinf(a->cfg.tmp, "foray-batch-%u-XXXXXX", ++a->dirs);
	if (mkdtemp(l->spool) == NULL) {
		free(l->spool);
		l->spool = NULL;
		return err_set(e, ERR_SANDBOX,
		    "no directory can be made in %s: %s", a->cfg.tmp,
		    strerror(errno));
	}
	return 0;
}

static void
shape(const struct agent *a, struct lane *l, const struct batch_cmd *cmd)
{
	struct sandbox_spec *s = &l->c.spec;
	size_t i;
	char *cwd;

	strv_clear(&s->argv);
	strv_extend(&s->argv, &cmd->python);
	strv_addl(&s->argv, "-c", script_batch_py, (char *)NULL);
	for (i = 0; i < cmd->env.n; i++) {
		const char *eq = strchr(cmd->env.v[i], '=');
		char *name =
		    xstrndup(cmd->env.v[i], (size_t)(eq - cmd->env.v[i]));

		strv_setenv(&s->env, name, eq + 1);
		free(name);
	}
	if (cmd->cwd != NULL) {
		cwd = cmd->cwd[0] == '/' ? xstrdup(cmd->cwd)
					 : path_join(a->cfg.workdir, cmd->cwd);
		spec_set_cwd(s, cwd);
		free(cwd);
	}
	spec_mount(s, MOUNT_RO, l->spool, PLACE "/jobs");
	spec_mount(s, MOUNT_RO, "@upper", PLACE "/upper");
}

int
lane_start(struct agent *a, struct lane *l, const struct batch_cmd *cmd,
    const struct buf *modules, struct err *e)
{
	const struct edits none = { 0 };
	int pfd[2], r;

	*l = (struct lane){ .jobs_fd = -1, .started = true };
	buf_init(&l->in, IN_MAX);
	candidate_open(a, &l->c, "", 0);
	if ((r = fd_pipe(pfd)) < 0)
		return err_set(e, ERR_SANDBOX, "pipe: %s", strerror(-r));
	l->jobs_fd = pfd[1];
	l->c.x.in_fd = pfd[0];
	l->c.x.sink = sink;
	l->c.x.sink_arg = l;
	if ((r = make_spool(a, l, e)) == 0 &&
	    (r = describe(a, l, cmd, modules, e)) == 0) {
		shape(a, l, cmd);
		r = candidate_run(a, &l->c, &none, false, e);
	}
	fd_close(&pfd[0]);
	l->c.x.in_fd = -1;
	return r;
}

static void
remove_job(const struct lane *l)
{
	char *path = path_joinf(l->spool, "%u", l->seq);

	(void)unlink(path);
	free(path);
}

static int
write_job(const struct lane *l, const struct lane_job *job, uint64_t limit_ms,
    struct err *e)
{
	char name[24];
	struct buf b;
	size_t i;
	int r;

	buf_init(&b, BUF_NOMAX);
	put_number(&b, limit_ms);
	put_number(&b, l->c.spec.limits.output_bytes);
	put_number(&b, job->keep < LANE_KEEP_MAX ? job->keep : LANE_KEEP_MAX);
	put_str(&b, job->first ? "f" : "");
	for (i = 0; i < job->es->n; i++) {
		const struct edited *f = &job->es->v[i];

		put_str(&b, f->rel);
		put(&b, buf_str(&f->old), f->old.len);
		put(&b, buf_str(&f->data), f->data.len);
	}
	(void)snprintf(name, sizeof name, "%u", l->seq);
	r = write_file(l, name, &b, e);
	buf_clear(&b);
	return r;
}

int
lane_send(struct lane *l, const struct lane_job *job, struct err *e)
{
	const uint64_t limit = job->limit_ms > 0 ? job->limit_ms : NO_LIMIT_MS;
	char line[24];
	int r;

	remove_job(l);
	l->seq++;
	if ((r = write_job(l, job, limit, e)) < 0)
		return r;
	l->busy = true;
	l->oom_before = exec_oom_count();
	l->sent_ms = loop_now_ms();
	exec_extend(&l->c.x, limit + GRACE_MS);
	/* It reads one line at a time: there is always room. */
	(void)snprintf(line, sizeof line, "%u\n", l->seq);
	if ((r = fd_write_all(l->jobs_fd, line, strlen(line))) < 0)
		return err_set(e, ERR_SANDBOX, "batch: %s", strerror(-r));
	return 0;
}

bool
lane_is_idle(struct lane *l)
{
	struct exec *x = &l->c.x;

	return l->started && !l->busy && !l->broken &&
	    x->state == EXEC_RUNNING && exec_wait(&x, 1, 0) == NULL;
}

void
lane_clear(struct lane *l)
{
	if (!l->started)
		return;
	fd_close(&l->jobs_fd);
	candidate_clear(&l->c);
	buf_clear(&l->in);
	if (l->spool != NULL)
		(void)path_rmtree(l->spool, NULL);
	free(l->spool);
	*l = (struct lane){ .jobs_fd = -1 };
}
