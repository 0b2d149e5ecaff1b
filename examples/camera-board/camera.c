/* SPDX-License-Identifier: MIT */
/*
 * The camera example's application: waits for the camera by name, starts ffmpeg on it, and says when the first frame
 * has been decoded, exactly (guest/README.md: marks) and whether it is the frame that it should be.
 *
 * Started by a script, or as init: then it mounts what it needs itself. ffmpeg writes a line for each decoded frame
 * (-f framemd5) into a pipe, so the first line that is no comment is the moment.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define CAMERA "/dev/video7"
#define FFMPEG "/usr/bin/ffmpeg"
#define MODEL "/sys/module/board_model/parameters/"
/* Of vivid's colour bars in this size, without its clock. */
#define FRAME_MD5 "07c7232f3b3fc74fd0509119ed48bd15"

static const char MARK[] = "first_frame", CHECKED[] = "frame_checked";
static char line[512];

/* A NOP that no compiler emits, at the start of a translation block: the virtual clock sees it (guest/mark.c). */
static void announce(const char *name, long size)
{
	register const char *r0 __asm__("r0") = name;
	register long r1 __asm__("r1") = size;

#ifdef __thumb__
	__asm__ volatile("b 1f\n1:\n\t.inst.w 0xea4b0b0b" : : "r"(r0), "r"(r1) : "memory");
#else
	__asm__ volatile("b 1f\n1:\n\t.inst 0xe3cbb700" : : "r"(r0), "r"(r1) : "memory");
#endif
}

static void fail(const char *what)
{
	dprintf(1, "bootlab: check failed: %s: %s\n", what, strerror(errno));
	for (;;)
		pause();
}

