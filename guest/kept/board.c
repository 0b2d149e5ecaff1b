/* SPDX-License-Identifier: MIT */
/*
 * bootlab-kept of a board whose SPL has found its kernel, and this program with it, in RAM that has outlived the power, or has
 * filled that RAM on its way from the card (patches/u-boot/kept-ram.patch).
 *
 * Either way the start is on trial, and the header says so. Once the system is ready this says that it was passed; a start that
 * does not get here is not taken out of the RAM again. What lies there was verified by SPL, which wrote the header of this very
 * start: so nothing is compared here but the header with its own CRC. SPL did not where it has started U-Boot proper: then the
 * header is of a start before, which may have hung, and is left alone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "header.h"
#include "mark.h"
#include "shared/files.h"

/* A test on a host has others. */
#ifndef DEVICE_TREE
#define DEVICE_TREE "/sys/firmware/devicetree/base"
#define MEMORY "/dev/mem"
#endif
#define RESERVED DEVICE_TREE "/reserved-memory"
#define NODE "bootlab-kept@"
/* U-Boot proper leaves its version there, and SPL leaves nothing. */
#define STARTED_BY_UBOOT DEVICE_TREE "/chosen/u-boot,version"

enum { EXIT_FAILED = 1, EXIT_USE = 2, REG_SIZE = 8 };

static const char help[] =
	"usage: bootlab-kept settle\n"
	"\n"
	"The system is ready: what SPL keeps in RAM may be started again.\n"
	"\n"
	"Where that lies is in the device tree. Exit status: 0 done; 1 it could not be said, and the next start takes the card;\n"
	"2 wrong use.\n";

static uint32_t big_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Address and size of the region, of one cell each: 0 or -errno. */
static int find(uint32_t *start, uint32_t *size)
{
	char path[sizeof RESERVED + NAME_MAX + sizeof "/reg"];
	unsigned char reg[REG_SIZE];
	DIR *folder = opendir(RESERVED);
	struct dirent *entry;
	int r = -ENODEV;

	if (!folder)
		return -errno;
	while (r == -ENODEV && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, NODE, sizeof NODE - 1))
			continue;
		snprintf(path, sizeof path, RESERVED "/%s/reg", entry->d_name);
		r = file_read(path, (char *)reg, sizeof reg) == sizeof reg ? 0 : -EBADMSG;
		*start = big_endian(reg);
		*size = big_endian(reg + sizeof *start);
		/* A header in whole pages. */
		if (!r && (*size < HEADER_SIZE || (*start | *size) % HEADER_SIZE))
			r = -EBADMSG;
	}
	closedir(folder);
	return r;
}

/* Past every cache: O_SYNC, and memory that is none of the kernel's. 0 or -errno. */
static int map_header(uint32_t start, uint32_t size, char **ret)
{
	int fd = open(MEMORY, O_RDWR | O_SYNC | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	*ret = mmap(NULL, HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)start + size - HEADER_SIZE);
	if (*ret == MAP_FAILED)
		r = -errno;
	close(fd);
	return r;
}

/* Device memory is read and written by words alone. */
static void copy(char *to, const char *from)
{
	volatile uint32_t *words = (volatile uint32_t *)(void *)to;
	const volatile uint32_t *source = (const volatile uint32_t *)(const void *)from;

	for (size_t i = 0; i < HEADER_SIZE / sizeof *words; i++)
		words[i] = source[i];
}

static int pass_trial(char *mapped)
{
	static char block[HEADER_SIZE] __attribute__((aligned(4)));
	struct header header;
	int r;

	copy(block, mapped);
	r = header_read(block, &header);
	if (r)
		return r;
	/* Of one that was passed before nothing changes. */
	r = header_expect_trial(&header, header.root, header.bytes);
	if (r)
		return r;
	strcpy(header.state, "valid");
	header_write(&header, block);
	copy(mapped, block);
	return 0;
}

static void make_mark(const char *name)
{
	mark_announce(name, (long)strlen(name));
	printf("bootlab: mark %s\n", name);
}

static int settle(void)
{
	uint32_t start, size;
	char *mapped;
	const char *what = "U-Boot proper has started this system, and not SPL";
	int r = file_exists(STARTED_BY_UBOOT) ? -ENOTRECOVERABLE : 0;

	if (!r) {
		what = RESERVED "/" NODE "*";
		r = find(&start, &size);
	}
	if (!r) {
		what = MEMORY;
		r = map_header(start, size, &mapped);
	}
	if (!r) {
		what = "no start of what is kept is on trial";
		r = pass_trial(mapped);
	}
	if (!r) {
		make_mark("kept");
		return 0;
	}
	printf("bootlab: kept RAM is not filled: %s: %s\n", what, strerror(-r));
	make_mark("not_kept");
	return EXIT_FAILED;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "settle"))
		return settle();
	fputs(help, argc == 2 && !strcmp(argv[1], "--help") ? stdout : stderr);
	return argc == 2 && !strcmp(argv[1], "--help") ? 0 : EXIT_USE;
}
