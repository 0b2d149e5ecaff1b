/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts a callback behind each store that may ring a device's doorbell, and waits there for the device. */
#include "doorbells.h"

#include <stdio.h>

#include "code/instructions.h"
#include "internals/code_page.h"
#include "modelled_disks.h"
#include "network/wire.h"
#include "recording.h"

void doorbells_open(void)
{
	char message[512], why[256];
	int r = 0;

	if (!recording.config.exact_disks)
		return;
	if (recording.machine.shift < 0)
		snprintf(message, sizeof message, "needs the virtual clock, -icount shift=0,sleep=off");
	else if (!block_io_open(message, sizeof message, &recording.disks))
		recording.disks_exact = recording.devices_settle = true;
	if (recording.disks_exact)
		r = disk_counts_open(&recording.disks.lock, why, sizeof why, &recording.reads.counts);
	pthread_mutex_lock(&recording.lock);
	if (recording.disks_exact)
		writer_exact(&recording.writer, "disks");
	else
		writer_refused(&recording.writer, "disks", message);
	if (r)
		writer_refused(&recording.writer, "reads", why);
	pthread_mutex_unlock(&recording.lock);
	if (recording.disks_exact)
		modelled_disks_open();
	if (!recording.disks_exact || !block_io_find_inexact(&recording.disks, modelled_disks_has, message, sizeof message))
		return;
	pthread_mutex_lock(&recording.lock);
	writer_refused(&recording.writer, "device", message);
	pthread_mutex_unlock(&recording.lock);
}

/*
 * Where QEMU's virt (arm64) has PCI's configuration space. A store to it may change the map of memory, as a device's registers are
 * switched off to be sized, and QEMU 10.0.2 ends in iotlb_to_section() when it is asked behind one where it went: it looks for the
 * old place in the new map. No device has a doorbell there. Other machines are told of it through ports.
 */
static const uint64_t VIRT_PCI_CONFIG = UINT64_C(0x4010000000), VIRT_PCI_CONFIG_SIZE = UINT64_C(256) << 20;

static struct {
	bool asked, known;
	struct code_pages pages;
} physical;

/* The first device that firmware writes to has its own address. A kernel without one finds devices switched off, and leaves them so. */
static bool is_pci_config(uint64_t address)
{
	char message[256];
	uint64_t page;

	if (recording.config.arch != ARCH_AARCH64)
		return false;
	if (!physical.asked) {
		physical.asked = true;
		physical.known = !code_pages_open(address, message, sizeof message, &physical.pages);
	}
	return physical.known && code_page_find(&physical.pages, address, &page) && page - VIRT_PCI_CONFIG < VIRT_PCI_CONFIG_SIZE;
}

static void on_store(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
	const struct qemu_plugin_hwaddr *at;
	const char *region;
	bool is_card, waited, rings;

	(void)vcpu;
	(void)userdata;
	if (is_pci_config(address))
		return;
	at = qemu_plugin_get_hwaddr(info, address);
	if (!at || !qemu_plugin_hwaddr_is_io(at))
		return;
	region = qemu_plugin_hwaddr_device_name(at);
	waited = modelled_disks_stored(region, address);
	is_card = network_rings(region, address);
	rings = recording.disks_exact && block_io_rings(region, address);
	recording.disk_requests += rings;
	if (is_card || (!waited && rings))
		block_io_settle(&recording.disks);
	if (is_card)
		network_rung();
}

/*
 * Under -icount a device's register is written by the last instruction of a block: where that is not so, QEMU translates the
 * block again and ends it there (cpu_io_recompile()). Two other kinds of store end blocks, and ring no bell: a call's, of its return
 * address, and each turn of a repeated one, which clears or copies a page.
 */
void doorbells_watch(struct qemu_plugin_tb *tb, size_t n_insns)
{
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n_insns - 1);
	uint8_t code[16];

	if (!recording.devices_settle)
		return;
	if (recording.config.arch == ARCH_X86_64 && x86_stores_memory(code, qemu_plugin_insn_data(last, code, sizeof code)))
		return;
	qemu_plugin_register_vcpu_mem_cb(last, on_store, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, NULL);
}
