/* SPDX-License-Identifier: MIT */
/* Reads and writes the header of a region: text, so that a person with a memory dump can read it, too. */
#include "header.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

uint32_t crc32_of(const char *bytes, size_t size)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= (unsigned char)bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

static int write_text(const struct header *header, char *ret, size_t size)
{
	return snprintf(ret, size, "bootlab-kept-header 1\nstate %s\nroot %s\nbytes %" PRIu64 "\n", header->state, header->root, header->bytes);
}

void header_write(const struct header *header, char ret[HEADER_SIZE])
{
	int size;

	memset(ret, 0, HEADER_SIZE);
	size = write_text(header, ret, HEADER_SIZE);
	sprintf(ret + size, "crc %08" PRIx32 "\n", crc32_of(ret, (size_t)size));
}

int header_read(const char block[HEADER_SIZE], struct header *ret)
{
	static const char zeros[HEADER_SIZE];
	char again[HEADER_SIZE];
	struct header read = { 0 };

	if (!memcmp(block, zeros, HEADER_SIZE))
		return -ENODATA;
	/* A text that does not end would be read beyond its block. */
	if (block[HEADER_SIZE - 1])
		return -EBADMSG;
	if (sscanf(block, "bootlab-kept-header 1\nstate %15[a-z]\nroot %64[0-9a-f]\nbytes %" SCNu64, read.state, read.root, &read.bytes) != 3)
		return -EBADMSG;
	/* What was read must write the very same bytes: so each of them is checked, the CRC's digits included. */
	header_write(&read, again);
	if (memcmp(block, again, HEADER_SIZE))
		return -EBADMSG;
	*ret = read;
	return 0;
}

int header_expect_trial(const struct header *header, const char *root, uint64_t bytes)
{
	/* Of one that was passed before nothing changes. */
	bool begun = !strcmp(header->state, "trying") || !strcmp(header->state, "valid");

	return begun && !strcmp(header->root, root) && header->bytes == bytes ? 0 : -ENOTRECOVERABLE;
}
