/* SPDX-License-Identifier: MIT */
/*
 * What of U-Boot common/spl/spl_kept_ram.c uses, for a run of it on this host: a card and a board's memory that are files.
 *
 *   kept_on_host CARD MEMORY        one power-on: says what SPL says, its marks, and what it does in the end
 *
 * tests/build/board/test_kept_image.py puts SPL's file behind this one. The memory is mapped where the board has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef uint32_t u32;

#define __aligned(n) __attribute__((aligned(n)))
#define ALLOC_CACHE_ALIGN_BUFFER(type, name, size) type name[size]
#define OPTIMIZER_HIDE_VAR(v) __asm__("" : "+r"(v))
#define CONFIG_SPL_KEPT_RAM_SECTOR 0x1c00
#define CONFIG_SPL_PAYLOAD_ARGS_ADDR 0x43000000
#define CONFIG_SYS_MMCSD_RAW_MODE_ARGS_SECTORS 8

enum { IH_OS_LINUX = 5, CARD_SIZE = 8 << 20, ARGS_AT = 3 << 20, KERNEL_AT = (4 << 20) + 64, IMAGE_HEADER = 64, MEMORY_SIZE = 0x11000000 };

struct blk_desc;
struct spl_image_info {
	int os;
	const char *name;
	unsigned long load_addr, entry_point;
	unsigned size;
};

int spl_kept_ram_load(struct spl_image_info *image, struct blk_desc *bd);
void spl_kept_ram_fill(const struct spl_image_info *image);

static char *card;

static unsigned long blk_dread(struct blk_desc *bd, unsigned long sector, unsigned long count, void *to)
{
	(void)bd;
	memcpy(to, card + sector * 512, count * 512);
	return count;
}

static void *map(const char *path, void *at, size_t size)
{
	int fd = open(path, O_RDWR);
	void *mapped = mmap(at, size, PROT_READ | PROT_WRITE, at ? MAP_SHARED | MAP_FIXED_NOREPLACE : MAP_PRIVATE, fd, 0);

	if (mapped == MAP_FAILED || (at && mapped != at)) {
		perror(path);
		exit(2);
	}
	return mapped;
}

int main(int argc, char **argv)
{
	char *kernel = (char *)0x42000000, *args = (char *)CONFIG_SPL_PAYLOAD_ARGS_ADDR;
	struct spl_image_info image = { 0 };
	u32 args_at, size;

	if (argc != 3)
		return 2;
	card = map(argv[1], NULL, CARD_SIZE);
	map(argv[2], (void *)0x40000000, MEMORY_SIZE);
	memset(kernel, 0xee, (size_t)(args - kernel) + 4096);
	memcpy(&args_at, card + CONFIG_SPL_KEPT_RAM_SECTOR * 512 + 28, sizeof args_at);
	/* Of the kernel, as its legacy image says it. */
	memcpy(&size, card + KERNEL_AT - IMAGE_HEADER + 12, sizeof size);
	size = __builtin_bswap32(size);
	if (spl_kept_ram_load(&image, NULL)) {
		/* What SPL would read from the card, the args by whole sectors. */
		memcpy(kernel, card + KERNEL_AT, size);
		memcpy(args, card + ARGS_AT, 4096);
		image.entry_point = 0x42000000;
		image.load_addr = image.entry_point - IMAGE_HEADER;
		image.size = size + IMAGE_HEADER;
		spl_kept_ram_fill(&image);
		puts("card");
	} else {
		puts(memcmp(kernel, card + KERNEL_AT, args_at) || memcmp(args, card + ARGS_AT, 40) ? "something else" : "kept RAM");
	}
	return image.os == IH_OS_LINUX && (image.entry_point != 0x42000000 || image.size != args_at);
}
