/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One message of the peer (protocol.h), read and checked. No QEMU headers. */
#ifndef BOOTLAB_NETWORK_ANSWER_H
#define BOOTLAB_NETWORK_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

enum answer_kind { ANSWER_LAST, ANSWER_FRAME, ANSWER_WAKE, ANSWER_MARK };

struct network_answer {
	enum answer_kind kind;
	int64_t t_ns;
	const uint8_t *frame; /* within the message */
	size_t frame_size;
	char name[TRACE_NAME_MAX + 1];
};

/* 0, or -EPROTO with one line in `message`. */
int network_answer_read(const uint8_t *bytes, size_t size, char *message, size_t message_size, struct network_answer *ret);

#endif
