/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses and checks a message from bootlab's network process before the plugin uses it. */
#include "answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "protocol.h"

enum { TIMED = 1 + 8, FRAME_MIN = 14 };

static uint64_t read_number(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (int i = 7; i >= 0; i--)
		value = value << 8 | bytes[i];
	return value;
}

int network_answer_read(const uint8_t *bytes, size_t size, char *message, size_t message_size, struct network_answer *ret)
{
	uint64_t t_ns = size >= TIMED ? read_number(bytes + 1) : 0;

	*ret = (struct network_answer){ .kind = ANSWER_LAST };
	if (size == 1 && bytes[0] == '.')
		return 0;
	if (size == TIMED && bytes[0] == 'W' && t_ns <= INT64_MAX) {
		*ret = (struct network_answer){ .kind = ANSWER_WAKE, .t_ns = (int64_t)t_ns };
		return 0;
	}
	if (size >= TIMED + FRAME_MIN && size <= TIMED + NETWORK_FRAME_MAX && bytes[0] == 'F' && t_ns <= INT64_MAX) {
		*ret = (struct network_answer){ ANSWER_FRAME, (int64_t)t_ns, bytes + TIMED, size - TIMED, "" };
		return 0;
	}
	if (size > 1 && size - 1 <= TRACE_NAME_MAX && bytes[0] == 'M' && name_valid((const char *)bytes + 1, size - 1)) {
		ret->kind = ANSWER_MARK;
		memcpy(ret->name, bytes + 1, size - 1);
		return 0;
	}
	snprintf(message, message_size, "a message of %zu bytes is not in the protocol", size);
	return -EPROTO;
}
