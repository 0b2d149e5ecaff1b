/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out by how much the kernel was moved, and turns its run-time addresses into link addresses. */
#include "code_map.h"

#include "config/config.h"

void kernel_image_enter(struct kernel_image *image, uint64_t link, uint64_t address, const void *host)
{
	image->entered = true;
	image->low_offset = address - link;
	image->host_known = host;
	image->host_offset = (uintptr_t)host - link;
}

void kernel_image_fix_slide(struct kernel_image *image, uint64_t slide)
{
	image->entered = true; /* even if its entry went unseen; no low address is its then */
	image->slide_known = true;
	image->slide_final = true;
	image->slide = slide;
}

bool kernel_image_link(struct kernel_image *image, uint64_t address, const void *host, uint64_t *ret)
{
	if (!image->entered)
		return false;
	if (!address_is_high(address)) {
		*ret = address - image->low_offset;
		/* A process may have its code at an address that is also the kernel's physical one. */
		return functions_span(&image->functions, *ret) &&
		       (host && image->host_known ? (uintptr_t)host - image->host_offset == *ret : !image->slide_final);
	}
	if (!image->slide_final && host && image->host_known) {
		*ret = (uintptr_t)host - image->host_offset;
		if (!functions_span(&image->functions, *ret))
			return false;
		image->slide_known = true;
		image->slide = address - *ret;
		return true;
	}
	if (!image->slide_known)
		return false;
	*ret = address - image->slide;
	return functions_span(&image->functions, *ret);
}

bool kernel_image_find(const struct kernel_image *image, uint64_t link, struct code_place *ret)
{
	if (!functions_find(&image->functions, link, &ret->function))
		return false;
	ret->address = link;
	ret->role = image->functions.roles[ret->function];
	ret->flags = CODE_KERNEL | (image->functions.addresses[ret->function] == link ? CODE_START : 0);
	return true;
}
