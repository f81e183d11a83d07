/* rules.c - reading permissions; see rules.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/rules.h"

/* Names that people have in their rules, ours first. What is no tool here is
 * understood all the same: such a rule never matches. */
static const struct {
	const char *name, *tool;
	enum rule_about about;
} tools[] = {
	{ "run_command", "run_command", RULE_COMMAND },
	{ "Bash", "run_command", RULE_COMMAND },
	{ "Shell", "run_command", RULE_COMMAND },
	{ "read_file", "read_file", RULE_READ },
	{ "Read", "read_file", RULE_READ },
	{ "list_dir", "list_dir", RULE_READ },
	{ "LS", "list_dir", RULE_READ },
	{ "Glob", "list_dir", RULE_READ },
	{ "grep", "grep", RULE_GREP },
	{ "Grep", "grep", RULE_GREP },
	{ "edit_file", "edit_file", RULE_EDIT },
	{ "Edit", "edit_file", RULE_EDIT },
	{ "Write", "edit_file", RULE_EDIT },
	{ "MultiEdit", "edit_file", RULE_EDIT },
	{ "NotebookEdit", "edit_file", RULE_EDIT },
	{ "apply_patch", "apply_patch", RULE_EDIT },
	{ "fetch_url", "fetch_url", RULE_FETCH },
	{ "WebFetch", "fetch_url", RULE_FETCH },
	{ "try_edits", "try_edits", RULE_TOOL },
	{ "update_todos", "update_todos", RULE_TOOL },
	{ "TodoWrite", "update_todos", RULE_TOOL },
	{ "read_skill", "read_skill", RULE_TOOL },
	{ "Skill", "read_skill", RULE_TOOL },
	{ "spawn_subagent", "spawn_subagent", RULE_TOOL },
	{ "Task", "spawn_subagent", RULE_TOOL },
	{ "Agent", "spawn_subagent", RULE_TOOL },
	{ "finish", "finish", RULE_TOOL },
	{ "WebSearch", "WebSearch", RULE_TOOL },
	{ "BashOutput", "BashOutput", RULE_TOOL },
	{ "KillShell", "KillShell", RULE_TOOL },
};

const char *
ruling_str(enum ruling v)
{
	static const char *const names[] = { "allow", "ask", "deny" };

	return names[v];
}

const char *
layer_str(enum rule_layer layer)
{
	static const char *const names[] = { "built in", "user", "repository",
		"command line" };

	return names[layer];
}

const char *
rules_tool(const char *name, enum rule_about *ret_about)
{
	size_t i;

	for (i = 0; i < nitems(tools); i++) {
		if (strcmp(tools[i].name, name) != 0)
			continue;
		if (ret_about != NULL)
			*ret_about = tools[i].about;
		return tools[i].tool;
	}
	return NULL;
}

const char *
rules_tool_name(size_t i)
{
	return i < nitems(tools) ? tools[i].name : NULL;
}

struct rules *
rules_create(void)
{
	struct rules *r = xcalloc(1, sizeof *r);

	r->def.layer = LAYER_BUILTIN;
	return r;
}

static void
rule_clear(struct rule *r)
{
	free(r->text);
	free(r->tool);
	free(r->pattern);
	strv_clear(&r->words);
}

void
rules_free(struct rules *r)
{
	size_t i;

	if (r == NULL)
		return;
	for (i = 0; i < r->n; i++)
		rule_clear(&r->v[i]);
	for (i = 0; i < r->n_options; i++) {
		free(r->options[i].text);
		strv_clear(&r->options[i].words);
		strv_clear(&r->options[i].options);
	}
	free(r->v);
	free(r->options);
	strv_clear(&r->write_roots);
	strv_clear(&r->ignored);
	free(r);
}

/* --- one rule ------------------------------------------------------------ */

static void
split_words(const char *s, struct strv *ret)
{
	size_t n;

	for (;;) {
		s += strspn(s, " \t\n");
		if (*s == '\0')
			return;
		n = strcspn(s, " \t\n");
		strv_addn(ret, s, n);
		s += n;
	}
}

