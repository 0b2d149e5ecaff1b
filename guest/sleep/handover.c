/* SPDX-License-Identifier: MIT */
/* Finds a place in memory for each part of another kernel, and writes down what that one is told. */
#ifdef __x86_64__
#include "handover.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { HEADER_AT = 0x1f1, HEADER_END_AT = 0x201, SECTOR = 512, OLD_SETUP = 4, BOOT_FLAG = 0xaa55, MAGIC = 0x53726448, VERSION = 0x20c };
enum { ENTRY_64 = 0x200, NO_LOADER = 0xff, RAM = 1, SEED_TYPE = 9, SEED_AT = 2048 };
enum { PARAMS_AT = HANDOVER_PAGE, LINE_AT = 2 * HANDOVER_PAGE, LOWEST = 0x100000 };

static const uint64_t NO_LIMIT = UINT64_C(1) << 32;

/*
 * The kernel that ran enters this with interrupts off, memory mapped one to one, and every register zero. The segments, the stack
 * and RSI are as the protocol wants them. It is copied to the beginning of a page, whose end is the stack.
 */
__asm__(".pushsection .rodata\n"
	"stub:\n"
	"	lea stub_segments(%rip), %rax\n"
	"	mov %rax, stub_segments_base(%rip)\n"
	"	lgdt stub_segments_limit(%rip)\n"
	"	lea stub+4096(%rip), %rsp\n"
	"	mov $0x18, %eax\n"
	"	mov %eax, %ds\n"
	"	mov %eax, %es\n"
	"	mov %eax, %ss\n"
	"	pushq $0x10\n"
	"	lea stub_code(%rip), %rax\n"
	"	push %rax\n"
	"	lretq\n"
	"stub_code:\n"
	"	mov stub_params(%rip), %rsi\n"
	"	jmp *stub_kernel(%rip)\n"
	"	.balign 8\n"
	"stub_params: .quad 0\n"
	"stub_kernel: .quad 0\n"
	/* As __BOOT_CS and __BOOT_DS: flat, 64-bit code, data. */
	"stub_segments: .quad 0, 0, 0x00af9a000000ffff, 0x00cf92000000ffff\n"
	"stub_segments_limit: .word 31\n"
	"stub_segments_base: .quad 0\n"
	"stub_end:\n"
	".popsection\n");

extern const char stub[], stub_params[], stub_kernel[], stub_end[];

/* As struct setup_data. */
struct seed_node {
	uint64_t next;
	uint32_t type, size;
	char bytes[HANDOVER_SEED];
};

static uint64_t round_up(uint64_t n, uint64_t step)
{
	return (n + step - 1) / step * step;
}

/* Where the first of what lies amid a span begins, be it no RAM by the map or another part; `end`: nothing does. */
static uint64_t begin_of_taken(const struct boot_params *own, const struct handover *plan, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < own->e820_entries; i++) {
		const struct boot_e820_entry *entry = &own->e820_table[i];

		if (entry->type != RAM && entry->addr < end && entry->addr + entry->size > begin)
			return entry->addr;
	}
	for (size_t i = 0; i < plan->n; i++)
		if (plan->parts[i].at < end && plan->parts[i].at + plan->parts[i].room > begin)
			return plan->parts[i].at;
	return end;
}

static uint64_t round_down(uint64_t n, uint64_t step)
{
	return n / step * step;
}

/*
 * The highest place in RAM from `lowest` on and below `limit`; false: there is none. The highest, for the kernel hands out its pages
 * from below: it looks at all that it has loaded before it takes one that lies where something is to be (kimage_alloc_page()).
 */
static bool place(const struct boot_params *own, struct handover *plan, struct slice bytes, uint64_t room, uint64_t lowest, uint64_t limit,
		  uint64_t step)
{
	uint64_t best = 0;

	for (size_t i = 0; i < own->e820_entries; i++) {
		const struct boot_e820_entry *ram = &own->e820_table[i];
		uint64_t from = ram->addr > lowest ? ram->addr : lowest, end = ram->addr + ram->size;

		if (ram->type != RAM)
			continue;
		end = end < limit ? end : limit;
		while (end >= room && end - room >= from) {
			uint64_t at = round_down(end - room, step), taken = begin_of_taken(own, plan, at, at + room);

			if (at < from)
				break;
			if (taken == at + room) {
				best = at > best ? at : best;
				break;
			}
			end = taken;
		}
	}
	if (!best)
		return false;
	plan->parts[plan->n++] = (struct part){ bytes, best, room };
	return true;
}

