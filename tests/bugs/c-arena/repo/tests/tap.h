#ifndef TAP_H
#define TAP_H

#include <stdio.h>

static int tap_count, tap_failed;

#define OK(cond, name) tap_ok((cond) != 0, name, __FILE__, __LINE__)

static void tap_ok(int good, const char *name, const char *file, int line)
{
    tap_count++;
    printf("%s %d - %s\n", good ? "ok" : "not ok", tap_count, name);
    if (!good) {
        tap_failed++;
        printf("#   failed at %s:%d\n", file, line);
    }
}

static int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed ? 1 : 0;
}

#endif
