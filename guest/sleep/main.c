/* SPDX-License-Identifier: MIT */
/*
 * bootlab-sleep: puts a machine to sleep once it is what its user calls booted, if its kernel's command line says so, and makes it a
 * machine of its own as it wakes; and in the initramfs of the next start, takes up an image or says why not. That start may be of
 * another kernel, which then enters the system's own where there is nothing to take up.
 *
 * A hibernation image is taken once: its note says so from before the kernel looks at it, the kernel takes its signature away before
 * it reads it, and so does this program from one that it refuses. So nothing that is wrong with an image can make a loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "before.h"
#include "board.h"
#include "note.h"
#include "said.h"
#include "start.h"
#include "suspend.h"
#include "shared/files.h"

/* Of the swap header: what it was before an image came, and what it is (kernel/power/swap.c). */
enum { PAGE = 4096, SIGNATURE = 10, BEFORE_AT = PAGE - 2 * SIGNATURE, SIGNATURE_AT = PAGE - SIGNATURE, SEED = 64 };
enum { EXIT_USE = 2, EXIT_EARLY = 3, TRIES = 500, TRY_NS = 20000000, DEVICE_MAX = 64, MEMORY_TEXT = 4096, MODE_TEXT = 64 };

/* "RELEASE VERSION" of the kernel whose image this one restores, where it is another's (bootlab/build/restored_files.py). */
#define RESTORED "/etc/bootlab/restored"

static const char IMAGE[SIGNATURE + 1] = "S1SUSPEND";

static const char help[] =
	"usage: bootlab-sleep [resume DEVICE [early] | start KERNEL INITRAMFS WORDS]\n"
	"\n"
	"Put the machine to sleep where the kernel's command line asks for it, and go on when it wakes.\n"
	"\n"
	"  bootlab.sleep=disk:DEVICE   hibernate into the swap area on DEVICE\n"
	"  bootlab.sleep.platform      and do so by ACPI (S4): whoever restores the image may leave ACPI off\n"
	"  bootlab.sleep=mem           suspend to RAM\n"
	"  bootlab.sleep=idle          suspend to idle (s2idle), so that a key of a keyboard wakes it\n"
	"  bootlab.sleep.alarm=N       and have the alarm of the machine's clock wake it N seconds later\n"
	"  bootlab.sleep.alarm=@TIME   or when its clock shows TIME, in seconds since 1970\n"
	"  bootlab.sleep.devices       and say how long each device took to wake (the kernel's trace events)\n"
	"\n"
	"  resume DEVICE   in the initramfs, before anything is mounted: go on from the image on DEVICE, if there is one\n"
	"                  early: drivers are still to come; where a device that the image needs is not there, nothing is done\n"
	"                  where there is " RESTORED ", the image is of that kernel, not of the one that runs\n"
	"  start KERNEL INITRAMFS WORDS   enter another kernel (kexec_load), with this command line; INITRAMFS may be missing\n"
	"\n"
	"Without any of these words it ends at once.\n"
	"\n"
	"Before it sleeps it does what the files in /etc/bootlab/sleep.d say, line by line:\n"
	"\n"
	"  write PATTERN VALUE           write the value to each file of the kernel that the pattern matches\n"
	"  late PATTERN [class PREFIX]   take the driver off each device that it matches, and bind it again when the\n"
	"                                machine has woken and is idle\n"
	"  keep caches                   leave the page cache in an image of the memory; it is dropped otherwise\n"
	"\n"
	"Exit status: 0 go on; 1 the machine could not be put to sleep, or no kernel be entered; 2 wrong use; 3 too early.\n";

static char block[PAGE] __attribute__((aligned(PAGE)));

/* A device, past every cache, and where its last two blocks begin. */
static int open_device(const char *path, off_t *ret_note)
{
	int fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

	if (fd < 0 || size < 4 * PAGE) {
		int r = fd < 0 ? -errno : -ENOSPC;

		if (fd >= 0)
			close(fd);
		return r;
	}
	*ret_note = size / PAGE * PAGE - 2 * PAGE;
	return fd;
}

static int read_block(int fd, off_t at)
{
	return pread(fd, block, PAGE, at) == PAGE ? 0 : -EIO;
}

static int write_block(int fd, off_t at)
{
	return pwrite(fd, block, PAGE, at) == PAGE && !fsync(fd) ? 0 : -EIO;
}

