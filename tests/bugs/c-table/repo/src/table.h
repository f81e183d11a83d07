#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>

#define TABLE_COLUMNS 8
#define TABLE_ROWS 32

/* Text in columns. Cells are UTF-8 and belong to the caller. */
struct table {
    const char *title;                          /* or NULL */
    const char *cells[TABLE_ROWS][TABLE_COLUMNS];
    size_t columns, rows;
    char align[TABLE_COLUMNS];                  /* 'l', 'r' or 'c' */
};

void table_init(struct table *t, const char *align);

/* A missing cell at the end is empty; -1: too many rows. */
int table_add(struct table *t, const char *const *cells, size_t count);

/* The title, underlined, and the rows, without blanks at the end of a line. */
int table_write(const struct table *t, char *out, size_t size);

/* columns.c */
void column_widths(const struct table *t, size_t widths[TABLE_COLUMNS]);

/* width.c: how many places a text takes; combining marks take none. */
size_t text_width(const char *text);

#endif
