/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that an answer of the network's peer is read as it was meant, and anything else refused. */
#include "network/answer.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "network/protocol.h"

static int read_bytes(const void *bytes, size_t size, struct network_answer *ret)
{
	char message[80] = "";
	int r = network_answer_read(bytes, size, message, sizeof message, ret);

	CHECK(r ? r == -EPROTO && strstr(message, "is not in the protocol") : !message[0]);
	return r;
}

static void test_good(void)
{
	struct network_answer answer;

	CHECK(!read_bytes(".", 1, &answer) && answer.kind == ANSWER_LAST);
	CHECK(!read_bytes("W\x00\x01\0\0\0\0\0\0", 9, &answer) && answer.kind == ANSWER_WAKE && answer.t_ns == 256);
	CHECK(!read_bytes("F\x05\0\0\0\0\0\0\0frame of fourteen", 26, &answer) && answer.kind == ANSWER_FRAME && answer.t_ns == 5);
	CHECK(answer.frame_size == 17 && !memcmp(answer.frame, "frame of fourteen", 17));
	CHECK(!read_bytes("Mport_22", 8, &answer) && answer.kind == ANSWER_MARK && !strcmp(answer.name, "port_22"));
}

static void test_bad(void)
{
	static uint8_t large[9 + NETWORK_FRAME_MAX + 1] = { 'F' };
	struct network_answer answer;

	CHECK(read_bytes("", 0, &answer) && read_bytes("..", 2, &answer) && read_bytes("?", 1, &answer));
	CHECK(read_bytes("W\0\0\0\0\0\0\0", 8, &answer) && read_bytes("W\0\0\0\0\0\0\0\x80", 9, &answer));
	CHECK(read_bytes("F\0\0\0\0\0\0\0\0too short", 18, &answer));
	CHECK(read_bytes("F\0\0\0\0\0\0\0\x80" "frame of fourteen", 26, &answer));
	CHECK(read_bytes(large, sizeof large, &answer) && !read_bytes(large, sizeof large - 1, &answer));
	CHECK(read_bytes("M", 1, &answer) && read_bytes("Mport 22", 8, &answer) && read_bytes("M\n", 2, &answer));
	memset(large, 'M', sizeof large);
	CHECK(read_bytes(large, TRACE_NAME_MAX + 2, &answer) && !read_bytes(large, TRACE_NAME_MAX + 1, &answer));
}

int main(void)
{
	test_good();
	test_bad();
	puts("test_answer: ok");
	return 0;
}
