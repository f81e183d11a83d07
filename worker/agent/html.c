/*
 * html.c - see html.h. The stack of open elements, by the rules of the standard
 * for implied ends and scopes; what hides is found wrong rather towards hiding.
 */
#include "common/compat.h"

#include <ctype.h>

#include "common/log.h"
#include "worker/agent/html_priv.h"

static bool
tag_is(const struct tag *t, const char *name)
{
	return t->name != NULL && *t->name == *name &&
	    strcmp(t->name, name) == 0;
}

static bool
same_name(const struct slice *a, const struct slice *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (tolower((unsigned char)a->p[i]) !=
		    tolower((unsigned char)b->p[i]))
			return false;
	return true;
}

static bool
is_same(const struct elem *e, const struct token *t)
{
	if (e->tag != t->tag)
		return e->tag->act == ACT_HEADING && t->tag->act == ACT_HEADING;
	return e->tag->name != NULL || same_name(&e->name, &t->name);
}

/* --- the end of elements ---------------------------------------------------
 */

static void
unhide(struct page *p, struct elem *e)
{
	p->hidden -= e->hidden;
	e->hidden = e->firm = false;
}

/* End all that are open from number n on. */
static void
pop_to(struct page *p, size_t n)
{
	struct elem *e;

	while (p->n > n) {
		e = &p->stack[p->n - 1];
		act_finish(p, e);
		unhide(p, e);
		if (tag_is(e->tag, "svg"))
			p->in.foreign = --p->foreign > 0;
		p->n--;
	}
}

/* What stops the search for the start of an end tag. */
static bool
stops(const struct elem *e, const struct tag *end)
{
	if (e->firm)
		return true;
	if ((end->flags & TAG_TABLE) || end->act == ACT_TABLE)
		return e->tag->act == ACT_TABLE || tag_is(e->tag, "template");
	if (end->flags & (TAG_SPECIAL | TAG_FORMAT))
		return (e->tag->flags & TAG_SCOPE) != 0;
	return (e->tag->flags & TAG_SPECIAL) != 0;
}

/* A formatting element that a block outlives ends, and its place stays. */
static void
end_format(struct page *p, size_t i)
{
	struct elem *e = &p->stack[i];
	size_t k;

	for (k = i + 1; k < p->n; k++)
		if (p->stack[k].tag->flags & TAG_SPECIAL) {
			act_finish(p, e);
			e->act = ACT_NONE;
			unhide(p, e);
			return;
		}
	pop_to(p, i);
}

/* False: no such element is open. */
static bool
end_tag(struct page *p, const struct token *t)
{
	size_t i = p->n;

	while (i-- > 0) {
		if (is_same(&p->stack[i], t)) {
			if (t->tag->flags & TAG_FORMAT)
				end_format(p, i);
			else
				pop_to(p, i);
			return true;
		}
		if (stops(&p->stack[i], t->tag))
			break;
	}
	return false;
}

static void
on_close(struct page *p, const struct token *t)
{
	struct token br = *t;

	if (t->tag->act == ACT_BREAK) {
		br.kind = TOKEN_OPEN;
		if (p->hidden == 0)
			act_void(p, &br);
		return;
	}
	if (t->tag->flags & (TAG_IGNORED | TAG_VOID))
		return;
	if (!end_tag(p, t) && tag_is(t->tag, "p") && p->hidden == 0)
		act_block(p);
}

/* --- implied ends ----------------------------------------------------------
 */

static void
end_p(struct page *p)
{
	size_t i = p->n;

	while (i-- > 0) {
		const struct elem *e = &p->stack[i];

		if (tag_is(e->tag, "p")) {
			pop_to(p, i);
			return;
		}
		if (e->firm || (e->tag->flags & TAG_SCOPE) ||
		    tag_is(e->tag, "button"))
			return;
	}
}

/* li ends li; dt and dd end each other. */
static void
end_item(struct page *p, const char *one, const char *two)
{
	size_t i = p->n;

	while (i-- > 0) {
		const struct elem *e = &p->stack[i];

		if (tag_is(e->tag, one) || tag_is(e->tag, two)) {
			pop_to(p, i);
			return;
		}
		if (e->firm ||
		    ((e->tag->flags & TAG_SPECIAL) && !tag_is(e->tag, "div") &&
			!tag_is(e->tag, "p") && !tag_is(e->tag, "address")))
			return;
	}
}

