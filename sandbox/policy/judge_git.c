/* judge_git.c - git: its settings, and the files that its verbs show, store and
 * write; see judge.h. */
#include "common/compat.h"

#include <strings.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* Programs that may stand in core.pager and core.editor; or none at all. */
static bool
is_harmless(const char *key, const char *value)
{
	static const char *const plain[] = { "", "cat", "true", "false", ":",
		"less", "more", "vim", "vi", "nano", "emacs", "cache", "store",
		"less -FRX", "less -R", "delta", "code --wait", "never",
		"manager", "osxkeychain" };

	if (text_starts(key, "alias."))
		return value[0] != '!';
	if (strncasecmp(key, "core.hookspath", 14) == 0)
		return false;
	if (strncasecmp(key, "clean.", 6) == 0)
		return strcasecmp(value, "true") == 0;
	return text_is_one_of(value, plain, nitems(plain));
}

/* An alias is what its text would be. */
static void
git_alias(struct piece *p, const char *value, size_t at)
{
	char *text =
	    value[0] == '!' ? xstrdup(value + 1) : xasprintf("git %s", value);

	piece_named(p, text, at);
	free(text);
}

void
piece_git_config(struct piece *p, const struct sh_word *value, size_t at)
{
	const char *eq = strchr(value->text, '=');
	char *key = eq != NULL
	    ? xstrndup(value->text, (size_t)(eq - value->text))
	    : xstrdup(value->text);

	if ((value->flags & SH_COMPUTED) != 0 &&
	    strcspn(value->text, "$`") < strlen(key))
		piece_found(
		    p, FIND_POWER, at, "git -c with a name that is computed");
	else if (git_key_runs(key) &&
	    ((value->flags & SH_COMPUTED) != 0 || eq == NULL ||
		!is_harmless(key, eq + 1)))
		piece_found(p, FIND_ASK, at, "git -c %.80s", key);
	if (eq != NULL && text_starts(key, "alias.") &&
	    (value->flags & SH_COMPUTED) == 0)
		git_alias(p, eq + 1, at);
	free(key);
}

/* git config KEY VALUE: it stays, also for what comes later. */
static void
git_config(const struct call *c)
{
	static const char *const reads[] = { "--get", "--get-all",
		"--get-regexp", "--list", "-l", "--unset", "--unset-all",
		"--remove-section", "--get-urlmatch", "get", "list", "unset" };
	const struct sh_word *key = NULL, *value = NULL, *file = NULL;
	struct sh_word given;
	bool looks = false;
	struct opts o;
	struct opt t;

	opts_begin(
	    &o, "f=W --file=W --blob=A --type=A --default=A", c->w, c->n);
	o.i = 2;
	while (opts_next(&o, &t)) {
		looks |= text_is_one_of(c->w[t.at].text, reads, nitems(reads));
		if (t.kind == OPT_WRITE && t.has_value) {
			given = t.value;
			file = &given;
			judge_read(c->p->j, file, c->p->src, c->p->src_len);
		}
		if (t.kind != OPT_OPERAND && t.kind != OPT_COMPUTED)
			continue;
		if (key == NULL && strcmp(c->w[t.at].text, "set") == 0)
			continue;
		if (key == NULL)
			key = &c->w[t.at];
		else if (value == NULL)
			value = &c->w[t.at];
	}
	if (looks)
		return;
	if (file != NULL && value != NULL)
		judge_write(c->p->j, file, c->p->src, c->p->src_len);
	if (key == NULL || value == NULL || !git_key_runs(key->text))
		return;
	if (text_starts(key->text, "alias.") &&
	    (value->flags & SH_COMPUTED) == 0)
		git_alias(c->p, value->text, call_place(c, 1));
	if ((value->flags & SH_COMPUTED) == 0 &&
	    is_harmless(key->text, value->text))
		return;
	piece_found(c->p, FIND_ASK, call_place(c, (size_t)(value - c->w)),
	    "git config %.80s", key->text);
}

/* What it shows, or stores, of the files that are named, at any time: REV:PATH,
 * PATH; and the one that it makes. */
