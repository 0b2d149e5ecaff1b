/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds or adds the nodes of the call tree, and hands out at a cut what was spent in each. */
#include "tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { FIRST_NODES = 1 << 14 };
static const uint32_t NODES_MAX = UINT32_C(1) << 28;

static uint32_t hash(uint32_t parent, uint32_t function)
{
	return (uint32_t)((((uint64_t)parent << 32 | function) * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static void insert(struct tree *tree, uint32_t number)
{
	uint32_t i = hash(tree->nodes[number].parent, tree->nodes[number].function) & tree->slot_mask;

	while (tree->slots[i])
		i = (i + 1) & tree->slot_mask;
	tree->slots[i] = number + 1;
}

static bool grow(struct tree *tree)
{
	uint32_t capacity = tree->capacity ? 2 * tree->capacity : FIRST_NODES;
	uint32_t *slots;
	struct node *nodes;

	if (capacity > NODES_MAX)
		return false;
	slots = calloc(2 * (size_t)capacity, sizeof *slots);
	if (!slots)
		return false;
	nodes = realloc(tree->nodes, capacity * sizeof *nodes);
	if (!nodes) {
		free(slots);
		return false;
	}
	free(tree->slots);
	tree->slots = slots;
	tree->slot_mask = 2 * capacity - 1;
	tree->nodes = nodes;
	tree->capacity = capacity;
	for (uint32_t i = 0; i < tree->count; i++)
		insert(tree, i);
	return true;
}

static uint32_t add(struct tree *tree, uint32_t parent, uint32_t function)
{
	const struct profile_node record = { .parent = parent, .function = function };
	uint32_t number = tree->count++;

	tree->nodes[number] = (struct node){ .parent = parent, .function = function };
	insert(tree, number);
	profile_writer_add(tree->writer, PROFILE_NODE, &record, sizeof record);
	return number;
}

int tree_init(struct profile_writer *writer, uint32_t root_function, struct tree *ret)
{
	struct tree tree = { .writer = writer };

	if (!grow(&tree))
		return -ENOMEM;
	add(&tree, UINT32_MAX, root_function);
	*ret = tree;
	return 0;
}

void tree_deinit(struct tree *tree)
{
	free(tree->nodes);
	free(tree->slots);
	*tree = (struct tree){ 0 };
}

uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t latest = tree->nodes[parent].latest, i;

	/* 0, the root, is nobody's child. */
	if (latest && tree->nodes[latest].function == function)
		return latest;
	for (i = hash(parent, function) & tree->slot_mask; tree->slots[i]; i = (i + 1) & tree->slot_mask) {
		const struct node *node = &tree->nodes[tree->slots[i] - 1];

		if (node->parent == parent && node->function == function)
			return tree->nodes[parent].latest = tree->slots[i] - 1;
	}
	if (tree->count == tree->capacity && !grow(tree))
		return parent;
	i = add(tree, parent, function);
	return tree->nodes[parent].latest = i;
}

void tree_cut(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		struct node *node = &tree->nodes[i];
		const struct profile_weight record = { .node = i, .calls = node->calls, .instructions = node->instructions };

		if (!node->calls && !node->instructions)
			continue;
		profile_writer_add(tree->writer, PROFILE_WEIGHT, &record, sizeof record);
		node->calls = 0;
		node->instructions = 0;
	}
}
