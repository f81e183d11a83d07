#include "matrix.h"

int matrix_add(struct matrix *out, const struct matrix *a,
               const struct matrix *b)
{
    int i;

    if (a->rows != b->rows || a->cols != b->cols)
        return -1;
    matrix_init(out, a->rows, a->cols);
    for (i = 0; i < a->rows * a->cols; i++)
        out->cell[i] = a->cell[i] + b->cell[i];
    return 0;
}

static long dot(const struct matrix *a, int row, const struct matrix *b,
                int col)
{
    long sum = 0;
    int k;

    for (k = 0; k < a->rows; k++)
        sum += matrix_get(a, row, k) * matrix_get(b, k, col);
    return sum;
}

int matrix_multiply(struct matrix *out, const struct matrix *a,
                    const struct matrix *b)
{
    struct matrix product;
    int row, col;

    if (a->cols != b->rows)
        return -1;
    matrix_init(&product, a->rows, b->cols);
    for (row = 0; row < a->rows; row++)
        for (col = 0; col < b->cols; col++)
            matrix_set(&product, row, col, dot(a, row, b, col));
    *out = product;
    return 0;
}

int matrix_power(struct matrix *out, const struct matrix *m, unsigned n)
{
    struct matrix base = *m;
    int i;

    if (m->rows != m->cols)
        return -1;
    matrix_init(out, m->rows, m->cols);
    for (i = 0; i < m->rows; i++)
        matrix_set(out, i, i, 1);
    while (n > 0) {
        if (n % 2 == 1)
            matrix_multiply(out, out, &base);
        matrix_multiply(&base, &base, &base);
        n /= 2;
    }
    return 0;
}

void matrix_transpose(struct matrix *out, const struct matrix *m)
{
    int row, col;

    matrix_init(out, m->cols, m->rows);
    for (row = 0; row < m->rows; row++)
        for (col = 0; col < m->cols; col++)
            matrix_set(out, col, row, matrix_get(m, row, col));
}
