/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets a timer for each look, takes it, writes the pictures down, and sends the keys that are due. */
#include "screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internals/display.h"
#include "internals/keyboard.h"
#include "recording.h"
#include "screen/state.h"
#include "screen/watch.h"

/* A machine that is never ready would fill the disk; at two frames a second this is a film of two minutes. */
enum { FILM_FRAMES_MAX = 240 };

static const char STATE[] = "screen-state";

static struct {
	bool works;
	struct display display;
	struct keyboard keyboard;
	struct watch watch;
	struct frame frames[2]; /* what the last two looks saw, in turns */
	unsigned turn;
	struct screen_counts counts; /* its disk_requests and reads: while the state is kept */
	bool behind; /* the last look's frame is in no picture */
	FILE *pictures;
	void (*reached)(const char *name);
	void (*left)(void);
} screen;

static void on_time(void *opaque);

int screen_log(const char *path)
{
	if (!path)
		return 0;
	screen.pictures = fopen(path, "wbe");
	return screen.pictures ? 0 : -errno;
}

static void keep_picture(const char *name, const struct frame *frame, int64_t t_ns)
{
	size_t count = (size_t)frame->width * frame->height;

	if (!screen.pictures)
		return;
	if (fprintf(screen.pictures, "frame %s %" PRId64 " %" PRIu32 " %" PRIu32 "\n", name, t_ns, frame->width, frame->height) > 0 &&
	    fwrite(frame->pixels, sizeof *frame->pixels, count, screen.pictures) == count && !fflush(screen.pictures)) {
		screen.behind = false;
		return;
	}
	/* What is half there ends the file. */
	fprintf(stderr, "bootlab-plugin: pictures: %s\n", strerror(errno));
	fclose(screen.pictures);
	screen.pictures = NULL;
	screen.counts.lost++;
}

static void keep_film(const struct look *look)
{
	screen.counts.film_waits = screen.counts.film_waits || look->changed;
	if (!recording.config.screen_film_ns || !screen.counts.film_waits || look->at.t_ns < screen.counts.film_ns)
		return;
	if (screen.pictures && screen.counts.film_frames++ < FILM_FRAMES_MAX)
		keep_picture("-", look->frame, look->at.t_ns);
	else
		screen.counts.lost++;
	screen.counts.film_ns = look->at.t_ns + (int64_t)recording.config.screen_film_ns;
	screen.counts.film_waits = false;
}

/* With QEMU's lock held. 0 or -ENOMEM. */
static int take_frame(struct look *look)
{
	static const struct screen_region all;
	struct frame *frame = &screen.frames[screen.turn], *before = &screen.frames[!screen.turn];
	uint32_t width, height;
	int r;

	display_update(&screen.display, &width, &height);
	r = frame_resize(frame, width, height);
	if (r)
		return r;
	if (width)
		display_copy(&screen.display, width, height, frame->pixels);
	look->frame = frame;
	look->before = before;
	look->changed = !frame_same(frame, before, &all);
	screen.turn = !screen.turn;
	return 0;
}

static void take_look(const struct look *look)
{
	const struct screen_mark *mark;
	const struct disk_count *reads;
	struct stamp of;

	watch_begin_look(&screen.watch, look);
	screen.behind = screen.behind || look->changed;
	while (!recording.stopped && (mark = watch_look(&screen.watch, look, &of, &reads))) {
		keep_picture(mark->name, look->frame, look->at.t_ns);
		disk_reads_report(&recording.reads, reads, &recording.writer);
		writer_seen(&recording.writer, mark->name, of, screen.watch.hash);
		screen.reached(mark->name);
	}
	keep_film(look);
	watch_end_look(&screen.watch, look);
}

static void send_keys(const struct look *look)
{
	const struct screen_typing *ends;
	const struct screen_key *key;

	while (!recording.stopped && (key = watch_key(&screen.watch, look->at.t_ns, &ends))) {
		keyboard_send(&screen.keyboard, keyboard_find(&screen.keyboard, key->name), key->down);
		if (!ends)
			continue;
		keep_picture(ends->name, look->frame, look->at.t_ns);
		disk_reads_report(&recording.reads, look->reads, &recording.writer);
		writer_typed(&recording.writer, ends->name, look->at);
		screen.reached(ends->name);
	}
}

/* QEMU runs it between two blocks, or while no vCPU has anything to do, with its lock held. */
static void on_time(void *opaque)
{
	struct look look = { .changed = false };
	int r;

	(void)opaque;
	pthread_mutex_lock(&recording.lock);
	if (recording.stopped) {
		pthread_mutex_unlock(&recording.lock);
		return;
	}
	look.at = machine_now(&recording.machine, 0);
	look.disk_requests = recording.disk_requests;
	disk_counts_read(&recording.reads.counts, look.reads);
	r = take_frame(&look);
	if (!r) {
		take_look(&look);
		send_keys(&look);
		r = recording.stopped ? 0 : virtual_timers_add(&recording.timers, look.at.t_ns + (int64_t)recording.config.screen_every_ns, on_time, NULL);
	}
	if (r) {
		screen.works = false;
		writer_refused(&recording.writer, "screen", strerror(-r));
	}
	screen.left();
}

