/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has QEMU's block layer finish its work, once that is proved to be what its functions do. */
#include "block_io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "symbols.h"

enum {
	/* Work that makes new work each time it is done would never end. */
	POLLS_MAX = 10000,
	SECTOR = 512,
	/* QEMUIOVector has some 60 bytes in QEMU 10.0; it is filled by QEMU's own functions alone. */
	VECTOR_SIZE = 1024,
	/* virtio-mmio: the registers of a slot, and where its doorbell is in them (Virtio 1.2, 4.2.2). */
	MMIO_SLOT = 0x200,
	MMIO_QUEUE_NOTIFY = 0x50,
};

/* What only the proof and the look at the devices need. */
struct probe_functions {
	void (*bottom_half)(void *context, void (*function)(void *opaque), void *opaque, const char *name);
	void *(*next_disk)(void *disk);
	bool (*has_medium)(void *disk);
	int64_t (*length)(void *disk);
	void *(*read_later)(void *disk, int64_t offset, void *vector, int flags, void (*done)(void *opaque, int r), void *opaque);
	int (*read_now)(void *disk, int64_t offset, int64_t size, void *ret, int flags);
	void (*vector_init)(void *vector, int count);
	void (*vector_add)(void *vector, void *bytes, size_t size);
	void (*vector_deinit)(void *vector);
	void *(*device_of)(void *disk);
	const char *(*name_of)(void *disk);
	const char *(*type_of)(void *device);
	int64_t (*number_of)(void *device, const char *property, void **error);
	bool (*flag_of)(void *device, const char *property, void **error);
};

struct answer {
	bool given;
	int result;
};

static int find(struct block_io *io, struct probe_functions *probe, char *message, size_t message_size)
{
	const struct wanted_symbol wanted[] = {
		{ "qemu_get_aio_context", &io->main_context },
		{ "aio_poll", &io->poll },
		{ "bdrv_drain_all", &io->drain },
		{ "aio_bh_schedule_oneshot_full", &probe->bottom_half },
		{ "blk_all_next", &probe->next_disk },
		{ "blk_is_inserted", &probe->has_medium },
		{ "blk_getlength", &probe->length },
		{ "blk_aio_preadv", &probe->read_later },
		{ "blk_pread", &probe->read_now },
		{ "qemu_iovec_init", &probe->vector_init },
		{ "qemu_iovec_add", &probe->vector_add },
		{ "qemu_iovec_destroy", &probe->vector_deinit },
		{ "blk_get_attached_dev", &probe->device_of },
		{ "blk_name", &probe->name_of },
		{ "object_get_typename", &probe->type_of },
		{ "object_property_get_int", &probe->number_of },
		{ "object_property_get_bool", &probe->flag_of },
	};

	return symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);
}

/* Whether there was anything to do. */
static bool poll_all(const struct block_io *io)
{
	void *context = io->main_context();
	int polls = 0;

	while (polls < POLLS_MAX && io->poll(context, false))
		polls++;
	return polls > 0;
}

/* Holding QEMU's lock. What is done may ask for more: a controller takes its next command. */
static bool settle(const struct block_io *io)
{
	for (int rounds = 0; rounds < POLLS_MAX; rounds++) {
		poll_all(io);
		io->drain();
		if (!poll_all(io))
			return true;
	}
	return false;
}

void block_io_settle(struct block_io *io)
{
	bool taken = lock_take_unless_held(&io->lock);

	if (!settle(io))
		io->unsettled++;
	if (taken)
		lock_give(&io->lock);
	io->settled++;
}

static int fail(char *message, size_t message_size, const char *what)
{
	snprintf(message, message_size, "%s", what);
	return -ENOTSUP;
}

static void set_flag(void *opaque)
{
	*(bool *)opaque = true;
}

static void take_answer(void *opaque, int result)
{
	struct answer *answer = opaque;

	answer->given = true;
	answer->result = result;
}

/* Static: an answer that comes after all must not find another's stack. */
static struct answer answer;
static alignas(4096) unsigned char later[SECTOR], now[SECTOR];
static alignas(64) unsigned char vector[VECTOR_SIZE];

static void begin_read(const struct probe_functions *probe, void *disk)
{
	answer = (struct answer){ .given = false };
	probe->vector_init(vector, 1);
	probe->vector_add(vector, later, sizeof later);
	probe->read_later(disk, 0, vector, 0, take_answer, &answer);
}

static int end_read(const struct block_io *io, const struct probe_functions *probe, void *disk, char *message, size_t message_size)
{
	if (!settle(io) || !answer.given)
		return fail(message, message_size, "a read was not done when it had been waited for");
	probe->vector_deinit(vector);
	/* A medium that cannot be read fails both ways. */
	if (probe->read_now(disk, 0, sizeof now, now, 0) < 0)
		return answer.result < 0 ? 0 : fail(message, message_size, "a read succeeds only where it is not waited for");
	if (answer.result < 0 || memcmp(later, now, sizeof now))
		return fail(message, message_size, "a read that was waited for has other data than QEMU's own waiting read");
	return 0;
}

