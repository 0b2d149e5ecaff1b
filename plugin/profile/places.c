/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the kernel's, the modules', the processes' and the stages' tables whose code an address is. */
#include "places.h"

/* arm64: exception vectors are 16 slots of 128 bytes. arm: 8 of an instruction, where the kernel has asked for them. */
enum { AARCH64_VECTOR_SIZE = 128, ARM_VECTOR_SIZE = 4, ARM_VECTORS = 8 };

enum { PAGE = 4096 };

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

	if (vcpu->in_firmware)
		return stages_find(&profile->stages, profile->beneath, address, ret);
	*ret = (struct code_place){ .address = address };
	/* The vectors are a page of their own, which no other code of the image is near. */
	if (functions_has_vectors(&profile->image.functions) && address >= FUNCTIONS_VECTORS &&
	    kernel_image_find(&profile->image, address, ret))
		return;
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
	if (place->role != ROLE_STUBS)
		return false;
	switch (config->arch) {
	case ARCH_X86_64:
		return true; /* each stub is one block */
	case ARCH_ARMV7:
		return place->address % ARM_VECTOR_SIZE == 0 &&
		       (place->address - FUNCTIONS_VECTORS) / ARM_VECTOR_SIZE < ARM_VECTORS;
	default:
		return place->address % AARCH64_VECTOR_SIZE == 0;
	}
}

static enum flow flow_of(enum arch arch, const struct instruction *instruction, struct flow_target *ret)
{
	switch (arch) {
	case ARCH_X86_64:
		return x86_flow(instruction->code, instruction->size, ret);
	case ARCH_ARMV7:
		return arm_flow(instruction->code, instruction->size, instruction->thumb, ret);
	case ARCH_RISCV64:
		return riscv_flow(instruction->code, instruction->size, ret);
	default:
		return aarch64_flow(instruction->code, instruction->size, ret);
	}
}

/* The return address that the code in front of an instruction has made for it, in terms of its place's; false: none. */
static bool find_link(const struct profile *profile, const struct instruction *instruction, uint64_t *ret)
{
	uint8_t before[ARM_LINK_WITHIN];
	uint64_t address = instruction->address, in_page = address % PAGE;
	size_t size = sizeof before;

	if (!profile->guest.read(address - size, before, size)) {
		size = in_page < sizeof before ? in_page : 0;
		if (!size || !profile->guest.read(address - size, before, size))
			return false;
	}
	return arm_link(before, size, instruction->thumb, instruction->next - instruction->size, ret);
}

static uint64_t mark_of_jump(const struct profile *profile, const struct code_place *place, const struct instruction *instruction)
{
	uint64_t link;

	if (find_link(profile, instruction, &link))
		return mark_make(MARK_CALL_LINKED, link);
	/* Of code whose addresses are not exact, a function's start may look like the place of a return. */
	return place->flags & CODE_INEXACT ? 0 : mark_make(MARK_RETURN_MAYBE, instruction->next);
}

uint64_t place_mark(const struct profile *profile, const struct code_place *place, const struct instruction *instruction)
{
	uint64_t next = instruction->next, link;
	bool arm = profile->config->arch == ARCH_ARMV7;
	struct flow_target target;
	enum flow flow = flow_of(profile->config->arch, instruction, &target);
	struct code_place to = { .role = ROLE_PLAIN };

	if (target.known && place->flags & CODE_KERNEL)
		kernel_image_find(&profile->image, next + (uint64_t)target.offset, &to);
	switch (flow) {
	case FLOW_CALL:
		return mark_make(to.role == ROLE_THUNK || !target.known ? MARK_CALL_INDIRECT : MARK_CALL, next);
	case FLOW_CALL_PAIR:
		return mark_make(MARK_CALL, next);
	case FLOW_INTERRUPT:
		return place->flags & CODE_STAGE ? mark_make(MARK_CALL, next) : 0;
	case FLOW_RETURN:
		return mark_make(place->role == ROLE_TRAMPOLINE ? MARK_RETURN_MAYBE : MARK_RETURN, arm ? next : 0);
	case FLOW_JUMP:
		/* arm's system call entry jumps to those that are in no table as it calls the others. */
		if (arm && place->role == ROLE_ENTRY && find_link(profile, instruction, &link))
			return mark_make(MARK_CALL_LINKED, link);
		return to.role == ROLE_RETURN ? mark_make(MARK_RETURN, 0) : 0;
	case FLOW_JUMP_INDIRECT:
		return mark_of_jump(profile, place, instruction);
	case FLOW_EXCEPTION_RETURN:
		/* arm's vectors change the mode that way, and go on to the entry. */
		return arm && place->role == ROLE_STUBS ? 0 : mark_make(MARK_EXCEPTION_RETURN, next);
	case FLOW_HALT:
		return mark_make(MARK_HALT, 0);
	default:
		return 0;
	}
}
