/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that the image of a surface is found by trying, that a picture is read, and what is refused, on functions of our own. */
#include "internals/display.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct image {
	int format, width, height, stride;
	uint32_t *bits;
	int references;
};

/* As QEMU's is: the image is somewhere in it. */
struct surface {
	void *other;
	struct image *image, *again;
};

static struct {
	bool held, has_no_screen, is_text, has_twice, swaps;
	int updates;
	struct surface shown;
} qemu;

static char console;

void bql_lock_impl(const char *file, int line);
void bql_unlock(void);
bool bql_locked(void);
void *qemu_console_lookup_by_index(unsigned index);
bool qemu_console_is_graphic(void *of);
void graphic_hw_update(void *of);
void *qemu_console_surface(void *of);
void *qemu_create_displaysurface_pixman(void *image);
void qemu_free_displaysurface(void *surface);
void *pixman_image_create_bits(int format, int width, int height, uint32_t *bits, int stride);
int pixman_image_unref(void *image);
int pixman_image_get_width(void *image);
int pixman_image_get_height(void *image);
void pixman_image_composite(int operation, void *source, void *mask, void *target, int16_t source_x, int16_t source_y, int16_t mask_x,
			    int16_t mask_y, int16_t target_x, int16_t target_y, uint16_t width, uint16_t height);

void bql_lock_impl(const char *file, int line)
{
	(void)file;
	(void)line;
	qemu.held = true;
}

void bql_unlock(void)
{
	qemu.held = false;
}

bool bql_locked(void)
{
	return qemu.held;
}

void *qemu_console_lookup_by_index(unsigned index)
{
	CHECK(qemu.held && index == 0);
	return qemu.has_no_screen ? NULL : &console;
}

bool qemu_console_is_graphic(void *of)
{
	CHECK(of == &console);
	return !qemu.is_text;
}

void graphic_hw_update(void *of)
{
	CHECK(of == &console && qemu.held);
	qemu.updates++;
}

void *qemu_console_surface(void *of)
{
	CHECK(of == &console);
	return &qemu.shown;
}

void *qemu_create_displaysurface_pixman(void *image)
{
	struct surface *surface = calloc(1, sizeof *surface);

	CHECK(surface);
	surface->image = image;
	surface->image->references++;
	surface->again = qemu.has_twice ? image : NULL;
	return surface;
}

void qemu_free_displaysurface(void *surface)
{
	pixman_image_unref(((struct surface *)surface)->image);
	free(surface);
}

void *pixman_image_create_bits(int format, int width, int height, uint32_t *bits, int stride)
{
	struct image *image = calloc(1, sizeof *image);

	CHECK(image && format == 0x20020888);
	*image = (struct image){ format, width, height, stride, bits, 1 };
	return image;
}

int pixman_image_unref(void *image)
{
	struct image *of = image;

	if (--of->references)
		return 0;
	free(of);
	return 1;
}

int pixman_image_get_width(void *image)
{
	return ((struct image *)image)->width;
}

int pixman_image_get_height(void *image)
{
	return ((struct image *)image)->height;
}

void pixman_image_composite(int operation, void *source, void *mask, void *target, int16_t source_x, int16_t source_y, int16_t mask_x,
			    int16_t mask_y, int16_t target_x, int16_t target_y, uint16_t width, uint16_t height)
{
	const struct image *from = source, *to = target;

	CHECK(operation == 1 && !mask && !source_x && !source_y && !mask_x && !mask_y && !target_x && !target_y);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			/* The byte that no colour has is as it may be. */
			to->bits[y * to->stride / 4 + x] = (from->bits[y * from->stride / 4 + x] | 0xab000000) ^ (qemu.swaps ? 1 : 0);
}

static void check_refused(const char *wanted)
{
	struct display display;
	char message[128] = "";

	CHECK(display_open(message, sizeof message, &display) == -ENOTSUP && !qemu.held);
	if (!strstr(message, wanted))
		fprintf(stderr, "got: %s\n", message);
	CHECK(strstr(message, wanted));
}

int main(void)
{
	struct display display;
	char message[128];
	/* A row of QEMU's may be longer than what is shown of it. */
	uint32_t bits[6] = { 1, 2, 99, 3, 4, 99 }, read[4];
	struct image shown = { 0x20020888, 2, 2, 12, bits, 1 };
	uint32_t width, height;

	CHECK(display_open(message, sizeof message, &display) == 0 && !qemu.held && qemu.updates == 0);
	CHECK(display.image_at == offsetof(struct surface, image));
	qemu.held = true;
	display_update(&display, &width, &height);
	CHECK(width == 0 && height == 0 && qemu.updates == 1);
	qemu.shown.image = &shown;
	display_update(&display, &width, &height);
	CHECK(width == 2 && height == 2 && qemu.updates == 2);
	display_copy(&display, width, height, read);
	CHECK(read[0] == 1 && read[1] == 2 && read[2] == 3 && read[3] == 4);
	shown.width = 40000;
	display_update(&display, &width, &height);
	CHECK(width == 0 && height == 0);
	qemu.held = false;

	qemu.has_no_screen = true;
	check_refused("this machine has no screen");
	qemu.has_no_screen = false;
	qemu.is_text = true;
	check_refused("this machine has no screen");
	qemu.is_text = false;
	qemu.has_twice = true;
	check_refused("the image of a surface is not in exactly one of its words");
	qemu.has_twice = false;
	qemu.swaps = true;
	check_refused("a picture is not read as it was made");
	puts("test_display: ok");
	return 0;
}
