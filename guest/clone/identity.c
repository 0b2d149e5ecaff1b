/* SPDX-License-Identifier: MIT */
/* Reads who a guest is to be. A text that is cut or has a mistake is refused as a whole: half an identity is two clones' own. */
#include "identity.h"

#include <errno.h>
#include <string.h>

#include "shared/text.h"

static int hex_digit(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* `n` bytes of two digits each, with `between` after each but the last; 0: nothing between. */
static int read_bytes(struct slice text, size_t n, char between, uint8_t *ret)
{
	size_t step = between ? 3 : 2;

	if (text.size != n * step - (between ? 1 : 0))
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(text.at[i * step]), low = hex_digit(text.at[i * step + 1]);

		if (high < 0 || low < 0 || (between && i + 1 < n && text.at[i * step + 2] != between))
			return -EINVAL;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

static int read_name(struct slice text, char *ret)
{
	if (text.size == 0 || text.size > IDENTITY_NAME)
		return -EINVAL;
	for (size_t i = 0; i < text.size; i++)
		if (text.at[i] <= ' ' || text.at[i] > '~')
			return -EINVAL;
	memcpy(ret, text.at, text.size);
	ret[text.size] = '\0';
	return 0;
}

static int read_id(struct slice text, char *ret)
{
	uint8_t bytes[IDENTITY_ID / 2];

	if (read_bytes(text, sizeof bytes, 0, bytes))
		return -EINVAL;
	memcpy(ret, text.at, IDENTITY_ID);
	ret[IDENTITY_ID] = '\0';
	return 0;
}

static int read_key(struct slice key, struct slice value, struct identity *identity)
{
	if (slice_is(key, "number"))
		return parse_number(value, 1, INT32_MAX, &identity->number);
	if (slice_is(key, "time_us"))
		return parse_number(value, 1, INT64_MAX, &identity->time_us);
	if (slice_is(key, "name"))
		return read_name(value, identity->name);
	if (slice_is(key, "held"))
		return read_name(value, identity->held);
	if (slice_is(key, "machine-id"))
		return read_id(value, identity->machine_id);
	if (slice_is(key, "seed")) {
		identity->has_seed = true;
		return read_bytes(value, IDENTITY_SEED, 0, identity->seed);
	}
	if (slice_is(key, "mac")) {
		identity->has_mac = true;
		return read_bytes(value, IDENTITY_MAC, ':', identity->mac);
	}
	return -EINVAL;
}

int identity_read(const char *text, size_t size, struct identity *ret, unsigned *line_number)
{
	struct lines lines = lines_of(text, size);
	struct identity identity = { 0 };
	struct slice line;

	while (line_next(&lines, &line)) {
		struct slice key, value, more;

		*line_number = lines.number;
		if (lines.number == 1) {
			if (!slice_is(line, "bootlab-clone 1"))
				return -EINVAL;
			continue;
		}
		if (slice_is(line, "end")) {
			*ret = identity;
			return 0;
		}
		if (!word_next(&line, &key) || !word_next(&line, &value) || word_next(&line, &more) ||
		    read_key(key, value, &identity))
			return -EINVAL;
	}
	return -EINVAL;
}
