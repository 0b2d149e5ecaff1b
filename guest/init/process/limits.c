/* SPDX-License-Identifier: MIT */
/* Raises PID 1's limit of open files, and keeps that of the programs that it runs. */
#include "limits.h"

#include <errno.h>

/* systemd's DefaultLimitNOFILE (systemd-system.conf(5)). */
enum { SERVICE_FILES = 1024, SERVICE_FILES_MOST = 524288 };

static struct rlimit programs;
static bool is_raised, is_chosen;

void limits_raise(rlim_t wanted, bool owns_machine)
{
	struct rlimit own;

	if (getrlimit(RLIMIT_NOFILE, &programs))
		return;
	own = programs;
	own.rlim_max = owns_machine && own.rlim_max < wanted ? wanted : own.rlim_max;
	own.rlim_cur = own.rlim_max < wanted ? own.rlim_max : wanted;
	is_raised = setrlimit(RLIMIT_NOFILE, &own) == 0;
}

int limits_set_files(rlim_t files)
{
	struct rlimit now, tried = { files, files };

	if (getrlimit(RLIMIT_NOFILE, &now))
		return -errno;
	/* Whether the kernel gives it is known only by asking. */
	tried.rlim_max = files > now.rlim_max ? files : now.rlim_max;
	tried.rlim_cur = now.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &tried))
		return -errno;
	programs = (struct rlimit){ files, files };
	is_chosen = true;
	is_raised = true;
	return 0;
}

void limits_of_service(void)
{
	struct rlimit files = { SERVICE_FILES, SERVICE_FILES_MOST }, now;

	/* Else as far as the kernel gives it. */
	if (!is_chosen && setrlimit(RLIMIT_NOFILE, &files) && getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_max >= SERVICE_FILES) {
		files.rlim_max = now.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

void limits_give_back(void)
{
	if (is_raised)
		setrlimit(RLIMIT_NOFILE, &programs);
}
