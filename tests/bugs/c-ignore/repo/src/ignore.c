#include <string.h>

#include "ignore.h"
#include "match.h"

static int add_rule(struct ignore *list, const char *line, size_t len)
{
    struct ignore_rule *rule = &list->rules[list->count];

    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\r'))
        len--;
    if (len == 0 || line[0] == '#')
        return 0;
    if (list->count == IGNORE_RULES)
        return -1;
    memset(rule, 0, sizeof(*rule));
    if (line[0] == '!') {
        rule->negated = 1;
        line++;
        len--;
    }
    if (len > 0 && line[len - 1] == '/') {
        rule->folders_only = 1;
        len--;
    }
    rule->any_depth = memchr(line, '/', len) == NULL;
    if (len > 0 && line[0] == '/') {
        line++;
        len--;
    }
    if (len == 0 || len >= sizeof(rule->pattern))
        return -1;
    memcpy(rule->pattern, line, len);
    list->count++;
    return 0;
}

int ignore_parse(struct ignore *list, const char *text)
{
    size_t len;

    list->count = 0;
    for (; *text; text += len) {
        len = strcspn(text, "\n");
        if (add_rule(list, text, len) < 0)
            return -1;
        len += text[len] == '\n';
    }
    return 0;
}

static int rule_matches(const struct ignore_rule *rule, const char *path,
    int is_folder)
{
    const char *name = strrchr(path, '/');

    if (rule->folders_only && !is_folder)
        return 0;
    if (rule->any_depth && name != NULL)
        path = name + 1;
    return match(rule->pattern, path);
}

static int ignored_itself(const struct ignore *list, const char *path,
    int is_folder)
{
    size_t i = list->count;

    while (i-- > 0) {
        if (rule_matches(&list->rules[i], path, is_folder))
            return !list->rules[i].negated;
    }
    return 0;
}

int ignore_path(const struct ignore *list, const char *path, int is_folder)
{
    char folder[256];
    size_t i;

    for (i = 0; path[i] && i < sizeof(folder); i++) {
        folder[i] = path[i];
        if (path[i] == '/') {
            folder[i] = '\0';
            if (ignored_itself(list, folder, 1))
                return 1;
            folder[i] = '/';
        }
    }
    return ignored_itself(list, path, is_folder);
}
