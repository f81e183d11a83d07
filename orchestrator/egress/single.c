#include "common/compat.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/egress/refusals.h"
#include "orchestrator/egress/server.h"
#include "orchestrator/egress/single.h"
#include "orchestrator/run/settings.h"
#include "orchestrator/store/audit.h"

struct single {
	struct net_rules rules;
	size_t n_settings; /* of the rules, the first ones */
	char *own;
	struct refusals refused;
	struct egress *egress;
	struct audit *audit;
	bool gone;
};

int
single_dir(char **ret, struct err *e)
{
	char *state = NULL;
	int r;

	if ((r = path_state_dir(&state, e)) < 0)
		return r;
	*ret = path_join(state, "sandbox");
	free(state);
	return 0;
}

bool
single_recorded(const char *dir)
{
	static const char *const files[] = { "audit.jsonl", "audit.head" };
	bool some = false;
	struct stat st;
	char *path;

	for (size_t i = 0; i < nitems(files); i++) {
		path = path_join(dir, files[i]);
		some = some || lstat(path, &st) == 0 || errno != ENOENT;
		free(path);
	}
	return some;
}

static int
record(void *ctx, const char *worker, const char *act, const char *subject,
    const char *detail, const char *verdict)
{
	struct single *s = ctx;
	struct timespec now;
	struct err e;
	int64_t ms;
	int r;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	r = audit_write(s->audit, (double)ms / 1000, worker, act, subject,
	    detail, verdict, &e);
	if (r < 0)
		log_error("%s", e.text);
	if (strcmp(verdict, "deny") == 0)
		refusals_note(&s->refused, detail);
	return r;
}

static int
read_rules(const struct strv *allow, struct single *s, struct err *e)
{
	json_t *settings = NULL;
	int r;

	if ((r = settings_load(&settings, e)) < 0)
		return r;
	r = settings_in(e,
	    net_rules_settings(
		&s->rules, json_object_get(settings, "network"), e));
	json_decref(settings);
	s->n_settings = s->rules.n;
	return r < 0 ? r : net_rules_strv(&s->rules, allow, e);
}

int
single_open(const struct strv *allow, struct single **ret, struct err *e)
{
	struct single *s = xcalloc(1, sizeof *s);
	int r = read_rules(allow, s, e);

	if (r < 0 || s->rules.n == 0) {
		single_stop(s);
		return r;
	}
	s->own = net_rules_own(&s->rules);
	*ret = s;
	return 0;
}

const char *
single_own(const struct single *s)
{
	return s != NULL ? s->own : NULL;
}

const char *
single_own_name(const struct single *s)
{
	return single_own(s) != NULL ? net_rules_own_name(&s->rules) : NULL;
}

void
single_hosts(const struct single *s,
    void (*fn)(void *ctx, const char *host, const char *from), void *ctx)
{
	for (size_t i = 0; s != NULL && i < s->rules.n; i++)
		fn(ctx, s->rules.v[i].text,
		    i < s->n_settings ? "settings.json" : "--allow-net");
}

static void
warn_of_loopback(const struct single *s)
{
	struct strv hosts = { 0 };
	const struct target *t;
	struct buf b;

	buf_init(&b, 1024);
	for (size_t i = 0; s->own != NULL && i < s->rules.n; i++) {
		t = &s->rules.v[i].host;
		if (!target_is_own(t) || strv_has(&hosts, t->host))
			continue;
		(void)buf_printf(
		    &b, "%s%s", hosts.n > 0 ? " and " : "", t->host);
		strv_add(&hosts, t->host);
	}
	if (hosts.n > 0)
		log_warn("%s lead%s out of the sandbox, to this machine and "
			 "what is allowed there: servers of the command's own "
			 "are at %s",
		    buf_str(&b), hosts.n > 1 ? "" : "s",
		    net_rules_own_name(&s->rules));
	strv_clear(&hosts);
	buf_clear(&b);
}

int
single_start(struct single *s, struct err *e)
{
	char *dir = NULL;
	int r;

	if ((r = single_dir(&dir, e)) == 0 &&
	    (r = audit_open_dir(dir, &s->audit, e)) == 0)
		r = egress_start(
		    &s->rules, STDERR_FILENO, record, s, &s->egress, e);
	free(dir);
	if (r == 0)
		warn_of_loopback(s);
	return r;
}

int
single_listen(struct single *s, int *listen_fd, struct err *e)
{
	char name[32] = "sandbox-";
	int r;

	/* No pid: each has a namespace of its own for those. */
	hash_random_hex(name + strlen(name), 6);
	r = egress_listen(s->egress, name, *listen_fd, -1, e);
	fd_close(listen_fd);
	return r;
}

int
single_fd(const struct single *s)
{
	return s == NULL || s->gone || s->egress == NULL ? -1
							 : egress_fd(s->egress);
}

void
single_turn(struct single *s)
{
	struct err e;

	if (egress_turn(s->egress, &e) < 0) {
		log_error("%s", e.text);
		s->gone = true;
	}
}

void
single_finish(struct single *s)
{
	if (s == NULL || s->egress == NULL)
		return;
	egress_stop(s->egress);
	s->egress = NULL;
	refusals_say(&s->refused, net_rules_own_name(&s->rules),
	    "foray audit --sandbox");
}

void
single_stop(struct single *s)
{
	if (s == NULL)
		return;
	egress_stop(s->egress);
	audit_close(s->audit);
	net_rules_clear(&s->rules);
	refusals_clear(&s->refused);
	free(s->own);
	free(s);
}
