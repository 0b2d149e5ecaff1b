/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests how the members of task_struct are found in two tasks made by hand. */
#include "profile/task_layout.h"

#include "check.h"
#include "guest.h"

enum { FIRST = 0x100000, SECOND = 0x110000, COMM = 2976, PID = 2416, STATE = 24, END = 9728 };

static void put_word(uint64_t address, uint32_t value)
{
	guest_put(address, &value, sizeof value);
}

static void put_task(uint64_t task, uint32_t pid)
{
	guest_put_word(task + END - 8, 0); /* no page is missing */
	guest_put_word(task + 4096, 0);
	put_word(task + STATE, 0x800);
	put_word(task + 44, 0x200000 | pid); /* what else it has */
	put_word(task + 500, 1);
	put_word(task + 504, 1);
	put_word(task + PID, pid);
	put_word(task + PID + 4, pid);
	guest_put_text(task + COMM, "swapper/0");
}

static bool learn(uint64_t first, uint64_t second, struct task_members *ret)
{
	struct task_layout layout = { 0 };
	bool done;

	CHECK(!task_layout_learn(&layout, &guest, first, ret));
	done = task_layout_learn(&layout, &guest, second, ret);
	CHECK(!task_layout_learn(&layout, &guest, first, ret));
	task_layout_deinit(&layout);
	return done;
}

int main(void)
{
	struct task_members members;

	put_task(FIRST, 1);
	put_task(SECOND, 2);
	CHECK(learn(FIRST, SECOND, &members));
	CHECK(members.comm == COMM && members.pid == PID && members.tgid == PID + 4 && members.state == STATE);

	/* Two places that could be it, and none. */
	put_word(FIRST + 600, 1);
	put_word(FIRST + 604, 1);
	put_word(SECOND + 600, 2);
	put_word(SECOND + 604, 2);
	put_word(FIRST + STATE, 0);
	CHECK(learn(FIRST, SECOND, &members));
	CHECK(members.pid == TASK_LAYOUT_UNKNOWN && members.tgid == TASK_LAYOUT_UNKNOWN && members.state == TASK_LAYOUT_UNKNOWN);
	CHECK(members.comm == COMM);

	CHECK(!learn(FIRST, 0xdead0000, &members));
	CHECK(!learn(0xdead0000, SECOND, &members));

	/* A linux_binprm: members that are no pointers, pointers to other structs, then the path. */
	guest_clear();
	guest_put_word(FIRST, 0x2f62696e2f7368);
	guest_put_word(FIRST + 8, SECOND);
	guest_put_word(FIRST + 64, SECOND + 0x100);
	guest_put_word(FIRST + 96, SECOND + 0x200);
	guest_put_word(FIRST + 104, SECOND + 0x200);
	guest_put_word(SECOND, 0x1002f);
	guest_put(SECOND + 0x100, "/\xff\x80\xff", 5);
	guest_put_text(SECOND + 0x200, "/sbin/init");
	CHECK(task_layout_find_path(&guest, FIRST) == 96);
	guest_put_text(SECOND + 0x200, "");
	CHECK(task_layout_find_path(&guest, FIRST) == TASK_LAYOUT_UNKNOWN);
	CHECK(task_layout_find_path(&guest, 0xdead0000) == TASK_LAYOUT_UNKNOWN);
	return 0;
}
