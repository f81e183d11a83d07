/* snapshot_manifest.c - what a snapshot holds, as a file. */
#include "common/compat.h"

#include <errno.h>
#include <inttypes.h>

#include "common/log.h"
#include "common/text.h"
#include "sandbox/snapshot_priv.h"

struct snap_entry *
snap_list_add(struct snap_list *l, const char *path)
{
	struct snap_entry *en;

	if (l->n == l->size) {
		l->size = l->size * 2 + 256;
		l->v = xreallocarray(l->v, l->size, sizeof *l->v);
	}
	en = &l->v[l->n++];
	memset(en, 0, sizeof *en);
	en->path = xstrdup(path);
	return en;
}

void
snap_list_clear(struct snap_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->v[i].path);
		free(l->v[i].target);
	}
	free(l->v);
	memset(l, 0, sizeof *l);
}

void
manifest_clear(struct manifest *m)
{
	free(m->id);
	free(m->git);
	free(m->boot);
	snap_list_clear(&m->list);
	memset(m, 0, sizeof *m);
}

/* --- writing ----------------------------------------------------------------
 */

static size_t
utf8_len(const char *s, size_t left)
{
	size_t n;

	for (n = 1; n <= 4 && n <= left; n++) {
		if (text_is_utf8(s, n))
			return n;
	}
	return 0;
}

static void
put_string(struct buf *dst, const char *s)
{
	size_t left = strlen(s), n;

	(void)buf_addc(dst, '"');
	for (; left > 0; s += n, left -= n) {
		n = 1;
		if (*s == '"')
			(void)buf_adds(dst, "\\\"");
		else if (*s == '\\')
			(void)buf_adds(dst, "\\\\x5c");
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			(void)buf_printf(dst, "\\u%04x", (unsigned)*s);
		else if ((unsigned char)*s < 0x80)
			(void)buf_addc(dst, *s);
		else if ((n = utf8_len(s, left)) > 0)
			(void)buf_add(dst, s, n);
		else
			(void)buf_printf(
			    dst, "\\\\x%02x", (unsigned char)s[n++]);
	}
	(void)buf_addc(dst, '"');
}

static void
put_entry(struct buf *dst, const struct snap_entry *en)
{
	char hex[HASH_HEX] = "";

	(void)buf_addc(dst, '[');
	put_string(dst, en->path);
	(void)buf_printf(dst,
	    ",\"%c\",%u,%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",",
	    en->type, en->mode, en->size, en->mtime_ns, en->ctime_ns, en->ino);
	if (en->type == 'f')
		hash_hex(en->hash, hex);
	put_string(dst, en->type == 'l' ? en->target : hex);
	(void)buf_adds(dst, "]\n");
}

/* The adds can't fail: dst has no maximum that a file list could reach. */
void
manifest_write(const struct manifest *m, struct buf *dst)
{
	size_t i;

	(void)buf_printf(dst,
	    "{\"version\":1,\"id\":\"%s\",\"made_ns\":%" PRId64 ",\"git\":",
	    m->id, m->made_ns);
	put_string(dst, m->git);
	(void)buf_adds(dst, ",\"boot\":");
	put_string(dst, m->boot);
	(void)buf_adds(dst, "}\n");
	for (i = 0; i < m->list.n; i++) {
		if (!m->list.v[i].gone)
			put_entry(dst, &m->list.v[i]);
	}
}

/* --- reading: of exactly this shape -----------------------------------------
 */

struct reader {
	char *s;
	bool bad;
};

static void
want(struct reader *r, const char *text)
{
	size_t n = strlen(text);

	if (!r->bad && strncmp(r->s, text, n) == 0)
		r->s += n;
	else
		r->bad = true;
}

static int
hex_value(const char *s, size_t n)
{
	int v = 0;

	for (; n > 0; n--, s++) {
		if (*s >= '0' && *s <= '9')
			v = v * 16 + *s - '0';
		else if (*s >= 'a' && *s <= 'f')
			v = v * 16 + *s - 'a' + 10;
		else
			return -1;
	}
	return v;
}