static int
command_pattern(struct rule *r, const char *what, struct err *e)
{
	char *text = xstrdup(r->pattern), *last;
	size_t len = strlen(text);

	/* ":*" is another way to write " *". */
	if (len > 2 && strcmp(text + len - 2, ":*") == 0) {
		text[len - 2] = ' ';
		text[len - 1] = '*';
	}
	split_words(text, &r->words);
	free(text);
	if (r->words.n == 0)
		return err_set(e, ERR_SYNTAX, "%s: the pattern is empty", what);
	if (strstr(r->pattern, ":*,") != NULL || r->words.v[0][0] == '^')
		return err_set(e, ERR_SYNTAX,
		    "%s: a rule is about one command, with * for anything",
		    what);
	if (r->words.n > RULE_WORDS_MAX)
		return err_set(e, ERR_SYNTAX, "%s: %u words at most", what,
		    RULE_WORDS_MAX);
	last = r->words.v[r->words.n - 1];
	r->more = text_ends(last, "*");
	if (strcmp(last, "*") == 0)
		free(r->words.v[--r->words.n]);
	r->words.v[r->words.n] = NULL;
	while (r->spelled < r->words.n &&
	    strchr(r->words.v[r->spelled], '*') == NULL)
		r->spelled++;
	return 0;
}

static int
check_pattern(struct rule *r, const char *what, struct err *e)
{
	const char *p = r->pattern;

	switch (r->about) {
	case RULE_COMMAND:
		return command_pattern(r, what, e);
	case RULE_FETCH:
		if (!text_starts(p, "domain:") || p[7] == '\0' ||
		    strpbrk(p + 7, " /:@") != NULL)
			return err_set(e, ERR_SYNTAX,
			    "%s: a host is written \"domain:HOST\"", what);
		return 0;
	case RULE_TOOL:
		return err_set(
		    e, ERR_SYNTAX, "%s: %s takes no pattern", what, r->tool);
	default:
		if (*p == '\0' || strpbrk(p, "\n") != NULL)
			return err_set(
			    e, ERR_SYNTAX, "%s: the path is empty", what);
		/* What would never match keeps nobody from anything. */
		if (*p == '!')
			return err_set(e, ERR_SYNTAX,
			    "%s: no path can be taken out with !: say what "
			    "the rule is about",
			    what);
		if (strchr(p, '[') != NULL &&
		    strchr(strchr(p, '['), ']') == NULL)
			return err_set(e, ERR_SYNTAX, "%s: a [ has no ]", what);
		return 0;
	}
}

/* what: "FILE: \"deny\": RULE", for messages. */
static int
read_rule(struct rule *r, const char *text, const char *what, struct err *e)
{
	size_t n = strcspn(text, "("), len = strlen(text);
	char *name;
	const char *tool;

	if (len == 0 || len > RULE_TEXT_MAX)
		return err_set(e, ERR_SYNTAX, "%s: a rule has 1 to %d bytes",
		    what, RULE_TEXT_MAX);
	if (n == 0 || (text[n] == '(' && text[len - 1] != ')') ||
	    (text[n] == '\0' && strpbrk(text, " )") != NULL))
		return err_set(e, ERR_SYNTAX,
		    "%s: a rule is \"tool\" or \"tool(pattern)\"", what);
	r->text = xstrdup(text);
	name = xstrndup(text, n);
	tool = rules_tool(name, &r->about);
	if (tool == NULL && text_starts(name, "mcp__")) {
		tool = name;
		r->about = RULE_TOOL;
	}
	if (tool == NULL) {
		free(name);
		return err_set(e, ERR_SYNTAX,
		    "%s: there is no such tool (Bash, Edit, Read, Grep, "
		    "WebFetch; upper and lower case count)",
		    what);
	}
	r->tool = xstrdup(tool);
	free(name);
	if (text[n] == '\0')
		return 0;
	r->pattern = xstrndup(text + n + 1, len - n - 2);
	/* "Bash(*)" is "Bash", in every tool. */
	if (strcmp(r->pattern, "*") == 0 || strcmp(r->pattern, "**") == 0 ||
	    strcmp(r->pattern, ":*") == 0 ||
	    strcmp(r->pattern, "domain:*") == 0) {
		free(r->pattern);
		r->pattern = NULL;
		return 0;
	}
	return check_pattern(r, what, e);
}

static void
note_blocking(struct rules *r, const struct rule *rule)
{
	if (rule->ruling == RULING_ALLOW)
		return;
	if (rule->about == RULE_COMMAND)
		r->blocks_commands = true;
	if (rule->about == RULE_EDIT)
		r->blocks_edits = true;
	if (rule->about == RULE_READ || rule->about == RULE_GREP)
		r->blocks_reads = true;
}

