/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of the guest's structs when it enters a function that is watched. */
#include "profile/hooks.h"

#include "boot.h"

enum { COMM = 100, PID = 80, TGID = 84, STATE = 24, ON_RQ = 60, DELAYED = 64 };
static const uint64_t INIT = 0xffff888000001000, CHILD = 0xffff888000002000, THREAD_TASK = 0xffff888000003000,
		      SOMETHING = 0xffff888000100000;

static struct offset offsets[] = {
	{ "task_struct.comm", COMM },
	{ "task_struct.pid", PID },
	{ "task_struct.tgid", TGID },
	{ "task_struct.__state", STATE },
	{ "task_struct.on_rq", ON_RQ },
	{ "task_struct.se.sched_delayed", DELAYED },
	{ "linux_binprm.filename", 96 },
	{ "linux_binprm.p", 24 },
	{ "device.kobj.name", 8 },
	{ "device.init_name", 16 },
	{ "device_driver.name", 0 },
	{ "module.name", 24 },
	{ "request.__data_len", 32 },
	{ "request.cmd_flags", 36 },
	{ "request.q", 40 },
	{ "request_queue.disk", 48 },
	{ "gendisk.disk_name", 12 },
};

static void put_int(uint64_t address, uint32_t value)
{
	guest_put(address, &value, sizeof value);
}

static void put_task(uint64_t task, const char *comm, uint32_t pid, uint32_t tgid, uint32_t state)
{
	char name[COMM_SIZE] = "";

	snprintf(name, sizeof name, "%s", comm);
	guest_put_word(task + STATE, state);
	put_int(task + ON_RQ, 0);
	put_int(task + DELAYED, 0);
	put_int(task + PID, pid);
	put_int(task + TGID, tgid);
	guest_put(task + COMM, name, sizeof name);
}

static void begin(void)
{
	guest_clear();
	boot_config.offsets = offsets;
	boot_config.n_offsets = sizeof offsets / sizeof *offsets;
	boot_open();
	boot_kernel();
	put_task(INIT, "swapper/0", 0, 0, 0);
	put_task(CHILD, "a b;c", 5, 5, 0);
	put_task(THREAD_TASK, "thread", 6, 5, 0);
}

static void hook(enum hook_kind kind, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t arguments[HOOK_ARGUMENTS] = { a, b, c };

	hooks_reached(&boot, &boot.vcpus[0], kind, arguments);
}

static void switch_to(uint64_t previous, uint64_t next)
{
	calls_from(START_KERNEL, 0x60);
	run(SWITCH, 0, 2);
	hook(HOOK_SWITCH, previous, next, 0);
}

static struct profile_switch switch_record(size_t index)
{
	struct profile_switch record = { 0 };

	CHECK(profile_record(PROFILE_SWITCH, index, sizeof record, &record));
	return record;
}

static struct profile_event event(size_t index, char text[256])
{
	struct profile_event record = { 0 };

	CHECK(profile_text_record(PROFILE_EVENT, index, sizeof record, &record, text, 256));
	return record;
}

