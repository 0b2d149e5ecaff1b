/* SPDX-License-Identifier: MIT */
/*
 * bootlab-kept: mounts the root out of RAM that has outlived the power, or out of its copy on disk and says why, and sees to it
 * once the system is ready that the next start finds a root in that RAM.
 *
 * A start from kept RAM is on trial: the header says so until the system is ready, and all of the region was compared. One that
 * does not get there, for whatever reason, is not tried again: the next start takes the disk. So nothing that is wrong with the RAM
 * can make a loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "changes.h"
#include "dax.h"
#include "plan.h"
#include "region.h"
#include "said.h"
#include "shared/files.h"
#include "verity.h"

/* The initramfs has the first. Of all file systems only /dev goes along to the root: that has the others. */
#define PLAN "/etc/bootlab/kept"
#define PLAN_OF_ROOT "/dev/bootlab-kept"
#define DISK_OF_ROOT "/dev/bootlab-kept-disk"
/* Of the root: by it is seen how the files of the root are mapped. */
#define OWN_PATH "/sbin/bootlab-kept"
#define FROM_RAM "bootlab-kept"
#define CHECKED "bootlab-kept-checked"
/* Of a region with some of the files: where it and the root on the disk are mounted, of which the root is then made. */
#define SOME "/kept"
#define WHOLE "/whole"
/* Where the root is mounted over which changes are laid. */
#define BELOW "/below"

enum { EXIT_FAILED = 1, EXIT_USE = 2, TRIES = 500, TRY_NS = 20000000, IOPRIO_IDLE = 3 << 13 };

static const char help[] =
	"usage: bootlab-kept mount DISK FOLDER | settle | save\n"
	"\n"
	"Mount the root out of RAM that has outlived the power, or out of its copy on disk; make it ready for the next start.\n"
	"\n"
	"  mount DISK FOLDER   in the initramfs: mount it on FOLDER; DISK has the copy\n"
	"  settle              in the root, once the system is ready: the trial is passed, or the RAM is filled again\n"
	"  save                in the root: what was written over it is written to its disk, for the next start\n"
	"\n"
	"What there is to know is in " PLAN " of the initramfs.\n"
	"Exit status: 0 done; 1 neither could be mounted, the RAM could not be filled, or changes not be saved; 2 wrong use.\n";

static char plan_text[PLAN_SIZE];

static int read_plan(const char *path, struct plan *ret)
{
	ssize_t size = file_read(path, plan_text, sizeof plan_text - 1);

	if (size < 0)
		return why("%s: %s", path, strerror((int)-size));
	plan_text[size] = '\0';
	return plan_read(plan_text, ret) ? why("%s: is no plan of a root in kept RAM", path) : 0;
}

static int mount_image(const char *device, const struct plan *plan, const char *more, const char *folder)
{
	char options[32];

	/* A journal is never replayed: all of it has to be as the tree says. */
	snprintf(options, sizeof options, "%s%s", strcmp(plan->filesystem, "ext4") ? "" : "noload,", more);
	return mount(device, folder, plan->filesystem, MS_RDONLY, options) ? -errno : 0;
}

/* The region's image as it lies there, past the page cache where the plan asks for that: 0, or -1 with the reason. */
static int mount_region(const char *region, const struct plan *plan, const char *folder)
{
	char probe[PATH_MAX];
	int r = mount_image(region, plan, plan->dax ? "dax=always" : "", folder);

	if (r)
		return why("cannot be mounted%s: %s", plan->dax ? " with DAX" : "", strerror(-r));
	if (!plan->dax)
		return 0;
	/* erofs mounts without DAX where it has none, and says so to the kernel's log alone. */
	snprintf(probe, sizeof probe, "%s" OWN_PATH, folder);
	r = dax_of_file(probe);
	if (r > 0)
		return 0;
	umount(folder);
	return r ? why("whether DAX took effect cannot be seen: %s: %s", OWN_PATH, strerror(-r)) :
		   why("DAX did not take effect: the kernel, the region or %s has none", plan->filesystem);
}

static int find(const struct plan *plan, char ret[REGION_PATH])
{
	int r = region_find(plan, ret);

	if (r == -EINVAL)
		return why("the region has another size than %llu bytes", (unsigned long long)plan->size);
	return r ? why("no region at %#llx: the kernel is not told of it, or its driver is missing", (unsigned long long)plan->start) : 0;
}

static int expect_header(const char *device, const struct plan *plan, struct header *ret)
{
	int r = region_read_header(device, plan, ret);

	if (r == -ENODATA)
		return why("nothing is there: the RAM was lost");
	if (r == -EBADMSG)
		return why("the header is damaged");
	if (r)
		return why("the header cannot be read: %s", strerror(-r));
	if (!strcmp(ret->state, "filling"))
		return why("the RAM was being filled when the power was cut");
	if (!strcmp(ret->state, "trying"))
		return why("the last start out of it did not become ready");
	if (!strcmp(ret->state, "bad"))
		return why("it was refused before");
	if (strcmp(ret->state, "valid"))
		return why("its state is %s", ret->state);
	if (strcmp(ret->root, plan->root))
		return why("another image: %.16s, and %.16s is wanted", ret->root, plan->root);
	return ret->bytes == plan->bytes ? 0 : why("another size: %llu bytes", (unsigned long long)ret->bytes);
}

