/*
 * Reads and writes a disk at random, by several processes at once, and compares all that it reads with what it wrote:
 *
 *     disk-work DEVICE PROCESSES OPERATIONS BLOCKS
 *
 * Each process has its own part of the disk, and requests of 1 to BLOCKS times 4 KiB past the page cache. Prints a hash of what
 * the disk holds at the end, which follows from the numbers alone, or what was wrong.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS_MAX = 8, PART = 512 };

static uint64_t state;

static uint32_t random_below(uint32_t limit)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % limit;
}

static void fail(const char *what, long block)
{
	printf("disk-work: %s: block %ld\n", what, block);
	exit(EXIT_FAILURE);
}

static void fill(uint64_t *words, uint64_t block, uint64_t version)
{
	for (uint64_t i = 0; i < BLOCK / sizeof *words; i++)
		words[i] = (block << 32 ^ version << 12 ^ i) * UINT64_C(0x9e3779b97f4a7c15);
}

static void work(const char *device, uint32_t part, uint32_t operations, uint32_t blocks)
{
	static uint32_t versions[PART];
	static uint64_t wanted[BLOCK / sizeof(uint64_t)];
	char *buffer = aligned_alloc(BLOCK, BLOCK * BLOCKS_MAX);
	int fd = open(device, O_RDWR | O_DIRECT);

	state = part + 1;
	if (fd < 0 || !buffer)
		fail("cannot open", 0);
	for (uint32_t i = 0; i < PART + operations; i++) {
		/* First each block once, so that all that is read was written. */
		uint32_t block = i < PART ? i : random_below(PART - BLOCKS_MAX), count = i < PART ? 1 : 1 + random_below(blocks);
		uint64_t at = (uint64_t)part * PART + block;
		size_t size = (size_t)count * BLOCK;

		if (i < PART || random_below(2)) {
			for (uint32_t k = 0; k < count; k++)
				fill((uint64_t *)(void *)(buffer + k * BLOCK), at + k, ++versions[block + k]);
			if (pwrite(fd, buffer, size, (off_t)(at * BLOCK)) != (ssize_t)size)
				fail("cannot write", (long)at);
			if (!random_below(64) && fdatasync(fd))
				fail("cannot flush", (long)at);
		} else {
			if (pread(fd, buffer, size, (off_t)(at * BLOCK)) != (ssize_t)size)
				fail("cannot read", (long)at);
			for (uint32_t k = 0; k < count; k++) {
				fill(wanted, at + k, versions[block + k]);
				if (memcmp(buffer + k * BLOCK, wanted, BLOCK))
					fail("holds something else", (long)(at + k));
			}
		}
	}
	if (fsync(fd) || close(fd))
		fail("cannot flush", 0);
	exit(EXIT_SUCCESS);
}

static uint64_t hash_disk(const char *device, uint32_t parts)
{
	char *buffer = aligned_alloc(BLOCK, BLOCK);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int fd = open(device, O_RDONLY | O_DIRECT);

	for (uint64_t block = 0; block < (uint64_t)parts * PART; block++) {
		if (fd < 0 || pread(fd, buffer, BLOCK, (off_t)(block * BLOCK)) != BLOCK)
			fail("cannot read", (long)block);
		for (size_t i = 0; i < BLOCK; i += sizeof hash)
			hash = (hash ^ *(uint64_t *)(void *)(buffer + i)) * UINT64_C(0x100000001b3);
	}
	return hash;
}

int main(int argc, char **argv)
{
	uint32_t parts = argc == 5 ? (uint32_t)atoi(argv[2]) : 0;
	uint32_t blocks = argc == 5 ? (uint32_t)atoi(argv[4]) : 0;
	int status, good = 1;

	if (!parts || !blocks || blocks > BLOCKS_MAX)
		return EXIT_FAILURE;
	for (uint32_t part = 0; part < parts; part++)
		if (fork() == 0)
			work(argv[1], part, (uint32_t)atoi(argv[3]), blocks);
	while (wait(&status) > 0)
		good = good && status == 0;
	if (!good)
		return EXIT_FAILURE;
	printf("disk-work: %s holds %016llx\n", argv[1], (unsigned long long)hash_disk(argv[1], parts));
	return EXIT_SUCCESS;
}
