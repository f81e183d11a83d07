/* judge_path.c - files that a command writes or reads; see judge.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* Where "/proc/ID/cwd" and "/proc/ID/root" at the beginning of path end, 0:
 * there are none. *kind: 'c', 'r', or 'f' of an open file. */
static size_t
proc_link(const char *path, char *kind, bool *self)
{
	static const char *const names[] = { "/cwd", "/root", "/fd/" };
	const char *s = path, *id;
	size_t i, n;

	if (!text_starts(s, "/proc/"))
		return 0;
	id = s + strlen("/proc/");
	n = strcspn(id, "/");
	*self = (n == 4 && strncmp(id, "self", n) == 0) ||
	    (n == 11 && strncmp(id, "thread-self", n) == 0);
	s = id + n;
	if (text_starts(s, "/task/")) {
		s += strlen("/task/");
		s += strcspn(s, "/");
	}
	for (i = 0; i < nitems(names); i++) {
		if (!text_starts(s, names[i]))
			continue;
		s += strlen(names[i]);
		if (i == 2)
			s += strcspn(s, "/");
		else if (*s != '\0' && *s != '/')
			continue;
		*kind = "crf"[i];
		return (size_t)(s - path);
	}
	return 0;
}

/* Longer than any such link; keeps the walk below linear. */
#define PROC_LINK_MAX 128

/* Component by component, since what follows such a link, ".." too, is counted
 * from where it leads. *vague: that is not known. */
static char *
through_proc(const char *path, const char *cwd, bool *vague)
{
	/* One in a directory of that kind leads nowhere. */
	const char *here = text_starts(cwd, "/proc/") ? "" : cwd;
	const char *into;
	const size_t n_here = strcmp(here, "/") == 0 ? 0 : strlen(here);
	char *at =
	    xmalloc(strlen(path) + n_here + strlen("/proc/self/net") + 2);
	char kind = '\0';
	bool self = true;
	size_t len = 0, n;

	*vague = false;
	for (path += strspn(path, "/"); *path != '\0';
	     path += strspn(path, "/")) {
		n = strcspn(path, "/");
		if (n == 2 && strncmp(path, "..", 2) == 0) {
			while (len > 0 && at[--len] != '/')
				;
		} else if (n != 1 || *path != '.') {
			at[len++] = '/';
			memcpy(at + len, path, n);
			len += n;
		}
		at[len] = '\0';
		path += n;
		if (len > PROC_LINK_MAX)
			continue;
		/* Links into /proc/self, which ".." is counted from. */
		if ((strcmp(at, "/dev/fd") == 0 ||
			strcmp(at, "/proc/net") == 0) &&
		    path[0] != '\0' && strchr(path + 1, '/') != NULL) {
			into =
			    at[1] == 'd' ? "/proc/self/fd" : "/proc/self/net";
			len = strlen(into);
			memcpy(at, into, len + 1);
		}
		if (len == 0 || proc_link(at, &kind, &self) != len)
			continue;
		if (kind == 'f') {
			*vague |= *path != '\0';
			continue;
		}
		*vague |= kind == 'c' && !self;
		len = kind == 'c' ? n_here : 0;
		memcpy(at, here, len);
		at[len] = '\0';
	}
	if (len == 0)
		memcpy(at, "/", sizeof "/");
	return at;
}

char *
judge_path(const char *text, bool tilde, const char *cwd,
    const struct judge_place *where)
{
	char *joined, *clean;
	bool vague;

	/* Another person's home is nowhere in particular. */
	if (tilde && text[1] != '/' && text[1] != '\0')
		joined = path_join("/", text);
	else if (tilde && where->home != NULL)
		joined = path_join(where->home, text + 1);
	else if (tilde)
		joined = path_join("/~", text + 1);
	else if (*text == '/')
		joined = xstrdup(text);
	else
		joined = path_join(cwd, text);
	clean = strstr(joined, "proc") != NULL || strstr(joined, "dev") != NULL
	    ? through_proc(joined, cwd, &vague)
	    : path_normal(joined);
	free(joined);
	return clean;
}

static bool
is_inside(
    const struct rules *r, const char *path, const struct judge_place *where)
{
	char *root;
	size_t i;
	bool in = path_is_below(path, where->workspace);

	for (i = 0; i < r->write_roots.n && !in; i++) {
		const char *s = r->write_roots.v[i];

		root = judge_path(s, *s == '~', where->workspace, where);
		in = path_is_below(path, root);
		free(root);
	}
	return in;
}

