/* SPDX-License-Identifier: MIT */
/* Reads the INIT INFO block of an init script, line by line. */
#include "lsb_header.h"

static const struct {
	const char *name;
	int keyword; /* -1: known, and of no use here */
} KEYWORDS[] = {
	{ "Provides", LSB_PROVIDES },
	{ "Required-Start", LSB_REQUIRED_START },
	{ "Required-Stop", LSB_REQUIRED_STOP },
	{ "Should-Start", LSB_SHOULD_START },
	{ "Should-Stop", LSB_SHOULD_STOP },
	{ "X-Start-Before", LSB_START_BEFORE },
	{ "X-Stop-After", LSB_STOP_AFTER },
	{ "X-Start-After", LSB_START_AFTER },
	{ "Default-Start", LSB_DEFAULT_START },
	{ "Default-Stop", LSB_DEFAULT_STOP },
	{ "X-Interactive", LSB_INTERACTIVE },
	{ "X-UnitedLinux-Should-Start", LSB_SHOULD_START },
	{ "X-UnitedLinux-Should-Stop", LSB_SHOULD_STOP },
	{ "Short-Description", -1 },
	{ "Description", -1 },
};

/* `### WORD INIT INFO`, blanks between, whatever follows: syslog-ng's has one more `#`. */
static bool is_border(struct slice line, const char *which)
{
	const char *const wanted[] = { "###", which, "INIT", "INFO" };
	struct slice word;

	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		if (!word_next(&line, &word) || !(i == 3 ? slice_starts(word, wanted[i]) : slice_is(word, wanted[i])))
			return false;
	return true;
}

static void read_keyword(struct slice line, unsigned number, struct lsb_header *header)
{
	struct slice text, key;
	bool goes_on;

	if (!slice_starts(line, "#"))
		return;
	text = slice_from(line, 1);
	/* Then the Description may go on: only what is a keyword for certain counts. */
	goes_on = slice_starts(text, "\t") || slice_starts(text, "  ");
	text = slice_trim(text);
	key = (struct slice){ text.at, 0 };
	while (key.size < text.size && text.at[key.size] != ':' && text.at[key.size] != ' ' && text.at[key.size] != '\t')
		key.size++;
	if (key.size == 0 || key.size == text.size || text.at[key.size] != ':')
		return;
	for (size_t i = 0; i < sizeof KEYWORDS / sizeof KEYWORDS[0]; i++)
		if (slice_is_caseless(key, KEYWORDS[i].name)) {
			int keyword = KEYWORDS[i].keyword;

			if (keyword >= 0 && !header->value[keyword].at) {
				header->value[keyword] = slice_trim(slice_from(text, key.size + 1));
				header->lines[keyword] = number;
			}
			return;
		}
	if (!goes_on && header->unknown_line == 0 && !slice_starts(key, "X-") && !slice_starts(key, "x-")) {
		header->unknown_line = number;
		header->unknown = key;
	}
}

void lsb_header_parse(const char *text, size_t size, struct lsb_header *ret)
{
	struct lines lines = lines_of(text, size);
	struct slice line;

	*ret = (struct lsb_header){ .found = false };
	while (!ret->closed && line_next(&lines, &line)) {
		if (!ret->found && is_border(line, "BEGIN")) {
			ret->found = true;
			ret->line = lines.number;
		} else if (ret->found && is_border(line, "END")) {
			ret->closed = true;
		} else if (ret->found) {
			read_keyword(line, lines.number, ret);
		}
	}
}
