/*
 * cgroup_run.c - processes in groups: moving, freezing, killing, and what
 * happened to them; see cgroup.h.
 */
#include "common/compat.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/cgroup_priv.h"

/* The number after "key " at the start of a line, or 0. */
static uint64_t
count_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; *text != '\0';
	     text += strcspn(text, "\n"), text += *text == '\n')
		if (strncmp(text, key, len) == 0 && text[len] == ' ')
			return strtoull(text + len + 1, NULL, 10);
	return 0;
}

int
cgroup_enter(const struct cgroup *g, struct err *e)
{
	int r;

	for (int i = 0; g != NULL && i < CGROUP_CTLS; i++) {
		if (!cgroup_is_first(g->dir, i))
			continue;
		r = cgroup_put(g->procs[i], "0");
		if (r < 0)
			return err_set(e, r, "enter the group %s: %s",
			    g->dir[i], strerror(-r));
	}
	return 0;
}

static const char *
freezer_file(const struct cgroup *g)
{
	return g->kind == CGROUP_V2 ? "cgroup.freeze" : "freezer.state";
}

static const char *
freezer_word(const struct cgroup *g, bool on)
{
	if (g->kind == CGROUP_V2)
		return on ? "1" : "0";
	return on ? "FROZEN" : "THAWED";
}

int
cgroup_freeze(struct cgroup *g, bool on)
{
	int r;

	if (g == NULL)
		return 0;
	if (g->dir[CGROUP_FREEZER] == NULL)
		return -ENOTSUP;
	r = cgroup_put_in(
	    g->dir[CGROUP_FREEZER], freezer_file(g), freezer_word(g, on));
	return r == -ENOENT ? -ENOTSUP : r;
}

bool
cgroup_is_frozen(const struct cgroup *g)
{
	char text[CGROUP_TEXT];

	if (g == NULL || g->dir[CGROUP_FREEZER] == NULL)
		return false;
	if (g->kind == CGROUP_V2) {
		cgroup_get_in(
		    g->dir[CGROUP_FREEZER], "cgroup.events", text, sizeof text);
		return count_of(text, "frozen") > 0;
	}
	cgroup_get_in(
	    g->dir[CGROUP_FREEZER], "freezer.state", text, sizeof text);
	return text_starts(text, "FROZEN");
}

/* Call fn for dir and all groups below it, the deepest first. */
static void
each_below(const char *dir, void (*fn)(const char *dir, enum cgroup_kind kind),
    enum cgroup_kind kind)
{
	struct dirent *d;
	DIR *p = opendir(dir);
	char *sub;

	while (p != NULL && (d = readdir(p)) != NULL) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		sub = path_join(dir, d->d_name);
		each_below(sub, fn, kind);
		free(sub);
	}
	if (p != NULL)
		closedir(p);
	fn(dir, kind);
}

void
cgroup_thaw_dir(const char *dir, enum cgroup_kind kind)
{
	/* Only one of the hierarchies has the file. */
	if (kind == CGROUP_V2)
		(void)cgroup_put_in(dir, "cgroup.freeze", "0");
	else
		(void)cgroup_put_in(dir, "freezer.state", "THAWED");
}

void
cgroup_kill_dir(const char *dir, enum cgroup_kind kind)
{
	char text[CGROUP_TEXT], *at, *end;
	long pid;

	if (kind == CGROUP_V2 && cgroup_put_in(dir, "cgroup.kill", "1") == 0)
		return;
	cgroup_get_in(dir, "cgroup.procs", text, sizeof text);
	for (at = text; *at != '\0'; at = end) {
		pid = strtol(at, &end, 10);
		if (end == at)
			break;
		/* 0: of another pid namespace. */
		if (pid > 1 && pid != getpid())
			(void)kill((pid_t)pid, SIGKILL);
	}
}

void
cgroup_each(char *const dir[CGROUP_CTLS], enum cgroup_kind kind,
    void (*fn)(const char *dir, enum cgroup_kind kind))
{
	for (int i = 0; i < CGROUP_CTLS; i++)
		if (cgroup_is_first(dir, i))
			each_below(dir[i], fn, kind);
}

void
cgroup_thaw(struct cgroup *g)
{
	if (g == NULL)
		return;
	cgroup_each(g->dir, g->kind, cgroup_thaw_dir);
}

void
cgroup_kill(struct cgroup *g)
{
	if (g == NULL)
		return;
	cgroup_thaw(g);
	cgroup_each(g->dir, g->kind, cgroup_kill_dir);
}

/* --- what happened ------------------------------------------------------- */

uint64_t
cgroup_oom_count(const char *text)
{
	return count_of(text, "oom_kill");
}

const char *
cgroup_oom_file(const struct cgroup *g)
{
	return g != NULL ? g->oom_file : NULL;
}

void
cgroup_events(const struct cgroup *g, struct cgroup_events *ret)
{
	bool v2 = g != NULL && g->kind == CGROUP_V2;
	char text[CGROUP_TEXT];
	const char *dir;

	memset(ret, 0, sizeof *ret);
	if (g == NULL || (dir = g->dir[CGROUP_MEMORY]) == NULL)
		return;
	cgroup_get_in(dir, path_base(g->oom_file), text, sizeof text);
	ret->oom_kills = cgroup_oom_count(text);
	if (v2) {
		ret->memory_hits = count_of(text, "max");
	} else {
		cgroup_get_in(dir, "memory.failcnt", text, sizeof text);
		ret->memory_hits = strtoull(text, NULL, 10);
	}
	cgroup_get_in(dir, v2 ? "memory.peak" : "memory.max_usage_in_bytes",
	    text, sizeof text);
	ret->memory_peak = strtoull(text, NULL, 10);
	/* New kernels have stopped counting for version 1. */
	if (ret->memory_hits == 0 && g->memory_bytes > 0 &&
	    ret->memory_peak >= g->memory_bytes - g->memory_bytes / 32)
		ret->memory_hits = 1;
	cgroup_get_in(g->dir[CGROUP_PIDS], "pids.events", text, sizeof text);
	ret->pids_hits = count_of(text, "max");
}
