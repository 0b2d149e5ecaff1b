/* SPDX-License-Identifier: MIT */
/* Asks statx(2), as the C library may have none: an attribute since Linux 5.8, and the mount option alone promises nothing. */
#include "dax.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int dax_of_file(const char *path)
{
	struct statx status;

	if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_TYPE, &status))
		return -errno;
	return (status.stx_attributes & STATX_ATTR_DAX) != 0;
}
