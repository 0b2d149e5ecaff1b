/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the proof that disks answer at once, on a QEMU of our own whose functions do less than they should. */
#include "internals/block_io.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "qemu_block.h"

/* A QEMU: its functions by their names, which the plugin finds in this program. */
static struct {
	bool locked;
	bool held, holds_nothing;
	bool polls_nothing, drains_nothing, reads_garbage, medium_fails, has_no_medium;
	int endless; /* work that always makes new work */
	void (*work)(void *opaque);
	void *work_opaque;
	void (*done)(void *opaque, int r);
	void *done_opaque;
	unsigned char *vector_bytes;
	unsigned commands_left; /* each a request that only the answer to the one before makes */
	const char *type;
	int64_t queue_size, queues;
	bool indirect, ordered;
} qemu;

static int disk;

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

bool aio_poll(void *context, bool blocking)
{
	void (*work)(void *) = qemu.work;

	CHECK(context == &qemu && !blocking);
	if (qemu.endless)
		return true;
	if (!work || qemu.polls_nothing)
		return false;
	qemu.work = NULL;
	work(qemu.work_opaque);
	return true;
}

static void make_command(void *opaque)
{
	(void)opaque;
	qemu.commands_left--;
}

void bdrv_drain_all(void)
{
	void (*done)(void *, int) = qemu.done;

	CHECK(qemu.locked);
	if (qemu.commands_left)
		qemu.work = make_command;
	if (!done || qemu.drains_nothing || qemu.held)
		return;
	qemu.done = NULL;
	memset(qemu.vector_bytes, qemu.reads_garbage ? 1 : 7, 512);
	done(qemu.done_opaque, qemu.medium_fails ? -EIO : 0);
}

void aio_bh_schedule_oneshot_full(void *context, void (*function)(void *), void *opaque, const char *name)
{
	CHECK(context == &qemu && name);
	qemu.work = function;
	qemu.work_opaque = opaque;
}

void *blk_all_next(void *before)
{
	return before ? NULL : &disk;
}

bool blk_is_inserted(void *which)
{
	CHECK(which == &disk);
	return !qemu.has_no_medium;
}

int64_t blk_getlength(void *which)
{
	CHECK(which == &disk);
	return 1 << 20;
}

void *blk_aio_preadv(void *which, int64_t offset, void *vector, int flags, void (*done)(void *, int), void *opaque)
{
	CHECK(which == &disk && offset == 0 && vector && flags == 0);
	qemu.done = done;
	qemu.done_opaque = opaque;
	return &qemu;
}

int blk_pread(void *which, int64_t offset, int64_t size, void *ret, int flags)
{
	CHECK(which == &disk && offset == 0 && size == 512 && flags == 0);
	if (qemu.medium_fails)
		return -EIO;
	memset(ret, 7, 512);
	return 0;
}

void qemu_iovec_init(void *vector, int count)
{
	CHECK(vector && count == 1);
}

void qemu_iovec_add(void *vector, void *bytes, size_t size)
{
	CHECK(vector && size == 512);
	qemu.vector_bytes = bytes;
}

void qemu_iovec_destroy(void *vector)
{
	CHECK(vector);
}

void *blk_get_attached_dev(void *which)
{
	CHECK(which == &disk);
	return qemu.type ? &disk : NULL;
}

const char *blk_name(void *which)
{
	CHECK(which == &disk);
	return "disk0";
}

const char *object_get_typename(void *device)
{
	CHECK(device == &disk);
	return qemu.type;
}

int64_t object_property_get_int(void *device, const char *property, void **error)
{
	CHECK(device == &disk && !error);
	return !strcmp(property, "queue-size") ? qemu.queue_size : qemu.queues;
}

bool object_property_get_bool(void *device, const char *property, void **error)
{
	CHECK(device == &disk && !error && !strcmp(property, "indirect_desc"));
	return qemu.indirect;
}

static struct block_io open_sound(void)
{
	struct block_io io;
	char message[256];

	memset(&qemu, 0, sizeof qemu);
	CHECK(block_io_open(message, sizeof message, &io) == 0);
	CHECK(!qemu.locked && io.settled == 0);
	return io;
}

static void check_refused(const char *wanted)
{
	struct block_io io;
	char message[256] = "";

	CHECK(block_io_open(message, sizeof message, &io) == -ENOTSUP);
	if (!strstr(message, wanted))
		fprintf(stderr, "got: %s\n", message);
	CHECK(strstr(message, wanted));
	memset(&qemu, 0, sizeof qemu);
}

