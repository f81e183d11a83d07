#ifndef MATCH_H
#define MATCH_H

/*
 * Does a path match a pattern? "*" and "?" and "[a-z]", "[!a-z]" stand for
 * anything but "/"; "**" between slashes for any number of folders; "\" takes
 * the meaning from the next character.
 */
int match(const char *pattern, const char *path);

#endif
