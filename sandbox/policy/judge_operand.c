/* judge_operand.c - what comes of a program's operands, by its row; see
 * programs.h. */
#include "common/compat.h"

#include <strings.h>

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

void
view_script(struct view *v, const struct sh_word *text, size_t at, bool sed)
{
	struct script_files files = { 0 };
	unsigned does;
	struct sh_word w = { 0 };
	size_t i;

	if ((text->flags & SH_COMPUTED) != 0) {
		piece_found(v->p, FIND_POWER, at, "a computed script of %s",
		    v->prog->name);
		return;
	}
	does = sed ? script_sed(text->text, &files)
		   : script_awk(text->text, &files);
	if ((does & (SCRIPT_RUNS | SCRIPT_UNREAD)) != 0)
		piece_found(v->p, FIND_OPAQUE, at,
		    (does & SCRIPT_RUNS) != 0
			? "a script of %s that runs programs"
			: "a script of %s that can't be read",
		    v->prog->name);
	if (!sed && (does & SCRIPT_RUNS) != 0)
		(void)code_files(v->p, "awk", text->text);
	if ((does & (SCRIPT_WRITES | SCRIPT_UNREAD)) != 0)
		judge_some(v->p, RULE_EDIT, "a name in its script");
	if ((does & (SCRIPT_READS | SCRIPT_UNREAD)) != 0)
		judge_some(v->p, RULE_READ, "a name in its script");
	for (i = 0; i < files.writes.n; i++) {
		w.text = files.writes.v[i];
		w.len = strlen(w.text);
		judge_write(v->p->j, &w, v->p->src, v->p->src_len);
	}
	for (i = 0; i < files.reads.n; i++) {
		w.text = files.reads.v[i];
		w.len = strlen(w.text);
		judge_read(v->p->j, &w, v->p->src, v->p->src_len);
	}
	strv_clear(&files.writes);
	strv_clear(&files.reads);
}

/* python -m timeit CODE..., and modules that have a row of their own. */
void
view_module(struct view *v, const struct sh_word *name, size_t from)
{
	static const char *const readers[] = { "ast", "base64", "cProfile",
		"dis", "json", "pdb", "pickle", "profile", "quopri", "tokenize",
		"trace" };
	struct view in = { .p = v->p };
	struct sh_word *w = judge_words(v->p->j, v->n - from + 1);
	size_t i, k;

	for (k = 0; k < nitems(readers); k++)
		for (i = from; strcmp(name->text, readers[k]) == 0 && i < v->n;
		     i++)
			if (v->w[i].text[0] != '-')
				judge_read(v->p->j, &v->w[i], v->p->src,
				    v->p->src_len);
	for (i = from; strcmp(name->text, "timeit") == 0 && i < v->n; i++)
		view_code(v, &v->w[i], view_place(v, i));
	w[0] = *name;
	memcpy(w + 1, v->w + from, (v->n - from) * sizeof *w);
	in.w = w;
	in.n = v->n - from + 1;
	in.shift = from - 1;
	in.prog = program_find(name->text, in.n > 1 ? w[1].text : NULL);
	if (in.prog != NULL && !is_interpreter(name->text))
		view_judge(&in);
	else if (wrapper_find(name->text, w, in.n) != NULL)
		judge_argv(v->p, w, in.n, false);
	else if (v->p->j->rules->blocks_reads)
		piece_may_read(v->p, name->text, w, in.n, true);
}

/* Commands of sqlite3 that open other files. */
void
code_database(struct piece *p, const char *text)
{
	static const struct {
		const char *mark;
		enum rule_about about;
	} marks[] = { { ".open", RULE_EDIT }, { ".backup", RULE_EDIT },
		{ ".save", RULE_EDIT }, { ".clone", RULE_EDIT },
		{ ".log", RULE_EDIT }, { ".archive", RULE_EDIT },
		{ ".ar ", RULE_EDIT }, { "attach", RULE_EDIT },
		{ "vacuum", RULE_EDIT }, { "writefile", RULE_EDIT },
		{ ".output", RULE_EDIT }, { ".once", RULE_EDIT },
		{ ".excel", RULE_EDIT }, { ".restore", RULE_EDIT },
		{ ".import", RULE_READ }, { ".read", RULE_READ },
		{ "readfile", RULE_READ }, { "attach", RULE_READ } };
	bool said[2] = { false, false }, *done;
	size_t i;

	for (i = 0; i < nitems(marks); i++) {
		done = &said[marks[i].about == RULE_READ];
		if (*done ||
		    (judge_spend(p->j, 0) &&
			strcasestr(text, marks[i].mark) == NULL))
			continue;
		*done = true;
		judge_some(p, marks[i].about, "a name in its commands");
	}
}

