/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the call tree: many nodes, each written once, and what a cut hands out. */
#include "records/tree.h"

#include "profile_read.h"

/* More nodes than the first tables hold: each is found again, and written once, in order. */
static void test_many(void)
{
	enum { PARENTS = 300, CHILDREN = 300 };
	struct profile_writer writer;
	struct profile_node record;
	struct tree tree;
	uint32_t parents[PARENTS];

	profile_path_make();
	CHECK(profile_writer_open(profile_path, &writer) == 0 && tree_init(&writer, 7, &tree) == 0);
	for (uint32_t i = 0; i < PARENTS; i++)
		parents[i] = tree_child(&tree, TREE_ROOT, 1000 + i);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < PARENTS; i++)
			for (uint32_t k = 0; k < CHILDREN; k++)
				CHECK(tree_child(&tree, parents[i], k) == 1 + PARENTS + i * CHILDREN + k);
	CHECK(tree.count == 1 + PARENTS + PARENTS * CHILDREN);
	CHECK(tree_child(&tree, TREE_ROOT, 1000) == parents[0]);
	tree_cut(&tree);
	CHECK(profile_writer_close(&writer) == 0);
	profile_load();
	CHECK(profile_record(PROFILE_NODE, 0, sizeof record, &record) && record.parent == UINT32_MAX && record.function == 7);
	CHECK(profile_record(PROFILE_NODE, tree.count - 1, sizeof record, &record));
	CHECK(record.parent == parents[PARENTS - 1] && record.function == CHILDREN - 1);
	CHECK(!profile_record(PROFILE_NODE, tree.count, sizeof record, &record));
	CHECK(!profile_record(PROFILE_WEIGHT, 0, sizeof(struct profile_weight), &(struct profile_weight){ 0 }));
	tree_deinit(&tree);
	unlink(profile_path);
}

static void test_cuts(void)
{
	struct profile_weight weight;
	struct profile_writer writer;
	struct tree tree;
	uint32_t node;

	memcpy(strrchr(profile_path, '-'), "-XXXXXX", 8);
	profile_path_make();
	CHECK(profile_writer_open(profile_path, &writer) == 0 && tree_init(&writer, 0, &tree) == 0);
	node = tree_child(&tree, TREE_ROOT, 5);
	tree.nodes[node].instructions = UINT64_C(1) << 40;
	tree_cut(&tree);
	tree_cut(&tree);
	tree.nodes[node].calls = 2;
	tree_cut(&tree);
	CHECK(profile_writer_close(&writer) == 0);
	profile_load();
	CHECK(profile_record(PROFILE_WEIGHT, 0, sizeof weight, &weight));
	CHECK(weight.node == node && weight.instructions == UINT64_C(1) << 40 && weight.calls == 0);
	CHECK(profile_record(PROFILE_WEIGHT, 1, sizeof weight, &weight) && weight.instructions == 0 && weight.calls == 2);
	CHECK(!profile_record(PROFILE_WEIGHT, 2, sizeof weight, &weight));
	tree_deinit(&tree);
	unlink(profile_path);
}

int main(void)
{
	test_many();
	test_cuts();
	puts("test_tree: ok");
	return 0;
}
