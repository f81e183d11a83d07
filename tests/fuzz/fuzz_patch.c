/* Hostile patches: what is read is safe, and written again it reads the same.
 */
#include "common/compat.h"

#include <assert.h>

#include "common/path.h"
#include "sandbox/changes.h"
#include "sandbox/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
same_name(const char *a, const char *b)
{
	assert((a == NULL) == (b == NULL));
	assert(a == NULL || strcmp(a, b) == 0);
}

static void
again(const struct gitpatch *p)
{
	struct gitpatch q;
	struct buf b, c;
	size_t i, j;

	buf_init(&b, BUF_NOMAX);
	buf_init(&c, BUF_NOMAX);
	assert(gitpatch_write(p, &b) == 0);
	if (b.len > 0) {
		assert(gitpatch_parse(b.data, b.len, &q, NULL) == 0);
		for (i = j = 0; i < q.n; i++, j++) {
			/* Parts that say nothing are not written. */
			while (p->v[j].verb == PATCH_CHANGE &&
			    p->v[j].body_len == 0 &&
			    (p->v[j].new_mode == 0 ||
				p->v[j].new_mode == p->v[j].old_mode))
				j++;
			assert(j < p->n);
			assert(q.v[i].verb == p->v[j].verb);
			same_name(q.v[i].from, p->v[j].from);
			same_name(q.v[i].to, p->v[j].to);
		}
		assert(gitpatch_write(&q, &c) == 0);
		assert(b.len == c.len && memcmp(b.data, c.data, b.len) == 0);
		gitpatch_clear(&q);
	}
	buf_clear(&b);
	buf_clear(&c);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct strv paths = { 0 };
	struct gitpatch p;
	size_t i;

	if (gitpatch_parse(text, size, &p, NULL) < 0) {
		assert(patch_paths(text, size, &paths, NULL) < 0);
		return 0;
	}
	assert(patch_paths(text, size, &paths, NULL) == 0);
	for (i = 0; i < paths.n; i++)
		assert(path_is_safe_rel(paths.v[i]));
	again(&p);
	gitpatch_clear(&p);
	strv_clear(&paths);
	return 0;
}
