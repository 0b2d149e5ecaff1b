/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frees what was read of the config, and answers what the rest asks of it: names, addresses, whether code matches. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

/*
 * x86-64 KASLR moves by CONFIG_PHYSICAL_ALIGN, arm64 by MIN_KIMG_ALIGN, boot loaders align to either: all are 2 MiB. arm64's own
 * EFI stub puts its kernel at any 64 KiB (EFI_KIMG_ALIGN), and the virtual address keeps that.
 */
static uint64_t slide_granule = UINT64_C(2) << 20;

/* What a bootloader moves, it moves by whole pages (U-Boot, reserve_uboot()). */
static const uint64_t PAGE = UINT64_C(1) << 12;

/* One machine, one split of its addresses. */
static uint64_t high_start = ADDRESS_HALF;

static const char *const arch_names[] = { NULL, "x86_64", "aarch64", "armv7", "riscv64" };

const char *arch_name(enum arch arch)
{
	return arch_names[arch];
}

bool name_valid(const char *name, size_t size)
{
	if (size == 0 || size > TRACE_NAME_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return true;
}

void config_deinit(struct config *config)
{
	for (size_t i = 0; i < config->n_objects; i++)
		free(config->objects[i].path);
	free(config->objects);
	free(config->programs);
	free(config->offsets);
	free(config->hooks);
	free(config->functions);
	free(config->modelled_disks);
	free(config->timed_marks);
	free(config->past);
	for (size_t i = 0; i < config->n_screen_marks; i++)
		free(config->screen_marks[i].picture);
	free(config->screen_marks);
	for (size_t i = 0; i < config->n_screen_typings; i++)
		free(config->screen_typings[i].keys);
	free(config->screen_typings);
	free(config->prices);
	free(config->touch_prices);
	free(config->probes);
	*config = (struct config){ .arch = ARCH_NONE };
}

bool config_offset(const struct config *config, const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < config->n_offsets; i++)
		if (!strcmp(config->offsets[i].name, name)) {
			*ret = config->offsets[i].value;
			return true;
		}
	return false;
}

bool probe_repeats(const struct probe *probe)
{
	return probe->kind == PROBE_CALLS || probe->kind == PROBE_CHARGE;
}

bool config_prices(const struct config *config)
{
	return config->n_prices || config->n_touch_prices;
}

bool config_charges(const struct config *config)
{
	if (config_prices(config))
		return true;
	for (size_t i = 0; i < config->n_probes; i++)
		if (config->probes[i].kind == PROBE_CHARGE)
			return true;
	return false;
}

void address_slides(enum arch arch)
{
	slide_granule = arch == ARCH_AARCH64 ? UINT64_C(64) << 10 : UINT64_C(2) << 20;
}

void address_split(uint64_t kernel_start)
{
	high_start = kernel_start;
}

bool address_is_high(uint64_t address)
{
	return address >= high_start;
}

enum place probe_place(const struct probe *probe, uint64_t address, const uint64_t *slide)
{
	bool congruent = (address - probe->address) % slide_granule == 0;

	switch (probe->kind) {
	case PROBE_MARK:
	case PROBE_CALLS:
	case PROBE_CHARGE:
		if (slide)
			return address == probe->address + *slide ? PLACE_YES : PLACE_NO;
		return congruent && address_is_high(address) ? PLACE_IF_CODE : PLACE_NO;
	case PROBE_ENTRY:
		return congruent && !address_is_high(address) ? PLACE_IF_CODE : PLACE_NO;
	case PROBE_MOVED:
		return (address - probe->address) % PAGE == 0 && !address_is_high(address) ? PLACE_IF_CODE : PLACE_NO;
	case PROBE_IMAGE:
		return address == probe->address ? PLACE_IF_CODE : PLACE_NO;
	}
	return PLACE_NO;
}

bool code_matches(const struct code *code, const uint8_t *bytes, size_t size)
{
	if (size < code->size)
		return false;
	for (size_t i = 0; i < code->size; i++)
		if (!code->any[i] && code->bytes[i] != bytes[i])
			return false;
	return true;
}
