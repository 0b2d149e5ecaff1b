/* SPDX-License-Identifier: MIT */
/*
 * What of U-Boot common/spl/spl_hibernated.c uses, for a run of it on this host: a card and a board's memory that are files.
 *
 *   hibernated_on_host CARD MEMORY      one power-on: says what SPL says, its marks, and what it does in the end
 *   hibernated_on_host unpack           blocks of LZ4 on standard input, each behind its size and the room there is, 32 bits each;
 *                                       on standard output the size of what is unpacked, and that
 *
 * tests/build/board/test_hibernated_image.py puts SPL's file behind this one. The memory is mapped where the board has it, and nothing
 * around it: who writes elsewhere is stopped.
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
#include <sys/stat.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

#define __aligned(n) __attribute__((aligned(n)))
#define __packed __attribute__((packed))
#define ARCH_DMA_MINALIGN 64
#define OPTIMIZER_HIDE_VAR(v) __asm__("" : "+r"(v))
#define BIT(n) (1U << (n))
#define SZ_64K (1 << 16)
#define SZ_1M (1 << 20)
#define fallthrough __attribute__((fallthrough))
#define noinline __attribute__((noinline))
#define CONFIG_SPL_HIBERNATED_SECTOR 0x1c80
/* Of the board's own configuration. */
#define CONFIG_SPL_STACK_R_ADDR 0x4fe00000
#define CONFIG_SPL_STACK_R_MALLOC_SIMPLE_LEN 0x100000
#define CONFIG_SPL_BSS_START_ADDR 0x4ff80000
#define CONFIG_SPL_BSS_MAX_SIZE 0x80000

enum { IH_OS_LINUX = 5, SECTOR = 512, MEMORY_AT = 0x40000000, MMC_DATA_WRITE = 2, MMC_CMD_WRITE_SINGLE_BLOCK = 24, MMC_RSP_R1 = 1 };

struct blk_desc;
struct mmc {
	int high_capacity;
};
struct mmc_data {
	const char *src;
	unsigned blocks, blocksize, flags;
};
struct mmc_cmd {
	unsigned cmdidx, cmdarg, resp_type;
};
struct spl_image_info {
	int os;
	const char *name;
	unsigned long load_addr, entry_point;
	unsigned size;
};

int spl_hibernated_load(struct spl_image_info *image, struct mmc *mmc);
static u32 unpack(const u8 *at, u32 packed, u8 *to, u32 room);

static char *card_bytes;
static size_t card_size;

static struct blk_desc *mmc_get_blk_desc(struct mmc *mmc)
{
	return (struct blk_desc *)mmc;
}

static unsigned long blk_dread(struct blk_desc *bd, unsigned long sector, unsigned long count, void *to)
{
	(void)bd;
	if (sector > card_size / SECTOR || count > card_size / SECTOR - sector)
		return 0;
	memcpy(to, card_bytes + sector * SECTOR, count * SECTOR);
	return count;
}

static int mmc_send_cmd(struct mmc *mmc, struct mmc_cmd *cmd, struct mmc_data *data)
{
	unsigned long at = (unsigned long)cmd->cmdarg * (mmc->high_capacity ? SECTOR : 1);

	if (cmd->cmdidx != MMC_CMD_WRITE_SINGLE_BLOCK || data->flags != MMC_DATA_WRITE || at + SECTOR > card_size)
		return -EIO;
	memcpy(card_bytes + at, data->src, SECTOR);
	return 0;
}

static int mmc_poll_for_busy(struct mmc *mmc, int timeout_ms)
{
	(void)mmc;
	(void)timeout_ms;
	return 0;
}

static char *map_file(const char *path, void *at, size_t *ret_size)
{
	int fd = open(path, O_RDWR);
	struct stat status;
	void *mapped = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &status))
		mapped = mmap(at, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED_NOREPLACE : 0), fd, 0);
	if (mapped == MAP_FAILED || (at && mapped != at)) {
		perror(path);
		exit(2);
	}
	*ret_size = (size_t)status.st_size;
	return mapped;
}

/* Each block and what it unpacks to have memory of their own, of just their size. */
static int unpack_all(void)
{
	u32 sizes[2];

	while (fread(sizes, sizeof sizes, 1, stdin) == 1) {
		u8 *packed = malloc(sizes[0]), *to = malloc(sizes[1]);
		u32 size;

		if (fread(packed, 1, sizes[0], stdin) != sizes[0])
			return 2;
		size = unpack(packed, sizes[0], to, sizes[1]);
		fwrite(&size, sizeof size, 1, stdout);
		fwrite(to, 1, size, stdout);
		free(packed);
		free(to);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct mmc mmc = { .high_capacity = 1 };
	struct spl_image_info image = { 0 };
	size_t memory_size;

	if (argc == 2 && !strcmp(argv[1], "unpack"))
		return unpack_all();
	if (argc != 3)
		return 2;
	card_bytes = map_file(argv[1], NULL, &card_size);
	map_file(argv[2], (void *)(uintptr_t)MEMORY_AT, &memory_size);
	if (spl_hibernated_load(&image, &mmc))
		puts("card");
	else if (image.os == IH_OS_LINUX && image.load_addr == image.entry_point)
		printf("entered at %lx\n", image.entry_point);
	return 0;
}

/* U-Boot's adds no line's end. */
#define puts(text) fputs(text, stdout)