static int mount_verified(const char *region, const struct plan *plan, const char *folder)
{
	char device[VERITY_PATH];
	int r;

	if (plan->verify == VERIFY_HEADER)
		return mount_region(region, plan, folder);
	r = verity_make(FROM_RAM, region, plan, plan->verify == VERIFY_BLOCKS, device);
	if (r)
		return why("no dm-verity over it: %s", strerror(-r));
	if (plan->verify == VERIFY_ALL && (r = region_read_all(device, plan->image)))
		why("a block is not what it was: %s", strerror(-r));
	else if (!plan->dax && (r = mount_image(device, plan, "", folder)))
		why("cannot be mounted: %s", strerror(-r));
	if (r || plan->dax)
		verity_remove(FROM_RAM);
	return r || !plan->dax ? r : mount_region(region, plan, folder);
}

static int mount_from_disk(const struct plan *plan, const char *disk, const char *folder)
{
	const struct timespec pause = { .tv_nsec = TRY_NS };
	struct stat status;

	/* Its driver is there; a bus may still be looking. */
	for (int i = 0; stat(disk, &status) || !S_ISBLK(status.st_mode); i++) {
		if (i == TRIES)
			return -ENODEV;
		nanosleep(&pause, NULL);
	}
	return mount_image(disk, plan, "", folder);
}

/* Some of the files are in the region: what is not there is read from the disk. */
static int mount_over_disk(const char *region, const struct plan *plan, const char *disk, const char *folder)
{
	int r;

	mkdir(SOME, 0755);
	mkdir(WHOLE, 0755);
	if (mount_verified(region, plan, SOME))
		return -1;
	r = mount_from_disk(plan, disk, WHOLE);
	if (r) {
		why("the rest of the root, on %s, cannot be mounted: %s", disk, strerror(-r));
	} else if (mount("overlay", folder, "overlay", MS_RDONLY, "lowerdir=" SOME ":" WHOLE)) {
		r = -errno;
		why("cannot be laid over %s: %s", disk, r == -ENODEV ? "the kernel has no overlay file system" : strerror(-r));
		umount(WHOLE);
	}
	if (r)
		umount(SOME);
	return r;
}

