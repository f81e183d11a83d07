/*
 * callgraph.h - who may call whom, by names alone.
 *
 * A node is a function, or what a file holds outside its functions (region
 * -1). A call of a name is an edge to every function of that name; so is a
 * use of a property, and of a longer name as a value. A class stands for its
 * constructor and its operators.
 */
#ifndef REPAIR_CALLGRAPH_H
#define REPAIR_CALLGRAPH_H

#include "orchestrator/repair/token.h"

#define GRAPH_MAX_NODES 6000
#define GRAPH_FAR 255

struct node {
	uint32_t file;  /* index into files */
	int32_t region; /* -1: outside of functions */
	uint32_t edge, n_edge;
};

struct graph {
	struct source *const *files;
	size_t n_files;
	uint32_t *top; /* the first node of each file */
	struct node *node;
	size_t n_node;
	uint32_t *edge; /* node numbers */
	size_t n_edge, size_edge;
	uint32_t *name; /* hash table: node number + 1 */
	uint64_t *hash;
	bool *prop; /* the name is a property's: used without a call */
	size_t n_name;
};

void graph_build(struct graph *g, struct source *const *files, size_t n);
void graph_clear(struct graph *g);
/* Calls from start: ret[node] = steps, GRAPH_FAR when it is not reached. */
void graph_reach(const struct graph *g, size_t start, uint8_t *ret);
/* The same from the names that lines first..last of a file use. */
void graph_reach_lines(const struct graph *g, size_t file, uint32_t first,
    uint32_t last, uint8_t *ret);
/* The node of a file's line. */
size_t graph_node(const struct graph *g, size_t file, uint32_t line);

#endif
