/* SPDX-License-Identifier: MIT */
/* Says marks to the clock and to the console, and keeps the reason of a refusal. */
#include "said.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mark.h"

char reason[REASON_MAX];

int why(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vsnprintf(reason, sizeof reason, format, words);
	va_end(words);
	return -1;
}

void make_mark(const char *name)
{
	mark_announce(name, (long)strlen(name));
	printf("bootlab: mark %s\n", name);
	fflush(stdout);
}
