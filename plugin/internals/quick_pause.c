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
	helper *own; /* QEMU's */
	helper *trap_step; /* what it does first: a debugger in the guest may want a trap behind each instruction */
	void (*leave_block)(void *cpu);
	int (*read_register)(void *cpu, GByteArray *bytes, int number);
	void *const *cpu; /* QEMU's `current_cpu` of the thread that runs the vCPU */
	GByteArray *bytes;
	uint64_t expected;
	int attempts;
	bool open, proven, expects, spares;
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

/* In the vCPU's thread. Like QEMU's, it never returns: both functions at its end jump back into QEMU's loop over blocks. */
static void go_on(void *env)
{
	bool spared = self.spares;

	self.spares = false;
	if (!self.cpu)
		symbol_find("current_cpu", &self.cpu);
	if (!self.proven && self.expects && self.attempts) {
		self.attempts--;
		self.proven = is_behind();
	}
	self.expects = false;
	if (spared || !self.proven)
		self.own(env);
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

void quick_pause_spare(void)
{
	self.spares = true;
}