static void test_tasks(void)
{
	struct profile_task task;
	char text[256];

	begin();
	hook(HOOK_FORK, CHILD, 0, 0);
	put_int(INIT + STATE, 1);
	switch_to(INIT, CHILD);
	leave(MARK_RETURN, 0);
	run(FORK, 0, 3);
	calls_from(FORK, 0x10);
	run(THREAD, 0, 4);
	calls_from(THREAD, 0x10);
	run(LEAF, 0, 5);
	guest_put_text(SOMETHING, "new name is too long");
	hook(HOOK_COMM, CHILD, SOMETHING, 0);
	/* It is done; its task_struct becomes another task's. */
	put_int(CHILD + STATE, 0x80);
	switch_to(CHILD, INIT);
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x60, 1);
	put_task(CHILD, "second", 7, 7, 0);
	hook(HOOK_FORK, CHILD, 0, 0);
	switch_to(INIT, CHILD);
	boot_close();

	check_account();
	CHECK(profile_record(PROFILE_TASK, 0, sizeof task, &task) && task.pid == 0 && task.parent == PROFILE_NO_TASK);
	CHECK(profile_record(PROFILE_TASK, 1, sizeof task, &task) && task.task == 1 && task.pid == 5 && task.parent == 0);
	CHECK(!strcmp(task.comm, "a b;c") && task.tgid == 5);
	CHECK(profile_record(PROFILE_TASK, 2, sizeof task, &task) && task.task == 1 && !strcmp(task.comm, "new name is too"));
	CHECK(profile_record(PROFILE_TASK, 3, sizeof task, &task) && task.task == 2 && !strcmp(task.comm, "second"));
	check_spent("a b;c-5;ret_from_fork", 3, 1);
	check_spent("a b;c-5;ret_from_fork;thread", 4, 1);
	check_spent("new name is too-5;ret_from_fork;thread;leaf", 5, 0);
	CHECK(event(0, text).kind == EVENT_FORK && event(0, text).a == 1 && event(0, text).task == 0);
	CHECK(event(1, text).a == 2);
	CHECK(switch_record(0).previous == 0 && switch_record(0).next == 1 && switch_record(0).flags == SWITCH_SLEEPS);
	CHECK(switch_record(1).previous == 1 && switch_record(1).next == 0);
	CHECK(switch_record(1).flags == (SWITCH_SLEEPS | SWITCH_DEAD));
	CHECK(switch_record(2).next == 2 && last_counts().mismatched_returns == 0 && last_counts().switches == 3);
}

static void test_states(void)
{
	begin();
	hook(HOOK_FORK, CHILD, 0, 0);
	switch_to(INIT, CHILD); /* it could go on */
	put_int(CHILD + STATE, 2);
	put_int(CHILD + ON_RQ, 1);
	switch_to(CHILD, INIT); /* preempted on its way to sleep */
	put_int(CHILD + DELAYED, 1);
	switch_to(INIT, CHILD);
	switch_to(CHILD, INIT); /* asleep, and still on the run queue */
	boot_close();
	CHECK(switch_record(0).flags == 0 && switch_record(1).flags == 0 && switch_record(3).flags == SWITCH_SLEEPS);
}

static void test_wakes(void)
{
	struct profile_wake wake;
	char path[256];

	begin();
	hook(HOOK_FORK, CHILD, 0, 0);
	hook(HOOK_WAKE, CHILD, 3, 0); /* it is awake */
	put_int(CHILD + STATE, 2);
	hook(HOOK_WAKE, CHILD, 1, 0); /* it does not sleep that way */
	hook(HOOK_WAKE, CHILD, 3, 0);
	run(IRQ_STUBS, 0, 1);
	run(ASM_IRQ, 0, 1);
	hook(HOOK_WAKE, CHILD, 3, 0);
	boot_close();

	CHECK(profile_record(PROFILE_WAKE, 0, sizeof wake, &wake));
	CHECK(wake.wakee == 1 && wake.waker == 0 && wake.flags == 0);
	profile_node_path(wake.node, boot_names, BOOT_FUNCTIONS, path, sizeof path);
	CHECK(!strcmp(path, "swapper/0-0;start_kernel"));
	CHECK(profile_record(PROFILE_WAKE, 1, sizeof wake, &wake) && wake.flags == WAKE_IN_INTERRUPT);
	CHECK(!profile_record(PROFILE_WAKE, 2, sizeof wake, &wake));
}

