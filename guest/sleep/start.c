/* SPDX-License-Identifier: MIT */
/* Loads and enters another kernel. */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/files.h"

#ifdef __x86_64__
#include "handover.h"

/* All that the firmware and the bootloader have told the kernel that runs. */
#define OWN_PARAMS "/sys/kernel/boot_params/data"

/* As struct kexec_segment, whose type another C library may have of its own. */
struct loaded {
	const void *from;
	size_t size;
	uintptr_t at;
	size_t room;
};

/* It stays mapped: what is loaded is copied out of it. */
static int map_file(const char *path, struct slice *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;
	struct stat status;
	void *at;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status)) {
		r = -errno;
	} else if (status.st_size) {
		at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		r = at == MAP_FAILED ? -errno : 0;
		*ret = (struct slice){ at, (size_t)status.st_size };
	}
	close(fd);
	return r;
}

static int load(const struct handover *plan, const char **ret_what)
{
	struct loaded parts[HANDOVER_PARTS];

	for (size_t i = 0; i < plan->n; i++) {
		const struct part *part = &plan->parts[i];
		size_t size = part->bytes.size;

		parts[i] = (struct loaded){ part->bytes.at, size, part->at, part->room };
	}
	if (!syscall(SYS_kexec_load, plan->entry, plan->n, parts, KEXEC_ARCH_DEFAULT))
		return 0;
	*ret_what = errno == EPERM ? "kexec_load, which this kernel forbids (lockdown, as of secure boot; kernel.kexec_load_disabled)" :
	                             "kexec_load";
	return -errno;
}

int start_load(const char *kernel, const char *archive, const char *command_line, const char **ret_what)
{
	static struct handover plan;
	static struct boot_params own;
	static char random[HANDOVER_SEED];
	struct slice kernel_file = { "", 0 }, archive_file = { "", 0 }, seed = { random, 0 };
	ssize_t n;
	int r;

	*ret_what = kernel;
	r = map_file(kernel, &kernel_file);
	if (r)
		return r;
	*ret_what = archive;
	r = map_file(archive, &archive_file);
	if (r && r != -ENOENT)
		return r;
	*ret_what = OWN_PARAMS;
	/* An initramfs has it mounted for a while only. What then is not there is said below. */
	if (!file_exists(OWN_PARAMS))
		mount("sysfs", "/sys", "sysfs", 0, NULL);
	n = file_read(OWN_PARAMS, (char *)&own, sizeof own);
	if (n != sizeof own)
		return n < 0 ? (int)n : -EIO;
	/* A kernel that has none yet leaves the next one to find its own. */
	n = getrandom(random, sizeof random, GRND_NONBLOCK);
	seed.size = n < 0 ? 0 : (size_t)n;
	*ret_what = kernel;
	r = handover_plan(kernel_file, archive_file, command_line, &own, seed, &plan);
	return r ? r : load(&plan, ret_what);
}
#else
int start_load(const char *kernel, const char *archive, const char *command_line, const char **ret_what)
{
	(void)archive;
	(void)command_line;
	*ret_what = kernel;
	return -ENOSYS;
}
#endif

int start_enter(void)
{
	reboot(LINUX_REBOOT_CMD_KEXEC);
	return -errno;
}
