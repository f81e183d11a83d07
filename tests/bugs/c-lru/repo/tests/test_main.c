#include <stdio.h>
#include <string.h>

#include "lru.h"
#include "tap.h"

static struct lru cache;
static long value;

static int keys_are(const char *expected)
{
    char got[256];

    lru_keys(&cache, got, sizeof(got));
    if (strcmp(got, expected) == 0)
        return 1;
    printf("# expected '%s', got '%s'\n", expected, got);
    return 0;
}

/* A cache with room for three that holds a=1 b=2 c=3. */
static void three(void)
{
    lru_init(&cache, 3);
    lru_put(&cache, "a", 1, 0);
    lru_put(&cache, "b", 2, 0);
    lru_put(&cache, "c", 3, 0);
}

int main(void)
{
    char name[40];
    int i, good;

    OK(lru_init(&cache, 0) < 0, "no room at all");
    OK(lru_init(&cache, LRU_MAX + 1) < 0, "too much room");
    lru_init(&cache, 3);
    OK(keys_are("") && !lru_get(&cache, "a", 0, &value), "empty");

    three();
    OK(keys_are("c b a"), "the newest first");
    OK(lru_get(&cache, "b", 0, &value) && value == 2, "get");
    OK(keys_are("b c a"), "what was asked for is the newest");
    lru_put(&cache, "d", 4, 0);
    OK(keys_are("d b c") && cache.evicted == 1, "the oldest makes room");
    OK(!lru_get(&cache, "a", 0, &value), "and is gone");
    OK(cache.hits == 1 && cache.misses == 1, "hits and misses");

    three();
    lru_put(&cache, "b", 20, 0);
    OK(lru_get(&cache, "b", 0, &value) && value == 20, "a new value");
    OK(keys_are("b c a"), "a new value takes nobody's room");
    OK(cache.used == 3 && cache.evicted == 0, "nothing was evicted");

    lru_init(&cache, 4);
    lru_put(&cache, "a", 1, 0);
    lru_put(&cache, "b", 2, 0);
    lru_put(&cache, "a", 10, 0);
    OK(keys_are("a b") && cache.used == 2, "a new value while there is room");

    three();
    OK(lru_remove(&cache, "b") && !lru_remove(&cache, "b"), "remove");
    OK(keys_are("c a") && cache.used == 2, "the others stay");
    lru_put(&cache, "d", 4, 0);
    OK(keys_are("d c a"), "its room is used again");

    lru_init(&cache, 3);
    lru_put(&cache, "a", 1, 100);
    lru_put(&cache, "b", 2, 0);
    lru_put(&cache, "c", 3, 200);
    OK(lru_get(&cache, "a", 99, &value), "not yet expired");
    OK(!lru_get(&cache, "a", 100, &value) && keys_are("c b"), "expired");
    OK(lru_expire(&cache, 300) == 1 && keys_are("b"), "expire all");

    lru_init(&cache, LRU_MAX);
    for (i = 0; i < 1000; i++) {
        sprintf(name, "key%d", i);
        lru_put(&cache, name, i, 0);
    }
    good = cache.used == LRU_MAX;
    for (i = 1000 - LRU_MAX; i < 1000; i++) {
        sprintf(name, "key%d", i);
        good = good && lru_get(&cache, name, 0, &value) && value == i;
    }
    OK(good, "many keys");

    memset(name, 'k', LRU_KEY);
    name[LRU_KEY] = '\0';
    OK(lru_put(&cache, name, 1, 0) < 0, "key too long");
    name[LRU_KEY - 1] = '\0';
    OK(lru_put(&cache, name, 1, 0) == 0, "longest key");
    return tap_done();
}
