/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives what the guest asks of a disk to its model, and the guest its answers when the model says so, by timers. */
#include "modelled_disks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disks/model.h"
#include "disks/state.h"
#include "internals/virtio_disk.h"
#include "recording.h"

struct disk {
	const struct modelled_disk *config;
	struct virtio_disk ring;
	struct disk_model model;
	bool works;
	int64_t timer_ns; /* of the next timer, INT64_MAX: there is none */
	struct disk_account *account;
	uint64_t kept_at[VIRTIO_RING_MAX]; /* where the bytes of a write are, by its head */
};

static const char STATE[] = "disks-state";

/* What is in that file, for each disk behind another; its model follows. Pointers mean nothing there. */
struct state {
	char drive[TRACE_NAME_MAX + 1];
	uint64_t written;
	struct virtio_disk ring;
	uint64_t kept_at[VIRTIO_RING_MAX];
};

static struct {
	struct disk *all;
	size_t count;
	FILE *log, *writes;
	uint64_t written; /* bytes of `writes` */
} disks;

static void advance(struct disk *disk);

int modelled_disks_log(const char *requests, const char *writes)
{
	if (requests) {
		disks.log = fopen(requests, "we");
		if (!disks.log)
			return -errno;
		setvbuf(disks.log, NULL, _IOLBF, 0);
		fprintf(disks.log, "bootlab-requests 1\n");
	}
	if (writes) {
		disks.writes = fopen(writes, "we");
		if (!disks.writes)
			return -errno;
		setvbuf(disks.writes, NULL, _IONBF, 0);
	}
	return 0;
}

static int64_t now_ns(void)
{
	return machine_now(&recording.machine, 0).t_ns;
}

/* The trace is written by whoever holds the recording's lock, which comes behind QEMU's. */
static void tell(const char *drive, const char *why)
{
	char feature[TRACE_NAME_MAX + 8];

	snprintf(feature, sizeof feature, "model:%s", drive);
	pthread_mutex_lock(&recording.lock);
	if (!why)
		writer_exact(&recording.writer, feature);
	else if (!recording.stopped)
		writer_refused(&recording.writer, feature, why);
	pthread_mutex_unlock(&recording.lock);
}

static void give_up(struct disk *disk, const char *why)
{
	disk->works = false;
	virtio_disk_let_go(&disk->ring);
	tell(disk->config->drive, why);
}

static void write_down(const struct disk *disk, const struct disk_request *request, int64_t shown_ns)
{
	static const char *const names[] = { "read", "write", "flush" };

	if (!disks.log)
		return;
	fprintf(disks.log, "%s %s %" PRIu64 " %" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64, disk->config->drive,
		names[request->operation], request->sector, request->sectors, request->asked_ns, request->started_ns, shown_ns);
	if (request->operation == DISK_WRITE && disk->config->keeps_writes && disks.writes)
		fprintf(disks.log, " %" PRIu64, disk->kept_at[request->id]);
	fputc('\n', disks.log);
}

static void keep_write(struct disk *disk, const struct virtio_request *request)
{
	size_t size = (size_t)request->sectors * 512;
	uint8_t *bytes = malloc(size ? size : 1);

	disk->kept_at[request->head] = disks.written;
	if (bytes && virtio_disk_data(&disk->ring, request->head, bytes, size) == size &&
	    fwrite(bytes, 1, size, disks.writes) == size) {
		disks.written += size;
	} else {
		/* No more is kept than what is whole. */
		tell(disk->config->drive, "what the guest writes cannot be kept");
		fclose(disks.writes);
		disks.writes = NULL;
	}
	free(bytes);
}

static void on_due(void *opaque)
{
	struct disk *disk = opaque;

	if (now_ns() >= disk->timer_ns)
		disk->timer_ns = INT64_MAX;
	if (disk->works)
		advance(disk);
}

