/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts a function of ours in the place of QEMU's helper for PAUSE, and uses it once it is proved that QEMU does the rest. */
#include "quick_pause.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "qemu_plugin_api.h"
#include "symbols.h"

typedef void helper(void *env);

enum {
	RIP = 16, /* the number that GDB's protocol has for it on x86-64 */
	ATTEMPTS = 64,
};

static struct {
	helper *own;	   /* QEMU's: it leaves the loop over blocks */
	helper *trap_step; /* a debugger in the guest may want a trap behind each instruction: then it leaves the block */
	void (*leave_block)(void *cpu);
	int (*read_register)(void *cpu, GByteArray *bytes, int number);
	void *const *cpu; /* QEMU's `current_cpu` of the thread that runs the vCPU */
	GByteArray *bytes;
	uint64_t expected;
	int attempts;
	bool open, proven, expects, leaves_next;
	struct quick_pause_counts counts;
} self;

/* Whether the vCPU is to go on behind the PAUSE, and not at it: a helper that had to see to that itself would not do. */
static bool is_behind(void)
{
	uint64_t rip = 0;

	g_byte_array_set_size(self.bytes, 0);
	if (self.read_register(*self.cpu, self.bytes, RIP) != (int)sizeof rip || self.bytes->len != sizeof rip)
		return false;
	memcpy(&rip, self.bytes->data, sizeof rip);
	return rip == self.expected;
}

/* In the vCPU's thread. It never returns, nor does QEMU's. */
static void go_on(void *env)
{
	bool left = self.leaves_next;

	self.leaves_next = false;
	/* Each thread has its own, and this is the one that counts. */
	if (!self.cpu)
		symbol_find("current_cpu", &self.cpu);
	if (!self.proven && self.expects && self.attempts) {
		self.proven = is_behind();
		if (!self.proven && !--self.attempts)
			fputs("bootlab-plugin: spin loops take this host longer than they need: no PAUSE was seen to end\n", stderr);
	}
	self.expects = false;
	if (left || !self.proven) {
		self.counts.qemus++;
		self.own(env);
	}
	self.counts.ours++;
	self.trap_step(env);
	self.leave_block(*self.cpu);
}

int quick_pause_open(char *message, size_t message_size)
{
	helper *ours = go_on;
	char *info, *place = NULL;
	void *const *cpu;
	const struct wanted_symbol wanted[] = {
		{ "helper_info_pause", &info },
		{ "helper_pause", &self.own },
		{ "helper_rechecking_single_step", &self.trap_step },
		{ "cpu_loop_exit_noexc", &self.leave_block },
		{ "gdb_read_register", &self.read_register },
		{ "current_cpu", &cpu },
	};
	int found = 0, r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);

	if (r)
		return r;
	for (size_t i = 0; i + sizeof ours <= symbol_size(info); i += sizeof ours)
		if (!memcmp(info + i, &self.own, sizeof ours)) {
			place = info + i;
			found++;
		}
	if (found != 1) {
		snprintf(message, message_size, "helper_info_pause names helper_pause %d times, not once", found);
		return -ENOTSUP;
	}
	memcpy(place, &ours, sizeof ours);
	self.bytes = g_byte_array_new();
	self.attempts = ATTEMPTS;
	/* A machine that was kept may go on anywhere. */
	self.leaves_next = true;
	self.open = true;
	return 0;
}

bool quick_pause_asks(void)
{
	return self.open && !self.proven && self.attempts;
}

void quick_pause_expect(uint64_t address)
{
	self.expected = address;
	self.expects = true;
}

void quick_pause_leave_next(void)
{
	self.leaves_next = true;
}

struct quick_pause_counts quick_pause_counts(void)
{
	return self.counts;
}
