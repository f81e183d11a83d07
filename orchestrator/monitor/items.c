#include "common/compat.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "common/json.h"
#include "common/log.h"
#include "common/text.h"
#include "orchestrator/monitor/items.h"
#include "orchestrator/monitor/shapes.h"

#define DETAIL_MAX ((size_t)1 << 20)

void
items_clear(struct items *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		free(v->v[i].subject);
	v->n = 0;
}

void
items_add(
    struct items *v, unsigned classes, unsigned weight, const char *subject)
{
	struct item *it;
	size_t i, len = strlen(subject);

	for (i = 1; i < v->n; i++)
		if (strncmp(v->v[i].subject, subject, ITEM_SUBJECT_MAX) == 0)
			break;
	if (i < v->n || v->n == ITEMS_MAX) {
		it = &v->v[i < v->n ? i : ITEMS_MAX - 1];
		it->classes |= classes;
		if (i == v->n && it->weight < UINT16_MAX)
			it->weight += weight;
		else if (it->weight < weight)
			it->weight = weight;
		return;
	}
	it = &v->v[v->n++];
	it->classes = classes;
	it->weight = weight;
	it->subject =
	    xstrndup(subject, text_cut(subject, len, ITEM_SUBJECT_MAX));
}

/* --- hosts ---------------------------------------------------------------- */

static bool
is_this_machine(const char *host)
{
	return strcmp(host, "localhost") == 0 || text_starts(host, "127.") ||
	    strcmp(host, "::1") == 0 || strcmp(host, "0.0.0.0") == 0 ||
	    text_ends(host, ".localhost") || strcmp(host, "[::1]") == 0;
}

void
items_host(const char *url, char *dst, size_t size)
{
	const char *s = strstr(url, "://"), *at;
	size_t n, i;

	s = s != NULL ? s + 3 : url;
	if (s == url && (at = strchr(s, ' ')) != NULL)
		s = at + 1;
	n = strcspn(s, "/?# \t");
	at = memrchr(s, '@', n);
	if (at != NULL) {
		n -= (size_t)(at + 1 - s);
		s = at + 1;
	}
	if (*s == '[')
		n = strcspn(s, "]") + (strchr(s, ']') != NULL);
	else if (memchr(s, ':', n) != NULL)
		n = strcspn(s, ":");
	if (n >= size)
		n = size - 1;
	for (i = 0; i < n; i++)
		dst[i] = (char)tolower((unsigned char)s[i]);
	dst[n] = '\0';
	if (is_this_machine(dst))
		dst[0] = '\0';
}

static void
add_host(struct items *v, const char *url)
{
	char host[256];

	items_host(url, host, sizeof host);
	if (host[0] != '\0')
		items_add(v, CLASS_NETWORK, 1, host);
}

/* --- acts ----------------------------------------------------------------- */

/* A tool that is given a path. */
static void
add_path(const struct monitor_place *p, bool writes, const char *subject,
    struct items *v)
{
	const char *dirs[] = { writes ? p->root : p->workdir };
	struct program_act a = {
		.place = p, .dirs = dirs, .n_dirs = 1, .out = v
	};

	if (writes)
		items_write(&a, subject);
	else
		items_read(&a, subject);
}

/* What the orchestrator found in a summary when it came. */
static unsigned
summary_classes(const char *detail)
{
	json_t *j = NULL, *x;
	unsigned c = 0;
	size_t i;

	if (detail == NULL ||
	    json_parse(detail, strlen(detail), DETAIL_MAX, &j, NULL) < 0)
		return 0;
	json_array_foreach (json_object_get(j, "classes"), i, x)
		if (json_is_string(x))
			c |= class_of_name(json_string_value(x));
	json_decref(j);
	return c;
}

void
items_of(const struct monitor_place *p, const char *act, const char *subject,
    const char *detail, struct items *ret)
{
	static const char *const commands[] = { "command", "test", "try" };
	static const char *const writes[] = { "write", "edit_file",
		"apply_patch" };
	static const char *const reads[] = { "read_file", "list_dir", "grep" };
	static const char *const requests[] = { "fetch", "fetch_url",
		"network" };

	ret->n = 0;
	items_add(ret, 0, 1, subject);
	if (strcmp(act, "summary") == 0) {
		ret->v[0].classes = summary_classes(detail);
		if ((ret->v[0].classes & CLASS_CREDENTIAL) != 0)
			items_add(ret, CLASS_CREDENTIAL, 1, subject);
		return;
	}
	if (text_is_one_of(act, commands, nitems(commands))) {
		if (strv_has(&p->own, subject))
			return;
		items_command(p, subject, ret);
	} else if (text_is_one_of(act, writes, nitems(writes))) {
		add_path(p, true, subject, ret);
	} else if (text_is_one_of(act, reads, nitems(reads))) {
		add_path(p, false, subject, ret);
	} else if (text_is_one_of(act, requests, nitems(requests))) {
		add_host(ret, subject);
	}
	if (shape_find(subject, strlen(subject)) != NULL)
		items_add(ret, CLASS_CREDENTIAL, 1, "a credential in it");
}
