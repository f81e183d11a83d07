#include "graph.h"
#include "tap.h"

static struct matrix make(int rows, int cols, const long *values)
{
    struct matrix m;

    matrix_init(&m, rows, cols);
    matrix_fill(&m, values);
    return m;
}

int main(void)
{
    static const long six[] = { 1, 2, 3, 4, 5, 6 };
    static const long four[] = { 1, 1, 1, 0 };
    static const long flags[] = { 0, 1, 1 };
    static const long member[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    static const long turned[] = { 1, 4, 2, 5, 3, 6 };
    static const long squared[] = { 14, 32, 32, 77 };
    static const long twice[] = { 2, 4, 6, 8, 10, 12 };
    static const long unit[] = { 1, 0, 0, 1 };
    static const long fib[] = { 89, 55, 55, 34 };
    struct matrix a = make(2, 3, six), b, c, q = make(2, 2, four);
    struct matrix expected;
    struct graph g;

    OK(matrix_init(&b, 0, 3) == -1 && matrix_init(&b, 9, 1) == -1,
       "sizes are checked");
    OK(matrix_get(&a, 1, 0) == 4 && matrix_get(&a, 0, 2) == 3, "get");
    matrix_set(&a, 1, 2, 7);
    OK(matrix_get(&a, 1, 2) == 7, "set");
    matrix_set(&a, 1, 2, 6);

    b = make(3, 2, six);
    OK(!matrix_equal(&a, &b) && matrix_equal(&a, &a), "equal");
    OK(matrix_add(&c, &a, &b) == -1, "add needs equal shapes");
    expected = make(2, 3, twice);
    OK(matrix_add(&c, &a, &a) == 0 && matrix_equal(&c, &expected), "add");

    matrix_transpose(&b, &a);
    expected = make(3, 2, turned);
    OK(matrix_equal(&b, &expected), "transpose");

    OK(matrix_multiply(&c, &a, &a) == -1, "multiply needs fitting shapes");
    OK(matrix_multiply(&c, &a, &b) == 0 && c.rows == 2 && c.cols == 2,
       "shape of a product");
    expected = make(2, 2, squared);
    OK(matrix_equal(&c, &expected), "product of 2x3 and 3x2");

    expected = make(2, 2, unit);
    OK(matrix_power(&c, &q, 0) == 0 && matrix_equal(&c, &expected),
       "power of zero");
    expected = make(2, 2, fib);
    OK(matrix_power(&c, &q, 10) == 0 && matrix_equal(&c, &expected),
       "Fibonacci by powers");
    OK(matrix_power(&c, &a, 2) == -1, "power needs a square");

    graph_init(&g, 4);
    graph_link(&g, 0, 1);
    graph_link(&g, 0, 2);
    graph_link(&g, 1, 3);
    graph_link(&g, 2, 3);
    OK(graph_walks(&g, 0, 3, 2) == 2, "two ways around");
    OK(graph_walks(&g, 3, 0, 2) == 0, "edges have a direction");

    a = make(1, 3, flags);
    b = make(3, 3, member);
    OK(graph_spread(&c, &a, &b) == 0 && matrix_get(&c, 0, 0) == 0 &&
       matrix_get(&c, 0, 1) == 1 && matrix_get(&c, 0, 2) == 1, "spread");
    return tap_done();
}
