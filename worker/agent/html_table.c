/*
 * html_table.c - rows of a table, of html_priv.h. A row of short cells is a
 * line; one cell alone, or cells with much in them, are a layout: they come
 * one below the other.
 */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/html_priv.h"

#define CELLS_MAX 64
#define CELL_SHORT 500 /* bytes, when it has several lines */

struct table {
	struct table *up;
	struct buf cells[CELLS_MAX];
	size_t n;
	size_t lines; /* rows written as lines, one after the other */
};

struct table *
table_create(struct table *up)
{
	struct table *t = xcalloc(1, sizeof *t);

	t->up = up;
	return t;
}

struct table *
table_up(const struct table *t)
{
	return t->up;
}

static void
clear_row(struct table *t)
{
	while (t->n > 0)
		buf_clear(&t->cells[--t->n]);
}

void
table_free(struct table *t)
{
	clear_row(t);
	free(t);
}

void
table_cell(struct table *t, struct out *o, struct buf *text)
{
	if (t->n == CELLS_MAX)
		table_row(t, o);
	t->cells[t->n++] = *text;
	*text = (struct buf){ 0 };
}

static bool
is_layout(const struct table *t)
{
	const struct buf *b;
	size_t i;

	for (i = 0; i < t->n; i++) {
		b = &t->cells[i];
		if (b->len > CELL_SHORT &&
		    memchr(b->data, '\n', b->len) != NULL)
			return true;
		if (strstr(buf_str(b), "```") != NULL)
			return true;
	}
	return t->n == 1;
}

static void
layout(struct table *t, struct out *o)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		out_break(o, 2, false);
		out_lines(o, buf_str(&t->cells[i]), t->cells[i].len);
	}
	out_break(o, 2, false);
	t->lines = 0;
}

static void
one_line(struct buf *dst, const struct buf *cell)
{
	bool space = false;
	size_t i;

	for (i = 0; i < cell->len; i++) {
		char c = cell->data[i];

		if (c == '\n' || c == ' ') {
			space = true;
			continue;
		}
		if (space)
			(void)buf_addc(dst, ' ');
		space = false;
		if (c == '|')
			(void)buf_addc(dst, '\\');
		(void)buf_addc(dst, c);
	}
}

static void
as_line(struct table *t, struct out *o)
{
	struct buf b;
	size_t i;

	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < t->n; i++) {
		(void)buf_adds(&b, i == 0 ? "| " : " | ");
		one_line(&b, &t->cells[i]);
	}
	(void)buf_adds(&b, " |");
	if (t->lines++ == 0) {
		(void)buf_adds(&b, "\n|");
		for (i = 0; i < t->n; i++)
			(void)buf_adds(&b, " --- |");
	}
	out_break(o, 1, t->lines > 1);
	out_lines(o, b.data, b.len);
	out_break(o, 1, false);
	buf_clear(&b);
}

void
table_row(struct table *t, struct out *o)
{
	size_t i, used = 0;

	for (i = 0; i < t->n; i++)
		used += t->cells[i].len > 0;
	if (used > 0) {
		if (is_layout(t))
			layout(t, o);
		else
			as_line(t, o);
	}
	clear_row(t);
}
