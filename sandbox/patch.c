/* patch.c - see patch.h. */
#include "common/compat.h"

#include <errno.h>

#include "common/log.h"
#include "common/text.h"
#include "sandbox/changes.h"
#include "sandbox/patch.h"

#define MODE_FILE 0100644
#define MODE_EXEC 0100755
#define MODE_LINK 0120000

struct parser {
	const char *at, *end;
	struct err *e;
	/* of the file at hand */
	struct patch_file f;
	char *name;       /* what "diff --git" says when both are the same */
	bool minus, plus; /* --- and +++ were there */
};

static int
syntax(struct parser *p, const char *what)
{
	return patch_syntax(p->e, what);
}

/* --- names
 * -------------------------------------------------------------------- */

/* Without the first component, checked. Takes raw; NULL: it has none. */
static int
strip(struct parser *p, char *raw, char **ret)
{
	const char *slash = strchr(raw, '/');
	int r;

	if (raw[0] == '/' || strncmp(raw, "../", 3) == 0) {
		r = patch_check_path(raw, p->e);
		free(raw);
		return r;
	}
	if (slash == NULL) {
		free(raw);
		return syntax(
		    p, "a name without a directory (a/, b/) in front");
	}
	r = patch_check_path(slash + 1, p->e);
	if (r == 0)
		*ret = xstrdup(slash + 1);
	free(raw);
	return r;
}

/* "diff --git A B": p->name where both are the same file; else the lines that
 * follow must tell. */
static int
git_line(struct parser *p, const struct patch_line *l)
{
	const char *s = l->s + strlen("diff --git ");
	size_t len = l->len - strlen("diff --git "), n = 0, i;
	char *a = NULL, *b = NULL, *sa = NULL, *sb = NULL;
	int r = 0;

	/* Bound the search above. */
	if (len > 4 * 8192)
		return syntax(p, "a name is too long");
	if (len > 0 && s[0] == '"') {
		a = patch_unquote(s, len, &n);
		if (a == NULL || n + 1 >= len || s[n] != ' ')
			goto bad;
		b = patch_whole_name(s + n + 1, len - n - 1);
	} else {
		for (i = 0; i + 1 < len && !(s[i] == ' ' && s[i + 1] == '"');
		     i++)
			;
		if (i + 1 >= len) {
			p->name = patch_same_names(s, len);
			return p->name != NULL ? patch_check_path(p->name, p->e)
					       : 0;
		}
		a = patch_whole_name(s, i);
		b = patch_whole_name(s + i + 1, len - i - 1);
	}
	if (a == NULL || b == NULL)
		goto bad;
	r = strip(p, a, &sa);
	a = NULL;
	if (r == 0) {
		r = strip(p, b, &sb);
		b = NULL;
	}
	if (r == 0 && sa != NULL && sb != NULL && strcmp(sa, sb) == 0) {
		p->name = sa;
		sa = NULL;
	}
	goto out;
bad:
	r = syntax(p, "the names after \"diff --git\" can't be read");
out:
	free(a);
	free(b);
	free(sa);
	free(sb);
	return r;
}

/* A name that stands alone; where: from or to. */
static int
set_name(struct parser *p, char **where, char *name)
{
	if (*where != NULL && strcmp(*where, name) != 0) {
		free(name);
		return syntax(p, "the names of a file disagree");
	}
	free(*where);
	*where = name;
	return 0;
}

/* rename from, copy to, ...: no prefix to take off. */
static int
plain_name(
    struct parser *p, const struct patch_line *l, size_t skip, char **where)
{
	char *name = patch_whole_name(l->s + skip, l->len - skip);
	int r;

	if (name == NULL)
		return syntax(p, "a name can't be read");
	r = patch_check_path(name, p->e);
	if (r < 0) {
		free(name);
		return r;
	}
	return set_name(p, where, name);
}

/* "--- X" or "+++ X"; *ret NULL: /dev/null. */
static int
side_name(struct parser *p, const struct patch_line *l, char **ret)
{
	char *raw = patch_whole_name(l->s + 4, l->len - 4);
	size_t n;

	*ret = NULL;
	if (raw == NULL)
		return syntax(p, "a name can't be read");
	/* Other tools put blanks behind. */
	for (n = strlen(raw); n > 0 && raw[n - 1] == ' '; n--)
		;
	if (n == 9 && strncmp(raw, "/dev/null", 9) == 0) {
		free(raw);
		return 0;
	}
	return strip(p, raw, ret);
}

/* --- the lines of a file's head
 * ------------------------------------------------ */

static int
mode(struct parser *p, const char *s, size_t len, uint32_t *where)
{
	uint32_t v = 0;
	size_t i;

	for (i = 0; i < len && s[i] >= '0' && s[i] <= '7' && v < 01000000; i++)
		v = v * 8 + (uint32_t)(s[i] - '0');
	if (i == 0 || i != len)
		return syntax(p, "a mode can't be read");
	if ((v & 0170000) == 0100000)
		v = v & 0100 ? MODE_EXEC : MODE_FILE;
	else if (v != MODE_LINK)
		return err_set(p->e, ERR_DENIED,
		    "the patch makes something of mode %o", v);
	*where = v;
	return 0;
}