/* Whatever they are: nothing comes of them, so nothing in them is an error. */
static void
ignore_allowed(struct rules *r, const char *file, const json_t *permissions)
{
	json_t *list = json_object_get(permissions, "allow"), *v;
	char shown[200];
	const char *s;
	size_t i;

	if (list != NULL && json_array_size(list) == 0)
		strv_addf(&r->ignored, "%s: \"allow\"", file);
	json_array_foreach (list, i, v) {
		if (i == RULES_MAX)
			break;
		s = json_is_string(v) ? json_string_value(v) : "?";
		text_escape_to(shown, sizeof shown, s, strlen(s));
		strv_addf(&r->ignored, "%s: allow rule \"%s\"", file, shown);
	}
}

/* "\u0000" comes as U+FFFD out of JSON; no command has either, so a rule that
 * has one would never hold. */
static int
check_text(const char *s, const char *what, struct err *e)
{
	const unsigned char *p;

	for (p = (const unsigned char *)s; *p != '\0'; p++)
		if ((*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f ||
		    strncmp((const char *)p, "\xef\xbf\xbd", 3) == 0)
			return err_set(e, ERR_SYNTAX,
			    "%s holds a control character or U+FFFD, which no "
			    "command or path has",
			    what);
	return 0;
}

static int
read_list(struct rules *r, enum rule_layer layer, enum ruling ruling,
    const char *file, const json_t *permissions, struct err *e)
{
	struct strv list = { 0 };
	struct rule rule;
	char *what, shown[200];
	size_t i;
	int rc;

	rc = json_get_strv(permissions, ruling_str(ruling),
	    layer == LAYER_REPO ? RULES_REPO_MAX : RULES_MAX, &list, e);
	if (rc < 0)
		return err_prefix(e, "%s: permissions", file);
	for (i = 0; i < list.n && rc == 0; i++) {
		text_escape_to(
		    shown, sizeof shown, list.v[i], strlen(list.v[i]));
		rule = (struct rule){ .ruling = ruling, .layer = layer };
		what = xasprintf(
		    "%s: %s rule \"%s\"", file, ruling_str(ruling), shown);
		if ((rc = check_text(list.v[i], what, e)) == 0)
			rc = read_rule(&rule, list.v[i], what, e);
		free(what);
		if (rc < 0) {
			rule_clear(&rule);
			break;
		}
		r->v = xreallocarray(r->v, r->n + 1, sizeof *r->v);
		r->v[r->n++] = rule;
		note_blocking(r, &rule);
	}
	strv_clear(&list);
	return rc;
}

/* --- the other keys ------------------------------------------------------ */

static int
read_default(struct rules *r, enum rule_layer layer, const char *file,
    const json_t *permissions, const char *key, struct rule_default *d,
    struct err *e)
{
	const char *s = NULL;
	enum ruling v;
	int rc = json_get_str(permissions, key, false, &s, e);

	if (rc < 0)
		return err_prefix(e, "%s: permissions", file);
	if (s == NULL)
		return 0;
	for (v = RULING_ALLOW; strcmp(s, ruling_str(v)) != 0; v++)
		if (v == RULING_DENY)
			return err_set(e, ERR_SYNTAX,
			    "%s: permissions: \"%s\" is \"allow\", \"ask\" or "
			    "\"deny\"",
			    file, key);
	if (layer == LAYER_REPO && v <= d->ruling) {
		if (v < d->ruling || v == RULING_ALLOW)
			strv_addf(
			    &r->ignored, "%s: \"%s\": \"%s\"", file, key, s);
		return 0;
	}
	d->set = true;
	d->ruling = v;
	d->layer = layer;
	return 0;
}

static int
read_roots(struct rules *r, enum rule_layer layer, const char *file,
    const json_t *permissions, struct err *e)
{
	struct strv list = { 0 };
	int rc = json_get_strv(permissions, "write_roots", RULES_MAX, &list, e);

	if (rc < 0)
		return err_prefix(e, "%s: permissions", file);
	if (layer != LAYER_REPO)
		strv_extend(&r->write_roots, &list);
	else if (list.n > 0)
		strv_addf(&r->ignored, "%s: \"write_roots\"", file);
	for (size_t i = 0; i < list.n && rc == 0; i++)
		rc = check_text(list.v[i], file, e);
	strv_clear(&list);
	return rc;
}

static int
read_options(struct rules *r, enum rule_layer layer, const char *file,
    const json_t *permissions, struct err *e)
{
	json_t *j = json_object_get(permissions, "deny_option"), *v;
	struct rule_option o;
	const char *key;
	size_t i;
	int rc = 0;

	if (j == NULL)
		return 0;
	if (!json_is_object(j) || json_object_size(j) > RULES_MAX)
		return err_set(e, ERR_SYNTAX,
		    "%s: permissions: \"deny_option\" is an object of lists",
		    file);
	json_object_foreach (j, key, v) {
		o = (struct rule_option){ .layer = layer };
		rc = json_get_strv(j, key, RULES_MAX, &o.options, e);
		if (rc < 0)
			(void)err_prefix(
			    e, "%s: permissions: deny_option", file);
		split_words(key, &o.words);
		for (i = 0; rc == 0 && i < o.options.n; i++)
			if (o.options.v[i][0] != '-' ||
			    o.options.v[i][1] == '\0')
				rc = err_set(e, ERR_SYNTAX,
				    "%s: permissions: deny_option: \"%s\": "
				    "options begin with \"-\"",
				    file, key);
		if (rc == 0 && o.words.n == 0)
			rc = err_set(e, ERR_SYNTAX,
			    "%s: permissions: deny_option: no command", file);
		if (rc < 0) {
			strv_clear(&o.words);
			strv_clear(&o.options);
			return rc;
		}
		o.text = xstrdup(key);
		r->options = xreallocarray(
		    r->options, r->n_options + 1, sizeof *r->options);
		r->options[r->n_options++] = o;
		r->blocks_commands = true;
	}
	return 0;
}

/* Keys of other tools that can only widen. Any other unknown key may be a
 * misspelt limit. */
static bool
loosens(const char *key)
{
	return strcmp(key, "defaultMode") == 0 ||
	    strcmp(key, "additionalDirectories") == 0;
}

static int
unknown_key(const char *file, const char *key, const char *const *known,
    size_t n, struct err *e)
{
	struct buf b;
	char shown[100];
	size_t i;
	int rc;

	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < n; i++)
		(void)buf_printf(&b, "%s%s", i > 0 ? ", " : "", known[i]);
	text_escape_to(shown, sizeof shown, key, strlen(key));
	rc = err_set(e, ERR_SYNTAX,
	    "%s: permissions: unknown key \"%s\" (there are: %s)", file, shown,
	    buf_str(&b));
	buf_clear(&b);
	return rc;
}

