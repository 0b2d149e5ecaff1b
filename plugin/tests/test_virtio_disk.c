/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests when a guest sees the answers of its virtio disk, on a QEMU of our own that answers as soon as it is let. */
#include "internals/virtio_disk.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "qemu_block.h"

enum {
	MEMORY = 1 << 20,
	RING = 8,
	TABLE = 0x1000,
	ASKED = 0x2000,
	ANSWERED = 0x3000,
	HEADERS = 0x4000,
	DATA = 0x10000,
	INDIRECT = 0x8000,
};

/* The parts of QEMU: its block layer, as far as a proof asks for it, and a device with a ring. */
static struct {
	bool locked, held, ignores_hold, answers_backwards, forgets, answers_twice, other_device, events;
	uint8_t memory[MEMORY];
	uint64_t table;
	uint16_t popped, answered;
	unsigned notified;
	/* The read of the proof. */
	void (*done)(void *opaque, int r);
	void *done_opaque;
} qemu;

static int disk_object;

void bdrv_drained_begin(void *state);
void bdrv_drained_end(void *state);
uint64_t virtio_queue_get_desc_addr(void *device, int queue);
uint64_t virtio_queue_get_avail_addr(void *device, int queue);
uint64_t virtio_queue_get_used_addr(void *device, int queue);
int virtio_queue_get_num(void *device, int queue);
void *virtio_get_queue(void *device, int queue);
void virtio_notify(void *device, void *queue);
void cpu_physical_memory_rw(uint64_t address, void *bytes, uint64_t size, bool write);
void *blk_by_name(const char *name);
void *blk_bs(void *backend);

static uint16_t word(uint64_t address)
{
	return (uint16_t)(qemu.memory[address] | qemu.memory[address + 1] << 8);
}

static void set(uint64_t address, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		qemu.memory[address + i] = (uint8_t)(value >> 8 * i);
}

static unsigned no_interrupt(void)
{
	return word(ASKED) & 1;
}

void virtio_notify(void *device, void *queue)
{
	CHECK(device == &disk_object && queue == &qemu.popped && qemu.locked);
	if (!no_interrupt())
		qemu.notified++;
}

/* The device: answers all that is in the ring, in an order of its own. */
static void serve(void)
{
	uint16_t n = (uint16_t)(word(ASKED + 2) - qemu.popped);

	if (qemu.forgets && n)
		n--;
	for (uint16_t i = 0; i < n; i++) {
		uint16_t which = (uint16_t)(qemu.popped + (qemu.answers_backwards ? n - 1 - i : i));
		uint64_t entry = ANSWERED + 4 + (uint64_t)(qemu.answered % RING) * 8;

		set(entry, qemu.answers_twice ? word(ASKED + 4 + (uint64_t)(qemu.popped % RING) * 2) :
						word(ASKED + 4 + (uint64_t)(which % RING) * 2), 4);
		set(entry + 4, 1000 + which, 4);
		set(ANSWERED + 2, ++qemu.answered, 2);
	}
	qemu.popped = (uint16_t)(qemu.popped + n);
	if (n)
		virtio_notify(&disk_object, &qemu.popped);
}

void bql_lock_impl(const char *file, int line)
{
	(void)line;
	CHECK(file && !qemu.locked);
	qemu.locked = true;
}

void bql_unlock(void)
{
	qemu.locked = false;
}

bool bql_locked(void)
{
	return qemu.locked;
}

void *qemu_get_aio_context(void)
{
	return &qemu;
}

static void (*work)(void *opaque);
static void *work_opaque;

bool aio_poll(void *context, bool blocking)
{
	void (*now)(void *) = work;

	CHECK(context == &qemu && !blocking);
	work = NULL;
	if (now)
		now(work_opaque);
	return now;
}

void aio_bh_schedule_oneshot_full(void *context, void (*function)(void *), void *opaque, const char *name)
{
	CHECK(context == &qemu && name);
	work = function;
	work_opaque = opaque;
}

void bdrv_drain_all(void)
{
	void (*done)(void *, int) = qemu.done;

	if (qemu.held && !qemu.ignores_hold)
		return;
	qemu.done = NULL;
	if (done)
		done(qemu.done_opaque, 0);
	if (qemu.table)
		serve();
}

void *blk_all_next(void *before)
{
	return before ? NULL : &disk_object;
}

bool blk_is_inserted(void *which)
{
	return which == &disk_object;
}