static size_t
hex_len(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len &&
	     ((s[i] >= '0' && s[i] <= '9') || (s[i] >= 'a' && s[i] <= 'f'));
	     i++)
		;
	return i;
}

/* "index 1234..5678 100644"; anything else is not passed on. */
static int
index_line(struct parser *p, const struct patch_line *l)
{
	const char *s = l->s + 6;
	size_t left = l->len - 6, n;

	n = hex_len(s, left);
	if (n < 4 || n > 64 || left < n + 2 || memcmp(s + n, "..", 2) != 0)
		return 0;
	s += n + 2;
	left -= n + 2;
	n = hex_len(s, left);
	if (n < 4 || n > 64 || (left > n && s[n] != ' '))
		return 0;
	p->f.index = l->s;
	p->f.index_len = l->len - (left - n);
	if (left == n || p->f.old_mode != 0)
		return 0;
	return mode(p, s + n + 1, left - n - 1, &p->f.old_mode);
}

static int
rename_line(struct parser *p, const struct patch_line *l, enum patch_verb verb)
{
	static const struct {
		const char *prefix;
		bool to;
	} lines[] = { { "rename from ", false }, { "rename to ", true },
		{ "copy from ", false }, { "copy to ", true } };
	size_t i;

	for (i = 0; i < nitems(lines); i++) {
		if (!patch_starts(l, lines[i].prefix))
			continue;
		p->f.verb = verb;
		return plain_name(p, l, strlen(lines[i].prefix),
		    lines[i].to ? &p->f.to : &p->f.from);
	}
	return 0;
}

static int
side_line(struct parser *p, const struct patch_line *l, bool plus)
{
	char *name = NULL;
	int r;

	r = side_name(p, l, &name);
	if (r < 0)
		return r;
	*(plus ? &p->plus : &p->minus) = true;
	if (name == NULL) {
		p->f.verb = plus ? PATCH_DELETE : PATCH_CREATE;
		return 0;
	}
	return set_name(p, plus ? &p->f.to : &p->f.from, name);
}

/* One line of the head: 1 when it is none. */
static int
head_line(struct parser *p, const struct patch_line *l)
{
	if (patch_starts(l, "old mode "))
		return mode(p, l->s + 9, l->len - 9, &p->f.old_mode);
	if (patch_starts(l, "new mode "))
		return mode(p, l->s + 9, l->len - 9, &p->f.new_mode);
	if (patch_starts(l, "new file mode ")) {
		p->f.verb = PATCH_CREATE;
		return mode(p, l->s + 14, l->len - 14, &p->f.new_mode);
	}
	if (patch_starts(l, "deleted file mode ")) {
		p->f.verb = PATCH_DELETE;
		return mode(p, l->s + 18, l->len - 18, &p->f.old_mode);
	}
	if (patch_starts(l, "rename "))
		return rename_line(p, l, PATCH_RENAME);
	if (patch_starts(l, "copy "))
		return rename_line(p, l, PATCH_COPY);
	if (patch_starts(l, "index "))
		return index_line(p, l);
	if (patch_starts(l, "--- "))
		return side_line(p, l, false);
	if (patch_starts(l, "+++ "))
		return side_line(p, l, true);
	if (patch_starts(l, "similarity index ") ||
	    patch_starts(l, "dissimilarity index "))
		return 0;
	return 1;
}

/* --- what a file's part means
 * --------------------------------------------------- */

static int
settle_names(struct parser *p)
{
	struct patch_file *f = &p->f;
	bool both = f->verb == PATCH_RENAME || f->verb == PATCH_COPY;

	/* --- and +++ say the same as the first line, or the other's name. */
	if (!both && p->name != NULL) {
		if ((f->from != NULL && strcmp(f->from, p->name) != 0) ||
		    (f->to != NULL && strcmp(f->to, p->name) != 0))
			return syntax(p, "the names of a file disagree");
		if (f->from == NULL)
			f->from = xstrdup(p->name);
		if (f->to == NULL)
			f->to = xstrdup(p->name);
	}
	if (f->verb == PATCH_CREATE) {
		free(f->from);
		f->from = NULL;
	}
	if (f->verb == PATCH_DELETE) {
		free(f->to);
		f->to = NULL;
	}
	if ((f->verb != PATCH_CREATE && f->from == NULL) ||
	    (f->verb != PATCH_DELETE && f->to == NULL))
		return syntax(p, "a file's name is missing");
	if (f->verb == PATCH_CHANGE && strcmp(f->from, f->to) != 0)
		return syntax(p, "the names of a file disagree");
	return 0;
}

static int
settle_modes(struct parser *p)
{
	struct patch_file *f = &p->f;
	bool was = f->old_mode == MODE_LINK, is = f->new_mode == MODE_LINK;

	if (!was && !is)
		return 0;
	if (f->verb == PATCH_DELETE)
		return 0;
	if (f->verb == PATCH_RENAME || f->verb == PATCH_COPY || f->binary)
		return err_set(
		    p->e, ERR_DENIED, "the patch moves or copies a link");
	if (f->verb == PATCH_CHANGE && f->new_mode != 0 && was != is)
		return err_set(p->e, ERR_DENIED,
		    "the patch makes a link of a file, or a file of a link");
	if (f->verb == PATCH_CHANGE && f->body_len == 0)
		return 0;
	return patch_check_target(f, p->e);
}

