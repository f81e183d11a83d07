/* candidate.c - see candidate.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "sandbox/container.h"
#include "worker/agent/candidate.h"
#include "worker/agent/command.h"
#include "worker/agent/edits.h"

#define COPY_LIMIT_MS 300000

static int
make_dir(const char *dir, const char *name, char **ret, struct err *e)
{
	*ret = path_join(dir, name);
	if (mkdir(*ret, 0755) < 0)
		return err_set(
		    e, ERR_SANDBOX, "mkdir %s: %s", *ret, strerror(errno));
	return 0;
}

static int
start_overlay(
    struct agent *a, struct candidate *c, const struct edits *es, struct err *e)
{
	char *layer = NULL;
	int r;

	if ((r = make_dir(c->dir, "layer", &layer, e)) < 0 ||
	    (r = make_dir(c->dir, "ov", &c->overlay.dir, e)) < 0 ||
	    (r = edits_write(a, es, layer, e)) < 0)
		goto out;
	strv_add(&c->overlay.lowers, layer);
	if (a->cfg.up != NULL) {
		strv_add(&c->overlay.lowers, a->cfg.up);
		strv_add(&c->overlay.lowers, a->cfg.base);
	} else {
		strv_add(&c->overlay.lowers, a->cfg.root);
	}
	c->overlay.on_tmpfs = true;
	c->x.overlay = &c->overlay;
	r = exec_start(&c->x, e);
out:
	free(layer);
	return r;
}

static int
copy_tree(struct agent *a, const char *dst, struct err *e)
{
	struct strv argv = { 0 };
	struct spawn_result res;
	struct buf msg;
	struct spawn s = { .argv = &argv, .timeout_ms = COPY_LIMIT_MS };
	char *cp = NULL;
	int r;

	if (path_system("cp", &cp) < 0)
		return err_set(e, ERR_SANDBOX, "there is no program cp");
	buf_init(&msg, 4096);
	s.out = s.err = &msg;
	strv_addl(&argv, cp, "-a", "--reflink=auto", "--", (char *)NULL);
	free(cp);
	strv_addf(&argv, "%s/.", a->cfg.root);
	strv_add(&argv, dst);
	r = spawn_run(&s, &res, e);
	if (r == 0 && (res.status != 0 || res.timed_out))
		r = err_set(e, ERR_SANDBOX,
		    "the workspace can't be copied: %.400s", buf_str(&msg));
	strv_clear(&argv);
	buf_clear(&msg);
	return r;
}

/* The spec names the workspace and its /tmp; this copy has its own. */
static int
take_places(
    struct agent *a, struct candidate *c, const char *tree, struct err *e)
{
	char *old, *tmp;
	int r;

	if (c->spec.backend != BACKEND_CONTAINER)
		return 0;
	old = path_join(a->cfg.tmp, "cmd");
	tmp = path_join(c->dir, "tmp");
	container_move(&c->spec, a->cfg.root, tree);
	container_move(&c->spec, old, tmp);
	r = container_make_tmp(tmp, e);
	free(old);
	free(tmp);
	return r;
}

static int
start_copy(
    struct agent *a, struct candidate *c, const struct edits *es, struct err *e)
{
	char *tree = NULL;
	size_t i;
	int r;

	if ((r = make_dir(c->dir, "tree", &tree, e)) < 0 ||
	    (r = copy_tree(a, tree, e)) < 0 ||
	    (r = edits_write(a, es, tree, e)) < 0 ||
	    (r = take_places(a, c, tree, e)) < 0)
		goto out;
	for (i = 0; i < c->spec.n_mounts; i++) {
		struct sandbox_mount *m = &c->spec.mounts[i];

		if (m->src != NULL && strncmp(m->src, "@merged", 7) == 0) {
			char *src = xasprintf("%s%s", tree, m->src + 7);

			free(m->src);
			m->src = src;
		}
	}
	c->x.overlay = NULL;
	r = exec_start(&c->x, e);
out:
	free(tree);
	return r;
}

static int
new_dir(struct agent *a, struct candidate *c, struct err *e)
{
	c->dir = path_joinf(a->cfg.tmp, "foray-try-%u-XXXXXX", ++a->dirs);
	if (mkdtemp(c->dir) == NULL) {
		free(c->dir);
		c->dir = NULL;
		return err_set(e, ERR_SANDBOX,
		    "no directory can be made in %s: %s", a->cfg.tmp,
		    strerror(errno));
	}
	return 0;
}

void
candidate_open(struct agent *a, struct candidate *c, const char *check,
    uint64_t timeout_ms)
{
	*c = (struct candidate){ 0 };
	command_spec(a, &a->cfg.candidate, check, &c->spec);
	c->x.spec = &c->spec;
	c->x.timeout_ms = timeout_ms;
	c->x.keep = CANDIDATE_KEEP;
	c->started = true;
}

bool
candidate_has_overlay(const struct agent *a)
{
	return !a->no_overlay && a->cfg.candidate.backend == BACKEND_BWRAP;
}

int
candidate_run(struct agent *a, struct candidate *c, const struct edits *es,
    bool may_copy, struct err *e)
{
	struct err why;
	int r;

	if ((r = new_dir(a, c, e)) < 0)
		return r;
	if (candidate_has_overlay(a)) {
		r = start_overlay(a, c, es, &why);
		if (r == 0)
			return 0;
		if (!may_copy)
			return err_set(e, ERR_SANDBOX, "%s", why.text);
		log_info("candidates are copied: %s", why.text);
		a->no_overlay = true;
	}
	r = start_copy(a, c, es, e);
	if (r < 0)
		r = err_set(e, ERR_SANDBOX, "no copy of the workspace: %.800s",
		    e != NULL ? e->text : "");
	return r;
}

int
candidate_start(struct agent *a, struct candidate *c, const struct edits *es,
    const char *check, uint64_t timeout_ms, struct err *e)
{
	int r;

	candidate_open(a, c, check, timeout_ms);
	if ((r = candidate_run(a, c, es, true, e)) < 0)
		candidate_clear(c);
	return r;
}

void
candidate_clear(struct candidate *c)
{
	if (!c->started)
		return;
	exec_clear(&c->x);
	spec_clear(&c->spec);
	overlay_clear(&c->overlay);
	if (c->dir != NULL)
		(void)path_rmtree(c->dir, NULL);
	free(c->dir);
	c->dir = NULL;
	c->started = false;
}