/* A timer that is too early by now finds nothing to do. */
static void set_timer(struct disk *disk)
{
	int64_t next = disk_model_next(&disk->model);

	if (next >= disk->timer_ns)
		return;
	if (virtual_timers_add(&recording.timers, next, on_due, disk))
		give_up(disk, strerror(ENOMEM));
	else
		disk->timer_ns = next;
}

/* Shows the guest all that is done by now. */
static void show(struct disk *disk)
{
	struct disk_request request;
	int64_t now = now_ns();

	while (disk->works && disk_model_take(&disk->model, now, &request)) {
		if (virtio_disk_answer(&disk->ring, (uint16_t)request.id)) {
			give_up(disk, "the guest's ring is not what it was");
			return;
		}
		disk->account->answered++;
		disk->account->late += request.done_ns != now;
		write_down(disk, &request, now);
	}
}

static void advance(struct disk *disk)
{
	show(disk);
	if (disk->works)
		set_timer(disk);
}

/* What is no reading, writing or flushing takes no time: its answer is given at once. */
static bool take_requests(struct disk *disk)
{
	static struct virtio_request taken[VIRTIO_RING_MAX];
	char message[256];
	size_t n = 0;
	int r = 0;

	while (n < VIRTIO_RING_MAX && (r = virtio_disk_take(&disk->ring, &taken[n])) > 0)
		n++;
	if (r < 0) {
		give_up(disk, "what the guest asked for is no request of a virtio disk");
		return false;
	}
	if (!n)
		return false;
	show(disk);
	for (size_t i = 0; i < n && disks.writes && disk->config->keeps_writes; i++)
		if (taken[i].operation == VIRTIO_WRITE)
			keep_write(disk, &taken[i]);
	if (virtio_disk_do(&disk->ring, &recording.disks, message, sizeof message)) {
		give_up(disk, message);
		return true;
	}
	for (size_t i = 0; i < n && disk->works; i++) {
		static const enum disk_operation operations[] = { DISK_READ, DISK_WRITE, DISK_FLUSH };
		struct disk_request request = { .id = taken[i].head, .sector = taken[i].sector, .sectors = taken[i].sectors };

		if (taken[i].operation == VIRTIO_OTHER) {
			if (virtio_disk_answer(&disk->ring, taken[i].head))
				give_up(disk, "the guest's ring is not what it was");
			continue;
		}
		request.operation = operations[taken[i].operation];
		if (disk_model_ask(&disk->model, &request, now_ns()))
			give_up(disk, "the guest asks for more at once than the model can hold");
	}
	if (disk->works)
		advance(disk);
	return true;
}

static int keep_disk(FILE *file, const struct disk *disk)
{
	static struct state state; /* no byte of padding is left to chance */

	strcpy(state.drive, disk->config->drive);
	state.written = disks.written;
	state.ring = disk->ring;
	memcpy(state.kept_at, disk->kept_at, sizeof state.kept_at);
	if (fwrite(&state, sizeof state, 1, file) != 1)
		return errno ? -errno : -EIO;
	return disk_state_write(file, &disk->model);
}

void modelled_disks_keep(void)
{
	FILE *file = disks.count ? recording_open_state(STATE) : NULL;
	int r = !disks.count || file ? 0 : -errno;

	for (size_t i = 0; !r && i < disks.count; i++) {
		/* One that has ceased to work has no state, and nobody goes on from there. */
		r = disks.all[i].works ? keep_disk(file, &disks.all[i]) : -ENODEV;
		if (!r)
			virtio_disk_leave(&disks.all[i].ring);
	}
	if (file && fclose(file) && !r)
		r = -errno;
	if (r)
		recording_tell_state_error(STATE, r);
}

/* With QEMU's lock held. 0 or -errno. */
static int take_up_disk(FILE *file, struct disk *disk)
{
	static struct state state;
	int r;

	if (fread(&state, sizeof state, 1, file) != 1 || strncmp(state.drive, disk->config->drive, sizeof state.drive))
		return -EINVAL;
	r = disk_state_read(file, &disk->model);
	if (!r)
		r = virtio_disk_take_up(&disk->ring, &state.ring);
	if (r)
		return r;
	disks.written = state.written;
	memcpy(disk->kept_at, state.kept_at, sizeof disk->kept_at);
	set_timer(disk);
	return 0;
}

