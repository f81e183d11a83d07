/* judge_made.c - files that are not among a program's operands: what it puts
 * into a directory, names by itself, or says by options that many programs
 * share; see judge.h. Sources: the manual pages. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

void
judge_some(struct piece *p, enum rule_about about, const char *what)
{
	struct sh_word w = { .flags = SH_COMPUTED };

	w.text = (char *)(uintptr_t)what;
	w.len = strlen(what);
	judge_reach(p->j, about, 0, &w, p->src, p->src_len);
}

void
judge_into(struct piece *p, enum rule_about about, const struct sh_word *dir)
{
	static const struct sh_word here = { .text = (char *)(uintptr_t) ".",
		.len = 1 };

	judge_reach(p->j, about, REACH_BELOW | REACH_ANY,
	    dir != NULL && dir->text != NULL ? dir : &here, p->src, p->src_len);
}

/* The first n bytes of a name, in the directory of the view if there is one. */
static void
named(struct view *v, const struct sh_word *of, const char *name, size_t n)
{
	struct sh_word w = *of;
	char *s = v->into.text != NULL
	    ? xasprintf("%s/%.*s", v->into.text, (int)n, name)
	    : xstrndup(name, n);

	w.flags |= v->into.flags;
	w.text = (char *)(uintptr_t)judge_keep(v->p->j, s);
	w.len = strlen(w.text);
	judge_write(v->p->j, &w, v->p->src, v->p->src_len);
}

/* --- what is fetched ------------------------------------------------------ */

void
view_fetch_option(struct view *v, const struct opt *t)
{
	static const char *const elsewhere[] = { "--rec", "--mir", "--page",
		"--inp", "--con", "--tru", "--remote-h" };
	const char *word = v->w[t->at].text;
	const bool curl = strcmp(v->prog->name, "curl") == 0;
	size_t i;

	v->fetches |=
	    curl && (t->letter == 'O' || text_starts(word, "--remote-name"));
	v->unnamed |=
	    t->letter != '\0' && strchr(curl ? "J" : "rmpi", t->letter) != NULL;
	for (i = 0; i < nitems(elsewhere); i++)
		v->unnamed |= text_starts(word, elsewhere[i]);
	/* One file for all. */
	v->dry |= !curl && t->kind == OPT_WRITE &&
	    (t->letter == 'O' || text_starts(word, "--output-d"));
}

/* "file:///f" */
void
view_local(struct view *v, const struct sh_word *url)
{
	struct sh_word file = *url;

	if (!text_starts(url->text, "file://"))
		return;
	file.text += strlen("file://");
	file.text += text_starts(file.text, "localhost/") ? 9 : 0;
	file.len = strlen(file.text);
	judge_read(v->p->j, &file, v->p->src, v->p->src_len);
}

/* "f" of "http://host/dir/f?x". */
void
view_fetched(struct view *v, const struct sh_word *url)
{
	const char *s = strstr(url->text, "://"), *slash;
	size_t n;

	s = s != NULL ? s + 3 : url->text;
	n = strcspn(s, "?#");
	slash = memrchr(s, '/', n);
	if (slash == NULL || slash + 1 == s + n) {
		named(v, url, "index.html", strlen("index.html"));
		return;
	}
	named(v, url, slash + 1, (size_t)(s + n - slash) - 1);
}

/* --- what is packed and unpacked in its place ----------------------------- */

void
view_made(struct view *v, const struct sh_word *w)
{
	static const struct {
		const char *packed, *plain;
	} ends[] = { { ".gz", "" }, { ".bz2", "" }, { ".xz", "" },
		{ ".zst", "" }, { ".lz4", "" }, { ".lzma", "" }, { ".Z", "" },
		{ ".z", "" }, { ".br", "" }, { ".lz", "" }, { ".lrz", "" },
		{ ".lzo", "" }, { ".tgz", ".tar" }, { ".txz", ".tar" },
		{ ".tbz2", ".tar" } };
	size_t i, n;
	char *s;

	for (i = 0; i < nitems(ends); i++) {
		n = strlen(ends[i].packed);
		if (w->len <= n || !text_ends(w->text, ends[i].packed))
			continue;
		s = xasprintf(
		    "%.*s%s", (int)(w->len - n), w->text, ends[i].plain);
		named(v, w, s, strlen(s));
		free(s);
		return;
	}
}

/* --- files of package managers -------------------------------------------- */

static const struct {
	const char *name, *verbs, *seconds, *files; /* seconds: "": any word */
} managed[] = {
	{ "npm", "install i add in uninstall un remove rm update up", "",
	    "package.json package-lock.json" },
	{ "npm", "install i ci add", NULL, "node_modules" },
	{ "npm", "version init dedupe", NULL,
	    "package.json package-lock.json" },
	{ "npm", "pkg", "set delete fix", "package.json" },
	{ "npm", "audit", "fix", "package.json package-lock.json" },
	{ "pnpm", "install i add remove rm update up", "",
	    "package.json pnpm-lock.yaml" },
	{ "yarn", "add remove upgrade up", NULL, "package.json yarn.lock" },
	{ "bun", "add remove update", NULL, "package.json bun.lock bun.lockb" },
	{ "cargo", "add remove rm init", NULL, "Cargo.toml Cargo.lock" },
	{ "cargo", "update generate-lockfile", NULL, "Cargo.lock" },
	{ "go", "get", NULL, "go.mod go.sum" },
	{ "go", "mod", "tidy edit init", "go.mod go.sum" },
	{ "go", "work", "use edit init sync", "go.work" },
	{ "poetry", "add remove lock update init version", NULL,
	    "pyproject.toml poetry.lock" },
	{ "uv", "add remove lock sync init", NULL, "pyproject.toml uv.lock" },
	{ "pipenv", "install uninstall lock update", "",
	    "Pipfile Pipfile.lock" },
	{ "bundle", "add remove update lock", NULL, "Gemfile Gemfile.lock" },
	{ "composer", "require remove update", NULL,
	    "composer.json composer.lock" },
};

