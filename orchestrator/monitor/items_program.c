/* items_program.c - one simple command: what its program and its words say;
 * items.h. */
#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/monitor/items.h"
#include "sandbox/policy/programs.h"
#include "sandbox/policy/rules.h"

#define TREE 8   /* weight of a directory that goes */
#define WHOLE 64 /* of all of the workspace */
#define TOKEN_MAX 512

static bool
is_in(const char *name, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

static bool
has(const struct program_act *a, const char *option)
{
	size_t i;

	for (i = 1; i < a->n; i++)
		if (strcmp(a->w[i].text, option) == 0)
			return true;
	return false;
}

/* A letter in a cluster ("-rf"). */
static bool
has_letter(const struct program_act *a, char letter)
{
	size_t i;

	for (i = 1; i < a->n; i++)
		if (a->w[i].text[0] == '-' && a->w[i].text[1] != '-' &&
		    strchr(a->w[i].text, letter) != NULL)
			return true;
	return false;
}

/* --- files ---------------------------------------------------------------- */

static void
add_path(const struct program_act *a, const char *word, bool writes)
{
	unsigned c;
	char *path;
	size_t i;

	if (*word == '\0' || strlen(word) > TOKEN_MAX)
		return;
	for (i = 0; i < a->n_dirs; i++) {
		path = place_path(a->place, a->dirs[i], word);
		c = path_is_secret(path) ? CLASS_SECRET : 0;
		if (path_is_outside(path))
			c |= CLASS_OUTSIDE;
		if (path_is_probe(path))
			c |= CLASS_PROBE;
		if (writes && path_is_test(a->place, path))
			c |= CLASS_TEST;
		if (writes && path_is_later(path))
			c |= CLASS_LATER;
		if (c != 0)
			items_add(a->out, c, 1, path);
		free(path);
	}
}

void
items_read(const struct program_act *a, const char *word)
{
	add_path(a, word, false);
}

void
items_write(const struct program_act *a, const char *word)
{
	add_path(a, word, true);
}

/* Words within words: "@.env", "--file=.env", code of an interpreter. In code
 * only what has a slash or begins with a dot can be told from its own words. */
static void
read_word(const struct program_act *a, const char *word)
{
	static const char ends[] = " \t\r\n'\"`(),;<>|&=@{}[]";
	bool code = strpbrk(word, " \t\n'\"()") != NULL;
	char token[TOKEN_MAX];
	const char *s;
	size_t n;

	if (strpbrk(word, ends) == NULL) {
		items_read(a, word);
		return;
	}
	for (s = word + strspn(word, ends); *s != '\0'; s += strspn(s, ends)) {
		n = strcspn(s, ends);
		if (n < sizeof token) {
			memcpy(token, s, n);
			token[n] = '\0';
			if ((!code || strchr(token, '/') != NULL ||
				token[0] == '.') &&
			    path_is_secret(token))
				items_read(a, token);
		}
		s += n;
	}
}

/* The first operand of grep, sed and awk is a pattern. */
static bool
has_pattern(const struct program *p)
{
	return p != NULL && p->operands != NULL &&
	    (strcmp(p->operands, "r-1") == 0 ||
		strcmp(p->operands, "sed") == 0 ||
		strcmp(p->operands, "awk") == 0);
}

/* Of operand k of n: is it written? */
static bool
is_written(const struct program *p, size_t k, size_t n, bool inplace)
{
	const char *o = p != NULL && p->operands != NULL ? p->operands : "";
	unsigned use;

	if (strcmp(o, "to") == 0)
		return k + 1 == n && n > 1;
	if (strcmp(o, "w+") == 0)
		return true;
	if (strcmp(o, "db") == 0)
		return k == 0;
	use = program_use(o, k, n);
	if ((use & (USE_WRITE | USE_READ)) == USE_WRITE)
		return inplace || (use & USE_INPLACE) == 0;
	return (strcmp(o, "sed") == 0 || strcmp(o, "ii") == 0) && inplace;
}

/* Names that are looked at, made or spoken of, not their contents. */
static bool
is_of_names(const char *name)
{
	static const char *const list[] = { "echo", "printf", "ls", "stat",
		"test", "[", "[[", "cd", "pushd", "mkdir", "touch", "chmod",
		"chown", "chgrp", "which", "type", "basename", "dirname",
		"realpath", "readlink", "git", "find", "fd", "tree", "export",
		"alias", "rm", "rmdir", "unlink", "du", "df" };

	return is_in(name, list, nitems(list));
}

static void
operands(const struct program_act *a, const char *name)
{
	const struct program *p = program_find(name, NULL);
	bool names = is_of_names(name), inplace = false, script = false;
	size_t total = 0, k = 0;
	struct opts o;
	struct opt t;

	opts_begin(&o, p != NULL ? p->spec : "", a->w, a->n);
	while (opts_next(&o, &t)) {
		total += t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED;
		inplace |= t.kind == OPT_INPLACE;
		script |= t.kind == OPT_SCRIPT || t.letter == 'e';
	}
	opts_begin(&o, p != NULL ? p->spec : "", a->w, a->n);
	while (opts_next(&o, &t)) {
		if (t.kind == OPT_WRITE && t.has_value)
			items_write(a, t.value.text);
		if (t.kind != OPT_OPERAND && t.kind != OPT_COMPUTED) {
			if (!names && t.kind != OPT_SCRIPT)
				read_word(a, a->w[t.at].text);
			if (!names && t.has_value && t.kind != OPT_SCRIPT &&
			    t.value.text != a->w[t.at].text)
				read_word(a, t.value.text);
			continue;
		}
		if (k == 0 && has_pattern(p) && !script)
			;
		else if (!names && is_written(p, k, total, inplace))
			items_write(a, a->w[t.at].text);
		else if (!names)
			read_word(a, a->w[t.at].text);
		else if (path_is_probe(a->w[t.at].text))
			items_read(a, a->w[t.at].text);
		k++;
	}
}

/* --- deletion ------------------------------------------------------------- */

static void
delete_path(const struct program_act *a, const struct sh_word *w, bool tree)
{
	char *path = place_path(a->place, a->dirs[a->n_dirs - 1], w->text);
	unsigned weight = 1, c = CLASS_DELETE;
	const char *base = path_base(path);

	if (tree || (w->flags & SH_GLOB) != 0)
		weight = TREE;
	if (strcmp(path, ".") == 0 || strcmp(path, "/") == 0 ||
	    strcmp(path, "~") == 0 || strcmp(path, "$HOME") == 0 ||
	    strcmp(path, "*") == 0 || strcmp(path, a->place->root) == 0 ||
	    (strcmp(base, "*") == 0 && strchr(path, '/') == NULL))
		weight = WHOLE;
	if (path_is_test(a->place, path))
		c |= CLASS_TEST;
	if (c != CLASS_DELETE || !path_is_scratch(path))
		items_add(a->out, c, weight, path);
	free(path);
}

static void
delete_words(const struct program_act *a, size_t from)
{
	bool tree =
	    has_letter(a, 'r') || has_letter(a, 'R') || has(a, "--recursive");
	size_t i;

	for (i = from; i < a->n; i++)
		if (a->w[i].text[0] != '-')
			delete_path(a, &a->w[i], tree);
	if (a->fed)
		items_add(a->out, CLASS_DELETE, TREE, "what xargs is given");
}

/* find: by the names that it looks for. */
static void
find_deletes(const struct program_act *a)
{
	bool named = false, scratch = true;
	const char *from = ".";
	size_t i;

	for (i = 1; i + 1 < a->n; i++) {
		if (!text_starts(a->w[i].text, "-name") &&
		    !text_starts(a->w[i].text, "-iname") &&
		    !text_starts(a->w[i].text, "-path"))
			continue;
		named = true;
		scratch = scratch && path_is_scratch(a->w[i + 1].text);
	}
	if (a->n > 1 && a->w[1].text[0] != '-')
		from = a->w[1].text;
	if ((named && scratch) || path_is_scratch(from))
		return;
	items_add(a->out, CLASS_DELETE, named ? TREE : WHOLE, from);
}

static bool
find_runs_rm(const struct program_act *a)
{
	size_t i;

	for (i = 1; i + 1 < a->n; i++)
		if (text_starts(a->w[i].text, "-exec") &&
		    strcmp(rule_base(a->w[i + 1].text), "rm") == 0)
			return true;
	return false;
}

static void
deletions(const struct program_act *a, const char *name)
{
	static const char *const list[] = { "rm", "rmdir", "unlink", "shred" };

	if (is_in(name, list, nitems(list))) {
		/* find -exec rm {}: find has said it. */
		if (!has(a, "{}"))
			delete_words(a, 1);
	} else if (strcmp(name, "find") == 0 &&
	    (has(a, "-delete") || find_runs_rm(a))) {
		find_deletes(a);
	}
}

/* --- git ------------------------------------------------------------------ */

/* Its verb, behind the global options; a->n: none. */
static size_t
git_verb(const struct program_act *a)
{
	struct opts o;
	struct opt t;

	opts_begin(&o, program_globals("git"), a->w, a->n);
	while (opts_next(&o, &t))
		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			return t.at;
	return a->n;
}

static bool
drops_history(const struct program_act *a, const char *verb)
{
	static const char *const always[] = { "rebase", "filter-branch",
		"filter-repo", "replace", "update-ref" };

	if (is_in(verb, always, nitems(always)))
		return !has(a, "--abort") && !has(a, "--continue");
	return (strcmp(verb, "reset") == 0 && has(a, "--hard")) ||
	    (strcmp(verb, "commit") == 0 && has(a, "--amend")) ||
	    (strcmp(verb, "push") == 0 &&
		(has_letter(a, 'f') || has(a, "--force") ||
		    has(a, "--mirror") || has(a, "--delete"))) ||
	    (strcmp(verb, "reflog") == 0 && has(a, "expire")) ||
	    (strcmp(verb, "gc") == 0 && has(a, "--prune=now")) ||
	    (strcmp(verb, "branch") == 0 && has_letter(a, 'D')) ||
	    (strcmp(verb, "tag") == 0 && has_letter(a, 'd'));
}

static void
git(const struct program_act *a)
{
	static const char *const remote[] = { "push", "fetch", "pull", "clone",
		"ls-remote" };
	size_t at = git_verb(a);
	const char *verb;
	char what[64];

	if (at >= a->n)
		return;
	verb = a->w[at].text;
	(void)snprintf(what, sizeof what, "git %.40s", verb);
	if (is_in(verb, remote, nitems(remote)))
		items_add(a->out, CLASS_NETWORK, 1, what);
	if (drops_history(a, verb))
		items_add(a->out, CLASS_HISTORY, 1, what);
	if (strcmp(verb, "rm") == 0)
		delete_words(a, at + 1);
	if (strcmp(verb, "clean") == 0 && !has_letter(a, 'n') &&
	    (has_letter(a, 'f') || has(a, "--force")))
		items_add(a->out, CLASS_DELETE, TREE, what);
}

/* --- the network ---------------------------------------------------------- */

static void
add_url(const struct program_act *a, const char *url)
{
	char host[256];

	items_host(url, host, sizeof host);
	if (host[0] != '\0')
		items_add(a->out, CLASS_NETWORK, 1, host);
}

static void
network(const struct program_act *a, const char *name)
{
	static const char *const urls[] = { "curl", "wget", "http", "https",
		"aria2c", "lynx" };
	static const char *const hosts[] = { "nc", "ncat", "netcat", "telnet",
		"ssh", "sftp", "ftp", "socat", "dig", "nslookup", "host",
		"ping" };
	static const char *const copies[] = { "scp", "rsync" };
	bool url = is_in(name, urls, nitems(urls));
	size_t i;

	for (i = 1; i < a->n; i++) {
		const char *s = a->w[i].text, *at = strstr(s, "://");

		if (s[0] == '-')
			continue;
		if (at != NULL && (url || is_interpreter(name))) {
			while (at > s && at[-1] >= 'a' && at[-1] <= 'z')
				at--;
			if (!text_starts(at, "file:"))
				add_url(a, at);
		} else if (strstr(s, "/dev/tcp/") != NULL) {
			items_add(a->out, CLASS_NETWORK, 1, "/dev/tcp");
		} else if (is_in(name, copies, nitems(copies)) &&
		    strchr(s, ':') != NULL) {
			items_add(a->out, CLASS_NETWORK, 1, s);
		} else if ((url && strchr(s, '.') != NULL && s[0] != '@' &&
			       s[0] != '.' && s[0] != '/' &&
			       a->w[i - 1].text[0] != '-') ||
		    is_in(name, hosts, nitems(hosts))) {
			add_url(a, s);
		}
	}
}

/* --- and the rest --------------------------------------------------------- */

static void
others(const struct program_act *a, const char *name)
{
	static const char *const walls[] = { "nsenter", "unshare", "chroot",
		"pivot_root", "mount", "umount", "capsh", "setcap", "insmod",
		"modprobe", "kexec", "debugfs", "losetup", "setns" };
	static const char *const later[] = { "crontab", "at", "batch" };

	if (is_in(name, walls, nitems(walls)) && a->n > 1)
		items_add(a->out, CLASS_PROBE, 1, name);
	if (is_in(name, later, nitems(later)) && a->n > 1 && !has(a, "-l"))
		items_add(a->out, CLASS_LATER, 1, name);
	if (strcmp(name, "systemctl") == 0 && has(a, "enable"))
		items_add(a->out, CLASS_LATER, 1, name);
}

void
items_program(const struct program_act *a)
{
	const char *name = rule_base(a->w[0].text);

	if (strcmp(name, "git") == 0)
		git(a);
	else
		network(a, name);
	if (wrapper_find(name, a->w, a->n) == NULL || strcmp(name, "find") == 0)
		operands(a, name);
	deletions(a, name);
	others(a, name);
}
