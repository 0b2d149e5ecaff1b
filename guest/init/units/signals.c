/* SPDX-License-Identifier: MIT */
/* Reads the name or the number of a signal. */
#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

/* What the C library leaves to programs; those before are its own. */
enum { FIRST_REAL_TIME = 34, LAST_SIGNAL = 64 };

static const struct {
	const char *name;
	uint8_t number;
} SIGNALS[] = {
	{ "HUP", SIGHUP },   { "INT", SIGINT },	  { "QUIT", SIGQUIT },	   { "ILL", SIGILL },	{ "TRAP", SIGTRAP }, { "ABRT", SIGABRT },
	{ "BUS", SIGBUS },   { "FPE", SIGFPE },	  { "KILL", SIGKILL },	   { "USR1", SIGUSR1 }, { "SEGV", SIGSEGV }, { "USR2", SIGUSR2 },
	{ "PIPE", SIGPIPE }, { "ALRM", SIGALRM }, { "TERM", SIGTERM },	   { "CHLD", SIGCHLD }, { "CONT", SIGCONT }, { "STOP", SIGSTOP },
	{ "TSTP", SIGTSTP }, { "TTIN", SIGTTIN }, { "TTOU", SIGTTOU },	   { "URG", SIGURG },	{ "XCPU", SIGXCPU }, { "XFSZ", SIGXFSZ },
	{ "PROF", SIGPROF }, { "IO", SIGIO },	  { "VTALRM", SIGVTALRM }, { "PWR", SIGPWR },	{ "SYS", SIGSYS },   { "WINCH", SIGWINCH },
};

const char *signal_parse(struct slice text, uint8_t *ret)
{
	int64_t number;
	bool is_real_time;

	if (slice_starts(text, "SIG"))
		text = slice_from(text, 3);
	for (size_t i = 0; i < sizeof SIGNALS / sizeof SIGNALS[0]; i++)
		if (slice_is(text, SIGNALS[i].name)) {
			*ret = SIGNALS[i].number;
			return NULL;
		}
	is_real_time = slice_starts(text, "RTMIN+");
	if (is_real_time)
		text = slice_from(text, strlen("RTMIN+"));
	if (parse_number(text, is_real_time ? 0 : 1, is_real_time ? LAST_SIGNAL - FIRST_REAL_TIME : LAST_SIGNAL, &number))
		return "a signal: its name, as INT, or its number";
	*ret = (uint8_t)(number + (is_real_time ? FIRST_REAL_TIME : 0));
	return NULL;
}
