/* SPDX-License-Identifier: MIT */
/*
 * The init of the camera board that hibernates: where the kernel's command line asks for it the board sleeps here, with the camera's
 * driver in its memory and before the application takes a frame. Cold or woken, the application takes init's place then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLEEP "/sbin/bootlab-sleep"
#define APPLICATION "/sbin/camera"

static void need(const char *what, int failed)
{
	if (!failed)
		return;
	dprintf(1, "bootlab: check failed: %s: %s\n", what, strerror(errno));
	for (;;)
		pause();
}

int main(void)
{
	pid_t child;

	need("/dev", mount("dev", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY);
	for (int fd = open("/dev/console", O_RDWR); fd >= 0 && fd < 2;)
		fd = dup(fd);
	need("/proc", mount("proc", "/proc", "proc", 0, NULL));
	need("/sys", mount("sys", "/sys", "sysfs", 0, NULL));
	child = vfork();
	if (child == 0) {
		execl(SLEEP, SLEEP, NULL);
		_exit(127);
	}
	need(SLEEP, child < 0 || waitpid(child, NULL, 0) < 0);
	execl(APPLICATION, APPLICATION, NULL);
	need(APPLICATION, 1);
}