/* In place; borrowed from the text. */
static const char *
get_string(struct reader *r)
{
	char *start, *w;
	int v;

	want(r, "\"");
	start = w = r->s;
	while (!r->bad && *r->s != '"') {
		if (*r->s == '\0' || *r->s == '\n') {
			r->bad = true;
		} else if (*r->s != '\\') {
			*w++ = *r->s++;
		} else if (r->s[1] == '"') {
			*w++ = '"';
			r->s += 2;
		} else {
			if (r->s[1] == 'u')
				v = hex_value(r->s + 2, 4);
			else if (strncmp(r->s, "\\\\x", 3) == 0)
				v = hex_value(r->s + 3, 2);
			else
				v = -1;
			r->bad = v <= 0 || v > 255;
			*w++ = (char)v;
			r->s += r->s[1] == 'u' ? 6 : 5;
		}
	}
	if (r->bad)
		return "";
	r->s++;
	*w = '\0';
	return start;
}

static int64_t
get_number(struct reader *r)
{
	char *end;
	int64_t v;

	errno = 0;
	v = (int64_t)strtoull(r->s, &end, 10); /* takes a sign, too */
	if (end == r->s || errno != 0)
		r->bad = true;
	r->s = end;
	return v;
}

static void
read_entry(struct reader *r, struct snap_list *l)
{
	struct snap_entry *en;
	const char *s;

	want(r, "[");
	s = get_string(r);
	if (r->bad)
		return;
	en = snap_list_add(l, s);
	want(r, ",");
	s = get_string(r);
	en->type = s[0];
	if (strlen(s) != 1 || !strchr("fldu", s[0]))
		r->bad = true;
	want(r, ",");
	en->mode = (uint32_t)get_number(r);
	want(r, ",");
	en->size = (uint64_t)get_number(r);
	want(r, ",");
	en->mtime_ns = get_number(r);
	want(r, ",");
	en->ctime_ns = get_number(r);
	want(r, ",");
	en->ino = (uint64_t)get_number(r);
	want(r, ",");
	s = get_string(r);
	want(r, "]\n");
	if (en->type == 'l')
		en->target = xstrdup(s);
	else if (en->type == 'f' && hash_unhex(s, en->hash) < 0)
		r->bad = true;
	en->known = true;
}

int
manifest_read(char *text, size_t len, struct manifest *ret)
{
	struct manifest m = { 0 };
	struct reader r = { .s = text, .bad = strlen(text) != len };

	want(&r, "{\"version\":1,\"id\":");
	m.id = xstrdup(get_string(&r));
	want(&r, ",\"made_ns\":");
	m.made_ns = get_number(&r);
	want(&r, ",\"git\":");
	m.git = xstrdup(get_string(&r));
	want(&r, ",\"boot\":");
	m.boot = xstrdup(get_string(&r));
	want(&r, "}\n");
	while (!r.bad && *r.s != '\0')
		read_entry(&r, &m.list);
	if (r.bad) {
		manifest_clear(&m);
		return -EINVAL;
	}
	*ret = m;
	return 0;
}

int
manifest_line(char *line, size_t len, struct snap_list *l)
{
	struct reader r = { .s = line, .bad = strlen(line) != len };

	if (!r.bad)
		read_entry(&r, l);
	return r.bad || *r.s != '\0' ? -EINVAL : 0;
}

/* --- the id -----------------------------------------------------------------
 */

static void
add(struct hash_state *h, const char *s)
{
	hash_update(h, s, strlen(s) + 1);
}

char *
manifest_id(const struct manifest *m, uid_t owner)
{
	unsigned char h[HASH_LEN];
	char hex[HASH_HEX], line[64];
	const struct snap_entry *en;
	struct hash_state st;
	size_t i;

	hash_init(&st);
	snprintf(line, sizeof line, "foray 1 %ld", (long)owner);
	add(&st, line);
	/* Why a repository is broken is not content. */
	add(&st, text_starts(m->git, "broken") ? "none" : m->git);
	for (i = 0; i < m->list.n; i++) {
		en = &m->list.v[i];
		if (en->gone || en->type == 'u')
			continue;
		snprintf(line, sizeof line, "%c %o %" PRIu64, en->type,
		    en->type == 'l' ? 0 : en->mode,
		    en->type == 'f' ? en->size : 0);
		add(&st, line);
		add(&st, en->path);
		if (en->type == 'l')
			add(&st, en->target);
		else if (en->type == 'f')
			hash_update(&st, en->hash, HASH_LEN);
	}
	hash_final(&st, h);
	hash_hex(h, hex);
	return xstrndup(hex, SNAP_ID_LEN);
}
