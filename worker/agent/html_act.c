/* html_act.c - what elements do to the text, of html_priv.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/num.h"
#include "worker/agent/html_priv.h"

#define TABLES_MAX 8

/* --- elements with content -------------------------------------------------
 */

static bool
is_list(const struct elem *e)
{
	return e->act == ACT_LIST || e->act == ACT_NUMBERS;
}

static void
start_item(struct page *p, struct elem *e)
{
	char mark[16], cont[sizeof mark];
	struct elem *list = e;
	bool first = false;

	snprintf(mark, sizeof mark, "- ");
	while (list-- > p->stack) {
		if (is_list(list)) {
			first = !list->started;
			list->started = true;
			if (list->act == ACT_NUMBERS)
				snprintf(mark, sizeof mark, "%u. ", list->n++);
			break;
		}
		if (list->tag->flags & TAG_SCOPE)
			break;
	}
	memset(cont, ' ', sizeof cont);
	cont[strlen(mark)] = '\0';
	out_break(p->out, 1, !first);
	e->at = out_push(p->out, mark, cont);
}

/* Line ends around a list: one within another. */
static unsigned
list_breaks(const struct page *p, const struct elem *e)
{
	return e->at > 0 || (e > p->stack && is_list(e - 1)) ? 1 : 2;
}

static void
start_list(struct page *p, struct elem *e, const struct token *t)
{
	const struct slice *start = &t->attr[ATTR_START];
	uint64_t n = 1;
	char number[10];

	if (start->p != NULL && start->n < sizeof number) {
		memcpy(number, start->p, start->n);
		number[start->n] = '\0';
		if (num_u64(number, 0, 99999999, "start", &n, NULL) < 0)
			n = 1;
	}
	e->n = (unsigned)n;
	e->at = p->out->prefix;
	out_break(p->out, list_breaks(p, e), false);
	if (e > p->stack && is_list(e - 1))
		(void)out_push(p->out, "  ", "  ");
}

/* Is the table around it the innermost one that is written? */
static bool
in_table(const struct page *p, const struct elem *e)
{
	while (e-- > p->stack)
		if (e->tag->act == ACT_TABLE)
			return e->act == ACT_TABLE;
	return false;
}

static void
start_table(struct page *p, struct elem *e)
{
	act_block(p);
	if (p->tables == TABLES_MAX) {
		e->act = ACT_BLOCK;
		return;
	}
	p->table = table_create(p->table);
	p->tables++;
}

static void
start_cell(struct page *p, struct elem *e)
{
	struct out *o;

	if (!in_table(p, e)) {
		e->act = ACT_BLOCK;
		act_block(p);
		return;
	}
	o = xcalloc(1, sizeof *o);
	out_init(o, HTML_TEXT_MAX);
	o->up = p->out;
	p->out = o;
}

static void
finish_cell(struct page *p)
{
	struct out *o = p->out;

	p->cut = p->cut || o->full;
	p->out = o->up;
	table_cell(p->table, p->out, &o->text);
	out_clear(o);
	free(o);
}

static void
finish_table(struct page *p)
{
	struct table *t = p->table;

	table_row(t, p->out);
	p->table = table_up(t);
	p->tables--;
	table_free(t);
	out_break(p->out, 2, false);
}

/* Inside code, a link or a heading: what can't be there ends it, or does
 * nothing. False: nothing. */
static bool
make_room(struct page *p, const struct elem *e)
{
	size_t *inner[] = { &p->code, &p->link };
	size_t i, at;

	if (p->pre > 0 || p->heading > 0)
		return e->act == ACT_LINK || e->act == ACT_CODE ? p->pre == 0
								: false;
	switch (e->act) {
	case ACT_LIST:
	case ACT_NUMBERS:
	case ACT_QUOTE:
	case ACT_PRE:
	case ACT_TABLE:
		for (i = 0; i < nitems(inner); i++)
			if ((at = *inner[i]) > 0) {
				act_finish(p, &p->stack[at - 1]);
				p->stack[at - 1].act = ACT_NONE;
			}
		return true;
	case ACT_CODE:
		return p->code == 0;
	default:
		return p->code == 0 && p->link == 0;
	}
}

