#include "common/compat.h"

#include "common/log.h"
#include "sandbox/policy/shell_priv.h"

#define CHUNK 8192

struct chunk {
	struct chunk *next;
	size_t used, size;
	max_align_t data[];
};

struct sh_arena {
	struct chunk *chunks;
};

void *
sh_alloc(struct sh_script *s, size_t size)
{
	struct chunk *c;
	void *p;

	if (s->arena == NULL)
		s->arena = xcalloc(1, sizeof *s->arena);
	size = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
	c = s->arena->chunks;
	if (c == NULL || c->size - c->used < size) {
		c = xcalloc(
		    1, sizeof *c + (size > CHUNK ? size : (size_t)CHUNK));
		c->size = size > CHUNK ? size : CHUNK;
		c->next = s->arena->chunks;
		s->arena->chunks = c;
	}
	p = (char *)c->data + c->used;
	c->used += size;
	return p;
}

char *
sh_dup(struct sh_script *s, const char *p, size_t len)
{
	char *copy = sh_alloc(s, len + 1);

	if (len > 0)
		memcpy(copy, p, len);
	return copy;
}

/* Doubles at powers of two, so that nothing has to keep a size. */
void *
sh_grow(struct sh_script *s, void *array, size_t n, size_t size)
{
	void *more;

	if (n > 0 && ((n & (n - 1)) != 0))
		return array;
	more = sh_alloc(s, (n > 0 ? 2 * n : 1) * size);
	if (n > 0)
		memcpy(more, array, n * size);
	return more;
}

void
sh_free(struct sh_script *s)
{
	struct chunk *c, *next;

	if (s == NULL)
		return;
	for (c = s->arena != NULL ? s->arena->chunks : NULL; c != NULL;
	     c = next) {
		next = c->next;
		free(c);
	}
	free(s->arena);
	free(s);
}
