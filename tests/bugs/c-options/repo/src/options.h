#ifndef OPTIONS_H
#define OPTIONS_H

#define OPTIONS_OPERANDS 16

enum { OPTIONS_END = -1, OPTIONS_BAD = -2 };

struct option {
    int letter;             /* what options_next returns */
    const char *name;       /* long name, or NULL */
    int takes_value;
};

/*
 * Options and operands in any order; what follows "--" are operands. Short
 * options may be joined (-xvf FILE, -xvfFILE), long ones may be cut to a
 * prefix that only one of them has.
 */
struct options {
    const struct option *table;     /* ends with letter 0 */
    int argc;
    char **argv;
    int index;
    const char *joined;             /* rest of "-xvf" */
    int only_operands;
    const char *value;              /* of the last option */
    const char *operands[OPTIONS_OPERANDS];
    int operand_count;
    char error[96];
};

void options_init(struct options *o, const struct option *table, int argc,
    char **argv);
int options_next(struct options *o);

#endif