int64_t blk_getlength(void *which)
{
	CHECK(which == &disk_object);
	return 1 << 20;
}

void *blk_aio_preadv(void *which, int64_t offset, void *vector, int flags, void (*done)(void *, int), void *opaque)
{
	CHECK(which == &disk_object && !offset && vector && !flags);
	qemu.done = done;
	qemu.done_opaque = opaque;
	return &qemu;
}

int blk_pread(void *which, int64_t offset, int64_t size, void *ret, int flags)
{
	CHECK(which == &disk_object && !offset && !flags);
	memset(ret, 0, (size_t)size);
	return 0;
}

void qemu_iovec_init(void *vector, int count)
{
	CHECK(vector && count == 1);
}

void qemu_iovec_add(void *vector, void *bytes, size_t size)
{
	CHECK(vector);
	memset(bytes, 0, size);
}

void qemu_iovec_destroy(void *vector)
{
	CHECK(vector);
}

void *blk_get_attached_dev(void *which)
{
	CHECK(which == &disk_object);
	return &disk_object;
}

const char *blk_name(void *which)
{
	CHECK(which == &disk_object);
	return "disk0";
}

const char *object_get_typename(void *device)
{
	CHECK(device == &disk_object);
	return qemu.other_device ? "ide-hd" : "virtio-blk-device";
}

int64_t object_property_get_int(void *device, const char *property, void **error)
{
	CHECK(device && property && !error);
	return 1;
}

bool object_property_get_bool(void *device, const char *property, void **error)
{
	CHECK(device && !error);
	return !strcmp(property, "event_idx") && qemu.events;
}

void bdrv_drained_begin(void *state)
{
	CHECK(state == &disk_object && qemu.locked && !qemu.held);
	qemu.held = true;
}

void bdrv_drained_end(void *state)
{
	CHECK(state == &disk_object && qemu.locked && qemu.held);
	qemu.held = false;
}

uint64_t virtio_queue_get_desc_addr(void *device, int queue)
{
	CHECK(device == &disk_object && !queue);
	return qemu.table;
}

uint64_t virtio_queue_get_avail_addr(void *device, int queue)
{
	CHECK(device == &disk_object && !queue);
	return qemu.table ? ASKED : 0;
}

uint64_t virtio_queue_get_used_addr(void *device, int queue)
{
	CHECK(device == &disk_object && !queue);
	return qemu.table ? ANSWERED : 0;
}

int virtio_queue_get_num(void *device, int queue)
{
	CHECK(device == &disk_object && !queue);
	return RING;
}

void *virtio_get_queue(void *device, int queue)
{
	CHECK(device == &disk_object && !queue);
	return &qemu.popped;
}

void cpu_physical_memory_rw(uint64_t address, void *bytes, uint64_t size, bool write)
{
	/* Where there is no memory QEMU reads zeros. */
	if (address > MEMORY || size > MEMORY - address) {
		if (!write)
			memset(bytes, 0, size);
		return;
	}
	if (write)
		memcpy(qemu.memory + address, bytes, size);
	else
		memcpy(bytes, qemu.memory + address, size);
}

void *blk_by_name(const char *name)
{
	return !strcmp(name, "disk0") ? &disk_object : NULL;
}

void *blk_bs(void *backend)
{
	return backend;
}

/* The guest's driver. */

static void describe(uint64_t table, unsigned index, uint64_t address, uint32_t size, unsigned flags, unsigned next)
{
	uint64_t at = table + index * 16;

	set(at, address, 8);
	set(at + 8, size, 4);
	set(at + 12, flags, 2);
	set(at + 14, next, 2);
}

static void ring(uint16_t head)
{
	uint16_t index = word(ASKED + 2);

	set(ASKED + 4 + (uint64_t)(index % RING) * 2, head, 2);
	set(ASKED + 2, (uint16_t)(index + 1), 2);
}

/* In a table of its own, as Linux does: header, two pieces of data, status. */
static void request(uint16_t head, uint32_t type, uint64_t sector, uint32_t first, uint32_t second)
{
	uint64_t table = INDIRECT + head * 64u, header = HEADERS + head * 32u;
	unsigned device_writes = type == 1 ? 0 : 2;

	set(header, type, 4);
	set(header + 8, sector, 8);
	describe(table, 0, header, 16, 1, 1);
	describe(table, 1, DATA, first, 1 | device_writes, 2);
	describe(table, 2, DATA + 0x8000, second, 1 | device_writes, 3);
	describe(table, 3, header + 16, 1, 2, 0);
	describe(TABLE, head, table, 64, 4, 0);
	ring(head);
}

