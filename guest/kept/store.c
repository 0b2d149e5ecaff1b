/* SPDX-License-Identifier: MIT */
/* Reads and writes the disk with a root's changes, past the page cache. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plan.h"

enum { SECTOR = 512, PIECE = 64 << 10 };

static char block[BLOCK] __attribute__((aligned(BLOCK)));
static const char zeros[BLOCK];

/* By four bits: what is summed up here has many bytes, and a start waits for it. */
uint32_t sum_of(const char *bytes, uint64_t size)
{
	static const uint32_t of_nibble[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	uint32_t sum = UINT32_MAX;

	for (uint64_t i = 0; i < size; i++) {
		sum ^= (unsigned char)bytes[i];
		sum = sum >> 4 ^ of_nibble[sum & 15];
		sum = sum >> 4 ^ of_nibble[sum & 15];
	}
	return ~sum;
}

static int transfer(int fd, char *bytes, uint64_t size, uint64_t at, bool write)
{
	while (size) {
		ssize_t n = write ? pwrite(fd, bytes, size, (off_t)at) : pread(fd, bytes, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		bytes += n;
		at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

static uint64_t slot_at(const struct store *store, int slot)
{
	return BLOCK + (uint64_t)slot * (store->room + BLOCK);
}

/* `text` of `size` bytes into the block, with the sum of it as its last line, and zeros. */
static void seal(char *text, int size)
{
	sprintf(text + size, "crc %08" PRIx32 "\n", crc32_of(text, (size_t)size));
}

static void write_slot(const struct slot *slot, char ret[BLOCK])
{
	memset(ret, 0, BLOCK);
	seal(ret, snprintf(ret, SECTOR, "bootlab-kept-changes 1\ngeneration %" PRIu64 "\nroot %s\nbytes %" PRIu64 "\nsum %08" PRIx32 "\n",
			   slot->generation, slot->root, slot->bytes, slot->sum));
}

static void write_trials(const struct trial trials[SLOTS], char ret[BLOCK])
{
	memset(ret, 0, BLOCK);
	seal(ret, snprintf(ret, SECTOR, "bootlab-kept-trials 1\nslot 0 %" PRIu64 " %s\nslot 1 %" PRIu64 " %s\n", trials[0].generation,
			   trials[0].state, trials[1].generation, trials[1].state));
}

static struct slot read_slot(const struct store *store)
{
	struct slot slot = { .status = -EBADMSG };
	char again[BLOCK];

	if (!memcmp(block, zeros, BLOCK)) {
		slot.status = -ENODATA;
		return slot;
	}
	if (block[SECTOR - 1] || sscanf(block, "bootlab-kept-changes 1\ngeneration %" SCNu64 "\nroot %64[0-9a-f]\nbytes %" SCNu64 "\nsum %" SCNx32,
					&slot.generation, slot.root, &slot.bytes, &slot.sum) != 4)
		return slot;
	/* What was read must write the very same bytes: so each of them is checked. */
	write_slot(&slot, again);
	if (!memcmp(block, again, BLOCK) && slot.bytes <= store->room)
		slot.status = 0;
	return slot;
}

static void read_trials(struct trial ret[SLOTS])
{
	struct trial trials[SLOTS] = { 0 };
	char again[BLOCK];

	/* Of what is damaged nothing is known: no start with it was begun, as far as can be told. */
	for (int i = 0; i < SLOTS; i++)
		ret[i] = (struct trial){ .state = "none" };
	if (block[SECTOR - 1] || sscanf(block, "bootlab-kept-trials 1\nslot 0 %" SCNu64 " %7[a-z0-9]\nslot 1 %" SCNu64 " %7[a-z0-9]", &trials[0].generation,
					trials[0].state, &trials[1].generation, trials[1].state) != 4)
		return;
	write_trials(trials, again);
	if (!memcmp(block, again, BLOCK))
		memcpy(ret, trials, sizeof trials);
}

static int read_all(struct store *ret)
{
	int r = transfer(ret->fd, block, BLOCK, 0, false);

	if (r)
		return r;
	read_trials(ret->trials);
	for (int i = 0; i < SLOTS; i++) {
		r = transfer(ret->fd, block, BLOCK, slot_at(ret, i), false);
		if (r)
			return r;
		ret->slots[i] = read_slot(ret);
	}
	return 0;
}

int store_open(const char *path, struct store *ret)
{
	off_t size;
	int r;

	ret->fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (ret->fd < 0 && errno == EINVAL)
		ret->fd = open(path, O_RDWR | O_CLOEXEC);
	if (ret->fd < 0)
		return -errno;
	size = lseek(ret->fd, 0, SEEK_END);
	if (size < 0)
		r = -errno;
	else if (size < (1 + 2 * SLOTS) * BLOCK)
		r = -ENOSPC;
	else {
		ret->room = ((uint64_t)size / BLOCK - 1) / SLOTS * BLOCK - BLOCK;
		r = read_all(ret);
	}
	if (r)
		store_close(ret);
	return r;
}

void store_close(struct store *store)
{
	close(store->fd);
}

static uint64_t whole_blocks(uint64_t size)
{
	return (size + BLOCK - 1) / BLOCK * BLOCK;
}

int store_load(const struct store *store, int slot, char *ret)
{
	const struct slot *one = &store->slots[slot];
	int r = transfer(store->fd, ret, whole_blocks(one->bytes), slot_at(store, slot) + BLOCK, false);

	return r ? r : sum_of(ret, one->bytes) == one->sum ? 0 : -EBADMSG;
}

static int write_archive(const struct store *store, int slot, char *bytes, uint64_t size, void (*half)(void))
{
	uint64_t first = slot_at(store, slot) + BLOCK, middle = whole_blocks(size / 2);
	int r = 0;

	for (uint64_t at = 0; !r && at < size;) {
		uint64_t piece = at < middle && at + PIECE > middle ? middle - at : size - at < PIECE ? size - at : PIECE;

		r = transfer(store->fd, bytes + at, piece, first + at, true);
		at += piece;
		if (at == middle)
			half();
	}
	return r ? r : fsync(store->fd) ? -errno : 0;
}

int store_save(struct store *store, int slot, const char *root, char *bytes, uint64_t size, void (*half)(void))
{
	struct slot made = { .generation = 1, .bytes = size };
	uint64_t whole = whole_blocks(size);
	int r;

	if (whole > store->room)
		return -ENOSPC;
	for (int i = 0; i < SLOTS; i++)
		if (!store->slots[i].status && store->slots[i].generation >= made.generation)
			made.generation = store->slots[i].generation + 1;
	memset(bytes + size, 0, whole - size);
	made.sum = sum_of(bytes, size);
	snprintf(made.root, sizeof made.root, "%s", root);
	r = write_archive(store, slot, bytes, whole, half);
	if (r)
		return r;
	write_slot(&made, block);
	r = transfer(store->fd, block, BLOCK, slot_at(store, slot), true);
	if (!r && fsync(store->fd))
		r = -errno;
	if (!r)
		store->slots[slot] = made;
	return r;
}

const char *store_trial(const struct store *store, int slot)
{
	return store->trials[slot].generation == store->slots[slot].generation ? store->trials[slot].state : "none";
}

int store_note(struct store *store, int slot, const char *state)
{
	store->trials[slot].generation = store->slots[slot].generation;
	snprintf(store->trials[slot].state, sizeof store->trials[slot].state, "%s", state);
	write_trials(store->trials, block);
	/* Not waited for until it is on the medium: what resets a machine that hangs leaves the disk its power. */
	return transfer(store->fd, block, BLOCK, 0, true);
}