/* Which kinds of rules speak of it: Read covers grep too. */
bool
judge_speaks(const struct rule *x, enum rule_about about)
{
	return x->about == about ||
	    (about == RULE_GREP && x->about == RULE_READ);
}

enum ruling
judge_file(const struct rules *r, enum rule_about about, const char *path,
    const struct judge_place *where, bool tool, const char **rule,
    enum rule_layer *layer)
{
	bool in = about == RULE_EDIT ? is_inside(r, path, where)
				     : path_is_below(path, where->workspace);
	const struct rule_default *d = about != RULE_EDIT ? &r->read_out
	    : in                                          ? &r->write_in
							  : &r->write_out;
	enum ruling v;
	size_t i;

	for (v = RULING_DENY;; v--) {
		for (i = 0; i < r->n; i++) {
			const struct rule *x = &r->v[i];

			if (x->ruling != v || !judge_speaks(x, about) ||
			    !rule_covers_path(x, path, where))
				continue;
			*rule = x->text;
			*layer = x->layer;
			return v;
		}
		if (v == RULING_ALLOW)
			break;
	}
	if (d->set && !(about != RULE_EDIT && in)) {
		*rule = about != RULE_EDIT ? "read_outside_workspace"
		    : in                   ? "write_inside_workspace"
					   : "write_outside_workspace";
		*layer = d->layer;
		return d->ruling;
	}
	*layer = r->def.layer;
	/* Reading what is there is what a worker is for. */
	return tool && about == RULE_EDIT ? r->def.ruling : RULING_ALLOW;
}

/* Is it about names in any directory? */
static bool
is_anywhere(const struct rule *x)
{
	const char *p = x->pattern;

	return p != NULL && strcmp(p, "~") != 0 &&
	    (strchr(p, '/') == NULL || text_starts(p, "**/"));
}

/* Rules about what is in the directory path. any: those about names in any
 * directory, too. */
static enum ruling
judge_below(const struct rules *r, enum rule_about about, bool any,
    const char *path, const struct judge_place *where, const char **rule,
    enum rule_layer *layer)
{
	enum ruling v;
	size_t i;

	for (v = RULING_DENY; v != RULING_ALLOW; v--)
		for (i = 0; i < r->n; i++) {
			const struct rule *x = &r->v[i];

			if (x->ruling != v || !judge_speaks(x, about) ||
			    (!(any && is_anywhere(x)) &&
				!rule_lies_below(x, path, where)))
				continue;
			*rule = x->text;
			*layer = x->layer;
			return v;
		}
	return RULING_ALLOW;
}

static bool
is_device(const char *path)
{
	static const char *const names[] = { "/dev/null", "/dev/stdout",
		"/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero",
		"/dev/full" };
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (strcmp(path, names[i]) == 0)
			return true;
	return text_starts(path, "/dev/fd/");
}

/* Of one rule about it: each directory above it is compared, too. */
static size_t
path_cost(const char *path)
{
	size_t n = strlen(path);

	return 8 + n * n / 512;
}