static int find_keys(char *message, size_t message_size)
{
	for (size_t i = 0; i < recording.config.n_screen_typings; i++)
		for (size_t k = 0; k < recording.config.screen_typings[i].n_keys; k++) {
			const char *name = recording.config.screen_typings[i].keys[k].name;

			if (keyboard_find(&screen.keyboard, name) < 0) {
				snprintf(message, message_size, "this QEMU knows no key '%s'", name);
				return -ENOTSUP;
			}
		}
	return 0;
}

static bool needs_disks(void)
{
	for (size_t i = 0; i < recording.config.n_screen_marks; i++)
		if (recording.config.screen_marks[i].kind == SCREEN_IDLE)
			return recording.config.exact_disks && !recording.disks_exact;
	return false;
}

/* A screen goes on from what another process has kept of it. 0 or -errno. */
static int resume(char *message, size_t message_size)
{
	FILE *file = recording_open_resumed(STATE);
	int r = file ? screen_state_read(file, &screen.watch, &screen.frames[!screen.turn], &screen.counts) : -errno;

	if (file)
		fclose(file);
	if (r)
		snprintf(message, message_size, "%s/%s: %s", recording.resumed, STATE, strerror(-r));
	else
		recording.disk_requests = screen.counts.disk_requests;
	if (!r)
		watch_count_reads_anew(&screen.watch, screen.counts.reads);
	return r;
}

/* While the machine stands still where it is kept. */
static void keep_state(void)
{
	FILE *file = recording_open_state(STATE);
	int r;

	screen.counts.disk_requests = recording.disk_requests;
	disk_counts_read(&recording.reads.counts, screen.counts.reads);
	r = file ? screen_state_write(file, &screen.watch, &screen.frames[!screen.turn], &screen.counts) : -errno;
	if (r)
		recording_tell_state_error(STATE, r);
	if (file)
		fclose(file);
}

/* When the next look is due; the first is one interval behind power-on. */
static int64_t next_look_ns(void)
{
	return (screen.watch.looked ? screen.watch.latest.t_ns : 0) + (int64_t)recording.config.screen_every_ns;
}

static int begin(char *message, size_t message_size)
{
	int r = 0;

	if (recording.machine.shift < 0) {
		snprintf(message, message_size, "needs the virtual clock, -icount shift=0,sleep=off");
		return -ENOTSUP;
	}
	if (needs_disks()) {
		snprintf(message, message_size, "idle needs disks whose requests are seen, and they are not");
		return -ENOTSUP;
	}
	r = display_open(message, message_size, &screen.display);
	if (!r && recording.config.n_screen_typings)
		r = keyboard_open(message, message_size, &screen.keyboard);
	if (!r)
		r = find_keys(message, message_size);
	if (!r)
		r = virtual_timers_open(&recording.machine.skipped_ns, message, message_size, &recording.timers);
	if (!r)
		r = watch_open(&recording.config, recording.machine.shift, message, message_size, &screen.watch);
	if (!r && recording.resumed)
		r = resume(message, message_size);
	if (!r)
		r = virtual_timers_add(&recording.timers, next_look_ns(), on_time, NULL);
	return r;
}

void screen_open(void (*reached)(const char *name), void (*left)(void))
{
	char message[512] = "out of memory";
	int r;

	if (!recording.config.screen_every_ns)
		return;
	screen.reached = reached;
	screen.left = left;
	r = begin(message, sizeof message);
	screen.works = !r;
	pthread_mutex_lock(&recording.lock);
	if (r)
		writer_refused(&recording.writer, "screen", message);
	else
		writer_exact(&recording.writer, "screen");
	pthread_mutex_unlock(&recording.lock);
}

void screen_follow(const char *name, struct stamp at)
{
	if (screen.works)
		watch_follow(&screen.watch, name, at.t_ns);
}

void screen_close(bool by_mark)
{
	if (screen.works && recording.state && !recording.stopped)
		keep_state();
	/* Of a boot that no mark ends, what was there last is the evidence, however long its film was. */
	else if (screen.works && screen.behind && !by_mark)
		keep_picture("-", &screen.frames[!screen.turn], screen.watch.latest.t_ns);
	if (screen.works)
		writer_frames(&recording.writer, screen.watch.looks, screen.watch.changes, screen.counts.lost);
	if (screen.pictures)
		fclose(screen.pictures);
	screen.pictures = NULL;
}
