#include <string.h>

#include "table.h"

void table_init(struct table *t, const char *align)
{
    size_t i;

    memset(t, 0, sizeof(*t));
    for (i = 0; align[i] && i < TABLE_COLUMNS; i++)
        t->align[i] = align[i];
    t->columns = i;
}

int table_add(struct table *t, const char *const *cells, size_t count)
{
    size_t i;

    if (t->rows == TABLE_ROWS || count > t->columns)
        return -1;
    for (i = 0; i < t->columns; i++)
        t->cells[t->rows][i] = i < count ? cells[i] : "";
    t->rows++;
    return 0;
}

void column_widths(const struct table *t, size_t widths[TABLE_COLUMNS])
{
    size_t row, column;

    for (column = 0; column < t->columns; column++) {
        widths[column] = 0;
        for (row = 0; row < t->rows; row++) {
            size_t width = strlen(t->cells[row][column]);

            if (width > widths[column])
                widths[column] = width;
        }
    }
}