static int read_stamp(const char *device, char *ret)
{
	int fd = open(device, O_RDONLY | O_DIRECT | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = read_block(fd, 0);
	close(fd);
	if (!r)
		memcpy(ret, block, STAMP_SIZE);
	return r;
}

static int take_random(off_t seed_at, int fd)
{
	/* As struct rand_pool_info, whose last member has no length. */
	struct {
		int bits, size;
		char bytes[SEED];
	} pool = { .bits = 8 * SEED, .size = SEED };
	int random, r = read_block(fd, seed_at);

	if (r)
		return r;
	memcpy(pool.bytes, block, SEED);
	random = open("/dev/urandom", O_RDWR | O_CLOEXEC);
	if (random < 0)
		return -errno;
	/* Writing alone would change nothing before the next reseeding. */
	r = ioctl(random, RNDADDENTROPY, &pool) || ioctl(random, RNDRESEEDCRNG) ? -errno : 0;
	close(random);
	return r;
}

/* What is not the machine's own image any more is no image to anybody. */
static void take_signature_away(int fd)
{
	if (read_block(fd, 0))
		return;
	memcpy(block + SIGNATURE_AT, block + BEFORE_AT, SIGNATURE);
	write_block(fd, 0);
}

static int refuse(int fd, const char *reason)
{
	if (fd >= 0) {
		take_signature_away(fd);
		close(fd);
	}
	printf("bootlab: hibernation image refused: %s\nbootlab: fact hibernation_refused %s\n", reason, reason);
	make_mark("hibernation_refused");
	return 0;
}

static bool await(const char *path)
{
	const struct timespec pause = { .tv_nsec = TRY_NS };

	for (int i = 0; i < TRIES; i++) {
		if (file_exists(path))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void name_kernel(char ret[KERNEL_MAX])
{
	ssize_t n = file_read(RESTORED, ret, KERNEL_MAX - 1);

	if (n < 0) {
		note_kernel(ret);
		return;
	}
	ret[n] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/* `early`: a device that is not there may still come, so that is no reason to refuse the image. */
static int resume(const char *device, bool early)
{
	char note[NOTE_SIZE], reason[REFUSAL_MAX], kernel[KERNEL_MAX], numbers[32];
	struct stat status;
	off_t at;
	int fd, r;

	if (early && !file_exists(device))
		return EXIT_EARLY;
	if (!await(device))
		return refuse(-1, "its device is not there");
	fd = open_device(device, &at);
	if (fd < 0)
		return refuse(-1, strerror(-fd));
	r = read_block(fd, 0);
	if (!r && memcmp(block + SIGNATURE_AT, IMAGE, sizeof IMAGE - 1)) {
		close(fd);
		puts("bootlab: fact hibernation none");
		return 0;
	}
	if (r || read_block(fd, at))
		return refuse(fd, "it cannot be read");
	memcpy(note, block, NOTE_SIZE);
	name_kernel(kernel);
	r = note_check(note, kernel, read_stamp, reason);
	if (r == -ENOENT && early) {
		close(fd);
		return EXIT_EARLY;
	}
	if (r)
		return refuse(fd, reason);
	memset(block, 0, PAGE);
	if (getrandom(block, SEED, 0) != SEED || pwrite(fd, block, PAGE, at + PAGE) != PAGE)
		return refuse(fd, "no random numbers can be left for it");
	note_take(block);
	if (write_block(fd, at))
		return refuse(fd, "that it is taken cannot be noted");
	if (fstat(fd, &status))
		return refuse(fd, strerror(errno));
	close(fd);
	snprintf(numbers, sizeof numbers, "%u:%u", major(status.st_rdev), minor(status.st_rdev));
	make_mark("resuming");
	/* It comes back only where the kernel does not take the image. */
	r = file_write("/sys/power/resume", numbers);
	fd = open_device(device, &at);
	return refuse(fd, r ? strerror(-r) : "the kernel does not take it: its log says why");
}

static int fail_to_start(const char *what, int r)
{
	printf("bootlab: no kernel is started: %s: %s\n", what, strerror(-r));
	return EXIT_FAILED;
}

static int start(const char *kernel, const char *archive, const char *command_line)
{
	const char *what;
	int r = start_load(kernel, archive, command_line, &what);

	if (r)
		return fail_to_start(what, r);
	make_mark("kexec");
	return fail_to_start("kexec", start_enter());
}

static int write_note(int fd, off_t at)
{
	static struct stamps stamps;
	static char note[NOTE_SIZE];
	char kernel[NAMED_MAX];
	int r;

	note_kernel(kernel);
	board_name_card(kernel);
	sync();
	stamps_take(&stamps);
	if (stamps.left_out)
		return -E2BIG;
	r = note_write(kernel, &stamps, note);
	if (r)
		return r;
	memcpy(block, note, PAGE);
	r = write_block(fd, at);
	memset(block, 0, PAGE);
	return r ? r : write_block(fd, at + PAGE);
}

static const char *choose_end(void)
{
	char none[DEVICE_MAX];

	/* A PC without ACPI cannot switch itself off: the kernel would stand still with its image written. */
	if (!file_exists("/sys/firmware/acpi"))
		return "reboot";
	/* Behind this one a kernel that wakes switches ACPI on itself (acpi_hibernation_leave()). */
	return read_word("bootlab.sleep.platform", none, sizeof none) ? "platform" : "shutdown";
}

/* A line of /proc/meminfo, in KiB. */
static unsigned long long read_memory(const char *text, const char *name)
{
	unsigned long long kib = 0;
	const char *line = strstr(text, name);

	if (line)
		sscanf(line + strlen(name), "%llu", &kib);
	return kib;
}

/* As it woke it is what the image has, and what was swapped out before that was made. */
static void tell_memory(void)
{
	static char text[MEMORY_TEXT];
	ssize_t n = file_read("/proc/meminfo", text, sizeof text - 1);

	if (n < 0)
		return;
	text[n] = '\0';
	printf("bootlab: fact image_page_cache_kib %llu\n", read_memory(text, "\nCached:"));
	printf("bootlab: fact image_swapped_kib %llu\n", read_memory(text, "\nSwapTotal:") - read_memory(text, "\nSwapFree:"));
}

/* Comes back when the machine has woken, with 0, or EXIT_FAILED. */
static int write_image(void)
{
	static struct lates lates;
	const char *end = choose_end();
	char what[MODE_TEXT];
	int r = file_write("/sys/power/disk", end);

	/* In another mode it might stand still with its image written, or wake without ACPI. */
	if (r) {
		snprintf(what, sizeof what, "/sys/power/disk does not take the mode %s", end);
		return fail_to_sleep(what, r);
	}
	/* What can be read again need not be kept. */
	if (!before_sleep("", &lates))
		file_write("/proc/sys/vm/drop_caches", "3");
	make_mark("hibernating");
	r = file_write("/sys/power/state", "disk");
	if (r) {
		bind_again(&lates);
		return fail_to_sleep("the kernel", r);
	}
	make_mark("woke");
	bind_when_idle(&lates);
	return 0;
}

static int hibernate(const char *device)
{
	off_t at;
	int fd, r;

	/* A card is found long after its driver has begun. */
	if (ON_BOARD && !await(device))
		return fail_to_sleep(device, -ENODEV);
	fd = open_device(device, &at);
	if (fd < 0)
		return fail_to_sleep(device, fd);
	r = read_block(fd, 0);
	if (r || (r = note_find_room(block, (uint64_t)at)))
		return fail_to_sleep(r == -ENOSPC ? "two blocks behind the swap area" : "swap area", r);
	/* Before it is used for swapping: then it is the kernel's alone to write to. */
	r = write_note(fd, at);
	if (r)
		return fail_to_sleep("the note beside the image", r);
	if (swapon(device, 0))
		return fail_to_sleep("swap area", -errno);
	r = write_image();
	if (r)
		return r;
	r = ON_BOARD ? -ENODATA : take_random(at + PAGE, fd);
	if (r)
		printf("bootlab: random numbers are not its own: %s\n", strerror(-r));
	puts("bootlab: fact hibernation resumed");
	tell_memory();
	close(fd);
	return 0;
}

static int sleep_as_asked(void)
{
	char how[DEVICE_MAX];

	if (!read_word("bootlab.sleep=", how, sizeof how))
		return 0;
	make_mark("awake");
	if (!strncmp(how, "disk:", 5))
		return hibernate(how + 5);
	if (!strcmp(how, "mem"))
		return suspend("mem");
	if (!strcmp(how, "idle"))
		return suspend("freeze");
	return fail_to_sleep(how, -EINVAL);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 1)
		return sleep_as_asked();
	if ((argc == 3 || (argc == 4 && !strcmp(argv[3], "early"))) && !strcmp(argv[1], "resume"))
		return resume(argv[2], argc == 4);
	if (argc == 5 && !strcmp(argv[1], "start"))
		return start(argv[2], argv[3], argv[4]);
	fputs(help, argc == 2 && !strcmp(argv[1], "--help") ? stdout : stderr);
	return argc == 2 && !strcmp(argv[1], "--help") ? 0 : EXIT_USE;
}
