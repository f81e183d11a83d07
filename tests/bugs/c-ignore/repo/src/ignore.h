#ifndef IGNORE_H
#define IGNORE_H

#include <stddef.h>

#define IGNORE_RULES 32
#define IGNORE_PATTERN 64

/*
 * A list of rules as in a file of its own, one a line: "#" begins a comment,
 * "!" takes back what an earlier rule ignored, "/" at the end means folders
 * only, and a pattern without any other "/" matches at every depth. The last
 * rule that matches decides; what is in an ignored folder is ignored.
 */
struct ignore_rule {
    char pattern[IGNORE_PATTERN];
    int negated;
    int folders_only;
    int any_depth;
};

struct ignore {
    struct ignore_rule rules[IGNORE_RULES];
    size_t count;
};

int ignore_parse(struct ignore *list, const char *text);
int ignore_path(const struct ignore *list, const char *path, int is_folder);

#endif