static int prove_read(const struct block_io *io, const struct probe_functions *probe, void *disk, char *message, size_t message_size)
{
	begin_read(probe, disk);
	return end_read(io, probe, disk, message, message_size);
}

int block_io_prove_held(const struct block_io *io, const struct held_disk *disk, char *message, size_t message_size)
{
	struct block_io again;
	struct probe_functions probe;
	bool early;
	int r = find(&again, &probe, message, message_size);

	if (r)
		return r;
	disk->hold(disk->state);
	begin_read(&probe, disk->backend);
	early = !settle(io) || answer.given;
	disk->release(disk->state);
	r = end_read(io, &probe, disk->backend, message, message_size);
	if (!r && early)
		return fail(message, message_size, "a read was done although the disk was held");
	return r;
}

static int prove_locked(const struct block_io *io, const struct probe_functions *probe, char *message, size_t message_size)
{
	static bool ran;

	ran = false;
	probe->bottom_half(io->main_context(), set_flag, &ran, "bootlab-plugin");
	if (ran || !settle(io) || !ran)
		return fail(message, message_size, "work for the main loop is not done when it was waited for");
	for (void *disk = probe->next_disk(NULL); disk; disk = probe->next_disk(disk))
		if (probe->has_medium(disk) && probe->length(disk) >= SECTOR)
			return prove_read(io, probe, disk, message, message_size);
	return 0;
}

int block_io_open(char *message, size_t message_size, struct block_io *ret)
{
	struct block_io io = { .settled = 0 };
	struct probe_functions probe;
	int r = find(&io, &probe, message, message_size);

	if (!r)
		r = lock_open(message, message_size, &io.lock);
	if (r)
		return r;
	lock_take(&io.lock);
	r = prove_locked(&io, &probe, message, message_size);
	lock_give(&io.lock);
	if (!r)
		*ret = io;
	return r;
}

/* What a device may have at most, that takes one request at a time. */
struct limit {
	const char *property;
	bool is_flag;
	int64_t most;
};

enum { LIMITS = 3 };

static const struct device_kind {
	const char *type;
	struct limit limits[LIMITS];
} kinds[] = {
	/* Three descriptors are a request: a ring of four holds one. */
	{ "virtio-blk-device", { { "queue-size", false, 4 }, { "num-queues", false, 1 }, { "indirect_desc", true, 0 } } },
	/* One less than the queue has entries, and that is one more than there can be commands. */
	{ "nvme", { { "mqes", false, 1 }, { "max_ioqpairs", false, 1 } } },
	{ "scsi-hd", { { NULL, false, 0 } } },
	{ "scsi-cd", { { NULL, false, 0 } } },
	/* These answer within the guest's own access. */
	{ "sd-card", { { NULL, false, 0 } } },
	{ "sd-card-spi", { { NULL, false, 0 } } },
	{ "cfi.pflash01", { { NULL, false, 0 } } },
	{ "cfi.pflash02", { { NULL, false, 0 } } },
};

static bool is_above(const struct probe_functions *probe, void *device, const struct limit *limit, char *message, size_t message_size)
{
	int64_t value = limit->is_flag ? probe->flag_of(device, limit->property, NULL) :
					 probe->number_of(device, limit->property, NULL);

	if (value >= 0 && value <= limit->most)
		return false;
	snprintf(message, message_size, "%s takes several requests at a time: %s is %" PRId64 ", not %" PRId64,
		 probe->type_of(device), limit->property, value, limit->most);
	return true;
}

static bool is_inexact(const struct probe_functions *probe, void *device, char *message, size_t message_size)
{
	const char *type = probe->type_of(device);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i].type, type))
			continue;
		for (size_t k = 0; k < LIMITS && kinds[i].limits[k].property; k++)
			if (is_above(probe, device, &kinds[i].limits[k], message, message_size))
				return true;
		return false;
	}
	snprintf(message, message_size, "%s is asked in another way than by a store to its doorbell", type);
	return true;
}

bool block_io_find_inexact(const struct block_io *io, bool (*is_ordered)(const char *drive), char *message, size_t message_size)
{
	struct block_io again;
	struct probe_functions probe;
	bool found = false;

	if (find(&again, &probe, message, message_size))
		return true;
	lock_take(&io->lock);
	for (void *disk = probe.next_disk(NULL); disk && !found; disk = probe.next_disk(disk)) {
		void *device = probe.device_of(disk);

		found = device && !is_ordered(probe.name_of(disk)) && is_inexact(&probe, device, message, message_size);
	}
	lock_give(&io->lock);
	return found;
}

bool block_io_rings_slot(const char *region, uint64_t address)
{
	/* Registers that share a page with another device's, as the slots of virtio-mmio do: QEMU names no such region. */
	return !strncmp(region, "anon", 4) && address % MMIO_SLOT == MMIO_QUEUE_NOTIFY;
}

bool block_io_rings(const char *region, uint64_t address)
{
	static const char *const doorbells[] = { "virtio-pci-notify-virtio-blk", "virtio-pci-notify-virtio-scsi", "nvme" };

	for (size_t i = 0; i < sizeof doorbells / sizeof *doorbells; i++)
		if (!strcmp(region, doorbells[i]))
			return true;
	return block_io_rings_slot(region, address);
}
