/*
 * judge.h - the verdict on what a model wants to do, and why.
 *
 *	struct verdict v;
 *	judge_command(rules, "git log | head", &where, &v);
 *	... v.ruling, v.reason, v.parts[i] ...
 *	verdict_clear(&v);
 *
 * A command is read as shell (shell.h). Each simple command in it is a part,
 * with what it starts through others (env, xargs, sh -c, find -exec ...), and
 * the strictest part decides. A part is judged so:
 *
 *   - deny and ask rules: on the command and on every command that it starts;
 *     git's global options do not hide the verb. What depends on a variable
 *     and could match is asked for.
 *   - built in, always asked for: what can't be parsed; shell text that is
 *     computed or comes through a pipe; another user or machine (sudo, ssh);
 *     git's ways around hooks (--no-verify, core.hooksPath), of throwing work
 *     away (reset --hard, clean -f, checkout -f, restore ., stash drop, branch
 *     -D, push --force) and of naming programs (-c core.pager=,
 *     --upload-pack).
 *   - where any rule could be against it: an alias that the text may use, and
 *     text in variables, prompts and lists that the shell runs by itself.
 *   - an allow rule covers the innermost command. Its stars cover no option
 *     that runs or writes something (find -delete, rg --pre, a sed script with
 *     the command e), no variable that changes what runs (LD_PRELOAD=, PATH=)
 *     and nothing computed that could become such an option. An allow rule of
 *     the person that spells such an option out covers it, also against the
 *     built-in rules.
 *   - else the default.
 *
 * Files that it writes (redirections, output options, operands of cp, tee, rm
 * and the like) are judged by Edit rules and the write_* keys; those that are
 * not named by any rule need no allow rule. Files that well-known programs read
 * (cat, grep, head) are judged by Read rules and read_outside_workspace. A link
 * to a file, and a move, count as both; a copy of a directory as reading what
 * rules speak of below. What is unpacked, merged, or changed in a whole tree is
 * asked about where rules speak of files there; so is what git add and its like
 * would store, code of an interpreter whose strings name such a file, and a
 * program that is not known whose options are called as those that write are.
 * /proc/self/cwd and its like are the directory, and so are $PWD and, of the
 * person, $HOME, as long as nothing sets them. The names are taken as they
 * stand: no symbolic link is followed, and a program's own doings are not seen.
 * The sandbox is the wall, this is the policy.
 *
 * Pure: no file is read, nothing is run.
 */
#ifndef SANDBOX_POLICY_JUDGE_H
#define SANDBOX_POLICY_JUDGE_H

#include "sandbox/policy/rules.h"

struct part {
	char *command;
	enum ruling ruling;
	char *rule; /* as it was written, or a key's name; NULL: the default */
	enum rule_layer layer;
	char *why; /* a sentence */
};

/* More parts are judged but only counted, unless they are stricter. */
#define VERDICT_PARTS_MAX 256

struct verdict {
	enum ruling ruling;
	char *reason; /* a sentence: the part that decided, and why */
	struct part *parts;
	size_t n, more;
};

void judge_command(const struct rules *r, const char *command,
    const struct judge_place *where, struct verdict *ret);

/* Another tool: its name, and the path (relative: to where->cwd), the URL or
 * host, or NULL. */
void judge_tool(const struct rules *r, const char *tool, const char *subject,
    const struct judge_place *where, struct verdict *ret);

/* The strictest of both; v keeps the parts of both, other is cleared. */
void verdict_join(struct verdict *v, struct verdict *other);
void verdict_clear(struct verdict *v);

/* {"verdict", "reason", "parts": [{"command", "verdict", "rule", "layer"}]} */
json_t *verdict_json(const struct verdict *v);

#endif
