/*
 * skills.h - NAME/SKILL.md below .agents/skills and .claude/skills, of the
 * working directory and each directory above it up to the root (the nearest
 * wins). A SKILL.md begins with front matter:
 *
 *	---
 *	name: NAME
 *	description: one line, or a block (">", "|")
 *	---
 *
 * Without a fitting name there the directory's counts. What lies outside the
 * workspace by a link is passed over.
 */
#ifndef WORKER_AGENT_SKILLS_H
#define WORKER_AGENT_SKILLS_H

#include "worker/agent/agent.h"

#define SKILLS_MAX 50
#define SKILL_BYTES ((size_t)64 << 10) /* of a SKILL.md */

struct skill {
	char *name;
	char *description; /* one line */
	char *rel;         /* its directory, below the root */
};

struct skills {
	struct skill *v; /* sorted by name */
	size_t n;
};

void skills_find(const struct agent *a, struct skills *ret);
void skills_clear(struct skills *s);
bool skill_name_ok(const char *name);

/* Front matter: *ret_name and *ret_description are yours (NULL: not there);
 * returns where the body begins. Pure. */
size_t skill_head(
    const char *s, size_t len, char **ret_name, char **ret_description);

#endif