static void
one_file(struct judge *j, enum rule_about about, unsigned how,
    const struct sh_word *w, const char *cwd, const char *src, size_t len)
{
	bool tilde = (w->flags & SH_TILDE) != 0 && w->text[0] == '~';
	char *path, why[500];
	enum rule_layer layer = LAYER_BUILTIN, l_below = LAYER_BUILTIN;
	const char *rule = NULL, *r_below = NULL, *inside = "";
	enum ruling v, below;
	bool tree = (how & (REACH_TREE | REACH_BELOW)) != 0, any;

	if (!judge_afford(j, 0, src, len))
		return;
	path = judge_path(w->text, tilde, cwd, j->where);
	if (!judge_afford(j, j->rules->n * path_cost(path), src, len)) {
		free(path);
		return;
	}
	v = judge_file(j->rules, about, path, j->where, false, &rule, &layer);
	if ((how & REACH_RULES) != 0 && rule != NULL &&
	    (text_starts(rule, "write_") || text_starts(rule, "read_o")))
		v = RULING_ALLOW;
	/* No more of them are in a directory that is elsewhere. */
	any = (how & REACH_ANY) != 0 &&
	    (path_is_below(path, j->where->workspace) ||
		path_is_below(j->where->workspace, path));
	any |= (how & REACH_WHOLE) != 0 &&
	    path_is_below(j->where->workspace, path);
	if (v != RULING_DENY && tree) {
		below = judge_below(
		    j->rules, about, any, path, j->where, &r_below, &l_below);
		if (below == RULING_DENY && (how & REACH_TREE) == 0)
			below = RULING_ASK;
		if (below > v) {
			v = below;
			rule = r_below;
			layer = l_below;
			inside = "what is in ";
		}
	}
	if (v == RULING_DENY && (how & REACH_MAYBE) != 0)
		v = RULING_ASK;
	if (v != RULING_ALLOW && !is_device(path)) {
		(void)snprintf(why, sizeof why, "it %s %s%.200s: %s by %s (%s)",
		    (how & REACH_RULES) != 0      ? (how & REACH_MAYBE) != 0
				 ? "may reach"
				 : about == RULE_READ ? "reads or reaches"
						      : "links to"
			: about == RULE_READ      ? "reads"
			: (how & REACH_TREE) != 0 ? "removes or replaces"
						  : "writes",
		    inside, path, v == RULING_ASK ? "asked for" : "denied",
		    rule, layer_str(layer));
		judge_part(j, src, len, v, rule, layer, why);
	}
	free(path);
}

/* The strictest that a path which is not known could meet. */
static void
some_file(struct judge *j, enum rule_about about, const struct sh_word *w,
    const char *src, size_t len)
{
	char why[400];

	if (j->only_known || j->posix)
		return;
	if (w->var != NULL)
		(void)snprintf(why, sizeof why,
		    "which file it %s depends on $%.100s, and rules about "
		    "paths are there",
		    about == RULE_EDIT ? "writes" : "reads", w->var);
	else
		(void)snprintf(why, sizeof why,
		    "which file it %s (%.100s) can't be told, and rules about "
		    "paths are there",
		    about == RULE_EDIT ? "writes" : "reads", w->text);
	judge_part(j, src, len, RULING_ASK, NULL, LAYER_BUILTIN, why);
}

/* Opened anew by such a name, an open file can be written that was opened for
 * reading, and the other way around. */
static bool
is_reopened(enum rule_about about, const char *path)
{
	const char *fd = strstr(path, "/fd/");

	if (strcmp(path, "/dev/stdin") == 0)
		return about == RULE_EDIT;
	if (strcmp(path, "/dev/stdout") == 0 ||
	    strcmp(path, "/dev/stderr") == 0)
		return about == RULE_READ;
	if (fd == NULL ||
	    (!text_starts(path, "/dev/") && !text_starts(path, "/proc/")))
		return false;
	fd += strlen("/fd/");
	return about == RULE_READ
	    ? strcmp(fd, "0") != 0
	    : strcmp(fd, "1") != 0 && strcmp(fd, "2") != 0;
}

/* By a directory of another process, or through an open file. */
static bool
is_vague(enum rule_about about, const char *text, const char *cwd)
{
	char *joined = *text == '/' ? xstrdup(text) : path_join(cwd, text);
	char *path;
	bool vague = false;

	if (strstr(joined, "proc") != NULL || strstr(joined, "dev") != NULL) {
		path = through_proc(joined, cwd, &vague);
		vague |= is_reopened(about, path);
		free(path);
	}
	free(joined);
	return vague;
}

/* "$HOME/x" is "~/x" and "$PWD/x" is "./x", as long as nothing has set them:
 * the word itself, or *plain. */
static const struct sh_word *
with_known(struct judge *j, const struct sh_word *w, struct sh_word *plain)
{
	const char *s = w->text;
	bool home, braced = text_starts(s, "${");

	if ((w->flags & (SH_COMPUTED | SH_GLOB)) != SH_COMPUTED ||
	    w->var == NULL || *s != '$')
		return w;
	home = strcmp(w->var, "HOME") == 0;
	if (home ? j->home_unknown || j->where->home == NULL ||
		    strpbrk(j->where->home, " \t\n*?[") != NULL
		 : j->pwd_unknown || strcmp(w->var, "PWD") != 0)
		return w;
	s += braced ? 2 : 1;
	if (!text_starts(s, w->var))
		return w;
	s += strlen(w->var);
	if (braced && *s++ != '}')
		return w;
	if ((*s != '\0' && *s != '/') || strpbrk(s, "$`") != NULL)
		return w;
	*plain = *w;
	plain->text = (char *)(uintptr_t)judge_keep(
	    j, xasprintf("%s%s", home ? "~" : ".", s));
	plain->len = strlen(plain->text);
	plain->flags &= ~(unsigned)SH_COMPUTED;
	plain->flags |= home ? SH_TILDE : 0;
	plain->var = NULL;
	return plain;
}