static void
git_files(const struct call *c)
{
	static const char *const shows[] = { "show", "cat-file", "diff", "log",
		"blame", "annotate", "grep", "archive", "hash-object",
		"update-index" };
	static const char *const makes[] = { "bundle create", "worktree add" };
	const char *sub = c->w[1].text;
	struct sh_word file;
	size_t i, k, n;

	for (i = 2; text_is_one_of(sub, shows, nitems(shows)) && i < c->n;
	     i++) {
		const char *s = c->w[i].text, *path = strchr(s, ':');

		if ((c->w[i].flags & (SH_COMPUTED | SH_GLOB)) != 0 ||
		    (s[0] == '-' && (path == NULL || s[1] != 'L')))
			continue;
		file = c->w[i];
		file.text += path != NULL ? path + 1 - s : 0;
		file.len = strlen(file.text);
		judge_read(c->p->j, &file, c->p->src, c->p->src_len);
	}
	for (k = 0; k < nitems(makes); k++) {
		n = strcspn(makes[k], " ");
		if (strlen(sub) != n || strncmp(sub, makes[k], n) != 0 ||
		    c->n < 3 || strcmp(c->w[2].text, makes[k] + n + 1) != 0)
			continue;
		for (i = 3; i < c->n; i++) {
			if (c->w[i].text[0] != '-') {
				judge_write(c->p->j, &c->w[i], c->p->src,
				    c->p->src_len);
				break;
			}
			i += text_is_one_of(c->w[i].text,
			    (const char *const[]){ "-b", "-B", "--reason" }, 3);
		}
	}
}

/* --- the whole tree --------------------------------------------------------
 */

/* What is in the tree: of the workspace where it runs there. */
static void
git_tree(const struct call *c, enum rule_about about)
{
	const struct judge *j = c->p->j;
	struct sh_word top = { .text = (char *)(uintptr_t)j->where->workspace };
	size_t i;

	judge_into(c->p, about, NULL);
	for (i = 0; i < j->dirs.n; i++)
		if (strcmp(j->dirs.v[i], top.text) != 0 &&
		    path_is_below(j->dirs.v[i], top.text)) {
			top.len = strlen(top.text);
			judge_into(c->p, about, &top);
			return;
		}
}

/* Verbs that write what a commit, a patch or another machine has: which files
 * those are can't be told. */
static const struct {
	const char *verb;
	const char *with;    /* one of these words makes it such; NULL: none */
	const char *without; /* and one of these does not */
} writers[] = {
	{ "am", NULL, "--abort --quit --show-current-patch" },
	{ "bisect", "start good bad new old skip reset replay run", NULL },
	{ "checkout", "--pathspec-from-file -f --force -m --merge", NULL },
	{ "checkout-index", "-a --all -fa -af --stdin -u", NULL },
	{ "cherry-pick", NULL, "--abort --quit" },
	{ "filter-branch", NULL, NULL },
	{ "lfs", "pull checkout", NULL },
	{ "merge", NULL, "--abort --quit" },
	{ "pull", NULL, "--dry-run" },
	{ "quiltimport", NULL, "--dry-run -n" },
	{ "read-tree", "-u --reset -um -mu", "-n --dry-run" },
	{ "rebase", NULL, "--abort --quit --show-current-patch --edit-todo" },
	{ "reset", "--keep --merge", NULL }, /* --hard: always asked for */
	{ "restore", "--pathspec-from-file", NULL },
	{ "revert", NULL, "--abort --quit" },
	{ "sparse-checkout", "set add reapply disable init", NULL },
	{ "stash", "pop apply branch -u --include-untracked -a --all", NULL },
	{ "submodule", "update add deinit", NULL },
	{ "subtree", "add merge pull", NULL },
	{ "svn", "rebase", NULL },
	{ "switch", "--discard-changes -f --force -m --merge", NULL },
};

static bool
has_word(const struct call *c, const char *list)
{
	size_t i, n, len;
	const char *s;

	for (i = 2; list != NULL && i < c->n; i++) {
		len = strcspn(c->w[i].text, "=");
		for (s = list; *s != '\0'; s += n + strspn(s + n, " ")) {
			n = strcspn(s, " ");
			if (n == len && strncmp(s, c->w[i].text, n) == 0)
				return true;
		}
	}
	return false;
}

/* Files without a dot in their names begin with a capital: Makefile. */
static bool
may_be_dir(const char *s)
{
	const char *base = path_base(s);

	return *base == '\0' || strcmp(base, ".") == 0 ||
	    strcmp(base, "..") == 0 ||
	    (strchr(base, '.') == NULL && (*base < 'A' || *base > 'Z'));
}

/* "a.c" may be a branch, and hardly is. */
static bool
is_file_name(const char *s)
{
	const char *base = path_base(s), *dot = strrchr(base, '.');
	size_t n = dot != NULL ? strlen(dot + 1) : 0;

	return strcmp(s, ".") == 0 || strcmp(s, "..") == 0 ||
	    text_ends(s, "/") ||
	    (n > 0 && n <= 5 && (dot[1] < '0' || dot[1] > '9') &&
		strchr(s, '~') == NULL && strchr(s, '^') == NULL &&
		strchr(s, '@') == NULL);
}

/* Another commit's files take the place of those that are there; those of the
 * same, where a branch begins. */
