#include <string.h>

#include "matrix.h"

int matrix_init(struct matrix *m, int rows, int cols)
{
    if (rows < 1 || cols < 1 || rows > MATRIX_MAX || cols > MATRIX_MAX)
        return -1;
    memset(m, 0, sizeof(*m));
    m->rows = rows;
    m->cols = cols;
    return 0;
}

void matrix_fill(struct matrix *m, const long *values)
{
    int i;

    for (i = 0; i < m->rows * m->cols; i++)
        m->cell[i] = values[i];
}

long matrix_get(const struct matrix *m, int row, int col)
{
    return m->cell[row * m->cols + col];
}

void matrix_set(struct matrix *m, int row, int col, long value)
{
    m->cell[row * m->cols + col] = value;
}

int matrix_equal(const struct matrix *a, const struct matrix *b)
{
    int i;

    if (a->rows != b->rows || a->cols != b->cols)
        return 0;
    for (i = 0; i < a->rows * a->cols; i++)
        if (a->cell[i] != b->cell[i])
            return 0;
    return 1;
}