/* A name with wildcards that is none of those that rules are against. */
static bool
is_apart(struct judge *j, enum rule_about about, unsigned how,
    const struct sh_word *w, const char *src, size_t len)
{
	size_t i;

	if ((w->flags & (SH_COMPUTED | SH_GLOB)) != SH_GLOB ||
	    (j->home_unknown && (w->flags & SH_TILDE) != 0))
		return false;
	for (i = 0; i < j->dirs.n; i++)
		if (!judge_afford(
			j, j->rules->n * path_cost(w->text), src, len) ||
		    judge_may_meet(j, about, how, w, j->dirs.v[i]))
			return false;
	return true;
}

static void
file(struct judge *j, enum rule_about about, unsigned how,
    const struct sh_word *w, const char *src, size_t len)
{
	struct sh_word plain;
	size_t i;

	w = with_known(j, w, &plain);
	if (w->text == NULL || w->text[0] == '\0' ||
	    (w->text[0] == '-' && w->text[1] == '\0'))
		return;
	/* A process: its commands are parts of their own. */
	if (text_starts(w->text, ">(") || text_starts(w->text, "<("))
		return;
	if (!j->dir_unknown && is_apart(j, about, how, w, src, len))
		return;
	if ((w->flags & (SH_COMPUTED | SH_GLOB)) != 0 ||
	    (j->home_unknown && (w->flags & SH_TILDE) != 0) ||
	    (j->dir_unknown && w->text[0] != '/' && w->text[0] != '~')) {
		some_file(j, about, w, src, len);
		return;
	}
	for (i = 0; i < j->dirs.n; i++) {
		one_file(j, about, how, w, j->dirs.v[i], src, len);
		if (is_vague(about, w->text, j->dirs.v[i]))
			some_file(j, about, w, src, len);
		if (w->text[0] == '/')
			break;
	}
}

void
judge_reach(struct judge *j, enum rule_about about, unsigned how,
    const struct sh_word *target, const char *src, size_t len)
{
	if (about == RULE_EDIT ? j->rules->blocks_edits
			       : j->rules->blocks_reads)
		file(j, about, how, target, src, len);
}

void
judge_write(
    struct judge *j, const struct sh_word *target, const char *src, size_t len)
{
	judge_reach(j, RULE_EDIT, 0, target, src, len);
}

void
judge_remove(
    struct judge *j, const struct sh_word *target, const char *src, size_t len)
{
	judge_reach(j, RULE_EDIT, REACH_TREE | REACH_WHOLE, target, src, len);
}

void
judge_read(
    struct judge *j, const struct sh_word *target, const char *src, size_t len)
{
	judge_reach(j, RULE_READ, 0, target, src, len);
}

void
judge_cd(struct judge *j, const struct sh_word *dir, bool replace)
{
	struct strv dirs = { 0 };
	struct sh_word plain;
	bool tilde;
	char *s;
	size_t i;

	dir = with_known(j, dir, &plain);
	if ((dir->flags & (SH_COMPUTED | SH_GLOB)) != 0 ||
	    (j->home_unknown && (dir->flags & SH_TILDE) != 0) ||
	    strcmp(dir->text, "-") == 0 || j->dirs.n >= JUDGE_DIRS) {
		j->dir_unknown = true;
		return;
	}
	tilde = (dir->flags & SH_TILDE) != 0 && dir->text[0] == '~';
	for (i = 0; i < j->dirs.n; i++) {
		s = judge_path(dir->text, tilde, j->dirs.v[i], j->where);
		if (!replace && !strv_has(&dirs, j->dirs.v[i]))
			strv_add(&dirs, j->dirs.v[i]);
		if (!strv_has(&dirs, s))
			strv_add(&dirs, s);
		free(s);
	}
	strv_clear(&j->dirs);
	j->dirs = dirs;
	if (replace && (dir->text[0] == '/' || tilde))
		j->dir_unknown = false;
}
