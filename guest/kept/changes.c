/* SPDX-License-Identifier: MIT */
/* Lays changes over a root, and writes them back: one of two slots has the older ones until the other is whole. */
#include "changes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive.h"
#include "said.h"
#include "shared/files.h"
#include "store.h"

/* Below /dev, which alone goes along to the root. */
#define CHANGES "/dev/bootlab-kept-changes"
#define UPPER CHANGES "/upper"
#define WORK CHANGES "/work"
/* The generation that this start has begun with, and the one that is not to be written over. Beside CHANGES: that may be full. */
#define TAKEN CHANGES "-taken"
#define NEWEST CHANGES "-newest"

enum { TRIES = 500, TRY_NS = 20000000, PASSES = 10, NUMBER_MAX = 24 };

/* What is noted of the starts that were begun since one became ready. A third may be the last: not each of them has hung, for the
 * power may be cut at any time, and a bit may turn in the RAM that the root is in. */
static const char *const tries[] = { "try1", "try2", "try3" };

enum { TRIES_OF_START = sizeof tries / sizeof *tries };

/* How many there were. */
static int count_tries(const char *trial)
{
	int n = TRIES_OF_START;

	while (n && strcmp(trial, tries[n - 1]))
		n--;
	return n;
}

static int open_store(const char *path, struct store *ret, bool waits)
{
	const struct timespec pause = { .tv_nsec = TRY_NS };
	int r = store_open(path, ret);

	for (int i = 0; waits && (r == -ENOENT || r == -ENXIO) && i < TRIES; i++) {
		nanosleep(&pause, NULL);
		r = store_open(path, ret);
	}
	return r ? why("%s: %s", path, strerror(-r)) : 0;
}

static int take_room(uint64_t size, struct archive *ret)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*ret = (struct archive){ .bytes = bytes, .size = size };
	return bytes == MAP_FAILED ? why("no memory for changes of %" PRIu64 " bytes", size) : 0;
}

/* Why a slot is not taken: 0 where it is, its archive then being in memory. */
static int expect_slot(struct store *store, int slot, const struct plan *plan, struct archive *archive)
{
	const struct slot *one = &store->slots[slot];
	int r;

	if (one->status)
		return why("the header of slot %d is damaged", slot);
	if (strcmp(one->root, plan->root))
		return why("they are of another image: %.16s, and this is %.16s", one->root, plan->root);
	if (count_tries(store_trial(store, slot)) == TRIES_OF_START)
		return why("%d starts with them did not become ready", TRIES_OF_START);
	r = store_load(store, slot, archive->bytes);
	archive->used = one->bytes;
	return r == -EBADMSG ? why("they are damaged: their sum is another") : r ? why("they cannot be read: %s", strerror(-r)) : 0;
}

/* Which of two comes first: what is damaged has no generation, and is only told of. */
static bool is_newer(const struct slot *one, const struct slot *other)
{
	return !one->status && (other->status || one->generation > other->generation);
}

static void refuse(void)
{
	printf("bootlab: changes refused: %s\nbootlab: fact changes_refused %s\n", reason, reason);
	make_mark("changes_refused");
}

/* The slot that is taken, its archive in memory; -1: none is. Says why the first of them was not. */
static int choose(struct store *store, const struct plan *plan, struct archive *archive)
{
	int first = is_newer(&store->slots[1], &store->slots[0]) ? 1 : 0;
	bool told = false;

	for (int i = 0; i < SLOTS; i++) {
		int slot = first ^ i;

		if (store->slots[slot].status == -ENODATA)
			continue;
		if (!expect_slot(store, slot, plan, archive))
			return slot;
		if (!told)
			refuse();
		told = true;
	}
	return -1;
}

static void write_number(const char *path, uint64_t number)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return;
	fprintf(file, "%" PRIu64, number);
	fclose(file);
}

static uint64_t read_number(const char *path)
{
	char text[NUMBER_MAX] = "";

	return file_read(path, text, sizeof text - 1) > 0 ? strtoull(text, NULL, 10) : 0;
}

static int make_layer(const struct plan *plan)
{
	char options[64];

	snprintf(options, sizeof options, "mode=0700,size=%" PRIu64, plan->changes);
	mkdir(CHANGES, 0700);
	if (mount("tmpfs", CHANGES, "tmpfs", MS_NOATIME | MS_NODEV | MS_NOSUID, options))
		return why("no room for changes: %s", strerror(errno));
	if (mkdir(UPPER, 0755) || mkdir(WORK, 0755))
		return why("%s: %s", UPPER, strerror(errno));
	return 0;
}