int
rules_add(struct rules *r, enum rule_layer layer, const char *file,
    const json_t *permissions, struct err *e)
{
	static const char *const known[] = { "deny", "ask", "allow", "default",
		"write_inside_workspace", "write_outside_workspace",
		"read_outside_workspace", "write_roots", "deny_option" };
	struct {
		const char *key;
		struct rule_default *d;
	} defaults[] = {
		{ "default", &r->def },
		{ "write_inside_workspace", &r->write_in },
		{ "write_outside_workspace", &r->write_out },
		{ "read_outside_workspace", &r->read_out },
	};
	const char *key;
	json_t *v;
	size_t i;
	int rc;

	if (!json_is_object(permissions))
		return err_set(e, ERR_SYNTAX,
		    "%s: \"permissions\" is not an object", file);
	json_object_foreach ((json_t *)(uintptr_t)permissions, key, v) {
		for (i = 0; i < nitems(known); i++)
			if (strcmp(key, known[i]) == 0)
				break;
		if (i == nitems(known) && layer == LAYER_REPO && loosens(key)) {
			strv_addf(&r->ignored, "%s: \"%s\"", file, key);
			continue;
		}
		if (i == nitems(known))
			return unknown_key(file, key, known, nitems(known), e);
		if (json_is_null(v))
			return err_set(e, ERR_SYNTAX,
			    "%s: permissions: \"%s\" is null: give it a value, "
			    "or leave it out",
			    file, key);
	}
	if (layer == LAYER_REPO)
		ignore_allowed(r, file, permissions);
	for (i = 0; i < 3; i++) {
		if (layer == LAYER_REPO && RULING_DENY - i == RULING_ALLOW)
			continue;
		rc = read_list(r, layer, (enum ruling)(RULING_DENY - i), file,
		    permissions, e);
		if (rc < 0)
			return rc;
	}
	for (i = 0; i < nitems(defaults); i++) {
		rc = read_default(r, layer, file, permissions, defaults[i].key,
		    defaults[i].d, e);
		if (rc < 0)
			return rc;
	}
	if ((rc = read_roots(r, layer, file, permissions, e)) < 0 ||
	    (rc = read_options(r, layer, file, permissions, e)) < 0)
		return rc;
	if (r->write_in.ruling != RULING_ALLOW ||
	    r->write_out.ruling != RULING_ALLOW)
		r->blocks_edits = true;
	if (r->read_out.ruling != RULING_ALLOW)
		r->blocks_reads = true;
	return 0;
}
