#include "common/compat.h"

#include <sys/queue.h>

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/fetch.h"

#define BODY_MAX ((size_t)1 << 20)
#define HOPS_MAX 5
#define URL_MAX 4096
#define TIME_MS 30000
#define WAITING_MAX 64

struct fetch {
	TAILQ_ENTRY(fetch) entry;
	struct fetches *all;
	char *worker;
	uint64_t seq;
	char *url;
	unsigned hops;
	uint64_t end_ms; /* of all hops together */
	bool cut, refused_type;
	struct buf body;
	struct http_call *call;
};

TAILQ_HEAD(fetch_list, fetch);

struct fetches {
	struct run *run;
	struct strv allow;
	bool private;
	struct fetch_list list;
	size_t n;
};

/* --- what is allowed ----------------------------------------------------- */

static bool
host_matches(const char *pattern, const char *host)
{
	size_t n, h = strlen(host);

	if (strncmp(pattern, "*.", 2) != 0)
		return strcasecmp(pattern, host) == 0;
	n = strlen(pattern + 1);
	return h > n && strcasecmp(host + h - n, pattern + 1) == 0;
}

static int
check_parts(const struct strv *allow, bool private, const char *scheme,
    const char *host, const char *user, struct err *e)
{
	char shown[256];
	size_t i;

	if (strcmp(scheme, "https") != 0 &&
	    !(private && strcmp(scheme, "http") == 0))
		return err_set(e, ERR_DENIED, "only https is fetched");
	if (user != NULL)
		return err_set(
		    e, ERR_DENIED, "a URL with a name or password in it");
	for (i = 0; i < allow->n; i++)
		if (host_matches(allow->v[i], host))
			return 0;
	text_escape_to(shown, sizeof shown, host, strlen(host));
	return err_set(e, ERR_DENIED,
	    "%s is not among the hosts that may be fetched from (settings: "
	    "network.fetch)",
	    shown);
}

