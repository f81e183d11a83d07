#include "common/compat.h"

#include "orchestrator/door/share.h"

#include <stdatomic.h>
#include <sys/mman.h>

struct share {
	size_t n;
	_Atomic uint64_t bytes[];
};

struct share *
share_create(size_t n)
{
	struct share *s = mmap(NULL, sizeof *s + n * sizeof s->bytes[0],
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	s->n = n;
	return s;
}

void
share_set(struct share *s, size_t me, uint64_t bytes)
{
	atomic_store(&s->bytes[me], bytes);
}

enum share_turn
share_turn(const struct share *s, size_t me)
{
	uint64_t all = 0, one;
	size_t i, elder = s->n;

	if (atomic_load(&s->bytes[me]) <= SHARE_FREE)
		return SHARE_GO;
	for (i = 0; i < s->n; i++) {
		one = atomic_load(&s->bytes[i]);
		all += one;
		if (one > SHARE_FREE && elder == s->n)
			elder = i;
	}
	return all <= SHARE_ALL ? SHARE_GO
	    : elder == me       ? SHARE_ELDER
				: SHARE_WAIT;
}
