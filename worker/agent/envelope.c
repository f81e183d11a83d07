/* envelope.c - the "*** Begin Patch" form; see envelope.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "worker/agent/envelope.h"

#define MAX_LINES 200000

struct reader {
	const char *p, *end;
	const char *line; /* the current one, without its end */
	size_t len;
	uint64_t no;
};

static bool
next_line(struct reader *r)
{
	const char *nl;

	if (r->p >= r->end)
		return false;
	nl = memchr(r->p, '\n', (size_t)(r->end - r->p));
	r->line = r->p;
	r->len = nl != NULL ? (size_t)(nl - r->p) : (size_t)(r->end - r->p);
	r->p = nl != NULL ? nl + 1 : r->end;
	if (r->len > 0 && r->line[r->len - 1] == '\r')
		r->len--;
	r->no++;
	return true;
}

static bool
is_mark(const struct reader *r, const char *mark)
{
	size_t n = strlen(mark), len = r->len;

	while (len > 0 && (r->line[len - 1] == ' ' || r->line[len - 1] == '\t'))
		len--;
	return len == n && memcmp(r->line, mark, n) == 0;
}

/* "*** Add File: x": the x, trimmed; NULL: another line. */
static const char *
after_mark(const struct reader *r, const char *mark, size_t *ret_len)
{
	size_t n = strlen(mark), len = r->len;
	const char *s = r->line;

	if (len <= n || memcmp(s, mark, n) != 0)
		return NULL;
	s += n;
	len -= n;
	while (len > 0 && (*s == ' ' || *s == '\t')) {
		s++;
		len--;
	}
	while (len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	*ret_len = len;
	return s;
}

struct patch_file *
patch_add_file(
    struct patch *p, enum patch_kind kind, const char *path, size_t len)
{
	struct patch_file *f;

	p->v = xreallocarray(p->v, p->n + 1, sizeof *p->v);
	f = &p->v[p->n++];
	*f = (struct patch_file){ .kind = kind, .path = xstrndup(path, len) };
	return f;
}

struct hunk *
patch_add_hunk(struct patch_file *f)
{
	f->v = xreallocarray(f->v, f->n + 1, sizeof *f->v);
	f->v[f->n] = (struct hunk){ 0 };
	return &f->v[f->n++];
}

void
hunk_add(struct hunk *h, char tag, const char *s, size_t len)
{
	/* Grow in steps: a hunk may be a whole file. */
	if ((h->n & (h->n - 1)) == 0)
		h->v =
		    xreallocarray(h->v, h->n == 0 ? 1 : h->n * 2, sizeof *h->v);
	h->v[h->n++] = (struct hunk_line){ tag, xstrndup(s, len) };
}

void
patch_clear(struct patch *p)
{
	size_t i, j, k;

	for (i = 0; i < p->n; i++) {
		struct patch_file *f = &p->v[i];

		for (j = 0; j < f->n; j++) {
			for (k = 0; k < f->v[j].n; k++)
				free(f->v[j].v[k].text);
			free(f->v[j].v);
			strv_clear(&f->v[j].anchors);
		}
		free(f->v);
		free(f->path);
		free(f->move_to);
	}
	free(p->v);
	*p = (struct patch){ 0 };
}

bool
hunk_header(const char *s, size_t len, uint64_t *old_line, uint64_t *old_n,
    uint64_t *new_n)
{
	char tmp[128];
	unsigned long long a, b = 1, c, d = 1;
	int n = 0;

	if (len < 3 || memcmp(s, "@@ ", 3) != 0)
		return false;
	snprintf(tmp, sizeof tmp, "%.*s", (int)(len < 120 ? len : 120), s);
	/* At most 18 digits each: no overflow. */
	if (!((sscanf(tmp, "@@ -%18llu,%18llu +%18llu,%18llu @@%n", &a, &b, &c,
		   &d, &n) == 4 &&
		  n > 0) ||
		(b = 1, n = 0,
		    sscanf(tmp, "@@ -%18llu +%18llu,%18llu @@%n", &a, &c, &d,
			&n) == 3 &&
			n > 0) ||
		(d = 1, n = 0,
		    sscanf(tmp, "@@ -%18llu,%18llu +%18llu @@%n", &a, &b, &c,
			&n) == 3 &&
			n > 0) ||
		(b = 1, d = 1, n = 0,
		    sscanf(tmp, "@@ -%18llu +%18llu @@%n", &a, &c, &n) == 2 &&
			n > 0)))
		return false;
	*old_line = a;
	*old_n = b;
	*new_n = d;
	return true;
}

static int
bad(const struct reader *r, struct err *e, const char *what)
{
	char line[160];

	text_escape_to(line, sizeof line, r->line, r->len);
	return err_set(e, ERR_SYNTAX, "patch line %llu: %s: %s",
	    (unsigned long long)r->no, what, line);
}

/* One line of an update section. *h is the open hunk, NULL before the first. */
static int
update_line(const struct reader *r, struct patch_file *f, struct hunk **h,
    struct err *e)
{
	uint64_t a, b, c;
	const char *s = r->line;
	size_t n;

	if (is_mark(r, "*** End of File")) {
		if (*h != NULL)
			(*h)->at_end = true;
		return 0;
	}
	if (r->len >= 2 && memcmp(s, "@@", 2) == 0) {
		/* Several anchors in a row belong to one hunk. */
		if (*h == NULL || (*h)->n > 0)
			*h = patch_add_hunk(f);
		if (hunk_header(s, r->len, &a, &b, &c)) {
			(*h)->line = a;
			return 0;
		}
		s += 2;
		n = r->len - 2;
		while (n > 0 && *s == ' ') {
			s++;
			n--;
		}
		/* "@@ anchor @@" is written too. */
		if (n >= 3 && memcmp(s + n - 3, " @@", 3) == 0)
			n -= 3;
		if (n > 0 && !(n == 2 && memcmp(s, "@@", 2) == 0) &&
		    !(n == 3 && memcmp(s, "...", 3) == 0))
			strv_addn(&(*h)->anchors, s, n);
		return 0;
	}
	if (*h == NULL)
		*h = patch_add_hunk(f);
	if (r->len == 0)
		hunk_add(*h, ' ', "", 0);
	else if (*s == ' ' || *s == '+' || *s == '-')
		hunk_add(*h, *s, s + 1, r->len - 1);
	else if (*s == '\\')
		return 0;
	else
		return bad(
		    r, e, "a line of a hunk starts with ' ', '+', '-' or '@@'");
	return 0;
}

/* Drop blank context lines at the end that only separate sections. */
static void
trim_hunk(struct hunk *h)
{
	while (h->n > 0 && h->v[h->n - 1].tag == ' ' &&
	    *h->v[h->n - 1].text == '\0') {
		size_t i;
		bool other = false;

		for (i = 0; i + 1 < h->n; i++)
			other |= h->v[i].tag != ' ' || *h->v[i].text != '\0';
		if (!other)
			return;
		free(h->v[--h->n].text);
	}
}

static int
check_patch(const struct patch *p, struct err *e)
{
	size_t i, j, k;

	if (p->n == 0)
		return err_set(e, ERR_SYNTAX, "the patch names no file");
	for (i = 0; i < p->n; i++) {
		const struct patch_file *f = &p->v[i];
		bool change = f->move_to != NULL;

		if (*f->path == '\0' ||
		    (f->move_to != NULL && *f->move_to == '\0'))
			return err_set(e, ERR_SYNTAX,
			    "a file's name is missing in the patch");
		for (j = 0; j < f->n; j++) {
			for (k = 0; k < f->v[j].n; k++)
				change |= f->v[j].v[k].tag != ' ';
		}
		if (f->kind == PATCH_UPDATE && !change)
			return err_set(e, ERR_SYNTAX,
			    "the update of %.200s changes nothing: it has no "
			    "line that starts with + or -",
			    f->path);
	}
	return 0;
}

static int
envelope_parse(const char *s, size_t len, struct patch *ret, struct err *e)
{
	struct reader r = { .p = s, .end = s + len };
	struct patch_file *f = NULL;
	struct hunk *h = NULL;
	const char *name;
	size_t n;
	bool end = false;
	int rc;

	while (next_line(&r) && !end) {
		enum patch_kind kind = PATCH_UPDATE;

		if (r.no > MAX_LINES || ret->n > ENVELOPE_MAX_FILES)
			return err_set(e, ERR_LIMIT, "the patch is too large");
		if (is_mark(&r, "*** Begin Patch"))
			continue;
		if (is_mark(&r, "*** End Patch")) {
			end = true;
			continue;
		}
		name = NULL;
		if ((name = after_mark(&r, "*** Add File:", &n)) != NULL)
			kind = PATCH_ADD;
		else if ((name = after_mark(&r, "*** Delete File:", &n)) !=
		    NULL)
			kind = PATCH_DELETE;
		else
			name = after_mark(&r, "*** Update File:", &n);
		if (name != NULL) {
			f = patch_add_file(ret, kind, name, n);
			h = kind == PATCH_ADD ? patch_add_hunk(f) : NULL;
			continue;
		}
		if ((name = after_mark(&r, "*** Move to:", &n)) != NULL) {
			if (f == NULL || f->kind != PATCH_UPDATE ||
			    f->move_to != NULL)
				return bad(&r, e,
				    "\"Move to\" follows \"Update File\"");
			f->move_to = xstrndup(name, n);
			continue;
		}
		if (f == NULL) {
			if (r.len == 0)
				continue;
			return bad(&r, e,
			    "a \"*** Update File: PATH\" line (or "
			    "Add, Delete) must come first");
		}
		if (f->kind == PATCH_DELETE) {
			if (r.len == 0)
				continue;
			return bad(&r, e, "nothing follows \"Delete File\"");
		}
		if (f->kind == PATCH_ADD) {
			if (r.len == 0) /* a + was forgotten, or a separator */
				hunk_add(h, ' ', "", 0);
			else if (*r.line == '+')
				hunk_add(h, '+', r.line + 1, r.len - 1);
			else
				return bad(&r, e,
				    "each line of a new file "
				    "starts with '+'");
			continue;
		}
		if ((rc = update_line(&r, f, &h, e)) < 0)
			return rc;
	}
	return 0;
}

int
patch_parse(const char *s, size_t len, struct patch *ret, struct err *e)
{
	const char *at;
	size_t i, j;
	int r;

	*ret = (struct patch){ 0 };
	if (len > ENVELOPE_MAX)
		return err_set(
		    e, ERR_LIMIT, "the patch is over %zu bytes", ENVELOPE_MAX);
	if (s == NULL || len == 0)
		return err_set(e, ERR_SYNTAX, "the patch is empty");
	if (memchr(s, '\0', len) != NULL)
		return err_set(e, ERR_SYNTAX, "the patch holds a NUL byte");
	at = memmem(s, len, "*** Begin Patch", 15);
	if (at != NULL && (at == s || at[-1] == '\n'))
		r = envelope_parse(at, len - (size_t)(at - s), ret, e);
	else if (len > 4 && memcmp(s, "*** ", 4) == 0 &&
	    memmem(s, len, " File:", 6) != NULL)
		r = envelope_parse(s, len, ret, e);
	else
		r = unified_parse(s, len, ret, e);
	for (i = 0; r == 0 && i < ret->n; i++) {
		for (j = 0; j < ret->v[i].n; j++)
			trim_hunk(&ret->v[i].v[j]);
	}
	if (r == 0)
		r = check_patch(ret, e);
	if (r < 0)
		patch_clear(ret);
	return r;
}