static void become_init(void)
{
	int console;

	if (mount("dev", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY)
		fail("/dev");
	console = open("/dev/console", O_RDWR);
	if (console < 0)
		/* A kernel without terminals: what it says goes nowhere, and the marks say what they must. */
		console = open("/dev/null", O_RDWR);
	for (int fd = 0; console >= 0 && fd < 3; fd++)
		dup2(console, fd);
}

/* The camera may enumerate long after this has started: the directory says when its name appears. */
static void await_camera(void)
{
	int watch = inotify_init1(IN_CLOEXEC);
	char event[4096];

	if (watch < 0 || inotify_add_watch(watch, "/dev", IN_CREATE | IN_ATTRIB) < 0) {
		/* A kernel without inotify: look for it. */
		while (access(CAMERA, R_OK))
			usleep(1000);
		return;
	}
	while (access(CAMERA, R_OK))
		if (read(watch, event, sizeof event) < 0)
			fail("inotify");
	close(watch);
}

/* Start a program; returns where its standard output can be read. */
static int start(char *const argv[])
{
	static char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
	int ends[2];

	if (pipe(ends))
		fail("pipe");
	switch (vfork()) {
	case -1:
		fail("fork");
		break;
	case 0:
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		execve(argv[0], argv, environment);
		_exit(127);
	}
	close(ends[1]);
	return ends[0];
}

static int start_ffmpeg(void)
{
	static char *const argv[] = {FFMPEG,	    "-hide_banner", "-loglevel", "error",     "-nostdin", "-f",
				     "v4l2",	    "-framerate",   "30",	 "-video_size", "640x360", "-i",
				     CAMERA,	    "-frames:v",    "1",	 "-f",	      "framemd5", "pipe:1",
				     NULL};

	return start(argv);
}

/* Read until the line of the first frame is whole: `0, 0, 0, 1, SIZE, MD5`. */
static void await_frame(int from)
{
	size_t held = 0;

	for (;;) {
		ssize_t got = read(from, line + held, sizeof line - 1 - held);
		char *end;

		if (got <= 0)
			fail("ffmpeg ended without a frame");
		line[held += (size_t)got] = '\0';
		while ((end = strchr(line, '\n'))) {
			if (line[0] != '#') {
				announce(MARK, sizeof MARK - 1);
				*end = '\0';
				return;
			}
			held -= (size_t)(end + 1 - line);
			memmove(line, end + 1, held + 1);
		}
		if (held == sizeof line - 1)
			held = 0;
	}
}

static void tell_model(const char *name)
{
	char path[96], value[32];
	int fd, size;

	snprintf(path, sizeof path, MODEL "%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	size = read(fd, value, sizeof value - 1);
	value[size > 0 ? size : 0] = '\0';
	close(fd);
	dprintf(1, "bootlab: fact board_model.%s %s", name, value);
}

/* The note that the start-up code of glibc leaves near the beginning of a program (NT_GNU_ABI_TAG). */
static int has_note_of_glibc(const char *text, ssize_t size)
{
	static const Elf32_Word note[] = {4, 16, NT_GNU_ABI_TAG, 'G' | 'N' << 8 | 'U' << 16};

	for (ssize_t at = 0; at + (ssize_t)sizeof note <= size; at += sizeof *note)
		if (!memcmp(text + at, note, sizeof note))
			return 1;
	return 0;
}

/* What kind of program it is that has decoded the frame: by its file, and in its own words. */
static void tell_application(void)
{
	static char *const argv[] = {FFMPEG, "-version", NULL};
	static char text[4096];
	const Elf32_Ehdr *elf = (const void *)text;
	int file = open(FFMPEG, O_RDONLY), interpreter = 0;
	size_t held = 0;
	ssize_t got;

	if (file >= 0 && (got = read(file, text, sizeof text)) >= (ssize_t)sizeof *elf) {
		const Elf32_Phdr *segment = (const void *)(text + elf->e_phoff);

		for (int at = 0; at < elf->e_phnum && (const char *)(segment + at + 1) < text + sizeof text; at++)
			interpreter |= segment[at].p_type == PT_INTERP;
		dprintf(1, "bootlab: fact application.bytes %ld\n", (long)lseek(file, 0, SEEK_END));
		dprintf(1, "bootlab: fact application.linked %s\n", interpreter ? "dynamic" : "static");
		dprintf(1, "bootlab: fact application.libc %s\n", has_note_of_glibc(text, got) ? "glibc" : "another");
	}
	close(file);
	file = start(argv);
	while (held < sizeof text - 1 && (got = read(file, text + held, sizeof text - 1 - held)) > 0)
		held += (size_t)got;
	text[held] = '\0';
	for (char *word = strtok(text, "\n"); word; word = strtok(NULL, "\n")) {
		if (!strncmp(word, "built with ", 11))
			dprintf(1, "bootlab: fact application.compiler %s\n", word + 11);
		if (!strncmp(word, "configuration: ", 15))
			dprintf(1, "bootlab: fact application.configuration %s\n", word + 15);
	}
}

/* What the kernel has of the board's memory, and what of it nobody uses. */
static void tell_memory(void)
{
	struct sysinfo memory;

	if (sysinfo(&memory))
		return;
	dprintf(1, "bootlab: fact mem_total_kib %lu\n", memory.totalram / 1024 * memory.mem_unit);
	dprintf(1, "bootlab: fact mem_free_kib %lu\n", memory.freeram / 1024 * memory.mem_unit);
}

/* How many devices the kernel has made of the device tree. */
static void tell_devices(void)
{
	DIR *devices = opendir("/sys/bus/platform/devices");
	const struct dirent *entry;
	int count = 0;

	if (!devices)
		return;
	while ((entry = readdir(devices)))
		count += entry->d_name[0] != '.';
	closedir(devices);
	dprintf(1, "bootlab: fact platform_devices %d\n", count);
}

/* Run a program of bootlab's to its end; nothing where the image has none. */
static void run(const char *program, const char *word)
{
	pid_t child = vfork();

	if (child == 0) {
		execl(program, program, word, NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

static void tell_facts(void)
{
	static const char *const counts[] = {"uart_wait_ns",	 "uart_bytes",	      "storage_ns",	  "storage_bytes",
					     "loader_uart_ns", "loader_storage_ns", "camera_powered_us", "camera_there_us"};

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sys", "/sys", "sysfs", 0, NULL);
	for (unsigned at = 0; at < sizeof counts / sizeof *counts; at++)
		tell_model(counts[at]);
	tell_application();
	tell_devices();
	if (!access("/bin/busybox", X_OK))
		run("/sbin/bootlab-facts", NULL);
	else
		tell_memory();
}

int main(void)
{
	const char *md5;

	if (getpid() == 1)
		become_init();
	await_camera();
	announce("camera", 6);
	await_frame(start_ffmpeg());
	dprintf(1, "bootlab: mark %s\n", MARK);
	tell_facts();
	md5 = strrchr(line, ' ');
	if (md5 && !strcmp(md5 + 1, FRAME_MD5)) {
		dprintf(1, "bootlab: mark %s\n", CHECKED);
		/* The mark may end the boot, and what has been said is still on its way. */
		tcdrain(1);
		announce(CHECKED, sizeof CHECKED - 1);
		/* Of a board that keeps its kernel in RAM: what became ready may be started again. */
		run("/sbin/bootlab-kept", "settle");
	} else {
		dprintf(1, "bootlab: check failed: frame %s, expected %s\n", md5 ? md5 + 1 : line, FRAME_MD5);
	}
	for (;;)
		pause();
}
