#include "common/compat.h"

#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/reproducer.h"
#include "sandbox/patch.h"
#include "sandbox/policy/guard.h"

#define MODE_LINK 0120000

/* --- what the findings say ----------------------------------------------- */

static bool
has_control(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return true;
	return false;
}

static size_t
characters(const char *s)
{
	size_t n = 0, len = strlen(s);
	uint32_t cp;

	for (; len > 0; n++) {
		size_t k = text_next(s, len, &cp);

		s += k;
		len -= k;
	}
	return n;
}

/* Without blanks at both ends, and without one pair of backticks around it. */
static char *
trimmed(const char *s, bool is_command)
{
	size_t n;

	s += strspn(s, " \t\n");
	for (n = strlen(s); n > 0 && strchr(" \t\n", s[n - 1]) != NULL;)
		n--;
	if (is_command && n > 2 && s[0] == '`' && s[n - 1] == '`' &&
	    memchr(s + 1, '`', n - 2) == NULL) {
		s++;
		n -= 2;
	}
	return xstrndup(s, n);
}

/* The one finding that begins with key. */
static int
take(const struct strv *findings, const char *key, char **ret, struct err *e)
{
	const char *found = NULL;
	size_t i, n = strlen(key);

	for (i = 0; i < findings->n; i++) {
		const char *s = findings->v[i];

		s += strspn(s, " \t\n");
		if (strncasecmp(s, key, n) != 0)
			continue;
		if (found != NULL)
			return err_set(e, ERR_USAGE,
			    "there are two findings \"%s ...\": give one", key);
		found = s + n;
	}
	if (found == NULL)
		return err_set(e, ERR_USAGE,
		    "there is no finding \"%s ...\" in what finish was given",
		    key);
	free(*ret);
	*ret = trimmed(found, *key == 'c');
	if (has_control(*ret))
		return err_set(e, ERR_USAGE,
		    "the finding \"%s ...\" is not one line", key);
	return 0;
}

static int
read_findings(const struct strv *findings, struct reproducer *rp, struct err *e)
{
	int r;

	if ((r = take(findings, "command:", &rp->command, e)) < 0 ||
	    (r = take(findings, "expect:", &rp->expect, e)) < 0)
		return r;
	if (*rp->command == '\0')
		return err_set(e, ERR_USAGE, "the command is empty");
	if (strlen(rp->command) > REPRODUCER_COMMAND)
		return err_set(e, ERR_USAGE,
		    "the command is longer than %d bytes: put it in a file",
		    REPRODUCER_COMMAND);
	if (characters(rp->expect) < REPRODUCER_EXPECT)
		return err_set(e, ERR_USAGE,
		    "the expected text is shorter than %d characters: it would "
		    "be in any output",
		    REPRODUCER_EXPECT);
	return 0;
}

/* --- what the patch does ------------------------------------------------- */

static bool
exists(const char *tree, const char *rel)
{
	char *path;
	struct stat st;
	bool is;

	if (tree == NULL)
		return false;
	path = path_join(tree, rel);
	is = lstat(path, &st) == 0;
	free(path);
	return is;
}

static int
check_file(const struct patch_file *f, const char *tree, struct err *e)
{
	const char *name = f->to != NULL ? f->to : f->from;

	if (!text_is_utf8(name, strlen(name)) || has_control(name))
		return err_set(
		    e, ERR_USAGE, "a file has a name that is no text");
	if (f->verb != PATCH_CREATE || f->to == NULL)
		return err_set(e, ERR_USAGE,
		    "it changes %.300s: only new files are allowed",
		    f->from != NULL ? f->from : name);
	if (exists(tree, f->to))
		return err_set(e, ERR_USAGE,
		    "it adds %.300s, which is there already: only new files "
		    "are allowed",
		    f->to);
	if (f->new_mode == MODE_LINK)
		return err_set(e, ERR_USAGE,
		    "%.300s is a symbolic link: only regular files are allowed",
		    f->to);
	if (guard_is_setup(f->to))
		return err_set(e, ERR_USAGE,
		    "%.300s decides how other tests are run or built: it is "
		    "not allowed",
		    f->to);
	return 0;
}