static void test_what_does_less_is_refused(void)
{
	open_sound();
	qemu.locked = true;
	check_refused("held where the guest runs");
	qemu.polls_nothing = true;
	check_refused("work for the main loop is not done");
	qemu.endless = 1;
	check_refused("work for the main loop is not done");
	qemu.drains_nothing = true;
	check_refused("a read was not done");
	qemu.reads_garbage = true;
	check_refused("other data");
}

static void test_a_medium_that_cannot_be_read_proves_nothing_against_it(void)
{
	struct block_io io;
	char message[256];

	memset(&qemu, 0, sizeof qemu);
	qemu.medium_fails = true;
	CHECK(block_io_open(message, sizeof message, &io) == 0);
	qemu.has_no_medium = true;
	CHECK(block_io_open(message, sizeof message, &io) == 0);
}

static void test_what_an_answer_asks_for_is_waited_for_too(void)
{
	struct block_io io = open_sound();

	qemu.commands_left = 5;
	block_io_settle(&io);
	CHECK(qemu.commands_left == 0 && io.settled == 1 && io.unsettled == 0 && !qemu.locked);
	qemu.endless = 1;
	block_io_settle(&io);
	CHECK(io.settled == 2 && io.unsettled == 1 && !qemu.locked);
}

static bool is_ordered(const char *drive)
{
	return qemu.ordered && !strcmp(drive, "disk0");
}

static void check_device(const struct block_io *io, const char *wanted)
{
	char message[256] = "";

	CHECK(block_io_find_inexact(io, is_ordered, message, sizeof message) == (wanted != NULL));
	CHECK(!strcmp(message, wanted ? wanted : ""));
}

static void test_devices_that_take_several_requests_are_named(void)
{
	struct block_io io = open_sound();

	check_device(&io, NULL);
	qemu.type = "virtio-blk-device";
	qemu.queue_size = 4;
	qemu.queues = 1;
	check_device(&io, NULL);
	qemu.indirect = true;
	check_device(&io, "virtio-blk-device takes several requests at a time: indirect_desc is 1, not 0");
	qemu.queue_size = 256;
	check_device(&io, "virtio-blk-device takes several requests at a time: queue-size is 256, not 4");
	qemu.ordered = true;
	check_device(&io, NULL);
	qemu.ordered = false;
	qemu.queue_size = -1; /* there is no such property any more */
	check_device(&io, "virtio-blk-device takes several requests at a time: queue-size is -1, not 4");
	qemu.type = "ide-hd";
	check_device(&io, "ide-hd is asked in another way than by a store to its doorbell");
	qemu.type = "sd-card";
	check_device(&io, NULL);
}

static void hold(void *state)
{
	CHECK(state == &disk && qemu.locked && !qemu.held);
	qemu.held = !qemu.holds_nothing;
}

static void let_go(void *state)
{
	CHECK(state == &disk);
	qemu.held = false;
}

static void check_held(const char *wanted)
{
	struct block_io io = open_sound();
	struct held_disk held = { &disk, &disk, hold, let_go };
	char message[256] = "";

	qemu.holds_nothing = wanted;
	lock_take(&io.lock);
	CHECK(block_io_prove_held(&io, &held, message, sizeof message) == (wanted ? -ENOTSUP : 0));
	CHECK(!strcmp(message, wanted ? wanted : "") && !qemu.held && qemu.locked);
	/* As a timer's call does, which has the lock. */
	block_io_settle(&io);
	CHECK(qemu.locked && io.settled == 1);
	lock_give(&io.lock);
}

int main(void)
{
	check_held(NULL);
	check_held("a read was done although the disk was held");
	test_what_does_less_is_refused();
	test_a_medium_that_cannot_be_read_proves_nothing_against_it();
	test_what_an_answer_asks_for_is_waited_for_too();
	test_devices_that_take_several_requests_are_named();
	CHECK(block_io_rings("virtio-pci-notify-virtio-blk", 0) && block_io_rings("nvme", 0x1008));
	CHECK(!block_io_rings("virtio-pci-notify-virtio-net", 0) && !block_io_rings("hpet", 0x50) && !block_io_rings("", 0x50));
	/* The doorbell of a slot of virtio-mmio, and not its other registers. */
	CHECK(block_io_rings("anon0badcafe", 0xfffffe0000000e50) && !block_io_rings("anon0badcafe", 0xfffffe0000000e64));
	puts("test_block_io: ok");
	return 0;
}