static bool
is_word_of(const char *list, const char *word)
{
	size_t n, len = strlen(word);

	for (; *list != '\0'; list += n + strspn(list + n, " ")) {
		n = strcspn(list, " ");
		if (n == len && strncmp(list, word, n) == 0)
			return true;
	}
	return false;
}

static void
managed_files(struct piece *p, const char *files)
{
	struct sh_word w = { 0 };
	size_t n;

	for (; *files != '\0'; files += n + strspn(files + n, " ")) {
		n = strcspn(files, " ");
		w.text =
		    (char *)(uintptr_t)judge_keep(p->j, xstrndup(files, n));
		w.len = n;
		judge_reach(
		    p->j, RULE_EDIT, REACH_MAYBE, &w, p->src, p->src_len);
	}
}

static void
manager(struct piece *p, const char *name, const struct sh_word *w, size_t n)
{
	size_t i, k;

	for (i = 0; i < nitems(managed); i++) {
		if (strcmp(managed[i].name, name) != 0 || n < 2 ||
		    !is_word_of(managed[i].verbs, w[1].text))
			continue;
		for (k = 2; k < n && w[k].text[0] == '-'; k++)
			;
		if (managed[i].seconds == NULL ||
		    (k < n &&
			(managed[i].seconds[0] == '\0' ||
			    is_word_of(managed[i].seconds, w[k].text))))
			managed_files(p, managed[i].files);
	}
}

/* --- options that are not in a row ---------------------------------------- */

/* "-Wl,-Map,FILE", "-Wl,-Map=FILE" */
static void
handed_on(struct piece *p, const struct sh_word *w)
{
	static const char *const outputs[] = { "-Map", "-o", "-MD", "-MMD",
		"-MF", "--dependency-file", "--out-implib" };
	struct sh_word file = *w;
	const char *s = w->text + strcspn(w->text, ",");
	size_t i, n, len;

	while (*s == ',') {
		n = strcspn(++s, ",");
		for (i = 0; i < nitems(outputs); i++) {
			len = strlen(outputs[i]);
			if (n < len || strncmp(s, outputs[i], len) != 0 ||
			    (n > len && s[len] != '=') ||
			    (n == len && s[n] != ','))
				continue;
			s += len + 1;
			n = strcspn(s, ",");
			file.text =
			    (char *)(uintptr_t)judge_keep(p->j, xstrndup(s, n));
			file.len = n;
			judge_write(p->j, &file, p->src, p->src_len);
		}
		s += strcspn(s, ",");
	}
}

/* Of a program that is not known: what its options are called tells that it
 * may write. Whether it does is asked about. */
static bool
is_output(const char *option, size_t len)
{
	static const char *const names[] = { "o", "out", "outfile", "outdir",
		"output", "dest", "destination", "target", "logfile", "save",
		"report" };
	static const char *const parts[] = { "output-", "out-", "outFile",
		"outDir", "log-", "report-", "dest-", "target-", "save-" };
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if (strlen(names[i]) == len &&
		    strncmp(option, names[i], len) == 0)
			return true;
	for (i = 0; i < nitems(parts); i++)
		if (len >= strlen(parts[i]) &&
		    strncmp(option, parts[i], strlen(parts[i])) == 0)
			return true;
	return len > 4 && strncmp(option + len - 4, "_out", 4) == 0;
}

static void
may_write(struct piece *p, const struct sh_word *w)
{
	if ((w->flags & (SH_COMPUTED | SH_GLOB)) == 0)
		judge_reach(p->j, RULE_EDIT, REACH_MAYBE | REACH_BELOW, w,
		    p->src, p->src_len);
}

static void
unknown(struct piece *p, const struct sh_word *w, size_t n)
{
	static const char *const changes[] = { "--in-place", "--inplace",
		"--write", "--fix", "--overwrite", "--autocorrect" };
	bool inplace = false;
	struct sh_word value;
	size_t i, k, len;

	for (i = 1; i < n; i++) {
		const char *s = w[i].text;

		for (k = 0; k < nitems(changes); k++)
			inplace |= strcmp(s, changes[k]) == 0;
		if (s[0] != '-')
			continue;
		s += strspn(s, "-");
		len = strcspn(s, "=");
		if (!is_output(s, len))
			continue;
		if (s[len] == '=') {
			value = w[i];
			value.text = (char *)(uintptr_t)(s + len + 1);
			value.len = strlen(value.text);
			may_write(p, &value);
		} else if (i + 1 < n && w[i + 1].text[0] != '-') {
			may_write(p, &w[i + 1]);
		}
	}
	for (i = 1; inplace && i < n; i++)
		if (w[i].text[0] != '-')
			may_write(p, &w[i]);
}

void
piece_unlisted(
    struct piece *p, const char *name, const struct sh_word *w, size_t n)
{
	const struct program *prog;
	size_t i;

	manager(p, name, w, n);
	piece_builds(p, name, w, n);
	for (i = 1; i < n; i++)
		if (text_starts(w[i].text, "-Wl,") ||
		    text_starts(w[i].text, "-Wp,") ||
		    text_starts(w[i].text, "-Wa,"))
			handed_on(p, &w[i]);
	prog = program_find(name, n > 1 ? w[1].text : NULL);
	if (prog == NULL && p->j->rules->blocks_edits)
		unknown(p, w, n);
}
