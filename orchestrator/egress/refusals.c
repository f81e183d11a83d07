#include "common/compat.h"

#include <inttypes.h>

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "orchestrator/egress/advice.h"
#include "orchestrator/egress/refusals.h"

#define DETAIL_MAX 4096

static char *
options_of(const json_t *allow)
{
	struct strv missing = { 0 };
	const json_t *v;
	struct buf b;
	size_t i;

	buf_init(&b, DETAIL_MAX);
	json_array_foreach (allow, i, v)
		if (json_is_string(v))
			strv_add(&missing, json_string_value(v));
	advice_options(&missing, &b);
	strv_clear(&missing);
	return b.data != NULL ? buf_detach(&b, NULL) : xstrdup("");
}

static void
note_host(struct refusals *r, const char *host, char *options)
{
	size_t i;

	for (i = 0; i < r->hosts.n; i++)
		if (strcmp(r->hosts.v[i], host) == 0)
			break;
	if (i == r->hosts.n && i >= REFUSALS_MAX) {
		r->more++;
		free(options);
	} else if (i == r->hosts.n) {
		strv_add(&r->hosts, host);
		strv_take(&r->advice, &options);
	} else {
		free(options);
	}
}

void
refusals_note(struct refusals *r, const char *detail)
{
	json_t *j = NULL;
	const char *host;

	if (json_parse(detail, strlen(detail), DETAIL_MAX, &j, NULL) < 0)
		return;
	host = json_string_value(json_object_get(j, "host"));
	if (host != NULL)
		note_host(r, host, options_of(json_object_get(j, "allow")));
	json_decref(j);
}

static void
say(const char *host, const char *advice, const char *own_name)
{
	char shown[REFUSALS_NAME], text[4 * REFUSALS_NAME], own[96] = "";
	struct target t;

	(void)text_escape_to(shown, sizeof shown, host, strlen(host));
	if (strcmp(shown, host) != 0) {
		log_warn(
		    "refused %s (a name that long is not shown whole)", shown);
		return;
	}
	if (target_parse(host, strlen(host), 0, &t, NULL) == 0 &&
	    target_is_own(&t))
		(void)snprintf(own, sizeof own,
		    "; a server of the command's own is at %s:%u", own_name,
		    t.port);
	(void)text_escape_to(text, sizeof text, advice, strlen(advice));
	log_warn("refused %s (%s allow%s it%s)", shown, text,
	    strstr(text, " --allow-net ") != NULL ? "" : "s", own);
}

void
refusals_say(const struct refusals *r, const char *own_name, const char *audit)
{
	size_t i;

	for (i = 0; i < r->hosts.n; i++)
		say(r->hosts.v[i], r->advice.v[i], own_name);
	if (r->more > 0)
		log_warn("refused %" PRIu64 " more requests to other hosts: "
			 "%s has them",
		    r->more, audit);
}

void
refusals_clear(struct refusals *r)
{
	strv_clear(&r->hosts);
	strv_clear(&r->advice);
	r->more = 0;
}
