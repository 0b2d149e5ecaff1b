/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "places.h"

/* arm64: exception vectors are 16 slots of 128 bytes. */
enum { AARCH64_VECTOR_SIZE = 128 };

static bool is_firmware(const struct config *config, uint64_t address)
{
	return config->arch == ARCH_X86_64 && ((address >= 0xc0000 && address < 0x100000) || address >= 0xff000000);
}

static void find_stage(struct profile *profile, uint64_t address, struct code_place *ret)
{
	/* Once the kernel runs it is another vCPU's way to it, unless that one still waits in the firmware. */
	enum stage_kind kind = profile->image.entered ? STAGE_STARTUP : profile->stage;

	stages_find(&profile->stages, is_firmware(profile->config, address) ? STAGE_FIRMWARE : kind, address, ret);
}

void place_find(struct profile *profile, const struct vcpu *vcpu, uint64_t address, const void *host, struct code_place *ret)
{
	uint64_t link;

	*ret = (struct code_place){ .address = address };
	if (kernel_image_link(&profile->image, address, host, &link)) {
		if (kernel_image_find(&profile->image, link, ret))
			return;
		ret->address = link;
	} else if (!address_is_high(address)) {
		if (!profile->image.entered || vcpu->task == &vcpu->stage)
			return find_stage(profile, address, ret);
		if (address_spaces_find(&profile->spaces, vcpu->task->address, address, ret))
			return;
		*ret = (struct code_place){
			.function = profile->function_user, .address = address, .flags = CODE_ANONYMOUS | CODE_INEXACT
		};
		return;
	} else if (modules_find(&profile->modules, address, ret)) {
		return;
	}
	ret->function = profile->function_kernel;
	ret->flags = CODE_KERNEL;
}

bool place_enters(const struct config *config, const struct code_place *place)
{
	if (place->role == ROLE_ENTRY)
		return place->flags & CODE_START;
	/* x86: each stub is one block. */
	return place->role == ROLE_STUBS && (config->arch == ARCH_X86_64 || place->address % AARCH64_VECTOR_SIZE == 0);
}

uint64_t place_mark(const struct profile *profile, const struct code_place *place, const uint8_t *code, size_t size,
		    uint64_t next)
{
	bool x86 = profile->config->arch == ARCH_X86_64;
	struct flow_target target;
	enum flow flow = x86 ? x86_flow(code, size, &target) : aarch64_flow(code, size, &target);
	struct code_place to = { .role = ROLE_PLAIN };

	if (target.known && place->flags & CODE_KERNEL)
		kernel_image_find(&profile->image, next + (uint64_t)target.offset, &to);
	switch (flow) {
	case FLOW_CALL:
		return mark_make(to.role == ROLE_THUNK || !target.known ? MARK_CALL_INDIRECT : MARK_CALL, next);
	case FLOW_INTERRUPT:
		return place->flags & CODE_STAGE ? mark_make(MARK_CALL, next) : 0;
	case FLOW_RETURN:
		return mark_make(place->role == ROLE_TRAMPOLINE ? MARK_RETURN_MAYBE : MARK_RETURN, 0);
	case FLOW_JUMP:
		return to.role == ROLE_RETURN ? mark_make(MARK_RETURN, 0) : 0;
	case FLOW_EXCEPTION_RETURN:
		return mark_make(MARK_EXCEPTION_RETURN, next);
	case FLOW_HALT:
		return mark_make(MARK_HALT, 0);
	default:
		return 0;
	}
}
