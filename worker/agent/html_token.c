/* html_token.c - tags and text of a page, of html_priv.h. */
#include "common/compat.h"

#include "worker/agent/html_priv.h"

static const char *const attr_names[ATTR_N] = {
	[ATTR_ALT] = "alt",
	[ATTR_ARIA_HIDDEN] = "aria-hidden",
	[ATTR_CLASS] = "class",
	[ATTR_HIDDEN] = "hidden",
	[ATTR_HREF] = "href",
	[ATTR_OPEN] = "open",
	[ATTR_ROLE] = "role",
	[ATTR_START] = "start",
	[ATTR_STYLE] = "style",
};

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t
left(const struct tokens *t)
{
	return (size_t)(t->end - t->p);
}

static bool
at(const struct tokens *t, const char *s)
{
	size_t n = strlen(s);

	return left(t) >= n && strncasecmp(t->p, s, n) == 0;
}

/* To behind the next c, or to the end. */
static void
pass(struct tokens *t, char c)
{
	const char *q = memchr(t->p, c, left(t));

	t->p = q != NULL ? q + 1 : t->end;
}

static void
pass_until(struct tokens *t, const char *s)
{
	const char *q = memmem(t->p, left(t), s, strlen(s));

	t->p = q != NULL ? q + strlen(s) : t->end;
}

/* --- comments and their like ---------------------------------------------- */

/* Behind "<!--": to "-->" or "--!>"; "<!-->" and "<!--->" are whole. */
static void
pass_comment(struct tokens *t)
{
	if (at(t, ">") || at(t, "->")) {
		pass(t, '>');
		return;
	}
	while (t->p < t->end) {
		const char *q = memmem(t->p, left(t), "--", 2);

		if (q == NULL)
			break;
		t->p = q + 2;
		if (at(t, ">") || at(t, "!>")) {
			pass(t, '>');
			return;
		}
		t->p = q + 1;
	}
	t->p = t->end;
}

/* At "<!" or "<?". */
static void
pass_declaration(struct tokens *t)
{
	if (at(t, "<!--")) {
		t->p += 4;
		pass_comment(t);
	} else if (t->foreign && at(t, "<![CDATA[")) {
		pass_until(t, "]]>");
	} else {
		pass(t, '>');
	}
}

/* --- tags ----------------------------------------------------------------- */

static struct slice
attr_value(struct tokens *t)
{
	struct slice v = { NULL, 0 };
	char quote;

	while (t->p < t->end && is_space(*t->p))
		t->p++;
	if (t->p == t->end)
		return v;
	v.p = t->p;
	if (*t->p == '"' || *t->p == '\'') {
		quote = *t->p;
		v.p = ++t->p;
		pass(t, quote);
		v.n = (size_t)(t->p - v.p);
		if (v.n > 0 && v.p[v.n - 1] == quote)
			v.n--;
		return v;
	}
	while (t->p < t->end && !is_space(*t->p) && *t->p != '>')
		t->p++;
	v.n = (size_t)(t->p - v.p);
	return v;
}

static void
one_attr(struct tokens *t, struct token *ret)
{
	struct slice name = { t->p, 0 }, value;
	size_t i;

	/* A name may begin with '='. */
	do
		t->p++;
	while (t->p < t->end && !is_space(*t->p) && *t->p != '=' &&
	    *t->p != '>' && *t->p != '/');
	name.n = (size_t)(t->p - name.p);
	value = (struct slice){ name.p + name.n, 0 };
	while (t->p < t->end && is_space(*t->p))
		t->p++;
	if (t->p < t->end && *t->p == '=') {
		t->p++;
		value = attr_value(t);
	}
	for (i = 0; i < ATTR_N; i++)
		if (ret->attr[i].p == NULL && strlen(attr_names[i]) == name.n &&
		    strncasecmp(attr_names[i], name.p, name.n) == 0)
			ret->attr[i] = value;
}

