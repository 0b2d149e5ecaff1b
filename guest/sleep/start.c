/* SPDX-License-Identifier: MIT */
/* Loads and enters another kernel. */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

int start_load(const char *kernel, const char *archive, const char *command_line, const char **ret_what)
{
#ifdef SYS_kexec_file_load
	unsigned long flags = 0;
	int kernel_fd, archive_fd;

	*ret_what = kernel;
	kernel_fd = open(kernel, O_RDONLY | O_CLOEXEC);
	if (kernel_fd < 0)
		return -errno;
	*ret_what = archive;
	archive_fd = open(archive, O_RDONLY | O_CLOEXEC);
	if (archive_fd < 0 && errno != ENOENT)
		return -errno;
	if (archive_fd < 0)
		flags |= KEXEC_FILE_NO_INITRAMFS;
	*ret_what = "kexec_file_load";
	return syscall(SYS_kexec_file_load, kernel_fd, archive_fd, strlen(command_line) + 1, command_line, flags) ? -errno : 0;
#else
	(void)archive;
	(void)command_line;
	*ret_what = kernel;
	return -ENOSYS;
#endif
}

int start_enter(void)
{
	reboot(LINUX_REBOOT_CMD_KEXEC);
	return -errno;
}