/* curl: "@FILE"; of a form "name=@FILE;type=..." and "name=<FILE"; of
 * --data-urlencode "name@FILE". */
void
view_read_at(struct view *v, const struct opt *t)
{
	const struct sh_word *w = &t->value;
	const char *p = w->text + strcspn(w->text, "@=");
	struct sh_word file = *w;
	char *name;

	if (*p == '=' && (t->letter == 'F' || text_starts(t->name, "--form")))
		p++;
	else if (p > w->text && !text_starts(t->name, "--data-urlencode") &&
	    !text_starts(t->name, "--url-query"))
		return;
	if (*p != '@' && *p != '<')
		return;
	name = xstrndup(p + 1, strcspn(p + 1, ";,"));
	file.text = name;
	file.len = strlen(name);
	judge_read(v->p->j, &file, v->p->src, v->p->src_len);
	free(name);
}

/* Names that are words of the input, or of a file. */
static bool
is_list(const struct sh_word *w)
{
	return w->text[0] == '@' && w->text[1] != '\0';
}

static void
used(struct view *v, const struct sh_word *w, unsigned use)
{
	static const char *const trees[] = { "zip", "w-1", "wr" };
	const char *how = v->prog->operands;
	const unsigned any = transfer_may_be_dir(w->text) ? REACH_ANY : 0;
	unsigned below = (use & USE_BELOW) != 0 ? REACH_BELOW | any : 0;
	struct piece *p = v->p;
	size_t i;

	for (i = 0; v->recursive && i < nitems(trees); i++)
		if (strcmp(how, trees[i]) == 0)
			below = REACH_BELOW | (i == 0 ? REACH_ANY : 0);
	if ((use & USE_READ) != 0)
		judge_reach(p->j, RULE_READ,
		    (use & USE_INPLACE) != 0 ? 0 : below, w, p->src,
		    p->src_len);
	if (v->dry || ((use & USE_INPLACE) != 0 && !v->inplace))
		return;
	if ((use & USE_REMOVE) != 0)
		judge_remove(p->j, w, p->src, p->src_len);
	if ((use & USE_WRITE) != 0)
		judge_reach(p->j, RULE_EDIT, below, w, p->src, p->src_len);
}

/* An interpreter's script, its code, and their arguments. */
static void
of_code(struct view *v, const struct sh_word *w, size_t k, bool reads)
{
	const bool first = k == 0 && !v->coded;

	if (first)
		view_written(v, w);
	/* "-": the code comes through the input */
	v->coded |= first && strcmp(w->text, "-") == 0;
	/* What code does with its arguments is not seen: all of it. */
	if (v->coded && !v->module && !first && !reads && !v->writes) {
		judge_reach(v->p->j, RULE_READ, REACH_RULES | REACH_BELOW, w,
		    v->p->src, v->p->src_len);
		judge_reach(v->p->j, RULE_EDIT,
		    REACH_MAYBE | REACH_BELOW | REACH_RULES, w, v->p->src,
		    v->p->src_len);
		return;
	}
	if (v->coded && !v->module && !first && !reads)
		judge_reach(v->p->j, RULE_READ, REACH_RULES | REACH_BELOW, w,
		    v->p->src, v->p->src_len);
	if (v->inplace && !first)
		judge_write(v->p->j, w, v->p->src, v->p->src_len);
	else if (v->writes && v->coded)
		judge_reach(v->p->j, RULE_EDIT, REACH_MAYBE | REACH_BELOW, w,
		    v->p->src, v->p->src_len);
	/* Those of a script: it is what a program is. */
	if (!first && !v->coded && !reads)
		judge_reach(v->p->j, RULE_READ, REACH_RULES, w, v->p->src,
		    v->p->src_len);
	if (first || (v->coded && reads))
		judge_read(v->p->j, w, v->p->src, v->p->src_len);
}