/* At the name. False: the page ends within the tag, which then is none. */
static bool
read_tag(struct tokens *t, struct token *ret)
{
	ret->name.p = t->p;
	while (
	    t->p < t->end && !is_space(*t->p) && *t->p != '>' && *t->p != '/')
		t->p++;
	ret->name.n = (size_t)(t->p - ret->name.p);
	ret->tag = tag_find(ret->name.p, ret->name.n);
	while (t->p < t->end) {
		if (*t->p == '>') {
			t->p++;
			return true;
		}
		ret->self_closing = at(t, "/>");
		if (is_space(*t->p) || *t->p == '/')
			t->p++;
		else
			one_attr(t, ret);
	}
	return false;
}

/* True: *ret is a token; else something was passed over. */
static bool
markup(struct tokens *t, struct token *ret)
{
	if (t->p[1] == '!' || t->p[1] == '?') {
		pass_declaration(t);
		return false;
	}
	if (is_letter(t->p[1])) {
		ret->kind = TOKEN_OPEN;
		t->p++;
		return read_tag(t, ret);
	}
	t->p += 2;
	if (t->p < t->end && is_letter(*t->p)) {
		ret->kind = TOKEN_CLOSE;
		return read_tag(t, ret);
	}
	pass(t, '>'); /* "</>", or a bogus comment */
	return false;
}

static bool
begins_markup(const char *p, const char *end)
{
	return p + 1 < end &&
	    (is_letter(p[1]) || p[1] == '/' || p[1] == '!' || p[1] == '?');
}

void
token_next(struct tokens *t, struct token *ret)
{
	const char *q;

	while (t->p < t->end) {
		*ret = (struct token){ .kind = TOKEN_TEXT };
		if (*t->p == '<' && begins_markup(t->p, t->end)) {
			if (markup(t, ret))
				return;
			continue;
		}
		q = memchr(t->p + 1, '<', left(t) - 1);
		if (q == NULL)
			q = t->end;
		ret->text = (struct slice){ t->p, (size_t)(q - t->p) };
		t->p = q;
		return;
	}
	*ret = (struct token){ .kind = TOKEN_END };
}

/* --- raw text --------------------------------------------------------------
 */

/* Is p at "<name" or "</name" and an end of the name? */
static bool
at_name(const struct tokens *t, const char *before, const char *name)
{
	size_t b = strlen(before), n = strlen(name);

	if (left(t) <= b + n || strncasecmp(t->p, before, b) != 0 ||
	    strncasecmp(t->p + b, name, n) != 0)
		return false;
	return is_space(t->p[b + n]) || t->p[b + n] == '>' ||
	    t->p[b + n] == '/';
}

/* A script within a comment within a script has an end tag of its own. */
static void
pass_script(struct tokens *t)
{
	bool comment = false, inner = false;

	for (; t->p < t->end; t->p++) {
		if (*t->p == '<') {
			if (at(t, "<!--")) {
				comment = true;
				t->p++; /* "<!-->" ends it at once */
			} else if (at_name(t, "</", "script")) {
				if (!inner)
					return;
				inner = false;
			} else if (comment && at_name(t, "<", "script")) {
				inner = true;
			}
		} else if (comment && at(t, "-->")) {
			comment = inner = false;
		}
	}
}

static void
pass_raw(struct tokens *t, const char *name)
{
	const char *q;

	while (t->p < t->end) {
		q = memchr(t->p, '<', left(t));
		t->p = q != NULL ? q : t->end;
		if (at_name(t, "</", name))
			return;
		if (t->p < t->end)
			t->p++;
	}
}

struct slice
token_raw(struct tokens *t, const struct tag *tag)
{
	struct slice ret = { t->p, 0 };
	struct token end;

	if (strcmp(tag->name, "script") == 0)
		pass_script(t);
	else if (strcmp(tag->name, "plaintext") == 0)
		t->p = t->end;
	else
		pass_raw(t, tag->name);
	ret.n = (size_t)(t->p - ret.p);
	if (t->p < t->end)
		token_next(t, &end);
	return ret;
}
