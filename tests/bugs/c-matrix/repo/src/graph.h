#ifndef GRAPH_H
#define GRAPH_H

#include "matrix.h"

/* Directed graph of up to MATRIX_MAX nodes. */
struct graph {
    struct matrix edges;
};

int graph_init(struct graph *g, int nodes);
void graph_link(struct graph *g, int from, int to);
long graph_walks(const struct graph *g, int from, int to, unsigned length);
/* Members (1 x groups) reached when people x groups says who is where. */
int graph_spread(struct matrix *out, const struct matrix *people,
                 const struct matrix *groups);

#endif
