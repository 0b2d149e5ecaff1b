/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests when ours is used in the place of QEMU's helper for PAUSE: once a PAUSE has shown that QEMU goes on behind it. */
#include "internals/quick_pause.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "qemu_plugin_api.h"

typedef void helper(void *env);

/* A QEMU with its table of helpers, of which one or more of the words may be the one for PAUSE. */
static struct {
	uint64_t rip;
	int own, steps, left;
	bool tells_nothing, unwatched;
	jmp_buf loop;
} qemu;

struct {
	helper *words[4];
} helper_info_pause;
void *current_cpu = &qemu;

void helper_pause(void *env);
void helper_rechecking_single_step(void *env);
void cpu_loop_exit_noexc(void *cpu);
int gdb_read_register(void *cpu, GByteArray *bytes, int number);

/* QEMU's own leaves the loop over blocks, the other the block alone: to either there is no way back. */
void helper_pause(void *env)
{
	CHECK(env == &qemu.rip);
	qemu.own++;
	longjmp(qemu.loop, 1);
}

void helper_rechecking_single_step(void *env)
{
	CHECK(env == &qemu.rip);
	qemu.steps++;
}

void cpu_loop_exit_noexc(void *cpu)
{
	CHECK(cpu == current_cpu);
	qemu.left++;
	longjmp(qemu.loop, 1);
}

int gdb_read_register(void *cpu, GByteArray *bytes, int number)
{
	CHECK(cpu == current_cpu && number == 16);
	if (qemu.tells_nothing)
		return 0;
	g_byte_array_set_size(bytes, sizeof qemu.rip);
	memcpy(bytes->data, &qemu.rip, sizeof qemu.rip);
	return sizeof qemu.rip;
}

GByteArray *g_byte_array_new(void)
{
	static uint8_t data[64];
	static GByteArray array = { data, 0 };

	return &array;
}

GByteArray *g_byte_array_set_size(GByteArray *array, unsigned int length)
{
	CHECK(length <= 64);
	array->len = length;
	return array;
}

/* The guest executes a PAUSE that ends at `end`; QEMU goes on at `rip`. */
static void run(uint64_t end, uint64_t rip)
{
	memset(&qemu, 0, offsetof(__typeof__(qemu), tells_nothing));
	qemu.rip = rip;
	if (quick_pause_asks() && !qemu.unwatched)
		quick_pause_expect(end);
	if (!setjmp(qemu.loop))
		helper_info_pause.words[1](&qemu.rip);
}

static void test_what_is_refused(void)
{
	char message[128];

	CHECK(quick_pause_open(message, sizeof message) == -ENOTSUP && strstr(message, "0 times"));
	helper_info_pause.words[1] = helper_info_pause.words[3] = helper_pause;
	CHECK(quick_pause_open(message, sizeof message) == -ENOTSUP && strstr(message, "2 times"));
	CHECK(helper_info_pause.words[1] == helper_pause && !quick_pause_asks());
	helper_info_pause.words[3] = NULL;
	CHECK(quick_pause_open(message, sizeof message) == 0 && quick_pause_asks());
	CHECK(helper_info_pause.words[1] != helper_pause && !helper_info_pause.words[0] && !helper_info_pause.words[3]);
}

static void test_what_proves_it(void)
{
	run(0x100002, 0x100000); /* QEMU's helper would have stepped over the PAUSE itself */
	CHECK(qemu.own == 1 && !qemu.left && !qemu.steps && quick_pause_asks());
	qemu.tells_nothing = true;
	run(0x100002, 0x100002);
	CHECK(qemu.own == 1 && quick_pause_asks());
	qemu.tells_nothing = false;
	quick_pause_expect(0x100002);
	qemu.unwatched = true;
	run(0, 0x100000); /* what was expected is of this PAUSE alone */
	run(0, 0x100002);
	CHECK(qemu.own == 1 && quick_pause_asks());
	qemu.unwatched = false;
	run(0x100002, 0x100002);
	CHECK(!qemu.own && qemu.left == 1 && qemu.steps == 1 && !quick_pause_asks());
	run(0, 0x200002); /* nobody is asked again */
	CHECK(!qemu.own && qemu.left == 1 && qemu.steps == 1);
}

static void test_the_one_that_is_left_is_for_qemu(void)
{
	struct quick_pause_counts counts;

	quick_pause_leave_next();
	run(0, 0x200002);
	CHECK(qemu.own == 1 && !qemu.left);
	run(0, 0x200002);
	CHECK(!qemu.own && qemu.left == 1);
	counts = quick_pause_counts();
	CHECK(counts.ours == 3 && counts.qemus == 5);
}

int main(void)
{
	test_what_is_refused();
	test_what_proves_it();
	test_the_one_that_is_left_is_for_qemu();
	puts("test_quick_pause: ok");
	return 0;
}