static struct block_io io;
static struct virtio_disk disk;

static void open_disk(void)
{
	char message[256];

	memset(&qemu, 0, sizeof qemu);
	CHECK(block_io_open(message, sizeof message, &io) == 0);
	CHECK(virtio_disk_open("disk0", &io, message, sizeof message, &disk) == 0);
	CHECK(qemu.held && !qemu.locked && disk.sectors == 2048);
	CHECK(virtio_disk_was_reset(&disk)); /* it was never looked at */
	CHECK(!virtio_disk_was_reset(&disk));
	qemu.table = TABLE;
	qemu.locked = true;
	CHECK(virtio_disk_was_reset(&disk) && !virtio_disk_was_reset(&disk));
}

static void take(uint16_t head, enum virtio_operation operation, uint64_t sector, uint32_t sectors)
{
	struct virtio_request got;

	CHECK(virtio_disk_take(&disk, &got) == 1);
	CHECK(got.head == head && got.operation == operation && got.sector == sector && got.sectors == sectors);
}

static void test_answers_come_one_by_one_and_in_any_order(void)
{
	struct virtio_request got;
	char message[256];

	open_disk();
	qemu.answers_backwards = true;
	/* More often round than the ring has entries. */
	for (int round = 0; round < 20000; round++) {
		uint16_t seen = word(ANSWERED + 2);

		qemu.notified = 0;
		request(2, 0, 8, 4096, 512);
		request(5, 1, 2000, 512, 1024);
		request(6, 4, 99, 0, 0);
		take(2, VIRTIO_READ, 8, 9);
		take(5, VIRTIO_WRITE, 2000, 3);
		take(6, VIRTIO_FLUSH, 0, 0);
		CHECK(virtio_disk_take(&disk, &got) == 0);
		CHECK(virtio_disk_do(&disk, &io, message, sizeof message) == 0);
		/* All is done, and the guest sees nothing of it. */
		CHECK(qemu.held && qemu.popped == word(ASKED + 2) && word(ANSWERED + 2) == seen && !qemu.notified && !no_interrupt());
		CHECK(virtio_disk_answer(&disk, 5) == 0);
		CHECK(word(ANSWERED + 2) == (uint16_t)(seen + 1) && qemu.notified == 1);
		CHECK(word(ANSWERED + 4 + (seen % RING) * 8u) == 5);
		/* Another is asked for meanwhile. */
		request(1, 8, 0, 20, 0);
		take(1, VIRTIO_OTHER, 0, 0);
		CHECK(virtio_disk_do(&disk, &io, message, sizeof message) == 0);
		CHECK(word(ANSWERED + 2) == (uint16_t)(seen + 1) && qemu.notified == 1);
		CHECK(word(ANSWERED + 4 + (seen % RING) * 8u) == 5);
		CHECK(virtio_disk_answer(&disk, 1) == 0 && virtio_disk_answer(&disk, 2) == 0);
		/* The guest wants no interrupt. */
		set(ASKED, 1, 2);
		CHECK(virtio_disk_answer(&disk, 6) == 0 && qemu.notified == 3);
		set(ASKED, 0, 2);
		CHECK(word(ANSWERED + 2) == (uint16_t)(seen + 4));
		CHECK(virtio_disk_answer(&disk, 6) == -ESTALE);
	}
}

static void test_what_is_written_can_be_read(void)
{
	uint8_t bytes[4096];

	open_disk();
	memset(qemu.memory + DATA, 'a', 512);
	memset(qemu.memory + DATA + 0x8000, 'b', 1024);
	request(3, 1, 0, 512, 1024);
	take(3, VIRTIO_WRITE, 0, 3);
	CHECK(virtio_disk_data(&disk, 3, bytes, sizeof bytes) == 1536);
	CHECK(bytes[0] == 'a' && bytes[511] == 'a' && bytes[512] == 'b' && bytes[1535] == 'b');
	CHECK(virtio_disk_data(&disk, 3, bytes, 600) == 600);
}

static void test_what_is_not_on_the_disk_takes_no_time(void)
{
	open_disk();
	request(0, 0, 2040, 4096, 512);
	take(0, VIRTIO_OTHER, 2040, 9);
	request(1, 0, UINT64_MAX, 512, 0);
	take(1, VIRTIO_OTHER, UINT64_MAX, 1);
}