/* A part of a table ends the parts that can't hold it. */
static void
end_parts(struct page *p, const struct tag *t)
{
	bool cell = t->act == ACT_CELL, row = t->act == ACT_ROW;
	size_t i = p->n;

	while (i-- > 0) {
		const struct tag *e = p->stack[i].tag;

		if (tag_is(e, "template"))
			return;
		if (e->act == ACT_TABLE || (cell && e->act == ACT_ROW) ||
		    ((cell || row) &&
			(tag_is(e, "tbody") || tag_is(e, "thead") ||
			    tag_is(e, "tfoot")))) {
			pop_to(p, i + 1);
			return;
		}
	}
}

static void
implied_ends(struct page *p, const struct token *t)
{
	const struct tag *top = p->n > 0 ? p->stack[p->n - 1].tag : NULL;
	struct token end = *t;

	if (t->tag->act == ACT_HEADING && top != NULL &&
	    top->act == ACT_HEADING)
		pop_to(p, p->n - 1);
	if (tag_is(t->tag, "li"))
		end_item(p, "li", "li");
	if (tag_is(t->tag, "dd") || tag_is(t->tag, "dt"))
		end_item(p, "dd", "dt");
	if (t->tag->flags & TAG_CLOSES_P)
		end_p(p);
	if (t->tag->flags & TAG_ONE) {
		end.kind = TOKEN_CLOSE;
		(void)end_tag(p, &end);
	}
	if (t->tag->flags & TAG_TABLE)
		end_parts(p, t->tag);
}

/* --- the start of elements -------------------------------------------------
 */

static struct elem *
push(struct page *p, const struct token *t, bool hidden)
{
	struct elem *e = &p->stack[p->n++];

	*e = (struct elem){ .tag = t->tag,
		.name = t->name,
		.hidden = hidden,
		.classes = t->attr[ATTR_CLASS] };
	/* The browser would open it again behind what ended it. That icons with
	 * aria-hidden are left open is more common than a trick. */
	e->firm = hidden && (t->tag->flags & TAG_FORMAT) &&
	    t->attr[ATTR_ARIA_HIDDEN].p == NULL;
	p->hidden += hidden;
	if (tag_is(t->tag, "svg"))
		p->in.foreign = ++p->foreign > 0;
	if (p->hidden == 0) {
		e->act = t->tag->act;
		act_start(p, e, t);
	}
	return e;
}

static void
raw(struct page *p, const struct token *t, bool hidden)
{
	struct slice text = token_raw(&p->in, t->tag);

	if (tag_is(t->tag, "title"))
		act_title(p, &text);
	if (t->tag->flags & TAG_UNSEEN)
		return;
	(void)push(p, t, hidden);
	act_text(p, &text, false);
	pop_to(p, p->n - 1);
}

static void
on_open(struct page *p, const struct token *t)
{
	bool hidden;

	if (t->tag->flags & TAG_IGNORED)
		return;
	if (t->self_closing && (p->in.foreign || tag_is(t->tag, "svg")))
		return;
	implied_ends(p, t);
	hidden = (t->tag->flags & TAG_UNSEEN) || token_is_hidden(t) ||
	    (tag_is(t->tag, "dialog") && t->attr[ATTR_OPEN].p == NULL);
	if (t->tag->flags & TAG_VOID) {
		if (!hidden && p->hidden == 0)
			act_void(p, t);
	} else if (p->n == HTML_DEPTH) {
		p->cut = true;
		p->in.p = p->in.end;
	} else if ((t->tag->flags & TAG_RAW) && !p->in.foreign) {
		raw(p, t, hidden);
	} else {
		(void)push(p, t, hidden);
	}
}

static void
run(struct page *p)
{
	struct token t;

	for (token_next(&p->in, &t); t.kind != TOKEN_END;
	     token_next(&p->in, &t)) {
		if (t.kind == TOKEN_TEXT)
			act_text(p, &t.text, true);
		else if (t.kind == TOKEN_OPEN)
			on_open(p, &t);
		else
			on_close(p, &t);
	}
	pop_to(p, 0);
}

bool
html_to_markdown(struct buf *dst, const char *s, size_t len, const char *url)
{
	struct page *p = xcalloc(1, sizeof *p);
	bool cut;

	p->in = (struct tokens){ .p = s, .end = s + len };
	p->base = url != NULL ? xstrdup(url) : NULL;
	out_init(&p->top, HTML_TEXT_MAX);
	p->out = &p->top;
	buf_init(&p->text, BUF_NOMAX);
	run(p);
	cut = p->cut || p->top.full;
	(void)buf_add(dst, buf_str(&p->top.text), p->top.text.len);
	out_clear(&p->top);
	buf_clear(&p->text);
	free(p->base);
	free(p);
	return cut;
}
