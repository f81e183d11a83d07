/* html_text.c - text, code and what has no content, of html_priv.h. */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/html_priv.h"
#include "worker/agent/url.h"
#include "worker/agent/webtext.h"

#define TITLE_MAX 300
#define LANGUAGE_MAX 24
#define LANGUAGE_ABOVE 3 /* elements around pre that may name it */

/* --- text ------------------------------------------------------------------
 */

static bool
is_space(uint32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xa0 ||
	    c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
	    c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static void
code_space(struct page *p)
{
	if (p->text.len > 0)
		p->space = true;
	else
		out_space(p->out);
}

static void
pre_char(struct page *p, uint32_t c)
{
	bool first = p->skip_newline;

	p->skip_newline = false;
	if (c == '\r' || (first && c == '\n'))
		return;
	if (c != '\t' && c != '\n' && is_space(c))
		c = ' ';
	if (!webtext_invisible(c))
		webtext_put(&p->text, c);
}

static void
plain_char(struct page *p, uint32_t c, const char *s, size_t n)
{
	char one[4];

	if (is_space(c)) {
		if (p->code > 0)
			code_space(p);
		else
			out_space(p->out);
		return;
	}
	if (webtext_invisible(c))
		return;
	if (p->code == 0 && (unsigned char)*s < 0x80 && n == 1) {
		one[0] = (char)c;
		out_text(p->out, one, 1);
		return;
	}
	if (p->space)
		(void)buf_addc(&p->text, ' ');
	p->space = false;
	webtext_put(&p->text, c);
	if (p->code == 0) {
		out_text(p->out, p->text.data, p->text.len);
		buf_reset(&p->text);
	}
}

void
act_text(struct page *p, const struct slice *raw, bool references)
{
	const char *s = raw->p, *end = s + raw->n;
	uint32_t c;
	size_t n;

	if (p->hidden > 0)
		return;
	for (; s < end; s += n) {
		c = (unsigned char)*s;
		n = 1;
		if (c >= 0x80 || (c == '&' && references))
			n = entity_next(s, (size_t)(end - s), false, &c);
		if (p->pre > 0)
			pre_char(p, c);
		else
			plain_char(p, c, s, n);
	}
}

void
act_title(struct page *p, const struct slice *raw)
{
	struct buf b;

	if (p->top.text.len > 0 || p->out != &p->top || p->hidden > 0)
		return;
	buf_init(&b, BUF_NOMAX);
	entity_text(&b, raw, TITLE_MAX);
	if (b.len > 0) {
		out_text(p->out, "Title: ", strlen("Title: "));
		out_text(p->out, b.data, b.len);
		out_break(p->out, 2, false);
	}
	buf_clear(&b);
}

static void
pre_line(struct page *p)
{
	if (p->text.len > 0 && p->text.data[p->text.len - 1] != '\n')
		(void)buf_addc(&p->text, '\n');
}

void
act_block(struct page *p)
{
	if (p->pre > 0)
		pre_line(p);
	else if (p->code > 0)
		code_space(p);
	else if (p->link > 0 || p->heading > 0)
		out_space(p->out);
	else
		out_break(p->out, 2, false);
}

/* --- elements without content ----------------------------------------------
 */

char *
act_url(const struct page *p, const struct slice *raw)
{
	const char *s = raw->p, *end;
	char *ret = NULL;
	struct buf b;
	uint32_t c;
	size_t n;

	if (s == NULL)
		return NULL;
	end = s + raw->n;
	buf_init(&b, BUF_NOMAX);
	for (; s < end && b.len <= URL_MAX; s += n) {
		n = entity_next(s, (size_t)(end - s), true, &c);
		webtext_put(&b, c);
	}
	s = buf_str(&b);
	if (s[strspn(s, " \t\r\n\f")] != '#')
		ret = url_resolve(p->base, s, b.len);
	buf_clear(&b);
	return ret;
}

static void
image(struct page *p, const struct slice *alt)
{
	struct buf b;

	if (alt->p == NULL || p->pre > 0 || p->code > 0)
		return;
	buf_init(&b, BUF_NOMAX);
	entity_text(&b, alt, TITLE_MAX);
	if (b.len > 0) {
		out_text(p->out, "[image: ", strlen("[image: "));
		out_text(p->out, b.data, b.len);
		out_text(p->out, "]", 1);
	}
	buf_clear(&b);
}

static void
line_break(struct page *p)
{
	if (p->pre > 0)
		(void)buf_addc(&p->text, '\n');
	else if (p->code > 0 || p->link > 0 || p->heading > 0)
		act_block(p);
	else
		out_break(p->out, p->out->breaks > 0 ? 2 : 1, false);
}

void
act_void(struct page *p, const struct token *t)
{
	char *url;

	switch (t->tag->act) {
	case ACT_BREAK:
		line_break(p);
		break;
	case ACT_RULE:
		act_block(p);
		if (p->pre == 0 && p->code == 0 && p->link == 0 &&
		    p->heading == 0) {
			out_text(p->out, "---", 3);
			act_block(p);
		}
		break;
	case ACT_IMAGE:
		image(p, &t->attr[ATTR_ALT]);
		break;
	case ACT_BASE:
		if (p->based || p->base == NULL ||
		    (url = act_url(p, &t->attr[ATTR_HREF])) == NULL)
			break;
		free(p->base);
		p->base = url;
		p->based = true;
		break;
	default:
		break;
	}
}

/* --- code ------------------------------------------------------------------
 */

struct slice
act_language(const struct slice *classes)
{
	static const char *const before[] = { "language-", "lang-",
		"highlight-source-", "highlight-" };
	static const char known[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "+#._-";
	struct slice none = { NULL, 0 }, s;
	size_t i, k;

	for (i = 0; classes->p != NULL && i < nitems(before); i++) {
		s = token_class(classes, before[i], false);
		if (s.p == NULL || s.n == 0 || s.n > LANGUAGE_MAX)
			continue;
		for (k = 0; k < s.n; k++)
			if (s.p[k] == '\0' || strchr(known, s.p[k]) == NULL)
				return none;
		if (s.n == 7 && strncasecmp(s.p, "default", 7) == 0)
			return none;
		return s;
	}
	return none;
}

static struct slice
language_above(const struct page *p, const struct elem *pre)
{
	struct slice s;
	size_t i;

	for (i = 0; i <= LANGUAGE_ABOVE && pre >= p->stack + i; i++) {
		s = act_language(&pre[-(ptrdiff_t)i].classes);
		if (s.p != NULL)
			return s;
	}
	return (struct slice){ NULL, 0 };
}

void
act_pre(struct page *p, struct elem *e)
{
	struct slice s = act_language(&e->classes);

	if (s.p == NULL)
		s = language_above(p, e);
	out_fence(p->out, &s, &p->text);
	buf_reset(&p->text);
	p->pre = 0;
}

void
act_code(struct page *p)
{
	out_code(p->out, &p->text);
	if (p->space)
		out_space(p->out);
	p->space = false;
	buf_reset(&p->text);
	p->code = 0;
}
