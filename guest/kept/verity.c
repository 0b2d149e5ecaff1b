/* SPDX-License-Identifier: MIT */
/* Device mapper's own ioctls: three of them make a device, and veritysetup is not needed (linux/dm-ioctl.h). */
#include "verity.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 2048, SECTORS = BLOCK / 512 };

static union {
	struct dm_ioctl head;
	char bytes[MESSAGE_SIZE];
} message;

static struct dm_ioctl *begin(const char *name)
{
	memset(&message, 0, sizeof message);
	message.head.version[0] = DM_VERSION_MAJOR;
	message.head.data_size = sizeof message;
	message.head.data_start = sizeof message.head;
	snprintf(message.head.name, sizeof message.head.name, "%s", name);
	return &message.head;
}

static int ask(unsigned long request)
{
	int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = ioctl(fd, request, &message) ? -errno : 0;
	close(fd);
	return r;
}

static int load_table(const char *name, const char *region, const struct plan *plan, int restart)
{
	struct dm_ioctl *head = begin(name);
	struct dm_target_spec *target = (struct dm_target_spec *)(message.bytes + sizeof *head);
	char *words = (char *)(target + 1);
	uint64_t blocks = plan->image / BLOCK;

	head->target_count = 1;
	head->flags = DM_READONLY_FLAG;
	target->length = blocks * SECTORS;
	strcpy(target->target_type, "verity");
	/* Version, data and tree device, sizes of their blocks, blocks, where the tree begins, digest, root, salt, options. */
	snprintf(words, sizeof message - sizeof *head - sizeof *target, "1 %s %s %d %d %" PRIu64 " %" PRIu64 " sha256 %s %s %s", region,
		 region, BLOCK, BLOCK, blocks, blocks, plan->root, plan->salt,
		 restart ? "1 restart_on_corruption" : "1 check_at_most_once");
	return ask(DM_TABLE_LOAD);
}

int verity_make(const char *name, const char *region, const struct plan *plan, int restart, char ret[VERITY_PATH])
{
	int r;

	begin(name);
	r = ask(DM_DEV_CREATE);
	if (r)
		return r;
	/* The kernel says which number it has: another such device may be there, and have the first. */
	snprintf(ret, VERITY_PATH, "/dev/dm-%u", minor(message.head.dev));
	r = load_table(name, region, plan, restart);
	if (!r) {
		begin(name);
		r = ask(DM_DEV_SUSPEND);
	}
	if (r)
		verity_remove(name);
	return r;
}

int verity_remove(const char *name)
{
	begin(name);
	return ask(DM_DEV_REMOVE);
}
