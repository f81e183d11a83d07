#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "tap.h"

static struct arena arena;

/* Take so many pieces and write on them; 1 when all were had. */
static int take(int count, size_t size)
{
    char *p;

    while (count-- > 0) {
        p = arena_alloc(&arena, size);
        if (p == NULL)
            return 0;
        memset(p, 'x', size);
    }
    return 1;
}

static void begin(size_t chunk_size)
{
    arena_free(&arena);
    arena_init(&arena, chunk_size);
}

int main(void)
{
    char *p, *q;
    size_t mark, inner;
    int i, good;

    arena_init(&arena, 128);
    OK(arena.chunks == 0 && arena_mark(&arena) == 0, "nothing to begin with");
    p = arena_alloc(&arena, 1);
    q = arena_alloc(&arena, 1);
    OK(p && q && q - p == 16, "one after the other");
    OK(((uintptr_t)p & 15) == 0, "aligned");
    p = arena_alloc(&arena, 0);
    q = arena_alloc(&arena, 0);
    OK(p && q && p != q, "no size is a size");
    OK(arena_alloc(&arena, SIZE_MAX - 3) == NULL, "size too large");
    OK(strcmp(arena_strdup(&arena, "some text"), "some text") == 0, "strdup");
    OK(strcmp(arena_join(&arena, "path/", "file"), "path/file") == 0, "join");

    begin(128);
    OK(take(8, 16) && arena.chunks == 1, "a full chunk");
    OK(take(1, 16) && arena.chunks == 2, "one more needs another");
    OK(take(1, 1000) && arena.chunks == 3, "one that needs its own");
    OK(arena_mark(&arena) == 9 * 16 + 1008, "all that is in use");

    begin(128);
    take(1, 16);
    mark = arena_mark(&arena);
    p = arena_alloc(&arena, 32);
    arena_rewind(&arena, mark);
    q = arena_alloc(&arena, 32);
    OK(p == q, "rewind within a chunk");

    begin(128);
    take(6, 16);
    mark = arena_mark(&arena);
    p = arena_alloc(&arena, 32);
    take(5, 32);
    inner = arena_mark(&arena);
    take(9, 32);
    arena_rewind(&arena, inner);
    OK(arena_mark(&arena) == inner, "rewind to the inner mark");
    arena_rewind(&arena, mark);
    OK(arena_mark(&arena) == mark && arena_alloc(&arena, 32) == p,
       "then to the outer one");
    mark = arena_mark(&arena);
    arena_rewind(&arena, mark + 64);
    OK(arena_mark(&arena) == mark, "rewind does not go forward");

    begin(128);
    good = 1;
    for (i = 0; i < 10; i++) {
        good = good && take(20, 16);
        arena_rewind(&arena, 0);
    }
    OK(good && arena_mark(&arena) == 0, "ten rounds");
    OK(arena.chunks == 3, "with the same chunks");

    begin(128);
    take(12, 32);
    p = (char *)arena.first->next->data;
    arena_rewind(&arena, 64);
    take(2, 32);
    OK(arena_alloc(&arena, 16) == p, "a kept chunk is used from its beginning");

    begin(64);
    take(1, 64);
    take(1, 500);
    arena_rewind(&arena, 0);
    OK(take(2, 64) && take(1, 500) && arena.chunks == 3,
       "one more round with a large one");
    arena_free(&arena);
    return tap_done();
}
