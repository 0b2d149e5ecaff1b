/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks QEMU itself for the clock, the vCPU and the way to stop, which its plugin interface does not give. */
#define _GNU_SOURCE
#include "machine.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "internals/symbols.h"

/* QEMU's ICountMode and ShutdownCause. */
enum { ICOUNT_DISABLED = 0, ICOUNT_PRECISE = 1 };
enum { SHUTDOWN_CAUSE_HOST_QMP_QUIT = 2 };

static int64_t host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int find_virtual_clock(int icount_mode, char *message, size_t message_size, struct machine *machine)
{
	int64_t instruction_ns;

	if (icount_mode != ICOUNT_PRECISE) {
		snprintf(message, message_size, "-icount shift=auto does not repeat; give a number, e.g. -icount shift=0,sleep=off");
		return -ENOTSUP;
	}
	symbol_find("icount_get", &machine->icount_get);
	symbol_find("icount_get_raw", &machine->icount_get_raw);
	symbol_find("icount_to_ns", &machine->icount_to_ns);
	if (!machine->icount_get || !machine->icount_get_raw || !machine->icount_to_ns) {
		snprintf(message, message_size,
			 "-icount is on, but this QEMU does not export icount_get, icount_get_raw and icount_to_ns; "
			 "use a QEMU built with modules, as Debian's is, or leave -icount out");
		return -ENOTSUP;
	}
	instruction_ns = machine->icount_to_ns(1);
	for (machine->shift = 0; INT64_C(1) << machine->shift < instruction_ns; machine->shift++)
		;
	return 0;
}

int machine_open(char *message, size_t message_size, struct machine *ret)
{
	struct machine machine = { .shift = -1 };
	const int *icount_mode = dlsym(RTLD_DEFAULT, "use_icount");

	symbol_find("qemu_system_shutdown_request", &machine.shutdown_request);
	symbol_find("qemu_get_cpu", &machine.get_cpu);
	symbol_find("cpu_pause", &machine.cpu_pause);
	symbol_find("qmp_stop", &machine.qmp_stop);
	symbol_find("runstate_is_running", &machine.is_running);
	if (icount_mode && *icount_mode != ICOUNT_DISABLED) {
		int r = find_virtual_clock(*icount_mode, message, message_size, &machine);

		if (r)
			return r;
	}
	*ret = machine;
	return 0;
}

void machine_start(struct machine *machine)
{
	machine->host_start_ns = host_ns();
}

struct stamp machine_now(const struct machine *machine, size_t charged)
{
	if (machine->shift < 0)
		return (struct stamp){ .t_ns = host_ns() - machine->host_start_ns, .instructions = -1 };
	return (struct stamp){
		.t_ns = machine->icount_get() - machine->icount_to_ns((int64_t)charged) - machine->skipped_ns,
		.instructions = machine->icount_get_raw() - (int64_t)charged,
		.charged_ns = machine->charged_ns,
	};
}

unsigned machine_vcpu(struct machine *machine)
{
	void *cpu;

	if (!machine->current_cpu)
		machine->current_cpu = dlsym(RTLD_DEFAULT, "current_cpu"); /* thread-local: this thread's */
	cpu = *machine->current_cpu;
	if (cpu != machine->latest_cpu) {
		machine->latest_cpu = cpu;
		machine->latest_vcpu = 0;
		while (machine->get_cpu((int)machine->latest_vcpu) != cpu)
			machine->latest_vcpu++;
	}
	return machine->latest_vcpu;
}

bool machine_tells_vcpus(const struct machine *machine)
{
	return machine->get_cpu && dlsym(RTLD_DEFAULT, "current_cpu");
}

void machine_pause(const struct machine *machine)
{
	const struct timespec moment = { .tv_nsec = 50000 };

	/*
	 * On a vCPU's thread this asks QEMU's main thread, and has this vCPU end its work at its next block. In between the main
	 * thread would find no vCPU at work in a machine that runs, and have the virtual clock jump to the next timer. So the vCPU
	 * waits here, at work, until the machine is said to stand still.
	 */
	machine->qmp_stop(NULL);
	while (machine->is_running())
		nanosleep(&moment, NULL);
}

void machine_stop(const struct machine *machine)
{
	/*
	 * The request only wakes QEMU's main thread, and how far the guest gets until that has stopped it depends on the host:
	 * the console would differ between two runs. Pausing the vCPUs here ends each of them at its next block.
	 */
	if (machine->get_cpu && machine->cpu_pause) {
		void *cpu;

		for (int i = 0; (cpu = machine->get_cpu(i)); i++)
			machine->cpu_pause(cpu);
	}
	machine->shutdown_request(SHUTDOWN_CAUSE_HOST_QMP_QUIT);
}