/* The guest may write anything into its rings. */
static void test_a_ring_of_nonsense(void)
{
	struct virtio_request got;

	open_disk();
	request(0, 0, 0, 512, 0);
	describe(TABLE, 0, 0, 16, 1, 0); /* a circle */
	CHECK(virtio_disk_take(&disk, &got) == -EPROTO);
	open_disk();
	request(0, 0, 0, 512, 0);
	describe(TABLE, 0, TABLE, 16, 4, 0); /* a table that is itself */
	CHECK(virtio_disk_take(&disk, &got) == -EPROTO);
	open_disk();
	ring(RING);
	CHECK(virtio_disk_take(&disk, &got) == -EPROTO);
	open_disk();
	ring(4); /* nothing in it */
	CHECK(virtio_disk_take(&disk, &got) == -EPROTO);
	for (int i = 0; i < 100000; i++) {
		static uint32_t state = 5;

		open_disk();
		for (int k = 0; k < RING * 16; k++)
			qemu.memory[TABLE + k] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
		set(TABLE + 6, 0, 2);
		ring((uint16_t)(state >> 20) % RING);
		virtio_disk_take(&disk, &got);
		if (i == 1000)
			break;
	}
}

static void check_do_fails(const char *wanted)
{
	struct virtio_request got;
	char message[256] = "";

	request(2, 0, 8, 4096, 512);
	request(3, 0, 8, 4096, 512);
	while (virtio_disk_take(&disk, &got) > 0)
		;
	CHECK(virtio_disk_do(&disk, &io, message, sizeof message) == -EPROTO);
	CHECK(!strcmp(message, wanted));
}

static void test_a_qemu_that_does_other_things(void)
{
	char message[256] = "";

	open_disk();
	qemu.forgets = true;
	check_do_fails("QEMU did not answer each request that was waited for");
	/* What it did answer is shown, and the rest when it comes: as without us. */
	CHECK(word(ANSWERED + 2) == 0);
	virtio_disk_let_go(&disk);
	CHECK(word(ANSWERED + 2) == 1 && qemu.notified == 1 && word(ANSWERED + 4) == 2);
	qemu.forgets = false;
	bdrv_drain_all();
	CHECK(word(ANSWERED + 2) == 2 && word(ANSWERED + 12) == 3);
	open_disk();
	qemu.answers_twice = true;
	check_do_fails("QEMU answered a request that nobody has asked for");
	virtio_disk_let_go(&disk);
	CHECK(!qemu.held);
	memset(&qemu, 0, sizeof qemu);
	qemu.ignores_hold = true;
	CHECK(virtio_disk_open("disk0", &io, message, sizeof message, &disk) == -ENOTSUP);
	CHECK(!strcmp(message, "a read was done although the disk was held") && !qemu.held);
	memset(&qemu, 0, sizeof qemu);
	qemu.other_device = true;
	CHECK(virtio_disk_open("disk0", &io, message, sizeof message, &disk) == -ENOTSUP);
	CHECK(!strcmp(message, "the drive is not that of a virtio disk"));
	qemu.other_device = false;
	qemu.events = true;
	CHECK(virtio_disk_open("disk0", &io, message, sizeof message, &disk) == -ENOTSUP);
	CHECK(strstr(message, "event_idx=off"));
	CHECK(virtio_disk_open("disk1", &io, message, sizeof message, &disk) == -ENOTSUP);
	CHECK(!strcmp(message, "QEMU does not find its drive by name") && !qemu.locked);
}

static void test_a_driver_that_starts_anew(void)
{
	struct virtio_request got;
	char message[256];

	open_disk();
	request(2, 0, 8, 4096, 512);
	take(2, VIRTIO_READ, 8, 9);
	CHECK(virtio_disk_do(&disk, &io, message, sizeof message) == 0);
	qemu.table = 0;
	CHECK(virtio_disk_was_reset(&disk));
	CHECK(virtio_disk_answer(&disk, 2) == -ESTALE && virtio_disk_take(&disk, &got) == 0);
	memset(qemu.memory + ASKED, 0, 0x2000);
	qemu.popped = qemu.answered = 0;
	qemu.table = TABLE;
	CHECK(virtio_disk_was_reset(&disk));
	request(2, 0, 8, 4096, 512);
	take(2, VIRTIO_READ, 8, 9);
	CHECK(virtio_disk_do(&disk, &io, message, sizeof message) == 0 && virtio_disk_answer(&disk, 2) == 0);
	/* Somebody else has written into the ring. */
	request(3, 0, 8, 4096, 512);
	take(3, VIRTIO_READ, 8, 9);
	CHECK(virtio_disk_do(&disk, &io, message, sizeof message) == 0);
	set(ANSWERED + 2, 77, 2);
	CHECK(virtio_disk_answer(&disk, 3) == -ESTALE);
}

