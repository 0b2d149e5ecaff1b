/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has QEMU draw its first screen, finds the image in its surface by trying, and copies it through pixman. */
#include "display.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "symbols.h"

enum {
	/* pixman.h: an interface that has been the same since its version 0.10. */
	PIXMAN_OP_SRC = 1,
	PIXMAN_X8R8G8B8 = 0x20020888,
	SIDE_MAX = 32767,
};

struct probe_functions {
	void *(*lookup)(unsigned index);
	bool (*is_graphic)(void *console);
	void *(*surface_new)(void *image);
	void (*surface_free)(void *surface);
};

static int fail(char *message, size_t message_size, const char *what)
{
	snprintf(message, message_size, "%s", what);
	return -ENOTSUP;
}

/* Of the surface's words the one that is the image. QEMU took its own reference to it. */
static size_t find_image(void *surface, void *image, size_t *ret)
{
	size_t found = 0;

	for (size_t at = 0; at + sizeof image <= malloc_usable_size(surface); at += sizeof image) {
		void *word;

		memcpy(&word, (char *)surface + at, sizeof word);
		if (word == image) {
			*ret = at;
			found++;
		}
	}
	return found;
}

static void *image_of(const struct display *display, void *surface)
{
	void *image;

	memcpy(&image, (char *)surface + display->image_at, sizeof image);
	return image;
}

static void copy_surface(const struct display *display, void *surface, uint32_t width, uint32_t height, uint32_t *ret)
{
	void *target = display->image_new(PIXMAN_X8R8G8B8, (int)width, (int)height, ret, (int)(width * sizeof *ret));

	display->compose(PIXMAN_OP_SRC, image_of(display, surface), NULL, target, 0, 0, 0, 0, 0, 0, (uint16_t)width, (uint16_t)height);
	display->image_unref(target);
	/* What is in the byte that no colour has is nobody's promise. */
	for (size_t i = 0; i < (size_t)width * height; i++)
		ret[i] &= 0xffffff;
}

static int prove(struct display *display, const struct probe_functions *probe, char *message, size_t message_size)
{
	uint32_t made[6] = { 0x010203, 0xffffff, 0x800000, 0, 0x00ff00, 0x0000fe }, read[6] = { 0 };
	void *image = display->image_new(PIXMAN_X8R8G8B8, 3, 2, made, 3 * sizeof *made), *surface;
	size_t found;

	if (!image)
		return fail(message, message_size, "pixman makes no image");
	surface = probe->surface_new(image);
	found = surface ? find_image(surface, image, &display->image_at) : 0;
	if (found == 1)
		copy_surface(display, surface, 3, 2, read);
	if (surface)
		probe->surface_free(surface);
	display->image_unref(image);
	if (found != 1)
		return fail(message, message_size, "the image of a surface is not in exactly one of its words");
	if (memcmp(made, read, sizeof made))
		return fail(message, message_size, "a picture is not read as it was made");
	return 0;
}

int display_open(char *message, size_t message_size, struct display *ret)
{
	struct display display = { .image_at = 0 };
	struct probe_functions probe;
	struct qemu_lock lock;
	const struct wanted_symbol wanted[] = {
		{ "graphic_hw_update", &display.update },
		{ "qemu_console_surface", &display.surface },
		{ "qemu_console_lookup_by_index", &probe.lookup },
		{ "qemu_console_is_graphic", &probe.is_graphic },
		{ "qemu_create_displaysurface_pixman", &probe.surface_new },
		{ "qemu_free_displaysurface", &probe.surface_free },
		{ "pixman_image_create_bits", &display.image_new },
		{ "pixman_image_unref", &display.image_unref },
		{ "pixman_image_get_width", &display.width },
		{ "pixman_image_get_height", &display.height },
		{ "pixman_image_composite", &display.compose },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);

	if (!r)
		r = lock_open(message, message_size, &lock);
	if (r)
		return r;
	lock_take(&lock);
	display.console = probe.lookup(0);
	if (!display.console || !probe.is_graphic(display.console))
		r = fail(message, message_size, "this machine has no screen: machine.devices = [\"VGA\"] gives it one");
	else
		r = prove(&display, &probe, message, message_size);
	lock_give(&lock);
	if (!r)
		*ret = display;
	return r;
}

void display_update(const struct display *display, uint32_t *ret_width, uint32_t *ret_height)
{
	void *surface, *image;
	int width = 0, height = 0;

	display->update(display->console);
	surface = display->surface(display->console);
	image = surface ? image_of(display, surface) : NULL;
	if (image) {
		width = display->width(image);
		height = display->height(image);
	}
	if (width <= 0 || height <= 0 || width > SIDE_MAX || height > SIDE_MAX)
		width = height = 0;
	*ret_width = (uint32_t)width;
	*ret_height = (uint32_t)height;
}

void display_copy(const struct display *display, uint32_t width, uint32_t height, uint32_t *ret)
{
	copy_surface(display, display->surface(display->console), width, height, ret);
}