static void take_up(void)
{
	FILE *file = recording_open_resumed(STATE);
	int r = file ? 0 : -errno;

	lock_take(&recording.disks.lock);
	for (size_t i = 0; !r && i < disks.count; i++)
		r = disks.all[i].works ? take_up_disk(file, &disks.all[i]) : -ENODEV;
	lock_give(&recording.disks.lock);
	if (file)
		fclose(file);
	if (!r)
		return;
	/* With rings that are not what they say the guest would do harm. */
	fprintf(stderr, "bootlab-plugin: %s/%s: %s\n", recording.resumed, STATE, strerror(-r));
	machine_stop(&recording.machine);
}

static int open_disk(struct disk *disk, char *message, size_t message_size)
{
	struct disk_figures figures;
	int r = virtio_disk_open(disk->config->drive, &recording.disks, message, message_size, &disk->ring);

	if (r)
		return r;
	memcpy(figures.of, disk->config->figures, sizeof figures.of);
	figures.sectors = disk->ring.sectors;
	r = disk_model_init(disk->config->kind, &figures, message, message_size, &disk->model);
	if (r) {
		lock_take(&recording.disks.lock);
		virtio_disk_let_go(&disk->ring);
		lock_give(&recording.disks.lock);
	}
	return r;
}

void modelled_disks_open(void)
{
	const struct config *config = &recording.config;
	char message[512] = "out of memory";
	size_t count = config->n_modelled_disks;

	if (!count)
		return;
	disks.all = calloc(count, sizeof *disks.all);
	recording.disk_accounts = calloc(count, sizeof *recording.disk_accounts);
	if (!disks.all || !recording.disk_accounts ||
	    virtual_timers_open(&recording.machine.skipped_ns, message, sizeof message, &recording.timers)) {
		for (size_t i = 0; i < count; i++)
			tell(config->modelled_disks[i].drive, message);
		return;
	}
	disks.count = count;
	for (size_t i = 0; i < count; i++) {
		struct disk *disk = &disks.all[i];

		disk->config = &config->modelled_disks[i];
		disk->timer_ns = INT64_MAX;
		disk->works = !open_disk(disk, message, sizeof message);
		tell(disk->config->drive, disk->works ? NULL : message);
		if (!disk->works)
			continue;
		disk->account = &recording.disk_accounts[recording.n_disk_accounts++];
		disk->account->drive = disk->config->drive;
	}
	if (recording.resumed)
		take_up();
}

bool modelled_disks_has(const char *drive)
{
	for (size_t i = 0; i < disks.count; i++)
		if (disks.all[i].works && !strcmp(disks.all[i].config->drive, drive))
			return true;
	return false;
}

bool modelled_disks_work(void)
{
	for (size_t i = 0; i < disks.count; i++)
		if (disks.all[i].works)
			return true;
	return false;
}

/* The registers by which a ring is set up or given up: those of virtio-mmio have no name. */
static bool sets_up(const char *region)
{
	return !strncmp(region, "virtio-pci-common-virtio-blk", 28) || !strncmp(region, "anon", 4);
}

bool modelled_disks_stored(const char *region, uint64_t address)
{
	bool rings, changes, waited = false;

	if (!disks.count)
		return false;
	changes = sets_up(region);
	rings = block_io_rings(region, address);
	if (!changes && !rings)
		return false;
	lock_take(&recording.disks.lock);
	for (size_t i = 0; i < disks.count; i++) {
		struct disk *disk = &disks.all[i];

		if (!disk->works)
			continue;
		if (virtio_disk_was_reset(&disk->ring))
			disk_model_reset(&disk->model);
		if (rings && take_requests(disk))
			waited = true;
	}
	lock_give(&recording.disks.lock);
	return waited;
}
