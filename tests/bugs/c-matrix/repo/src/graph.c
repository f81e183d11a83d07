#include "graph.h"

int graph_init(struct graph *g, int nodes)
{
    return matrix_init(&g->edges, nodes, nodes);
}

void graph_link(struct graph *g, int from, int to)
{
    matrix_set(&g->edges, from, to, 1);
}

/* How many walks of that length lead from one node to another. */
long graph_walks(const struct graph *g, int from, int to, unsigned length)
{
    struct matrix power;

    matrix_power(&power, &g->edges, length);
    return matrix_get(&power, from, to);
}

int graph_spread(struct matrix *out, const struct matrix *people,
                 const struct matrix *groups)
{
    struct matrix counts;
    int i;

    if (matrix_multiply(&counts, people, groups) < 0)
        return -1;
    for (i = 0; i < counts.rows * counts.cols; i++)
        if (counts.cell[i] > 1)
            counts.cell[i] = 1;
    *out = counts;
    return 0;
}