static bool
moves_on(const struct call *c)
{
	const bool switches = strcmp(c->w[1].text, "switch") == 0;
	bool makes = false;
	size_t n = 0, first = 0;
	struct opts o;
	struct opt t;

	if (!switches && strcmp(c->w[1].text, "checkout") != 0)
		return false;
	opts_begin(&o,
	    switches ? "c=A C=A --create=A --force-create=A --orphan=A"
		     : "b=A B=A --orphan=A",
	    c->w, c->n);
	o.i = 2;
	while (opts_next(&o, &t)) {
		makes |= t.kind == OPT_VALUE;
		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			first = n++ == 0 ? t.at : first;
	}
	if (n == 0)
		return has_word(c, "--orphan") && switches;
	for (size_t i = 2; i < c->n && !makes && !switches; i++)
		if (strcmp(c->w[i].text, "--") == 0)
			return i + 1 == c->n; /* else files */
	/* "checkout COMMIT FILE..." */
	if (switches || makes)
		return true;
	return n == 1 && !is_file_name(c->w[first].text);
}

/* What has changed is put away; of files that are named, behind "--" or not. */
static void
stashes(const struct call *c)
{
	static const char *const others[] = { "list", "show", "drop", "clear",
		"create", "store" };
	bool named = false;
	struct opts o;
	struct opt t;

	if (c->n > 2 && text_is_one_of(c->w[2].text, others, nitems(others)))
		return;
	opts_begin(&o, "m=A --message=A --pathspec-from-file=A", c->w, c->n);
	o.i = c->n > 2 && c->w[2].text[0] != '-' ? 3 : 2;
	while (
	    c->n > 2 && strcmp(c->w[2].text, "save") != 0 && opts_next(&o, &t))
		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED) {
			judge_reach(c->p->j, RULE_EDIT,
			    REACH_BELOW |
				(may_be_dir(t.value.text) ? REACH_ANY : 0),
			    &t.value, c->p->src, c->p->src_len);
			named = true;
		}
	if (!named)
		git_tree(c, RULE_EDIT);
}

static void
git_writes(const struct call *c)
{
	size_t i;

	if (moves_on(c))
		git_tree(c, RULE_EDIT);
	if (strcmp(c->w[1].text, "stash") == 0)
		stashes(c);

	for (i = 0; i < nitems(writers); i++)
		if (strcmp(writers[i].verb, c->w[1].text) == 0 &&
		    (writers[i].with == NULL || has_word(c, writers[i].with)) &&
		    !has_word(c, writers[i].without))
			git_tree(c, RULE_EDIT);
}

/* What goes into the history can be read by whoever gets it. */
static void
git_stores(const struct call *c)
{
	const char *verb = c->w[1].text;
	const bool adds =
	    strcmp(verb, "add") == 0 || strcmp(verb, "stage") == 0;
	bool all = false;
	size_t n = 0;
	struct opts o;
	struct opt t;

	if (!adds && strcmp(verb, "commit") != 0)
		return;
	if (has_word(c, "--dry-run") || (adds && has_word(c, "-n")))
		return;
	opts_begin(
	    &o, program_find("git", adds ? "add" : verb)->spec, c->w, c->n);
	o.i = 2;
	while (opts_next(&o, &t)) {
		const char *word = c->w[t.at].text;

		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED) {
			n++;
			judge_reach(c->p->j, RULE_READ,
			    REACH_BELOW |
				(may_be_dir(t.value.text) ? REACH_ANY : 0),
			    &t.value, c->p->src, c->p->src_len);
			continue;
		}
		all |= t.letter == 'a' || strcmp(word, "--all") == 0 ||
		    text_starts(word, "--pathspec-from") ||
		    (adds &&
			(t.letter == 'A' || t.letter == 'u' ||
			    text_starts(word, "--up") ||
			    text_starts(word, "--no-ignore-r")));
	}
	if (all && n == 0)
		git_tree(c, RULE_READ);
}

bool
special_git(const struct call *c)
{
	size_t i;

	if (c->n < 2)
		return true;
	git_files(c);
	/* All that is there, not what is in the history. */
	if (strcmp(c->w[1].text, "grep") == 0 &&
	    has_word(c, "--no-index --untracked"))
		judge_into(c->p, RULE_READ, NULL);
	git_stores(c);
	git_writes(c);
	git_others(c);
	git_lost(c);
	if (strcmp(c->w[1].text, "config") == 0) {
		git_config(c);
		return true;
	}
	for (i = 2; i < c->n; i++) {
		const char *s = c->w[i].text;

		if (strcmp(c->w[1].text, "push") == 0 && s[0] == '+')
			piece_found(c->p, FIND_ASK, call_place(c, i),
			    "git push +%.60s", s + 1);
		if (text_starts(s, "ext::"))
			piece_found(c->p, FIND_ASK, call_place(c, i),
			    "git ext::, which runs a program");
	}
	return false;
}
