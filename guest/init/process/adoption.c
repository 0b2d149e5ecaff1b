/* SPDX-License-Identifier: MIT */
/* Decides whether a process that was named may become a unit's main one. */
#include "adoption.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroups.h"
#include "shared/print.h"
#include "state/pids.h"
#include "state/runs.h"

enum { PATH_BYTES = 32 };

/* Of PID 1, and not reaped yet. */
static bool is_child(pid_t pid)
{
	siginfo_t info;

	return pid > 1 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* He could end it himself. What is set-user-ID or was root's shows as root's here. */
static bool runs_as(pid_t pid, uid_t uid)
{
	struct stat status;
	char path[PATH_BYTES];

	print(path, sizeof path, "/proc/%d", (int)pid);
	return stat(path, &status) == 0 && status.st_uid == uid;
}

enum adoption adoption_try(unit_id id, pid_t pid, uid_t by, const char **ret_why)
{
	unit_id owner = pids_owner(pid);
	struct run *run = &runs[id];

	if (owner == id && pid == run->main)
		return ADOPTION_DONE;
	if (owner != NO_UNIT) {
		*ret_why = "is a process of another unit, or a command of this one";
		return ADOPTION_REFUSED;
	}
	if (!is_child(pid))
		return ADOPTION_LATER;
	if (by != 0 && !(run->session > 0 && getsid(pid) == run->session) &&
	    !(cgroups_is_there(id) ? cgroups_has(id, pid) : runs_as(pid, by))) {
		*ret_why = "is not of its session or cgroup, nor of the user who names it";
		return ADOPTION_REFUSED;
	}
	runs_set_main(id, pid);
	return ADOPTION_DONE;
}