static void
file_clear(struct parser *p)
{
	free(p->f.from);
	free(p->f.to);
	free(p->name);
	p->name = NULL;
	memset(&p->f, 0, sizeof p->f);
	p->minus = p->plus = false;
}

static int
add_file(struct parser *p, struct gitpatch *ret)
{
	int r;

	r = settle_names(p);
	if (r == 0)
		r = settle_modes(p);
	if (r < 0)
		return r;
	if (ret->n == PATCH_FILES_MAX)
		return err_set(p->e, ERR_LIMIT,
		    "the patch touches more than %d files", PATCH_FILES_MAX);
	if (ret->n == ret->size) {
		ret->size = ret->size * 2 + 16;
		ret->v = xreallocarray(ret->v, ret->size, sizeof *ret->v);
	}
	ret->v[ret->n++] = p->f;
	p->f.from = p->f.to = NULL;
	return 0;
}

/* From "diff --git" to the end of its body. */
static int
git_file(struct parser *p, const struct patch_line *first)
{
	struct patch_line l;
	int r;

	r = git_line(p, first);
	p->at = first->next;
	while (r == 0) {
		l = patch_peek(p->at, p->end);
		if (l.is_end)
			break;
		if (patch_starts(&l, "@@ -")) {
			if (!p->minus || !p->plus)
				return syntax(p, "a hunk without --- and +++");
			return patch_hunks(&p->at, p->end, &p->f, p->e);
		}
		if (patch_starts(&l, "GIT binary patch"))
			return patch_binary(&p->at, p->end, &p->f, p->e);
		if (patch_starts(&l, "Binary files "))
			return syntax(p, "a binary file without its data");
		r = head_line(p, &l);
		if (r == 0)
			p->at = l.next;
	}
	return r < 0 ? r : 0;
}

static bool
is_epoch(const struct patch_line *l)
{
	const char *tab = memchr(l->s, '\t', l->len);
	size_t n = tab != NULL ? l->len - (size_t)(tab - l->s) : 0;

	return n > 11 &&
	    (strncmp(tab + 1, "1970-01-01", 10) == 0 ||
		strncmp(tab + 1, "1969-12-31", 10) == 0);
}

/* Without "diff --git": --- and +++, then a hunk. The names may differ in an
 * ending (.orig): the shorter one is meant. */
static int
plain_file(struct parser *p, const struct patch_line *minus,
    const struct patch_line *plus)
{
	char *a = NULL, *b = NULL;
	size_t na, nb;
	int r;

	r = side_name(p, minus, &a);
	if (r == 0)
		r = side_name(p, plus, &b);
	if (r < 0) {
		free(a);
		return r;
	}
	if (a == NULL || is_epoch(minus))
		p->f.verb = PATCH_CREATE;
	else if (b == NULL || is_epoch(plus))
		p->f.verb = PATCH_DELETE;
	if (a != NULL && b != NULL) {
		na = strlen(a);
		nb = strlen(b);
		if (strncmp(a, b, na < nb ? na : nb) != 0)
			r = syntax(p, "the names of a file disagree");
		p->name = na < nb ? a : b;
		free(na < nb ? b : a);
	} else {
		p->name = a != NULL ? a : b;
	}
	if (r < 0)
		return r;
	p->at = plus->next;
	return patch_hunks(&p->at, p->end, &p->f, p->e);
}

int
gitpatch_parse(
    const char *text, size_t len, struct gitpatch *ret, struct err *e)
{
	struct parser p = { .at = text, .end = text + len, .e = e };
	struct gitpatch out = { 0 };
	struct patch_line l, l2, l3;
	int r = 0;

	for (l = patch_peek(p.at, p.end); r == 0 && !l.is_end;
	     l = patch_peek(p.at, p.end)) {
		if (patch_starts(&l, "diff --git ")) {
			r = git_file(&p, &l);
		} else if (patch_starts(&l, "--- ")) {
			l2 = patch_peek(l.next, p.end);
			l3 = patch_peek(l2.next, p.end);
			if (!patch_starts(&l2, "+++ ") ||
			    !patch_starts(&l3, "@@ -")) {
				p.at = l.next;
				continue;
			}
			r = plain_file(&p, &l, &l2);
		} else if (patch_starts(&l, "@@ -")) {
			r = syntax(&p, "a hunk without a file's name");
		} else {
			p.at = l.next;
			continue;
		}
		if (r == 0)
			r = add_file(&p, &out);
		file_clear(&p);
	}
	if (r == 0 && out.n == 0)
		r = syntax(&p, "no file is named in it");
	if (r < 0)
		gitpatch_clear(&out);
	else
		*ret = out;
	return r;
}

void
gitpatch_clear(struct gitpatch *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		free(p->v[i].from);
		free(p->v[i].to);
	}
	free(p->v);
	memset(p, 0, sizeof *p);
}