/* A process's child has its user frames; a thread begins with none. */
static void test_fork_of_process(void)
{
	begin();
	leave(MARK_RETURN, 0);
	run(FORK, 0, 1);
	leave(MARK_EXCEPTION_RETURN, address_of(FORK, 0x10));
	run_user(0x401000, 1);
	leave(MARK_CALL, 0x401020);
	run_user(0x402000, 1);
	run(ENTRY_SYSCALL, 0, 1);
	hook(HOOK_FORK, CHILD, 0, 0);
	hook(HOOK_FORK, THREAD_TASK, 0, 0);
	CHECK(tasks_find(&boot.tasks, CHILD)->stack.depth == 3);
	CHECK(tasks_find(&boot.tasks, THREAD_TASK)->stack.depth == 0);
	switch_to(INIT, CHILD);
	leave(MARK_RETURN, 0);
	run(FORK, 0, 2);
	leave(MARK_EXCEPTION_RETURN, address_of(FORK, 0x10));
	run_user(0x402010, 1);
	leave(MARK_RETURN, 0);
	run_user(0x401020, 7);
	boot_close();

	check_account();
	check_spent("a b;c-5;[user];ret_from_fork", 2, 1);
	check_spent("a b;c-5;[user]", 8, 0);
	CHECK(last_counts().mismatched_returns == 0);
}

static void test_events(void)
{
	static const uint64_t device = SOMETHING, driver = SOMETHING + 0x100, queue = SOMETHING + 0x200, disk = SOMETHING + 0x300,
			      request = SOMETHING + 0x400, program = SOMETHING + 0x500, module = SOMETHING + 0x600,
			      text_at = SOMETHING + 0x700, filename = SOMETHING + 0x800, stack = SOMETHING + 0x900, words = SOMETHING + 0xa00;
	struct profile_call call;
	struct profile_event record;
	char text[256];

	begin();
	guest_put_word(device + 8, text_at);
	guest_put_word(device + 16, 0);
	guest_put_text(text_at, "Fixed MDIO\nbus.0");
	guest_put_word(driver, text_at + 64);
	guest_put_text(text_at + 64, "i8042 kbd");
	guest_put_word(request + 40, queue);
	guest_put_word(queue + 48, disk);
	guest_put_text(disk + 12, "vda");
	put_int(request + 32, 4096);
	put_int(request + 36, 0x101);
	guest_put_word(program + 96, text_at + 128);
	guest_put_text(text_at + 128, "/bin/a program");
	guest_put_text(module + 24, "ext4");
	hook(HOOK_DEFER, device, 0, 0);
	hook(HOOK_BLOCK_ISSUE, request, 0, 0);
	hook(HOOK_BLOCK_DONE, request, 0, 4096);
	hook(HOOK_EXEC, program, 0, 0);
	hook(HOOK_EXEC, 1, 0, 0); /* nothing is there */
	guest_put_word(program + 24, stack);
	guest_put_word(stack, 2);
	guest_put_word(stack + 8, words);
	guest_put_word(stack + 16, words + 64);
	guest_put_text(words, "a\tprogram");
	guest_put_text(words + 64, "its word");
	hook(HOOK_COMMAND, program, 0, 0);
	hook(HOOK_COMMAND, 1, 0, 0); /* nothing is there */
	hook(HOOK_EXIT, 0x100, 0, 0);
	guest_put_word(filename, text_at + 192);
	guest_put_text(text_at + 192, "/etc/a file");
	hook(HOOK_OPEN, 0, filename, 0);
	hook(HOOK_LOOKUP, 0, filename, 0);
	hook(HOOK_LOOKUP, 0, 0, 0);
	hook(HOOK_OPEN, 0, 1, 0); /* nothing is there */
	calls_from(START_KERNEL, 0x20);
	run(LEAF, 0, 9);
	hook(HOOK_PROBE, device, driver, 0);
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x20, 1);
	calls_from(START_KERNEL, 0x30);
	run(INITCALL, 0, 1);
	boot.image.slide_known = true;
	boot.image.slide = 0x200000;
	hook(HOOK_INITCALL, address_of(CON_INIT, 0) + 0x200000, 0, 0);
	run(LEAF, 0, 1); /* a tail call is part of it */
	leave(MARK_RETURN, 0);
	run(START_KERNEL, 0x30, 1);
	calls_from(START_KERNEL, 0x40);
	run(LEAF, 0, 1);
	hook(HOOK_MODULE, module, 0, 0);
	boot_close();

	CHECK(event(0, text).kind == EVENT_DEFER && !strcmp(text, "Fixed MDIO?bus.0"));
	record = event(1, text);
	CHECK(record.kind == EVENT_BLOCK_ISSUE && record.a == request && record.b == (4096 << 8 | 1) && !strcmp(text, "vda"));
	record = event(2, text);
	CHECK(record.kind == EVENT_BLOCK_DONE && record.a == request && record.b == 4096);
	CHECK(event(3, text).kind == EVENT_EXEC && !strcmp(text, "/bin/a program"));
	CHECK(event(4, text).kind == EVENT_EXEC && !strcmp(text, ""));
	CHECK(event(5, text).kind == EVENT_COMMAND && !strcmp(text, "a?program\tits word"));
	CHECK(event(6, text).kind == EVENT_EXIT && event(6, text).a == 0x100);
	CHECK(event(7, text).kind == EVENT_OPEN && !strcmp(text, "/etc/a file"));
	CHECK(event(8, text).kind == EVENT_LOOKUP && !strcmp(text, "/etc/a file"));
	CHECK(profile_text_record(PROFILE_CALL, 0, sizeof call, &call, text, sizeof text));
	CHECK(call.kind == CALL_PROBE && call.end_ns - call.start_ns == 9 && !strcmp(text, "Fixed MDIO?bus.0\ti8042 kbd"));
	CHECK(profile_text_record(PROFILE_CALL, 1, sizeof call, &call, text, sizeof text));
	CHECK(call.kind == CALL_INITCALL && call.argument == address_of(CON_INIT, 0) && call.end_ns - call.start_ns == 2);
	CHECK(profile_text_record(PROFILE_CALL, 2, sizeof call, &call, text, sizeof text));
	CHECK(call.kind == CALL_MODULE && call.flags == CALL_UNFINISHED && !strcmp(text, "ext4"));
}