static int mount_from_ram(const struct plan *plan, const char *disk, const char *folder)
{
	char region[REGION_PATH];
	struct header header;
	int r;

	if (find(plan, region) || expect_header(region, plan, &header))
		return -1;
	strcpy(header.state, "trying");
	r = region_write_header(region, plan, &header);
	if (r)
		return why("its header cannot be written: %s", strerror(-r));
	r = plan->copied_from ? mount_over_disk(region, plan, disk, folder) : mount_verified(region, plan, folder);
	if (r) {
		strcpy(header.state, "bad");
		region_write_header(region, plan, &header);
	}
	return r;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t size = (ssize_t)strlen(text);
	int r = fd < 0 || write(fd, text, (size_t)size) != size ? -EIO : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

/* Out of RAM or from the disk: 0 or -errno. */
static int mount_either(const struct plan *plan, const char *disk, const char *folder, bool *from_ram)
{
	*from_ram = !mount_from_ram(plan, disk, folder);
	if (*from_ram) {
		puts(plan->dax ? "bootlab: fact root_source kept-ram\nbootlab: fact root_dax yes" : "bootlab: fact root_source kept-ram");
		return 0;
	}
	printf("bootlab: kept RAM refused: %s\nbootlab: fact kept_ram_refused %s\nbootlab: fact root_source disk\n", reason, reason);
	make_mark("kept_refused");
	if (write_file(DISK_OF_ROOT, disk))
		fputs("bootlab-kept: /dev cannot be written: the RAM will not be filled\n", stderr);
	return mount_from_disk(plan, disk, folder);
}

static int mount_root(const char *disk, const char *folder)
{
	const char *below = folder;
	struct plan plan;
	bool from_ram;
	int r;

	if (read_plan(PLAN, &plan)) {
		fprintf(stderr, "bootlab-kept: %s\n", reason);
		return EXIT_FAILED;
	}
	if (plan.changes)
		below = BELOW;
	mkdir(folder, 0755);
	mkdir(below, 0755);
	if (write_file(PLAN_OF_ROOT, plan_text))
		fputs("bootlab-kept: /dev cannot be written: the RAM will not be filled\n", stderr);
	r = mount_either(&plan, disk, below, &from_ram);
	if (r) {
		fprintf(stderr, "bootlab-kept: %s: %s\n", disk, strerror(-r));
		return EXIT_FAILED;
	}
	if (plan.changes && changes_mount(&plan, below, folder)) {
		fprintf(stderr, "bootlab-kept: %s\n", reason);
		return EXIT_FAILED;
	}
	make_mark(from_ram ? "root_kept" : "root_disk");
	return 0;
}

static void half_way(void)
{
	make_mark("refill_half");
}

/* All of the region with the tree, block by block. 0, or -1 with the reason; `ret_wrong`: that a block is another. */
static int compare_all(const char *region, const struct plan *plan, bool *ret_wrong)
{
	char device[VERITY_PATH];
	int r = verity_make(CHECKED, region, plan, false, device);

	*ret_wrong = false;
	if (r)
		return why("no dm-verity over it: %s", strerror(-r));
	r = region_read_all(device, plan->image);
	verity_remove(CHECKED);
	*ret_wrong = r != 0;
	return r ? why("a block is not what it was: %s", strerror(-r)) : 0;
}

/* A copy of the disk in the region, compared with the tree. 0, or -1 with the reason. */
static int fill(const char *region, const char *disk, const struct plan *plan)
{
	struct header header = { .state = "filling", .bytes = plan->bytes };
	bool wrong;
	int r;

	memcpy(header.root, plan->root, sizeof header.root);
	r = region_write_header(region, plan, &header);
	if (r)
		return why("its header cannot be written: %s", strerror(-r));
	r = region_fill(region, disk, plan, half_way);
	if (r)
		return why("%s cannot be copied: %s", disk, strerror(-r));
	if (compare_all(region, plan, &wrong))
		return wrong ? why("%s is not the image that this initramfs is for", disk) : -1;
	strcpy(header.state, "valid");
	r = region_write_header(region, plan, &header);
	return r ? why("its header cannot be written: %s", strerror(-r)) : 0;
}

/* Behind all else that the system has to do. */
static void stand_back(void)
{
	const struct sched_param none = { 0 };

	sched_setscheduler(0, SCHED_IDLE, &none);
	syscall(SYS_ioprio_set, 1, 0, IOPRIO_IDLE);
}

/*
 * The system is ready, and its root is in the RAM. A block that is read later only may be wrong, and would restart the machine each
 * time that it is read, behind a trial that was passed: so those are looked at as well before it is.
 */
static int pass_trial(const char *region, const struct plan *plan)
{
	struct header header;
	int r = region_read_header(region, plan, &header);
	bool wrong = false;

	/* That the root is not from the disk is told by a file in /dev, which may be missing for want of room. */
	if (r || (r = header_expect_trial(&header, plan->root, plan->bytes)))
		return why("no start out of it is on trial: %s", strerror(-r));
	if (plan->verify == VERIFY_BLOCKS && compare_all(region, plan, &wrong) && !wrong)
		return -1;
	strcpy(header.state, wrong ? "bad" : "valid");
	r = region_write_header(region, plan, &header);
	if (r)
		return why("its header cannot be written: %s", strerror(-r));
	return wrong ? -1 : 0;
}

static int settle(void)
{
	static char disk[PATH_MAX];
	char region[REGION_PATH];
	struct plan plan;

	if (read_plan(PLAN_OF_ROOT, &plan))
		goto refused;
	if (plan.changes && changes_pass(&plan))
		printf("bootlab: changes are not known to be good: %s\n", reason);
	if (find(&plan, region))
		goto refused;
	stand_back();
	if (!file_exists(DISK_OF_ROOT)) {
		if (pass_trial(region, &plan)) {
			printf("bootlab: kept RAM is not taken again: %s\n", reason);
			make_mark("not_kept");
			return EXIT_FAILED;
		}
		make_mark("kept");
		return 0;
	}
	if (file_read(DISK_OF_ROOT, disk, sizeof disk - 1) <= 0) {
		why("%s: cannot be read", DISK_OF_ROOT);
		goto refused;
	}
	if (fill(region, disk, &plan))
		goto refused;
	printf("bootlab: kept RAM filled: %llu bytes\n", (unsigned long long)plan.bytes);
	make_mark("kept");
	return 0;
refused:
	printf("bootlab: kept RAM is not filled: %s\n", reason);
	make_mark("not_kept");
	return EXIT_FAILED;
}

static void half_saved(void)
{
	make_mark("save_half");
}

static int save(void)
{
	struct plan plan;

	stand_back();
	if (read_plan(PLAN_OF_ROOT, &plan) || changes_save(&plan, half_saved)) {
		printf("bootlab: changes are not saved: %s\n", reason);
		make_mark("not_saved");
		return EXIT_FAILED;
	}
	make_mark("saved");
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4 && !strcmp(argv[1], "mount"))
		return mount_root(argv[2], argv[3]);
	if (argc == 2 && !strcmp(argv[1], "settle"))
		return settle();
	if (argc == 2 && !strcmp(argv[1], "save"))
		return save();
	fputs(help, argc == 2 && !strcmp(argv[1], "--help") ? stdout : stderr);
	return argc == 2 && !strcmp(argv[1], "--help") ? 0 : EXIT_USE;
}
