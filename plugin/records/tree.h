/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call tree: a node is a function called from a parent node, and what was spent in it since the last cut. */
#ifndef BOOTLAB_TREE_H
#define BOOTLAB_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "profile_writer.h"

enum { TREE_ROOT = 0 };

struct node {
	uint32_t parent, function;
	uint32_t latest; /* the child that was asked for last; most calls repeat */
	uint32_t calls;	 /* this and what follows: since the last cut */
	uint64_t instructions;
};

struct tree {
	struct node *nodes;
	uint32_t count, capacity;
	uint32_t *slots; /* hash table of node numbers + 1, never more than half full */
	uint32_t slot_mask;
	struct profile_writer *writer; /* new nodes and weights go here */
};

/* Returns 0 or -ENOMEM; the tree then has its root, whose function is `root_function`. */
int tree_init(struct profile_writer *writer, uint32_t root_function, struct tree *ret);
void tree_deinit(struct tree *tree);

/*
 * The node of `function` below `parent`, made if there is none yet; does not count a call. When memory runs out it is
 * `parent`: the account still closes, only less finely.
 */
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t function);

/* Write all weights and begin anew from zero. */
void tree_cut(struct tree *tree);

#endif