/* The k-th operand, from 0, of n. */
static void
operand(struct view *v, const struct sh_word *w, size_t k, size_t n, size_t at)
{
	const char *how = v->prog->operands;
	struct sh_word of = *w;
	bool sed = strcmp(how, "sed") == 0;

	if (strcmp(how, "c") == 0) {
		if (k == 0)
			view_code(v, w, at);
		v->coded = true;
		if (k > 0)
			of_code(v, w, k, false);
	} else if (strcmp(how, "i") == 0 || strcmp(how, "ii") == 0) {
		of_code(v, w, k, how[1] == 'i');
	} else if (strcmp(how, "db") == 0 && k > 0) {
		code_database(v->p, w->text);
	} else if (strcmp(how, "db") == 0) {
		used(v, w, USE_READ | USE_WRITE);
	} else if ((sed || strcmp(how, "awk") == 0) && k == 0 && !v->scripted) {
		v->inplace |= !sed && strstr(w->text, "inplace") != NULL;
		view_script(v, w, at, sed);
	} else if (sed || strcmp(how, "awk") == 0) {
		used(v, w, v->inplace ? USE_WRITE : USE_READ);
	} else if (strcmp(how, "dd") == 0) {
		of.text +=
		    text_starts(w->text, "of=") || text_starts(w->text, "if=")
		    ? 3
		    : 0;
		if (of.text != w->text)
			used(v, &of, *w->text == 'o' ? USE_WRITE : USE_READ);
	} else if (strcmp(how, "url") == 0) {
		view_local(v, w);
		if (!v->dry && v->fetches)
			view_fetched(v, w);
	} else if (strcmp(how, "pack") == 0 && k > 0 && is_list(w)) {
		judge_some(v->p, RULE_READ, w->text);
	} else {
		if (strcmp(how, "names") == 0 && k == 0 && !v->coded)
			view_code(v, w, at);
		used(v, w, program_use(how, v->coded ? k + 1 : k, n));
		if (strcmp(how, "zip") == 0 && k > 0 && v->inplace)
			used(v, w, USE_WRITE);
		if (strcmp(how, "wr") == 0 && !v->dry)
			view_made(v, w);
	}
}

/* Files of a compiler and its like, whose names are what it is given. */
static void
put_into(struct view *v)
{
	if (v->into.text != NULL && !v->dry)
		judge_reach(v->p->j, RULE_EDIT, REACH_BELOW, &v->into,
		    v->p->src, v->p->src_len);
}

/* What no operand names. */
static void
others(struct view *v, const struct sh_word *w, size_t n)
{
	const char *how = v->prog->operands;
	const bool in = v->into.text != NULL;

	if (strcmp(how, "any") == 0 || (strcmp(how, "patch") == 0 && n == 0))
		judge_some(v->p, RULE_EDIT, "names in a patch, list or script");
	else if (strcmp(how, "names") == 0)
		judge_some(v->p, RULE_EDIT, "names that it makes");
	else if (strcmp(how, "unpack") == 0 && !in && n > 1 &&
	    text_ends(w[n - 1].text, "/"))
		judge_into(v->p, RULE_EDIT, &w[n - 1]);
	else if (strcmp(how, "unpack") == 0 || strcmp(how, "here") == 0 ||
	    (strcmp(how, "into") == 0 && n < 2) ||
	    (strcmp(how, "url") == 0 && v->fetches && v->unnamed))
		judge_into(v->p, RULE_EDIT, &v->into);
	else if (strcmp(how, "url") != 0)
		put_into(v);
}

void
view_operands(
    struct view *v, const struct sh_word *w, const size_t *at, size_t n)
{
	size_t i;

	if (v->prog->operands == NULL) {
		put_into(v);
		return;
	}
	v->fetches |= strcmp(v->prog->name, "curl") != 0;
	for (i = 0; i < n; i++)
		operand(v, &w[i], i, n, at[i]);
	view_search(v, w, n);
	if (!v->dry)
		others(v, w, n);
}
