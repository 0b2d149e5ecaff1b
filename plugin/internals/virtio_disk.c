/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a split virtqueue in the guest's memory, and decides when the guest sees what QEMU has put there (Virtio 1.2, 2.7). */
#include "virtio_disk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "symbols.h"

enum {
	SECTOR = 512,
	DESCRIPTOR = 16,
	CONTINUES = 1,
	DEVICE_WRITES = 2,
	INDIRECT = 4,
	NO_INTERRUPT = 1,
	/* Type, priority and sector; and the byte with the status (5.2.6). */
	HEADER = 16,
	STATUS = 1,
	TYPE_READ = 0,
	TYPE_WRITE = 1,
	TYPE_FLUSH = 4,
	CHAIN_MAX = 2048,
};

struct descriptor {
	uint64_t address;
	uint32_t size;
	uint16_t flags, next;
};

/* Along one request's descriptors. */
struct chain {
	const struct virtio_disk *disk;
	uint64_t table;
	uint32_t count; /* descriptors in the table */
	uint32_t next;
	uint32_t seen;
	bool over;
};

static uint64_t little(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

static uint64_t get(const struct virtio_disk *disk, uint64_t address, size_t size)
{
	uint8_t bytes[8] = { 0 };

	disk->memory(address, bytes, size, false);
	return little(bytes, size);
}

static void put(const struct virtio_disk *disk, uint64_t address, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	disk->memory(address, bytes, size, true);
}

static struct descriptor read_descriptor(const struct virtio_disk *disk, uint64_t address)
{
	uint8_t bytes[DESCRIPTOR];

	disk->memory(address, bytes, sizeof bytes, false);
	return (struct descriptor){ little(bytes, 8), (uint32_t)little(bytes + 8, 4), (uint16_t)little(bytes + 12, 2),
				    (uint16_t)little(bytes + 14, 2) };
}

/* What the guest has written is not believed: a chain may be a ring. */
static bool chain_next(struct chain *chain, struct descriptor *ret)
{
	while (!chain->over && chain->next < chain->count && chain->seen++ < CHAIN_MAX) {
		struct descriptor found = read_descriptor(chain->disk, chain->table + (uint64_t)chain->next * DESCRIPTOR);

		if (found.flags & INDIRECT) {
			chain->table = found.address;
			chain->count = found.size / DESCRIPTOR;
			chain->next = 0;
			continue;
		}
		chain->over = !(found.flags & CONTINUES);
		chain->next = found.next;
		*ret = found;
		return true;
	}
	return false;
}

static struct chain chain_of(const struct virtio_disk *disk, uint16_t head)
{
	return (struct chain){ .disk = disk, .table = disk->table, .count = disk->size, .next = head };
}

static bool read_request(const struct virtio_disk *disk, uint16_t head, struct virtio_request *ret)
{
	struct chain chain = chain_of(disk, head);
	struct descriptor part;
	uint64_t to_device = 0, from_device = 0, bytes = 0;
	uint8_t header[HEADER];
	uint32_t type;

	while (chain_next(&chain, &part)) {
		/* The header may lie in several pieces. */
		for (uint32_t i = 0; !(part.flags & DEVICE_WRITES) && i < part.size && to_device + i < HEADER; i++)
			disk->memory(part.address + i, &header[to_device + i], 1, false);
		if (part.flags & DEVICE_WRITES)
			from_device += part.size;
		else
			to_device += part.size;
	}
	if (!chain.over || to_device < HEADER || from_device < STATUS)
		return false;
	type = (uint32_t)little(header, 4);
	*ret = (struct virtio_request){ .head = head, .operation = VIRTIO_OTHER, .sector = little(header + 8, 8) };
	if (type == TYPE_READ) {
		ret->operation = VIRTIO_READ;
		bytes = from_device - STATUS;
	} else if (type == TYPE_WRITE) {
		ret->operation = VIRTIO_WRITE;
		bytes = to_device - HEADER;
	} else if (type == TYPE_FLUSH) {
		ret->operation = VIRTIO_FLUSH;
		ret->sector = 0;
	}
	ret->sectors = (uint32_t)(bytes / SECTOR);
	/* QEMU refuses what is not on the disk. */
	if (ret->sector > disk->sectors || ret->sectors > disk->sectors - ret->sector)
		ret->operation = VIRTIO_OTHER;
	return true;
}

size_t virtio_disk_data(const struct virtio_disk *disk, uint16_t head, uint8_t *ret, size_t size)
{
	struct chain chain = chain_of(disk, head);
	struct descriptor part;
	uint64_t skip = HEADER;
	size_t had = 0;

	while (chain_next(&chain, &part)) {
		uint64_t skipped = part.size < skip ? part.size : skip, n = part.size - skipped;

		if (part.flags & DEVICE_WRITES)
			continue;
		skip -= skipped;
		if (n > size - had)
			n = size - had;
		disk->memory(part.address + skipped, ret + had, n, false);
		had += n;
	}
	return had;
}

/* Where the rings have what (2.7.6 and 2.7.8): flags, an index, and the entries. */
static uint64_t index_of(uint64_t ring)
{
	return ring + 2;
}

static uint64_t entry_of(const struct virtio_disk *disk, uint64_t ring, uint16_t index, size_t size)
{
	return ring + 4 + (uint64_t)(index % disk->size) * size;
}

bool virtio_disk_was_reset(struct virtio_disk *disk)
{
	uint64_t table = disk->table_at(disk->device, 0), asked = disk->asked_at(disk->device, 0);
	uint64_t answered = disk->answered_at(disk->device, 0);
	int size = disk->ring_size(disk->device, 0);

	if (table == disk->table && asked == disk->asked && answered == disk->answered && size == disk->ring)
		return false;
	disk->table = table;
	disk->asked = asked;
	disk->answered = answered;
	disk->ring = size;
	disk->size = size > 0 && size <= VIRTIO_RING_MAX ? (uint16_t)size : 0;
	disk->taken = disk->kept = disk->shown = 0;
	memset(disk->done, 0, sizeof disk->done);
	return true;
}

int virtio_disk_take(struct virtio_disk *disk, struct virtio_request *ret)
{
	uint16_t head;

	if (!disk->table || !disk->size || (uint16_t)get(disk, index_of(disk->asked), 2) == disk->taken)
		return 0;
	head = (uint16_t)get(disk, entry_of(disk, disk->asked, disk->taken, 2), 2);
	if (head >= disk->size || !read_request(disk, head, ret))
		return -EPROTO;
	disk->taken++;
	return 1;
}

static int fail(char *message, size_t message_size, const char *what)
{
	snprintf(message, message_size, "%s", what);
	return -EPROTO;
}

int virtio_disk_do(struct virtio_disk *disk, struct block_io *io, char *message, size_t message_size)
{
	uint64_t flags = get(disk, disk->asked, 2);
	uint16_t given;

	put(disk, disk->asked, flags | NO_INTERRUPT, 2);
	disk->held.release(disk->held.state);
	block_io_settle(io);
	disk->held.hold(disk->held.state);
	put(disk, disk->asked, flags, 2);
	/* QEMU writes all of its answers in one row, whatever of it the guest has been shown. */
	given = (uint16_t)get(disk, index_of(disk->answered), 2);
	if ((uint16_t)(given - disk->kept) > disk->size)
		return fail(message, message_size, "QEMU gave more answers than the ring can hold");
	for (; disk->kept != given; disk->kept++) {
		uint64_t entry = entry_of(disk, disk->answered, disk->kept, 8);
		uint32_t head = (uint32_t)get(disk, entry, 4);

		if (head >= disk->size || disk->done[head])
			return fail(message, message_size, "QEMU answered a request that nobody has asked for");
		disk->lengths[head] = (uint32_t)get(disk, entry + 4, 4);
		disk->done[head] = true;
	}
	put(disk, index_of(disk->answered), disk->shown, 2);
	if (disk->kept != disk->taken)
		return fail(message, message_size, "QEMU did not answer each request that was waited for");
	return 0;
}

int virtio_disk_answer(struct virtio_disk *disk, uint16_t head)
{
	uint64_t entry = entry_of(disk, disk->answered, disk->shown, 8);

	if (head >= disk->size || !disk->done[head] || (uint16_t)get(disk, index_of(disk->answered), 2) != disk->shown)
		return -ESTALE;
	disk->done[head] = false;
	put(disk, entry, head, 4);
	put(disk, entry + 4, disk->lengths[head], 4);
	put(disk, index_of(disk->answered), ++disk->shown, 2);
	disk->notify(disk->device, disk->queue);
	return 0;
}

void virtio_disk_leave(const struct virtio_disk *disk)
{
	if (disk->table && disk->size)
		put(disk, index_of(disk->answered), disk->kept, 2);
}

int virtio_disk_take_up(struct virtio_disk *disk, const struct virtio_disk *left)
{
	if (disk->sectors != left->sectors)
		return -ESTALE;
	/* Nobody had looked for a ring yet. */
	if (left->ring < 0)
		return 0;
	virtio_disk_was_reset(disk);
	if (disk->table != left->table || disk->asked != left->asked || disk->answered != left->answered || disk->ring != left->ring)
		return -ESTALE;
	if (!disk->table || !disk->size)
		return 0;
	if ((uint16_t)get(disk, index_of(disk->answered), 2) != left->kept || (uint16_t)(left->kept - left->shown) > disk->size)
		return -ESTALE;
	disk->taken = left->taken;
	disk->kept = left->kept;
	disk->shown = left->shown;
	memcpy(disk->lengths, left->lengths, sizeof disk->lengths);
	memcpy(disk->done, left->done, sizeof disk->done);
	put(disk, index_of(disk->answered), disk->shown, 2);
	return 0;
}

void virtio_disk_let_go(struct virtio_disk *disk)
{
	/* QEMU counts these as given, and would show them with its next one. */
	for (uint16_t head = 0; head < disk->size; head++)
		virtio_disk_answer(disk, head);
	disk->held.release(disk->held.state);
}

/* What only the search for the disk needs. */
struct probe_functions {
	void *(*by_name)(const char *name);
	void *(*state_of)(void *backend);
	void *(*device_of)(void *backend);
	const char *(*type_of)(void *device);
	void *(*queue_of)(void *device, int queue);
	int64_t (*length)(void *backend);
	bool (*flag_of)(void *device, const char *property, void **error);
	int64_t (*number_of)(void *device, const char *property, void **error);
};

static int refuse(char *message, size_t message_size, const char *what)
{
	snprintf(message, message_size, "%s", what);
	return -ENOTSUP;
}

static int find_disk(const char *drive, const struct probe_functions *probe, char *message, size_t message_size,
		     struct virtio_disk *disk)
{
	disk->held.backend = probe->by_name(drive);
	if (!disk->held.backend || probe->by_name("bootlab-no-such-drive"))
		return refuse(message, message_size, "QEMU does not find its drive by name");
	disk->held.state = probe->state_of(disk->held.backend);
	disk->device = probe->device_of(disk->held.backend);
	if (!disk->held.state || !disk->device || strcmp(probe->type_of(disk->device), "virtio-blk-device"))
		return refuse(message, message_size, "the drive is not that of a virtio disk");
	if (probe->number_of(disk->device, "num-queues", NULL) != 1 || probe->flag_of(disk->device, "event_idx", NULL) ||
	    probe->flag_of(disk->device, "packed", NULL))
		return refuse(message, message_size, "the virtio disk must have num-queues=1,event_idx=off,packed=off");
	disk->queue = probe->queue_of(disk->device, 0);
	disk->sectors = (uint64_t)probe->length(disk->held.backend) / SECTOR;
	return 0;
}

int virtio_disk_open(const char *drive, const struct block_io *io, char *message, size_t message_size, struct virtio_disk *ret)
{
	struct probe_functions probe;
	struct virtio_disk disk = { .ring = -1 };
	const struct wanted_symbol wanted[] = {
		{ "bdrv_drained_begin", &disk.held.hold },
		{ "bdrv_drained_end", &disk.held.release },
		{ "virtio_queue_get_desc_addr", &disk.table_at },
		{ "virtio_queue_get_avail_addr", &disk.asked_at },
		{ "virtio_queue_get_used_addr", &disk.answered_at },
		{ "virtio_queue_get_num", &disk.ring_size },
		{ "virtio_notify", &disk.notify },
		{ "cpu_physical_memory_rw", &disk.memory },
		{ "blk_by_name", &probe.by_name },
		{ "blk_bs", &probe.state_of },
		{ "blk_getlength", &probe.length },
		{ "blk_get_attached_dev", &probe.device_of },
		{ "object_get_typename", &probe.type_of },
		{ "object_property_get_bool", &probe.flag_of },
		{ "object_property_get_int", &probe.number_of },
		{ "virtio_get_queue", &probe.queue_of },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);

	if (r)
		return r;
	lock_take(&io->lock);
	r = find_disk(drive, &probe, message, message_size, &disk);
	if (!r)
		r = block_io_prove_held(io, &disk.held, message, message_size);
	if (!r)
		disk.held.hold(disk.held.state);
	lock_give(&io->lock);
	if (!r)
		*ret = disk;
	return r;
}
