#include <string.h>

#include "table.h"

#define GAP 2

struct output {
    char *text;
    size_t size, used;
    int full;
};

static void put(struct output *o, const char *text, size_t len)
{
    if (o->used + len >= o->size) {
        o->full = 1;
        return;
    }
    memcpy(o->text + o->used, text, len);
    o->used += len;
}

static void fill(struct output *o, char c, size_t count)
{
    while (count-- > 0 && !o->full)
        put(o, &c, 1);
}

static void put_cell(struct output *o, const char *cell, size_t width,
    char align)
{
    size_t space = width - strlen(cell);
    size_t before = 0;

    if (align == 'r')
        before = space;
    else if (align == 'c')
        before = space / 2;
    fill(o, ' ', before);
    put(o, cell, strlen(cell));
    fill(o, ' ', space - before);
}

static void end_line(struct output *o, size_t start)
{
    while (o->used > start && o->text[o->used - 1] == ' ')
        o->used--;
    put(o, "\n", 1);
}

static void put_title(struct output *o, const char *title)
{
    put(o, title, strlen(title));
    put(o, "\n", 1);
    fill(o, '-', text_width(title));
    put(o, "\n", 1);
}

int table_write(const struct table *t, char *out, size_t size)
{
    struct output o = { out, size, 0, 0 };
    size_t widths[TABLE_COLUMNS], row, column, start;

    if (size == 0)
        return -1;
    column_widths(t, widths);
    if (t->title != NULL)
        put_title(&o, t->title);
    for (row = 0; row < t->rows; row++) {
        start = o.used;
        for (column = 0; column < t->columns; column++) {
            if (column > 0)
                fill(&o, ' ', GAP);
            put_cell(&o, t->cells[row][column], widths[column],
                     t->align[column]);
        }
        end_line(&o, start);
    }
    out[o.used] = '\0';
    return o.full ? -1 : 0;
}
