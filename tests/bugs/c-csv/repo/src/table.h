#ifndef TABLE_H
#define TABLE_H

#define TABLE_COLS 16
#define TABLE_ROWS 64

struct table {
    char *cells[TABLE_ROWS][TABLE_COLS];
    int widths[TABLE_ROWS];     /* cells in each row */
    int rows;
};

void table_init(struct table *t);
void table_free(struct table *t);
int table_add(struct table *t, char *cell);     /* takes ownership */
int table_end_row(struct table *t);
const char *table_get(const struct table *t, int row, int col);
int table_column(const struct table *t, const char *title);

#endif
