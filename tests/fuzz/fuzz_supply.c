/*
 * What comes over the network about a snapshot: ranges from a host that asks,
 * and, to a host, a manifest and the index of a pack. What is taken can be
 * written again, reads the same, and leads nowhere but below the tree.
 */
#include "common/compat.h"

#include <assert.h>

#include "common/log.h"
#include "sandbox/snapshot_import_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
ranges(const uint8_t *data, size_t size)
{
	struct snapshot_range r[SNAPSHOT_RANGES];
	uint64_t sum = 0;
	struct buf b;
	struct err e;
	size_t n, i;

	if (snapshot_ranges_get(data, size, r, &n, &e) < 0) {
		assert(e.code == ERR_PROTO && e.text[0] != '\0');
		return;
	}
	assert(n >= 1 && n <= SNAPSHOT_RANGES);
	for (i = 0; i < n; i++)
		sum += r[i].len;
	assert(sum <= SNAPSHOT_CHUNK);
	buf_init(&b, BUF_NOMAX);
	snapshot_ranges_put(&b, r, n);
	assert(b.len == size && memcmp(b.data, data, size) == 0);
	buf_clear(&b);
}

/* The index of a pack of that size: its objects lie in it, one behind the
 * other. */
static void
pack_index(const uint8_t *data, size_t size, size_t hash, uint64_t pack)
{
	struct import_object *v;
	/* So that reading beyond it shows. */
	char *copy = xmalloc(size > 0 ? size : 1);
	uint64_t at = 12;
	size_t n, i;

	memcpy(copy, data, size);
	if (import_index(copy, size, hash, pack, &v, &n) < 0) {
		free(copy);
		return;
	}
	assert(n >= 1 && n <= size);
	for (i = 0; i < n; i++) {
		assert(v[i].id >= copy && v[i].id + hash <= copy + size);
		assert(v[i].offset >= at && v[i].len >= 1);
		at = v[i].offset + v[i].len;
		assert(at <= pack - hash);
	}
	free(v);
	free(copy);
}

/* Does a part of the path lead up, or nowhere? */
static void
assert_below(const char *p)
{
	char *slashed = xasprintf("/%s/", p);

	assert(strstr(slashed, "//") == NULL);
	assert(strstr(slashed, "/../") == NULL);
	assert(strstr(slashed, "/./") == NULL);
	assert(strstr(slashed, "/.git/") == NULL);
	free(slashed);
}

/* Each is in a directory that came before it, and none comes twice. */
static void
assert_tree(const struct snap_list *l)
{
	const char *p, *slash;
	size_t i, j, n;

	for (i = 0; i < l->n; i++) {
		p = l->v[i].path;
		assert_below(p);
		for (j = 0; j < i; j++)
			assert(strcmp(l->v[j].path, p) != 0);
		slash = strrchr(p, '/');
		n = slash != NULL ? (size_t)(slash - p) : 0;
		for (j = 0; n > 0 && j < i; j++) {
			if (l->v[j].type == 'd' &&
			    strncmp(l->v[j].path, p, n) == 0 &&
			    l->v[j].path[n] == '\0')
				break;
		}
		assert(n == 0 || j < i);
	}
}

static void
again(const struct manifest *m)
{
	char *id = manifest_id(m, 1), *other;
	struct manifest back;
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	manifest_write(m, &b);
	assert(manifest_read(b.data, b.len, &back) == 0);
	assert(back.list.n == m->list.n);
	other = manifest_id(&back, 1);
	assert(strcmp(id, other) == 0);
	manifest_clear(&back);
	buf_clear(&b);
	free(id);
	free(other);
}

static void
manifest(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct manifest m;
	struct snap_git g;
	struct err e;

	if (strlen(text) == size && manifest_read(text, size, &m) == 0) {
		if (import_check(&m.list, &e) < 0)
			assert(e.code == ERR_PROTO && e.text[0] != '\0');
		else if (m.list.n < 1000)
			assert_tree(&m.list);
		again(&m);
		if (snap_git_from_state(m.git, &g) == 0)
			snap_git_clear(&g);
		manifest_clear(&m);
	}
	free(text);
	text = xstrndup((const char *)data, size);
	if (import_manifest(text, strlen(text), "0", 1, &m, &e) == 0)
		abort(); /* no text has that id */
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ranges(data, size);
	manifest(data, size);
	pack_index(data, size, 20, 1 << 20);
	pack_index(data, size, 32, 1 << 20);
	return 0;
}