/* Where its 64-bit part begins in the file; 0: it is none that can be entered so. */
static size_t read_header(struct slice kernel, struct setup_header *ret)
{
	const unsigned char *bytes = (const unsigned char *)kernel.at;
	size_t size, setup;

	memset(ret, 0, sizeof *ret);
	if (kernel.size < HANDOVER_PAGE)
		return 0;
	/* An older or a newer kernel's header is shorter or longer than the one that this knows. */
	size = HEADER_END_AT + 1 + bytes[HEADER_END_AT] - HEADER_AT;
	memcpy(ret, bytes + HEADER_AT, size < sizeof *ret ? size : sizeof *ret);
	if (ret->boot_flag != BOOT_FLAG || ret->header != MAGIC || ret->version < VERSION || !(ret->xloadflags & XLF_KERNEL_64))
		return 0;
	setup = ((ret->setup_sects ? ret->setup_sects : OLD_SETUP) + 1) * SECTOR;
	return setup < kernel.size && ret->kernel_alignment ? setup : 0;
}

/* As the kernel does for one that it enters itself (arch/x86/kernel/kexec-bzimage64.c). */
static void tell_machine(const struct boot_params *own, struct boot_params *ret)
{
	ret->screen_info = own->screen_info;
	ret->screen_info.ext_mem_k = 0;
	ret->acpi_rsdp_addr = own->acpi_rsdp_addr;
	ret->e820_entries = own->e820_entries;
	memcpy(ret->e820_table, own->e820_table, sizeof ret->e820_table);
	ret->eddbuf_entries = own->eddbuf_entries;
	ret->edd_mbr_sig_buf_entries = own->edd_mbr_sig_buf_entries;
	memcpy(ret->edd_mbr_sig_buffer, own->edd_mbr_sig_buffer, sizeof ret->edd_mbr_sig_buffer);
	memcpy(ret->eddbuf, own->eddbuf, sizeof ret->eddbuf);
}

static uint64_t tell_seed(struct slice seed, uint64_t told, char *ret)
{
	struct seed_node node = { .type = SEED_TYPE, .size = HANDOVER_SEED };

	if (seed.size != HANDOVER_SEED)
		return 0;
	memcpy(node.bytes, seed.at, HANDOVER_SEED);
	memcpy(ret + SEED_AT, &node, sizeof node);
	return told + SEED_AT;
}

int handover_plan(struct slice kernel, struct slice archive, const char *command_line, const struct boot_params *own, struct slice seed,
		  struct handover *ret)
{
	const struct slice told = { ret->told, sizeof ret->told };
	struct boot_params *params = (struct boot_params *)(ret->told + PARAMS_AT);
	struct setup_header header;
	size_t setup = read_header(kernel, &header);
	uint64_t room, at, first;

	memset(ret, 0, sizeof *ret);
	if (!setup)
		return -ENOEXEC;
	if (strlen(command_line) > header.cmdline_size || strlen(command_line) >= HANDOVER_PAGE)
		return -E2BIG;
	kernel.at += setup;
	kernel.size -= setup;
	/* It unpacks itself where it lies, or in another place in RAM, in `init_size` bytes; never below its preferred address. */
	room = round_up(kernel.size > header.init_size ? kernel.size : header.init_size, HANDOVER_PAGE);
	if (!place(own, ret, kernel, room, header.pref_address, header.relocatable_kernel ? NO_LIMIT : header.pref_address + room,
		   round_up(header.kernel_alignment, HANDOVER_PAGE)))
		return -ENOSPC;
	if (!place(own, ret, told, sizeof ret->told, LOWEST, NO_LIMIT, HANDOVER_PAGE))
		return -ENOSPC;
	at = ret->parts[1].at;
	room = round_up(archive.size, HANDOVER_PAGE);
	if (room && !place(own, ret, archive, room, LOWEST, (uint64_t)header.initrd_addr_max + 1, HANDOVER_PAGE))
		return -ENOSPC;
	tell_machine(own, params);
	header.type_of_loader = NO_LOADER;
	header.cmd_line_ptr = (uint32_t)(at + LINE_AT);
	header.ramdisk_image = archive.size ? (uint32_t)ret->parts[2].at : 0;
	header.ramdisk_size = (uint32_t)archive.size;
	header.setup_data = tell_seed(seed, at, ret->told);
	params->hdr = header;
	strcpy(ret->told + LINE_AT, command_line);
	at += PARAMS_AT;
	first = ret->parts[0].at + ENTRY_64;
	memcpy(ret->told, stub, (size_t)(stub_end - stub));
	memcpy(ret->told + (stub_params - stub), &at, sizeof at);
	memcpy(ret->told + (stub_kernel - stub), &first, sizeof first);
	ret->entry = ret->parts[1].at;
	return 0;
}
#endif
