#ifndef MATRIX_H
#define MATRIX_H

#define MATRIX_MAX 8

/* Small dense matrix of integers, row by row. */
struct matrix {
    int rows;
    int cols;
    long cell[MATRIX_MAX * MATRIX_MAX];
};

int matrix_init(struct matrix *m, int rows, int cols);
void matrix_fill(struct matrix *m, const long *values);
long matrix_get(const struct matrix *m, int row, int col);
void matrix_set(struct matrix *m, int row, int col, long value);
int matrix_equal(const struct matrix *a, const struct matrix *b);

/* All of these return -1 when the shapes do not fit. */
int matrix_add(struct matrix *out, const struct matrix *a,
               const struct matrix *b);
int matrix_multiply(struct matrix *out, const struct matrix *a,
                    const struct matrix *b);
int matrix_power(struct matrix *out, const struct matrix *m, unsigned n);
void matrix_transpose(struct matrix *out, const struct matrix *m);

#endif