int
fetch_check(
    const struct strv *allow, bool private, const char *url, struct err *e)
{
	CURLU *h = curl_url();
	char *scheme = NULL, *host = NULL, *user = NULL;
	int r = ERR_DENIED;

	if (h == NULL)
		return err_set(e, -ENOMEM, "out of memory");
	if (curl_url_set(h, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) !=
		CURLUE_OK ||
	    curl_url_get(h, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
	    curl_url_get(h, CURLUPART_HOST, &host, 0) != CURLUE_OK)
		(void)err_set(e, r, "that is no URL of a page");
	else {
		(void)curl_url_get(h, CURLUPART_USER, &user, 0);
		r = check_parts(allow, private, scheme, host, user, e);
	}
	curl_free(scheme);
	curl_free(host);
	curl_free(user);
	curl_url_cleanup(h);
	return r;
}

static int
read_settings(struct fetches *f, const json_t *network, struct err *e)
{
	const json_t *list = json_object_get(network, "fetch"), *v;
	size_t i;

	f->private = json_is_true(json_object_get(network, "fetch_private"));
	if (list == NULL)
		return 0;
	if (!json_is_array(list))
		return err_set(
		    e, ERR_SYNTAX, "network.fetch is no list of hosts");
	json_array_foreach (list, i, v) {
		const char *s = json_string_value(v);

		if (s == NULL || *s == '\0' || strpbrk(s, "/:@ ") != NULL ||
		    strchr(s + 1, '*') != NULL || (*s == '*' && s[1] != '.'))
			return err_set(e, ERR_SYNTAX,
			    "network.fetch: a host name, or \"*.\" and one, "
			    "not %.100s",
			    s != NULL ? s : "this");
		strv_add(&f->allow, s);
	}
	return 0;
}

int
fetches_create(
    struct run *r, const json_t *network, struct fetches **ret, struct err *e)
{
	struct fetches *f = xcalloc(1, sizeof *f);
	int rc;

	f->run = r;
	TAILQ_INIT(&f->list);
	if ((rc = read_settings(f, network, e)) < 0) {
		fetches_free(f);
		return rc;
	}
	*ret = f;
	return 0;
}

static void
fetch_free(struct fetch *t)
{
	TAILQ_REMOVE(&t->all->list, t, entry);
	t->all->n--;
	http_cancel(t->call);
	buf_clear(&t->body);
	free(t->worker);
	free(t->url);
	free(t);
}

void
fetches_free(struct fetches *f)
{
	struct fetch *t;

	if (f == NULL)
		return;
	while ((t = TAILQ_FIRST(&f->list)) != NULL)
		fetch_free(t);
	strv_clear(&f->allow);
	free(f);
}

void
fetches_worker_gone(struct fetches *f, const char *worker)
{
	struct fetch *t, *next;

	if (f == NULL)
		return;
	TAILQ_FOREACH_SAFE (t, &f->list, entry, next)
		if (strcmp(t->worker, worker) == 0)
			fetch_free(t);
}

/* --- one page ------------------------------------------------------------ */

static void
send_result(struct run *r, const char *worker, const struct msg *m)
{
	struct worker *w = sched_worker(r, worker);

	if (w != NULL)
		handle_send(r, w, m);
}

static void
failed(struct run *r, const char *worker, uint64_t seq, const char *why)
{
	struct msg m = { .type = MSG_FETCH_RESULT };

	m.u.fetch_result.seq = seq;
	m.u.fetch_result.error = why;
	send_result(r, worker, &m);
}

static void
done(struct fetch *t, long status, const char *type)
{
	struct msg m = { .type = MSG_FETCH_RESULT };
	struct msg_fetch_result *o = &m.u.fetch_result;

	o->seq = t->seq;
	o->status = status > 0 ? (uint64_t)status : 0;
	o->url = t->url;
	o->type = type;
	o->body = buf_str(&t->body);
	o->body_len = t->body.len;
	o->cut = t->cut;
	send_result(t->all->run, t->worker, &m);
}

static bool
is_text(const char *type)
{
	static const char *const kinds[] = { "text/", "application/json",
		"application/xml", "application/xhtml",
		"application/javascript", "application/x-yaml",
		"application/yaml", "application/toml" };
	size_t i;

	for (i = 0; i < nitems(kinds); i++)
		if (strncasecmp(type, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return *type == '\0';
}

static int
on_data(void *ctx, long status, const char *type, const void *p, size_t len)
{
	struct fetch *t = ctx;
	size_t room = BODY_MAX - t->body.len;

	if (status / 100 == 3)
		return 0;
	if (!is_text(type)) {
		t->refused_type = true;
		return -1;
	}
	t->cut = len > room;
	(void)buf_add(&t->body, p, len < room ? len : room);
	return t->cut ? -1 : 0;
}

/* 0: it is under way; 1: the person is asked first. */
static int hop(struct fetch *t, const char *url, struct err *e);

/* The redirect's target, seen from where it came. */
static char *
target(const char *from, const char *location)
{
	CURLU *h = curl_url();
	char *url = NULL, *ret = NULL;

	if (h != NULL && curl_url_set(h, CURLUPART_URL, from, 0) == CURLUE_OK &&
	    curl_url_set(h, CURLUPART_URL, location,
		CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
	    curl_url_get(h, CURLUPART_URL, &url, 0) == CURLUE_OK)
		ret = xstrdup(url);
	curl_free(url);
	curl_url_cleanup(h);
	return ret;
}

/* True: another request is under way. */
static bool
follow(struct fetch *t, const struct http_reply *r, struct err *e)
{
	char *to;
	int rc;

	if (++t->hops > HOPS_MAX) {
		(void)err_set(e, ERR_DENIED, "over %d redirects", HOPS_MAX);
		return false;
	}
	to = target(t->url, r->location);
	if (to == NULL || strlen(to) > URL_MAX) {
		free(to);
		(void)err_set(e, ERR_DENIED, "a redirect to what is no URL");
		return false;
	}
	rc = hop(t, to, e);
	if (rc < 0)
		(void)err_prefix(e, "a redirect");
	free(to);
	return rc == 0;
}

static void
on_done(void *ctx, const struct http_reply *r)
{
	struct fetch *t = ctx;
	struct err e = { 0 };

	t->call = NULL;
	if (r->fault.kind == FAULT_NONE && r->status / 100 == 3 &&
	    r->location[0] != '\0') {
		if (follow(t, r, &e))
			return;
	} else if (t->refused_type) {
		(void)err_set(
		    &e, ERR_DENIED, "it is %s, not text", r->content_type);
	} else if (r->fault.kind != FAULT_NONE && !t->cut) {
		(void)err_set(&e, ERR_MODEL, "%s", r->fault.text);
	}
	if (e.code != 0)
		failed(t->all->run, t->worker, t->seq, e.text);
	else
		done(t, r->status, r->content_type);
	fetch_free(t);
}

static int
hop(struct fetch *t, const char *url, struct err *e)
{
	struct fetches *f = t->all;
	struct run *r = f->run;
	uint64_t now = loop_now_ms();
	struct http_request q = { .url = url,
		.max_bytes = BODY_MAX * 2,
		.connect_ms = 10000,
		.idle_ms = 10000,
		.total_ms = t->end_ms > now ? t->end_ms - now : 1,
		.plain = f->private,
		.public_only = !f->private,
		.on_data = on_data,
		.on_done = on_done,
		.ctx = t };
	int rc = fetch_check(&f->allow, f->private, url, e), held;
	const char *verdict;
	struct err full;

	if (rc == 0)
		rc = approvals_url(r, url, e);
	held = approvals_request(
	    r, t->worker, t->seq, url, t->hops == 0, rc == 0, e);
	if (held > 0)
		return held;
	rc = held < 0 ? held : rc;
	verdict = rc == 0 ? "allow" : "deny";
	if (audit_write(r->audit, run_now(r), t->worker, "fetch", url, NULL,
		verdict, &full) < 0)
		return err_set(e, ERR_DENIED, "the audit can't be written");
	if (rc < 0 || (rc = http_start(r->http, &q, &t->call, e)) < 0)
		return rc;
	if (t->url != url) {
		free(t->url);
		t->url = xstrdup(url);
	}
	return 0;
}

void
fetches_start(struct fetches *f, struct worker *w, const struct msg_fetch *m)
{
	struct fetch *t;
	struct err e;
	int rc;

	TAILQ_FOREACH (t, &f->list, entry)
		if (strcmp(t->worker, w->name) == 0)
			return; /* asked again, or too much at once */
	if (f->n >= WAITING_MAX) {
		failed(f->run, w->name, m->seq, "too many at once: try later");
		return;
	}
	t = xcalloc(1, sizeof *t);
	t->all = f;
	t->worker = xstrdup(w->name);
	t->seq = m->seq;
	t->end_ms = loop_now_ms() + TIME_MS;
	buf_init(&t->body, BODY_MAX);
	TAILQ_INSERT_TAIL(&f->list, t, entry);
	f->n++;
	if ((rc = hop(t, m->url, &e)) < 0)
		failed(f->run, w->name, m->seq, e.text);
	if (rc != 0)
		fetch_free(t);
}
