/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what a machine that goes on from a moment of its boot has behind it: where its kernel lies, which marks it made. */
#include "past_lines.h"

int slide_line_read(struct line *line, struct config *config)
{
	int r;

	if (line->n_words != 2)
		return line_complain(line, "expected: slide HEX");
	if (config->slide_known)
		return line_complain(line, "a second slide line");
	if ((r = line_read_address(line, line->words[1], &config->slide)))
		return r;
	config->slide_known = true;
	return 0;
}

int past_line_read(struct line *line, struct config *config)
{
	struct past_mark mark;
	int r;

	if (line->n_words != 2)
		return line_complain(line, "expected: past NAME");
	if ((r = line_read_name(line, line->words[1], mark.name)))
		return r;
	return line_append(line, &config->past, &config->n_past, &mark, sizeof mark);
}