static int
check_patch(
    const struct gitpatch *p, const char *tree, struct strv *ret, struct err *e)
{
	size_t i;
	int r;

	if (p->n > REPRODUCER_FILES)
		return err_set(e, ERR_USAGE,
		    "it has %zu files; at most %d are allowed", p->n,
		    REPRODUCER_FILES);
	for (i = 0; i < p->n; i++) {
		if ((r = check_file(&p->v[i], tree, e)) < 0)
			return r;
		if (strv_has(ret, p->v[i].to))
			return err_set(
			    e, ERR_USAGE, "it adds %.300s twice", p->v[i].to);
		strv_add(ret, p->v[i].to);
	}
	strv_sort(ret);
	return 0;
}

static int
read_patch(const char *patch, size_t len, const char *tree,
    struct reproducer *rp, struct err *e)
{
	struct gitpatch p;
	int r;

	if (len == 0)
		return err_set(e, ERR_USAGE, "it has no new file");
	if ((r = gitpatch_parse(patch, len, &p, e)) < 0) {
		err_prefix(e, "its patch");
		return r;
	}
	r = check_patch(&p, tree, &rp->files, e);
	gitpatch_clear(&p);
	if (r < 0)
		return r;
	rp->patch = xmalloc(len + 1);
	memcpy(rp->patch, patch, len);
	rp->patch[len] = '\0';
	rp->patch_len = len;
	return 0;
}

int
reproducer_read(const struct strv *findings, const char *patch, size_t len,
    const char *tree, struct reproducer *ret, struct err *e)
{
	struct reproducer rp = { 0 };
	int r;

	/* The patch first: what is wrong with it costs more to mend. */
	if ((r = read_patch(patch, len, tree, &rp, e)) < 0 ||
	    (r = read_findings(findings, &rp, e)) < 0) {
		reproducer_clear(&rp);
		return r;
	}
	*ret = rp;
	return 0;
}

void
reproducer_clear(struct reproducer *rp)
{
	free(rp->command);
	free(rp->expect);
	free(rp->patch);
	strv_clear(&rp->files);
	*rp = (struct reproducer){ 0 };
}

/* --- other patches ------------------------------------------------------- */

static bool
touches(const struct reproducer *rp, const char *path)
{
	size_t i;

	for (i = 0; i < rp->files.n && path != NULL; i++)
		if (path_rel(path, rp->files.v[i]) != NULL)
			return true;
	return false;
}

void
reproducer_strip(
    const struct reproducer *rp, const char *patch, size_t len, struct buf *ret)
{
	struct gitpatch p, left = { 0 };
	size_t i, was = ret->len;
	int r = 0;

	if (len == 0 || gitpatch_parse(patch, len, &p, NULL) < 0) {
		(void)buf_add(ret, patch, len);
		return;
	}
	left.v = xcalloc(p.n + 1, sizeof *left.v);
	for (i = 0; i < p.n; i++)
		if (!touches(rp, p.v[i].from) && !touches(rp, p.v[i].to))
			left.v[left.n++] = p.v[i]; /* borrowed */
	if (left.n == p.n)
		r = buf_add(ret, patch, len);
	else
		r = gitpatch_write(&left, ret);
	if (r < 0 && ret->data != NULL) {
		ret->len = was; /* a fix that can't be told is none */
		ret->data[was] = '\0';
	}
	free(left.v);
	gitpatch_clear(&p);
}

void
reproducer_join(
    const struct reproducer *rp, const char *fix, size_t len, struct buf *ret)
{
	(void)buf_add(ret, fix, len);
	if (len > 0 && fix[len - 1] != '\n')
		(void)buf_addc(ret, '\n');
	(void)buf_add(ret, rp->patch, rp->patch_len);
}
