/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds the one recording that there is, and ends it with a trace that is whole. */
#include "recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "instrument.h"

struct recording recording = { .lock = PTHREAD_MUTEX_INITIALIZER };

static FILE *open_in(const char *folder, const char *name, const char *mode)
{
	char path[4096];

	if (!folder || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
		errno = ENOENT;
		return NULL;
	}
	return fopen(path, mode);
}

FILE *recording_open_state(const char *name)
{
	return open_in(recording.state, name, "wbe");
}

FILE *recording_open_resumed(const char *name)
{
	return open_in(recording.resumed, name, "rbe");
}

void recording_tell_state_error(const char *name, int r)
{
	fprintf(stderr, "bootlab-plugin: %s/%s: %s\n", recording.state, name, strerror(-r));
}

void recording_tell_write_error(void)
{
	if (recording.writer.error && !recording.write_error_told) {
		fprintf(stderr, "bootlab-plugin: trace: %s\n", strerror(-recording.writer.error));
		recording.write_error_told = true;
	}
}

void recording_report_counts(void)
{
	struct disk_count now[COUNTED_DISKS_MAX];

	disk_counts_read(&recording.reads.counts, now);
	disk_reads_report(&recording.reads, now, &recording.writer);
	charges_report(&recording.charges, &recording.writer);
	prices_report(&recording.prices, &recording.writer);
}

void recording_end(struct stamp at)
{
	int r;

	recording.stopped = true;
	recording_report_counts();
	if (recording.devices_settle)
		writer_settled(&recording.writer, recording.disks.settled, recording.disks.unsettled);
	for (size_t i = 0; i < recording.n_disk_accounts; i++) {
		const struct disk_account *disk = &recording.disk_accounts[i];

		writer_modelled(&recording.writer, disk->drive, disk->answered, disk->late);
	}
	writer_end(&recording.writer, at);
	r = instrument_close(at);
	if (r)
		fprintf(stderr, "bootlab-plugin: profile: %s\n", strerror(-r));
}
