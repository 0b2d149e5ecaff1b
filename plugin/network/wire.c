/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the peer, waits for its answer while the guest stands still, and sets a timer for each of its frames. */
#include "wire.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "answer.h"
#include "internals/network_card.h"
#include "protocol.h"
#include "recording.h"

enum {
	MESSAGE_MAX = 1 + 8 + NETWORK_FRAME_MAX,
};

struct frame {
	size_t size;
	uint8_t bytes[];
};

static struct {
	bool works;
	void (*answered)(const char *name);
	struct network_card card;
	/* Reached, and not told yet; empty: none. */
	char kept_mark[TRACE_NAME_MAX + 1];
	int64_t kept_ns;
} network;

static void exchange(const char *question);

/* QEMU runs these two in the vCPU's thread, between two blocks, with its lock held. */
static void on_frame_due(void *opaque)
{
	struct frame *frame = opaque;

	network_card_give(&network.card, frame->bytes, frame->size);
	free(frame);
}

static void on_wake(void *opaque)
{
	char question[64];

	(void)opaque;
	snprintf(question, sizeof question, "wake %" PRId64, machine_now(&recording.machine, 0).t_ns);
	exchange(question);
}

static int set_timer(int64_t t_ns, void (*function)(void *opaque), void *opaque, char *message, size_t message_size)
{
	int r = virtual_timers_add(&recording.timers, t_ns, function, opaque);

	if (r)
		snprintf(message, message_size, "%s", strerror(-r));
	return r;
}

static int take_frame(const struct network_answer *answer, char *message, size_t message_size)
{
	struct frame *frame = malloc(sizeof *frame + answer->frame_size);

	if (!frame) {
		snprintf(message, message_size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	frame->size = answer->frame_size;
	memcpy(frame->bytes, answer->frame, answer->frame_size);
	return set_timer(answer->t_ns, on_frame_due, frame, message, message_size);
}

/* 1 behind the last answer, 0 if more come; else -errno, with one line in `message`. */
static int take(const uint8_t *bytes, size_t size, char *message, size_t message_size)
{
	struct network_answer answer;
	int r = network_answer_read(bytes, size, message, message_size, &answer);

	if (r)
		return r;
	switch (answer.kind) {
	case ANSWER_FRAME:
		return take_frame(&answer, message, message_size);
	case ANSWER_WAKE:
		return set_timer(answer.t_ns, on_wake, NULL, message, message_size);
	case ANSWER_MARK:
		network.answered(answer.name);
		return 0;
	case ANSWER_LAST:
		break;
	}
	return 1;
}

static int receive(uint8_t *bytes, size_t size, size_t *ret, char *message, size_t message_size)
{
	struct pollfd waited = { .fd = recording.config.network_fd, .events = POLLIN };
	ssize_t n;
	int r;

	do
		r = poll(&waited, 1, NETWORK_PATIENCE_S * 1000);
	while (r < 0 && errno == EINTR);
	if (r <= 0) {
		snprintf(message, message_size, "%s", r ? strerror(errno) : "no answer");
		return r ? -errno : -ETIMEDOUT;
	}
	n = recv(recording.config.network_fd, bytes, size, 0);
	if (n <= 0) {
		snprintf(message, message_size, "%s", n ? strerror(errno) : "it is gone");
		return n ? -errno : -EPIPE;
	}
	*ret = (size_t)n;
	return 0;
}

static int ask(const char *question, char *message, size_t message_size)
{
	static uint8_t bytes[MESSAGE_MAX + 1];
	size_t size = 0;
	int r;

	if (send(recording.config.network_fd, question, strlen(question), MSG_NOSIGNAL) < 0) {
		snprintf(message, message_size, "%s", strerror(errno));
		return -errno;
	}
	do {
		r = receive(bytes, sizeof bytes, &size, message, message_size);
		if (!r)
			r = take(bytes, size, message, message_size);
	} while (!r);
	return r < 0 ? r : 0;
}

static void tell(bool works, const char *why)
{
	pthread_mutex_lock(&recording.lock);
	if (works)
		writer_exact(&recording.writer, "network");
	else if (!recording.stopped)
		writer_refused(&recording.writer, "network", why);
	pthread_mutex_unlock(&recording.lock);
}

/* The thread that runs the vCPUs is the only one that comes here. */
static void exchange(const char *question)
{
	char message[256], why[320];

	if (!network.works || !ask(question, message, sizeof message))
		return;
	network.works = false;
	snprintf(why, sizeof why, "the peer: %s, after '%.40s'", message, question);
	tell(false, why);
}

void network_open(void (*answered)(const char *name))
{
	char message[512] = "needs the virtual clock, -icount shift=0,sleep=off", question[32];
	int r = -ENOTSUP;

	if (recording.config.network_fd < 0)
		return;
	if (recording.machine.shift >= 0) {
		r = recording.devices_settle ? 0 : block_io_open(message, sizeof message, &recording.disks);
		recording.devices_settle = !r;
		if (!r)
			r = virtual_timers_open(&recording.machine.skipped_ns, message, sizeof message, &recording.timers);
		if (!r)
			r = network_card_open(recording.config.network_name, message, sizeof message, &network.card);
	}
	network.answered = answered;
	snprintf(question, sizeof question, "hello %d", NETWORK_VERSION);
	if (!r)
		r = ask(question, message, sizeof message);
	network.works = !r;
	tell(network.works, message);
}

bool network_rings(const char *region, uint64_t address)
{
	return network.works && (!strcmp(region, "virtio-pci-notify-virtio-net") || block_io_rings_slot(region, address));
}

void network_rung(void)
{
	char question[64];

	snprintf(question, sizeof question, "sent %" PRId64, machine_now(&recording.machine, 0).t_ns);
	exchange(question);
}

void network_keep_mark(const char *name, struct stamp at)
{
	if (!network.works)
		return;
	snprintf(network.kept_mark, sizeof network.kept_mark, "%s", name);
	network.kept_ns = at.t_ns;
}

void network_tell_mark(void)
{
	char question[TRACE_NAME_MAX + 64];

	if (!network.kept_mark[0])
		return;
	snprintf(question, sizeof question, "mark %" PRId64 " %s", network.kept_ns, network.kept_mark);
	network.kept_mark[0] = 0;
	exchange(question);
}