/* 0 also where there are none to take; -1: what was taken is half there. */
static int take(const struct plan *plan)
{
	struct archive archive;
	struct store store;
	int slot, r = 0;

	if (open_store(plan->store, &store, true)) {
		refuse();
		return 0;
	}
	if (take_room(store.room, &archive)) {
		refuse();
	} else if ((slot = choose(&store, plan, &archive)) >= 0) {
		uint64_t generation = store.slots[slot].generation;

		r = store_note(&store, slot, tries[count_tries(store_trial(&store, slot))]);
		if (!r)
			r = archive_unpack(&archive, UPPER);
		if (r) {
			why("they cannot be taken: %s", strerror(-r));
			refuse();
		} else {
			write_number(TAKEN, generation);
			write_number(NEWEST, generation);
			printf("bootlab: fact changes_taken %" PRIu64 "\n", generation);
			make_mark("changes_taken");
		}
	}
	if (archive.bytes != MAP_FAILED)
		munmap(archive.bytes, archive.size);
	store_close(&store);
	return r ? -1 : 0;
}

static int lay(const char *base, const char *folder)
{
	char options[256];

	/* Each file of its own, whole: what is kept of the upper layer does not lead back to an inode below. */
	snprintf(options, sizeof options, "lowerdir=%s,upperdir=" UPPER ",workdir=" WORK ",index=off,metacopy=off,redirect_dir=nofollow", base);
	if (!mount("overlay", folder, "overlay", MS_NOATIME, options))
		return 0;
	return errno == ENODEV ? why("the kernel has no overlay file system") : why("nothing can be laid over the root: %s", strerror(errno));
}

int changes_mount(const struct plan *plan, const char *base, const char *folder)
{
	if (!make_layer(plan)) {
		bool whole = !take(plan) || (!umount(CHANGES) && !make_layer(plan));

		if (whole && !lay(base, folder))
			return 0;
		umount(CHANGES);
	}
	/* The root alone is better than none: it is read-only then. */
	refuse();
	return mount(base, folder, NULL, MS_MOVE, NULL) ? why("%s: %s", folder, strerror(errno)) : 0;
}

static int slot_of(const struct store *store, uint64_t generation)
{
	for (int i = 0; i < SLOTS; i++)
		if (!store->slots[i].status && generation && store->slots[i].generation == generation)
			return i;
	return -1;
}

int changes_pass(const struct plan *plan)
{
	uint64_t taken = read_number(TAKEN);
	struct store store;
	int slot, r = 0;

	if (!taken)
		return 0;
	if (open_store(plan->store, &store, false))
		return -1;
	slot = slot_of(&store, taken);
	if (slot >= 0 && strcmp(store_trial(&store, slot), "passed"))
		r = store_note(&store, slot, "passed");
	store_close(&store);
	return r ? why("%s: %s", plan->store, strerror(-r)) : 0;
}

/* All of one moment: where something is written meanwhile it is read again. */
static int pack(struct archive *archive)
{
	const struct timespec pause = { .tv_nsec = TRY_NS };
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < PASSES; i++) {
		/* What was written just before has the time of the clock's last tick, as what comes now might. */
		nanosleep(&pause, NULL);
		r = archive_pack(UPPER, archive);
	}
	if (r == -EAGAIN)
		return why("the system writes all the time: what was read was never of one moment");
	if (r == -ENOSPC)
		return why("they are more than %zu bytes", archive->size);
	if (r == -E2BIG)
		return why("a folder has more names than there is room for");
	return r ? why("they cannot be read: %s", strerror(-r)) : 0;
}

static int save_packed(struct store *store, const struct plan *plan, struct archive *archive, void (*half)(void))
{
	int kept = slot_of(store, read_number(NEWEST)), r;
	const struct slot *old;

	if (kept < 0)
		kept = is_newer(&store->slots[1], &store->slots[0]) ? 1 : 0;
	old = &store->slots[kept];
	if (!old->status && !strcmp(old->root, plan->root) && old->bytes == archive->used && old->sum == sum_of(archive->bytes, archive->used)) {
		puts("bootlab: changes are saved: nothing is new");
		return 0;
	}
	r = store_save(store, 1 - kept, plan->root, archive->bytes, archive->used, half);
	if (r)
		return why("they cannot be written: %s", strerror(-r));
	write_number(NEWEST, store->slots[1 - kept].generation);
	printf("bootlab: changes saved: generation %" PRIu64 ", %" PRIu64 " bytes\n", store->slots[1 - kept].generation,
	       store->slots[1 - kept].bytes);
	return 0;
}

int changes_save(const struct plan *plan, void (*half)(void))
{
	struct archive archive;
	struct store store;
	int r;

	if (!plan->changes || !file_exists(UPPER))
		return why("this start has no room for changes");
	if (open_store(plan->store, &store, false))
		return -1;
	r = take_room(store.room, &archive);
	if (!r) {
		r = pack(&archive);
		if (!r)
			r = save_packed(&store, plan, &archive, half);
		munmap(archive.bytes, archive.size);
	}
	store_close(&store);
	return r;
}