static bool
is_inline(enum act act)
{
	return act == ACT_CODE || act == ACT_LINK || act == ACT_STRONG ||
	    act == ACT_EM;
}

void
act_start(struct page *p, struct elem *e, const struct token *t)
{
	size_t index = (size_t)(e - p->stack) + 1;
	char mark[8];

	if (e->act == ACT_NONE)
		return;
	if (!make_room(p, e)) {
		if (is_inline(e->act)) {
			e->act = ACT_NONE;
		} else {
			e->act = ACT_BLOCK;
			act_block(p);
		}
		if (p->pre > 0 && t->tag->act == ACT_CODE &&
		    act_language(&p->stack[p->pre - 1].classes).p == NULL)
			p->stack[p->pre - 1].classes = e->classes;
		return;
	}
	switch (e->act) {
	case ACT_HEADING:
		act_block(p);
		snprintf(mark, sizeof mark, "%.*s ", t->tag->name[1] - '0',
		    "######");
		e->at = out_open(p->out, mark);
		p->heading = index;
		break;
	case ACT_LIST:
	case ACT_NUMBERS:
		start_list(p, e, t);
		break;
	case ACT_ITEM:
		start_item(p, e);
		break;
	case ACT_DEFINITION:
		out_break(p->out, 1, true);
		e->at = out_push(p->out, ": ", "  ");
		break;
	case ACT_QUOTE:
		act_block(p);
		e->at = out_push(p->out, "> ", "> ");
		break;
	case ACT_PRE:
		act_block(p);
		p->pre = index;
		p->skip_newline = true;
		break;
	case ACT_CODE:
		p->code = index;
		break;
	case ACT_LINK:
		if ((e->href = act_url(p, &t->attr[ATTR_HREF])) == NULL) {
			e->act = ACT_NONE;
			break;
		}
		e->at = out_open(p->out, "[");
		p->link = index;
		break;
	case ACT_STRONG:
		e->at = out_open(p->out, "**");
		break;
	case ACT_EM:
		e->at = out_open(p->out, "*");
		break;
	case ACT_TABLE:
		start_table(p, e);
		break;
	case ACT_ROW:
		if (in_table(p, e))
			table_row(p->table, p->out);
		else
			e->act = ACT_NONE;
		break;
	case ACT_CELL:
		start_cell(p, e);
		break;
	default:
		act_block(p);
		break;
	}
}

static void
finish_link(struct page *p, struct elem *e)
{
	char *mark = xasprintf("](%s)", e->href);

	out_close(p->out, e->at, mark);
	free(mark);
	free(e->href);
	e->href = NULL;
	p->link = 0;
}

void
act_finish(struct page *p, struct elem *e)
{
	switch (e->act) {
	case ACT_NONE:
		break;
	case ACT_HEADING:
		p->heading = 0;
		out_close(p->out, e->at, "");
		act_block(p);
		break;
	case ACT_LIST:
	case ACT_NUMBERS:
		out_pop(p->out, e->at);
		out_break(p->out, list_breaks(p, e), false);
		break;
	case ACT_ITEM:
		out_pop(p->out, e->at);
		out_break(p->out, 1, false);
		break;
	case ACT_DEFINITION:
	case ACT_QUOTE:
		out_pop(p->out, e->at);
		act_block(p);
		break;
	case ACT_PRE:
		act_pre(p, e);
		break;
	case ACT_CODE:
		act_code(p);
		break;
	case ACT_LINK:
		finish_link(p, e);
		break;
	case ACT_STRONG:
		out_close(p->out, e->at, "**");
		break;
	case ACT_EM:
		out_close(p->out, e->at, "*");
		break;
	case ACT_TABLE:
		finish_table(p);
		break;
	case ACT_ROW:
		table_row(p->table, p->out);
		break;
	case ACT_CELL:
		finish_cell(p);
		break;
	default:
		act_block(p);
		break;
	}
}