/* Another process of QEMU's has taken up the machine: the same memory, and a device that believes what the ring says. */
static void open_again(struct virtio_disk *again)
{
	char message[256];

	qemu.locked = qemu.held = false;
	qemu.popped = word(ASKED + 2);
	qemu.answered = word(ANSWERED + 2);
	qemu.notified = 0;
	CHECK(virtio_disk_open("disk0", &io, message, sizeof message, again) == 0);
	qemu.locked = true;
}

static void test_who_goes_on_shows_what_was_under_way(void)
{
	struct virtio_disk left;
	char message[256];

	open_disk();
	/* Twice round the ring. */
	for (int round = 0; round < 2 * RING; round++) {
		uint16_t seen = word(ANSWERED + 2);

		request(2, 0, 8, 4096, 512);
		request(5, 1, 2000, 512, 1024);
		take(2, VIRTIO_READ, 8, 9);
		take(5, VIRTIO_WRITE, 2000, 3);
		CHECK(virtio_disk_do(&disk, &io, message, sizeof message) == 0 && virtio_disk_answer(&disk, 5) == 0);
		left = disk;
		virtio_disk_leave(&left);
		CHECK(word(ANSWERED + 2) == (uint16_t)(seen + 2));
		open_again(&disk);
		CHECK(virtio_disk_take_up(&disk, &left) == 0 && !virtio_disk_was_reset(&disk));
		CHECK(word(ANSWERED + 2) == (uint16_t)(seen + 1) && !qemu.notified);
		request(6, 4, 0, 0, 0);
		take(6, VIRTIO_FLUSH, 0, 0);
		CHECK(virtio_disk_do(&disk, &io, message, sizeof message) == 0);
		CHECK(virtio_disk_answer(&disk, 5) == -ESTALE && virtio_disk_answer(&disk, 6) == 0 && virtio_disk_answer(&disk, 2) == 0);
		CHECK(word(ANSWERED + 2) == (uint16_t)(seen + 3) && qemu.notified == 2);
		CHECK(word(ANSWERED + 4 + ((seen + 2) % RING) * 8u) == 2);
	}
}

static void test_another_ring_than_the_one_that_was_left_is_refused(void)
{
	struct virtio_disk left, never = { .ring = -1, .sectors = 2048 };
	char message[256];

	open_disk();
	request(2, 0, 8, 4096, 512);
	take(2, VIRTIO_READ, 8, 9);
	CHECK(virtio_disk_do(&disk, &io, message, sizeof message) == 0);
	left = disk;
	/* It was not left: QEMU would take what was shown for all there was. */
	open_again(&disk);
	CHECK(virtio_disk_take_up(&disk, &left) == -ESTALE);
	virtio_disk_leave(&left);
	for (int what = 0; what < 4; what++) {
		struct virtio_disk other = left;

		other.table += what == 0;
		other.ring += what == 1;
		other.sectors += what == 2;
		other.shown = (uint16_t)(other.shown - (what == 3) * 2 * RING);
		open_again(&disk);
		CHECK(virtio_disk_take_up(&disk, &other) == -ESTALE && word(ANSWERED + 2) == left.kept);
	}
	/* Firmware had not set it up. */
	open_again(&disk);
	CHECK(virtio_disk_take_up(&disk, &never) == 0 && disk.ring == -1 && virtio_disk_was_reset(&disk));
	never = (struct virtio_disk){ .ring = RING };
	virtio_disk_leave(&never);
}

int main(void)
{
	test_answers_come_one_by_one_and_in_any_order();
	test_what_is_written_can_be_read();
	test_what_is_not_on_the_disk_takes_no_time();
	test_a_ring_of_nonsense();
	test_a_qemu_that_does_other_things();
	test_a_driver_that_starts_anew();
	test_who_goes_on_shows_what_was_under_way();
	test_another_ring_than_the_one_that_was_left_is_refused();
	puts("test_virtio_disk: ok");
	return 0;
}