/* A kernel that says nothing of its structs: tasks are told apart, and that is all. */
static void test_without_offsets(void)
{
	begin();
	for (unsigned i = 0; i < OFFSETS; i++)
		boot.offsets[i] = OFFSET_UNKNOWN;
	switch_to(INIT, CHILD);
	leave(MARK_RETURN, 0);
	run(FORK, 0, 3);
	boot_close();
	check_account();
	check_spent("task--1;ret_from_fork", 3, 1);
	CHECK(switch_record(0).flags == SWITCH_STATE_UNKNOWN);
}

/* 32-bit arm: __switch_to() is told where the threads' struct thread_infos are, which are in their tasks since Linux 5.16. */
static void test_switches_of_arm(void)
{
	enum { NARROW_INIT = 0xc1001000, NARROW_CHILD = 0xc1002000, OLD_INIT = 0xc1010000, OLD_CHILD = 0xc1020000, TASK = 12 };

	begin();
	boot_config.arch = ARCH_ARMV7;
	boot.guest.narrow = true;
	put_task(NARROW_INIT, "swapper", 0, 0, 0);
	put_task(NARROW_CHILD, "child", 7, 7, 0);
	put_int(OLD_INIT, 5);
	put_int(OLD_CHILD, 5);
	put_int(OLD_INIT + TASK, NARROW_INIT);
	put_int(OLD_CHILD + TASK, NARROW_CHILD);
	calls_from(START_KERNEL, 0x60);
	run(SWITCH, 0, 2);
	hook(HOOK_SWITCH, NARROW_INIT, NARROW_INIT, NARROW_CHILD);
	CHECK(boot.vcpus[0].task->pid == 7);
	hook(HOOK_SWITCH, NARROW_CHILD, OLD_CHILD, OLD_INIT);
	CHECK(boot.vcpus[0].task->pid == 0);
	/* Of T32 code. */
	hook(HOOK_INITCALL, address_of(CON_INIT, 1), 0, 0);
	boot_close();
	check_account();
}

int main(void)
{
	test_tasks();
	test_switches_of_arm();
	test_states();
	test_wakes();
	test_fork_of_process();
	test_events();
	test_without_offsets();
	puts("test_hooks: ok");
	return 0;
}
