/*
 * rules.h - what a person wants allowed, asked for or denied.
 *
 *	struct rules *r = rules_create();
 *	rules_add(r, LAYER_USER, "settings.json", root, permissions, &e);
 *	rules_add(r, LAYER_REPO, ".foray/settings.json", root, theirs, &e);
 *	... r->ignored says what the repository asked for and does not get
 *	judge_command(r, ...);                       judge.h
 *	rules_free(r);
 *
 * A permissions object, of settings or of a --policy file:
 *
 *	{"deny": [RULE...], "ask": [RULE...], "allow": [RULE...],
 *	 "default": "allow" | "ask" | "deny",
 *	 "write_inside_workspace", "write_outside_workspace",
 *	 "read_outside_workspace": the same three words; absent: allow,
 *	 "write_roots": [DIR...],      count as inside the workspace
 *	 "deny_option": {"git commit": ["--no-verify", "-n"]}}
 *
 * A RULE is "tool" or "tool(pattern)". Names of tools that people have from
 * elsewhere are understood: Bash (run_command), Read (read_file; it covers
 * list_dir and grep), Grep, Edit and Write (edit_file, apply_patch, try_edits,
 * and the redirections of a command), WebFetch (fetch_url). Patterns:
 *
 *   commands  words, split at blanks. "*" within a word stands for any part of
 *             it, a word "*" for one or more words, " *" (or ":*") at the end
 *             for any further words, none too; so does a star that ends the
 *             last word. Without a star the words must be all there are.
 *   paths     as in .gitignore, from: "//x" the root of the file system, "~/x"
 *             the home directory, "/x" the workspace, "x" and "./x" the working
 *             directory. What matches a directory matches all below it.
 *   hosts     "domain:HOST"; "domain:*.HOST" for all below it.
 *
 * deny comes before ask, ask before allow, allow before the default, in all
 * layers together: any layer can block. The repository's layer can only
 * tighten: its allow rules, write roots and a looser default are ignored.
 * Nothing here reads a file.
 */
#ifndef SANDBOX_POLICY_RULES_H
#define SANDBOX_POLICY_RULES_H

#include "common/err.h"
#include "common/json.h"
#include "common/strv.h"
#include "sandbox/policy/shell.h"

enum ruling {
	RULING_ALLOW,
	RULING_ASK,
	RULING_DENY
};

enum rule_layer {
	LAYER_BUILTIN,
	LAYER_USER,
	LAYER_REPO,
	LAYER_CMDLINE
};

enum rule_about {
	RULE_COMMAND,
	RULE_READ,
	RULE_GREP,
	RULE_EDIT,
	RULE_FETCH,
	RULE_TOOL /* a tool by its name alone */
};

#define RULES_MAX 4096      /* of one layer */
#define RULES_REPO_MAX 256  /* of a list of the repository's */
#define RULE_TEXT_MAX 4096  /* bytes of a rule */
#define RULE_WORDS_MAX 256u /* of a command's pattern */

struct rule {
	enum ruling ruling;
	enum rule_layer layer;
	enum rule_about about;
	char *text;        /* as it was written */
	char *tool;        /* its name here */
	char *pattern;     /* NULL: all */
	struct strv words; /* commands */
	bool more;         /* commands: further words may follow */
	size_t spelled;    /* commands: words before the first with a star */
};

/* "git commit" and options that it must not be given. */
struct rule_option {
	enum rule_layer layer;
	char *text; /* the command as it was written */
	struct strv words, options;
};

/* One of the three words, and who said so. */
struct rule_default {
	bool set;
	enum ruling ruling;
	enum rule_layer layer;
};

struct rules {
	struct rule *v;
	size_t n;
	struct rule_option *options;
	size_t n_options;
	struct rule_default def;
	struct rule_default write_in, write_out, read_out;
	struct strv write_roots;
	/* What the repository asked for in vain: sentences. */
	struct strv ignored;
	bool blocks_commands; /* a deny or ask rule about commands is there */
	bool blocks_edits, blocks_reads; /* rules or defaults about paths */
};

/* Where a command runs: absolute, clean paths. home may be NULL. */
struct judge_place {
	const char *cwd, *workspace, *home;
};

/* The built-in layer: all is allowed but what judge.h lists. */
struct rules *rules_create(void);
void rules_free(struct rules *r);

/* Adds a permissions object. file is for messages; ERR_SYNTAX names it and the
 * rule, and r is then to be freed. */
int rules_add(struct rules *r, enum rule_layer layer, const char *file,
    const json_t *permissions, struct err *e);

const char *ruling_str(enum ruling v); /* "allow", "ask", "deny" */
const char *layer_str(enum rule_layer layer);
/* The name here of a tool that may be named as elsewhere; NULL: unknown.
 * ret_about may be NULL. */
const char *rules_tool(const char *name, enum rule_about *ret_about);
/* All those names, by their number; NULL: there are no more. */
const char *rules_tool_name(size_t i);

/* --- matching ------------------------------------------------------------ */

enum rule_match {
	MATCH_NO,
	MATCH_MAYBE, /* it depends on what is computed when the command runs */
	MATCH_YES
};

/* Of a deny or ask rule: by words, by the last component of the command word,
 * and by the words as one string. */
enum rule_match rule_blocks(
    const struct rule *r, const struct sh_word *w, size_t n);
/* Of an allow rule: word by word. */
bool rule_allows(const struct rule *r, const struct sh_word *w, size_t n);
/* path: absolute and clean. */
bool rule_covers_path(
    const struct rule *r, const char *path, const struct judge_place *where);
/* Is it about a named place within the directory path? Who removes that takes
 * what the rule is about along. */
bool rule_lies_below(
    const struct rule *r, const char *path, const struct judge_place *where);
bool rule_covers_host(const struct rule *r, const char *host);

/* "*" stands for any bytes, but for '/' when slash is false. */
bool rule_star(const char *pattern, const char *s, bool slash);
/* The name in a command word: "rm" of "/bin/rm". */
const char *rule_base(const char *word);

#endif
