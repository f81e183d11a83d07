#include <stdio.h>
#include <string.h>

#include "options.h"

void options_init(struct options *o, const struct option *table, int argc,
    char **argv)
{
    memset(o, 0, sizeof(*o));
    o->table = table;
    o->argc = argc;
    o->argv = argv;
    o->index = 1;
}

static int bad(struct options *o, const char *what, const char *which, int len)
{
    snprintf(o->error, sizeof(o->error), "%s: %.*s", what, len, which);
    return OPTIONS_BAD;
}

/* The next argument as a value; whatever it looks like. */
static int take_value(struct options *o, const struct option *option,
    const char *name, int len)
{
    if (o->index >= o->argc)
        return bad(o, "value missing", name, len);
    o->value = o->argv[o->index++];
    return option->letter;
}

static int next_short(struct options *o)
{
    const char *p = o->joined;
    const struct option *option = o->table;

    while (option->letter != 0 && option->letter != *p)
        option++;
    if (option->letter == 0) {
        o->joined = NULL;
        return bad(o, "unknown option", p, 1);
    }
    o->joined = p[1] != '\0' ? p + 1 : NULL;
    if (!option->takes_value)
        return option->letter;
    if (o->joined != NULL) {
        o->value = o->joined;
        o->joined = NULL;
        return option->letter;
    }
    return take_value(o, option, p, 1);
}

/* An exact name, or the only one that begins so; NULL and a reason. */
static const struct option *find_long(struct options *o, const char *name,
    size_t len)
{
    const struct option *option, *found = NULL;

    for (option = o->table; option->letter != 0; option++) {
        if (option->name == NULL || strncmp(option->name, name, len) != 0)
            continue;
        if (option->name[len] == '\0')
            return option;
        if (found != NULL) {
            bad(o, "ambiguous option", name, (int)len);
            return NULL;
        }
        found = option;
    }
    if (found == NULL)
        bad(o, "unknown option", name, (int)len);
    return found;
}

static int next_long(struct options *o, const char *name)
{
    size_t len = strcspn(name, "=");
    const struct option *option = find_long(o, name, len);

    if (option == NULL)
        return OPTIONS_BAD;
    if (!option->takes_value) {
        if (name[len] == '=')
            return bad(o, "no value wanted", name, (int)len);
        return option->letter;
    }
    if (name[len] == '=') {
        o->value = name + len + 1;
        return option->letter;
    }
    return take_value(o, option, name, (int)len);
}

static int add_operand(struct options *o, const char *arg)
{
    if (o->operand_count == OPTIONS_OPERANDS)
        return bad(o, "too many operands", arg, (int)strlen(arg));
    o->operands[o->operand_count++] = arg;
    return 0;
}

int options_next(struct options *o)
{
    o->value = NULL;
    if (o->joined != NULL)
        return next_short(o);
    while (o->index < o->argc) {
        const char *arg = o->argv[o->index++];

        if (!o->only_operands && arg[0] == '-') {
            if (arg[1] != '-') {
                o->joined = arg + 1;
                return next_short(o);
            }
            if (arg[2] != '\0')
                return next_long(o, arg + 2);
            o->only_operands = 1;
            continue;
        }
        if (add_operand(o, arg) < 0)
            return OPTIONS_BAD;
    }
    return OPTIONS_END;
}
