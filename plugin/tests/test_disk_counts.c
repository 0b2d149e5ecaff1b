/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that QEMU's counts are found where they are, on a QEMU of our own, and what the trace is told of them. */
#include "internals/disk_counts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "qemu_block.h"
#include "records/disk_reads.h"

/* A QEMU with named disks and one without a name; what it counts reads in lies where `bytes_at` and `requests_at` say. */
enum { DISKS = 3, COUNTERS = 1024 };
static struct {
	bool locked, counts_nothing, counts_twice;
	size_t bytes_at, requests_at, named;
	unsigned char counters[COUNTED_DISKS_MAX + 2][COUNTERS];
	size_t disks;
} qemu;

static const char *const names[DISKS] = { "image", "", "disk0" };
static char path[] = "/tmp/bootlab-disk-counts-XXXXXX";

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

void *blk_all_next(void *before)
{
	size_t next = before ? (size_t)((unsigned char(*)[COUNTERS])before - qemu.counters) + 1 : 0;

	CHECK(qemu.locked);
	return next < qemu.disks ? qemu.counters[next] : NULL;
}

const char *blk_name(void *disk)
{
	size_t number = (size_t)((unsigned char(*)[COUNTERS])disk - qemu.counters);

	return number < DISKS ? names[number] : "more";
}

void *blk_get_stats(void *disk)
{
	return disk;
}

static void add(unsigned char *counters, size_t at, uint64_t value)
{
	uint64_t sum;

	memcpy(&sum, counters + at, sizeof sum);
	sum += value;
	memcpy(counters + at, &sum, sizeof sum);
}

void block_acct_start(void *counters, void *cookie, int64_t bytes, int type)
{
	(void)counters;
	CHECK(type == 1);
	memcpy(cookie, &bytes, sizeof bytes);
}

void block_acct_done(void *counters, void *cookie)
{
	uint64_t bytes;

	memcpy(&bytes, cookie, sizeof bytes);
	/* When it was last read, and how long reads took. */
	add(counters, 8, 777777);
	add(counters, 16, 4321);
	if (qemu.counts_nothing)
		return;
	add(counters, qemu.bytes_at, bytes);
	add(counters, qemu.requests_at, 1);
	if (qemu.counts_twice)
		add(counters, qemu.bytes_at + 8, bytes);
}

static void read_disk(size_t number, uint64_t bytes)
{
	unsigned char cookie[256];

	block_acct_start(qemu.counters[number], cookie, (int64_t)bytes, 1);
	block_acct_done(qemu.counters[number], cookie);
}

static int open_counts(size_t bytes_at, size_t requests_at, char *message, struct disk_counts *ret)
{
	struct qemu_lock lock;

	memset(qemu.counters, 5, sizeof qemu.counters);
	qemu.bytes_at = bytes_at;
	qemu.requests_at = requests_at;
	CHECK(lock_open(message, 256, &lock) == 0);
	return disk_counts_open(&lock, message, 256, ret);
}

static void test_counts_are_found_wherever_they_are(size_t bytes_at, size_t requests_at)
{
	struct disk_counts counts;
	struct disk_count now[COUNTED_DISKS_MAX];
	char message[256];

	qemu.disks = DISKS;
	CHECK(open_counts(bytes_at, requests_at, message, &counts) == 0 && !qemu.locked);
	CHECK(counts.n == 2 && !strcmp(counts.disks[0].drive, "image") && !strcmp(counts.disks[1].drive, "disk0"));
	disk_counts_read(&counts, now);
	CHECK(!now[0].bytes && !now[0].requests && !now[1].bytes && !now[1].requests);
	read_disk(0, 4096);
	read_disk(0, 512);
	read_disk(1, 512);
	read_disk(2, 8192);
	disk_counts_read(&counts, now);
	CHECK(now[0].bytes == 4608 && now[0].requests == 2 && now[1].bytes == 8192 && now[1].requests == 1);
}

static void check_refused(const char *wanted)
{
	struct disk_counts counts;
	char message[256] = "";

	CHECK(open_counts(64, 128, message, &counts) == -ENOTSUP && !qemu.locked);
	CHECK(strstr(message, wanted));
	qemu.counts_nothing = qemu.counts_twice = false;
	qemu.disks = DISKS;
}

static void test_what_does_not_count_is_refused(void)
{
	qemu.counts_nothing = true;
	check_refused("does not show in its counters");
	qemu.counts_twice = true;
	check_refused("does not show in its counters");
	qemu.disks = COUNTED_DISKS_MAX + 2;
	check_refused("more than 32 disks");
}

static void test_the_trace_is_told_what_has_changed(void)
{
	struct disk_reads reads = { .counts = { .n = 2 } };
	struct disk_count now[2] = { { 512, 1 }, { 0, 0 } };
	struct writer writer;
	char text[256];
	FILE *file;
	size_t size;

	reads.counts.disks[0].drive = "image";
	reads.counts.disks[1].drive = "disk0";
	CHECK(mkstemp(path) >= 0 && writer_open(path, 0, false, &writer) == 0);
	disk_reads_report(&reads, now, &writer);
	disk_reads_report(&reads, now, &writer);
	now[1] = (struct disk_count){ 4096, 2 };
	disk_reads_report(&reads, now, &writer);
	/* Of the moment of a console's byte that is over. */
	now[1] = (struct disk_count){ 1024, 1 };
	disk_reads_report(&reads, now, &writer);
	CHECK(writer_close(&writer) == 0);
	file = fopen(path, "r");
	CHECK(file);
	size = fread(text, 1, sizeof text - 1, file);
	text[size] = '\0';
	fclose(file);
	remove(path);
	CHECK(!strcmp(text, "bootlab-trace 1\nclock virtual 0\nreads image 512 1\nreads disk0 4096 2\nreads disk0 1024 1\n"));
}

int main(void)
{
	test_counts_are_found_wherever_they_are(64, 128);
	test_counts_are_found_wherever_they_are(232, 40);
	test_what_does_not_count_is_refused();
	test_the_trace_is_told_what_has_changed();
	puts("test_disk_counts: ok");
	return 0;
}
