#include <stdlib.h>
#include <string.h>

#include "table.h"

void table_init(struct table *t)
{
    memset(t, 0, sizeof(*t));
}

void table_free(struct table *t)
{
    int row, col;

    for (row = 0; row < TABLE_ROWS; row++)
        for (col = 0; col < t->widths[row]; col++)
            free(t->cells[row][col]);
    table_init(t);
}

int table_add(struct table *t, char *cell)
{
    if (t->rows >= TABLE_ROWS || t->widths[t->rows] >= TABLE_COLS) {
        free(cell);
        return -1;
    }
    t->cells[t->rows][t->widths[t->rows]++] = cell;
    return 0;
}

int table_end_row(struct table *t)
{
    if (t->rows >= TABLE_ROWS)
        return -1;
    t->rows++;
    return 0;
}

const char *table_get(const struct table *t, int row, int col)
{
    if (row < 0 || row >= t->rows || col < 0 || col >= t->widths[row])
        return NULL;
    return t->cells[row][col];
}

/* Index of the column with that title in the first row, or -1. */
int table_column(const struct table *t, const char *title)
{
    int col;

    for (col = 0; t->rows > 0 && col < t->widths[0]; col++)
        if (strcmp(t->cells[0][col], title) == 0)
            return col;
    return -1;
}
