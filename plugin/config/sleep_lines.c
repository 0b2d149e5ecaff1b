/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what happens while the guest sleeps: its clock goes on, a key is pressed. */
#include "sleep_lines.h"

int asleep_line_read(struct line *line, struct config *config)
{
	if (line->n_words != 2)
		return line_complain(line, "expected: asleep MARK");
	return line_read_name(line, line->words[1], config->asleep_after);
}

int press_line_read(struct line *line, struct config *config)
{
	struct key_press press;
	int r;

	if (line->n_words != 4)
		return line_complain(line, "expected: press KEY NS MARK");
	if (config->press.key[0])
		return line_complain(line, "press %s: a second line; one key is pressed", line->words[1]);
	if ((r = line_read_name(line, line->words[1], press.key)) || (r = line_read_decimal(line, line->words[2], &press.t_ns)) ||
	    (r = line_read_name(line, line->words[3], press.after)))
		return r;
	if (press.t_ns > CHARGE_MAX_NS)
		return line_complain(line, "press %s: %s ns is more than an hour", line->words[1], line->words[2]);
	config->press = press;
	return 0;
}
