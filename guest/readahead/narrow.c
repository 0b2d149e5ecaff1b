/* SPDX-License-Identifier: MIT */
/* The device's own way, which each file takes over when it is opened (BLKRASET). */
#include "narrow.h"

#include <errno.h>
#include <linux/fs.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "replay.h"

enum { SECTOR = 512 };

static void take_back(int device, unsigned long before)
{
	long now = 0;

	if (!ioctl(device, BLKRAGET, &now) && now <= NARROW_BYTES / SECTOR)
		ioctl(device, BLKRASET, before);
}

/* Whoever waits for the end of a pipe of ours must not wait for this process. */
static void take_back_later(int device, unsigned longest_s, unsigned long before)
{
	if (dup2(device, 0) < 0)
		_exit(1);
	if (syscall(SYS_close_range, 1u, UINT_MAX, 0u))
		for (int descriptor = 1; descriptor < 1024; descriptor++)
			close(descriptor); /* before Linux 5.9 */
	setsid();
	for (unsigned left = longest_s; left > 0;)
		left = sleep(left);
	take_back(0, before);
	_exit(0);
}

int narrow_begin(int root, long bytes, unsigned longest_s, unsigned long *ret_before)
{
	int device = root_device_open(root), r = 0;
	long before = 0;
	pid_t child;

	*ret_before = 0;
	if (device < 0)
		return device;
	if (ioctl(device, BLKRAGET, &before))
		r = -errno;
	if (!r && before > bytes / SECTOR) {
		/* Who takes it back is there first. */
		child = fork();
		if (child == 0)
			take_back_later(device, longest_s, (unsigned long)before);
		if (child < 0 || ioctl(device, BLKRASET, bytes / SECTOR))
			r = -errno;
		else
			*ret_before = (unsigned long)before;
	}
	close(device);
	return r;
}

void narrow_end(int root, unsigned long before)
{
	int device = before > 0 ? root_device_open(root) : -1;

	if (device < 0)
		return;
	take_back(device, before);
	close(device);
}
