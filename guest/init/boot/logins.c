/* SPDX-License-Identifier: MIT */
/* Writes utmp and wtmp as glibc's programs read them; the C library that PID 1 is linked with has them otherwise. */
#include "logins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "shared/clock.h"

enum { RUN_LEVEL = 1, BOOT_TIME = 2, INIT_PROCESS = 5, USER_PROCESS = 7, DEAD_PROCESS = 8 }; /* utmp(5) */
enum { TRIES = 50, PAUSE_MS = 20, MAX_RECORDS = 1 << 14 };

static const char UTMP[] = "/run/utmp", WTMP[] = "/var/log/wtmp";

/* struct utmp of glibc: for arm64 times and sessions have 64 bits in it, everywhere else 32. */
#ifdef __aarch64__
typedef int64_t record_time;
#else
typedef int32_t record_time;
#endif

struct record {
	int16_t type;
	int32_t pid;
	char line[32], id[4], user[32], host[256];
	int16_t termination, status;
	record_time session, s, us;
	int32_t address[4];
	char unused[20];
};

static struct record record_of(int16_t type, pid_t pid)
{
	struct record record = { .type = type, .pid = pid };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	record.s = (record_time)now.tv_sec;
	record.us = (record_time)(now.tv_nsec / 1000);
	return record;
}

/* Of the machine, not of a terminal. Texts that fill their field have no NUL. */
static struct record record_of_machine(int16_t type, pid_t pid, const char *user)
{
	struct record record = record_of(type, pid);
	struct utsname kernel;

	record.line[0] = record.id[0] = record.id[1] = '~';
	strncpy(record.user, user, sizeof record.user - 1);
	if (uname(&kernel) == 0)
		strncpy(record.host, kernel.release, sizeof record.host - 1);
	return record;
}

static struct record record_of_tty(int16_t type, pid_t pid, const char *tty)
{
	struct record record = record_of(type, pid);
	const char *line = strncmp(tty, "/dev/", strlen("/dev/")) ? tty : tty + strlen("/dev/");
	size_t size = strlen(line);

	/* The end tells terminals apart: ttyS0, pts/12. */
	memcpy(record.id, line + (size > sizeof record.id ? size - sizeof record.id : 0),
	       size > sizeof record.id ? sizeof record.id : size);
	strncpy(record.line, line, sizeof record.line - 1);
	return record;
}

/* A plain file that is ours for writing, or -errno. Who only reads it may lock it, too: it is not waited for long. */
static int open_locked(const char *path, int flags)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0664), r = -EAGAIN;
	struct stat found;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &found) || !S_ISREG(found.st_mode))
		r = -EINVAL;
	for (int i = 0; i < TRIES && r == -EAGAIN; i++) {
		if (fcntl(fd, F_SETLK, &lock) == 0)
			return fd;
		/* Linux before it had locks, or built without them. */
		if (errno == ENOSYS || errno == EINVAL)
			return fd;
		r = errno == EACCES ? -EAGAIN : -errno;
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_MS * NS_PER_MS }, NULL);
	}
	close(fd);
	return r;
}

/* What is kept until the next one of its kind: of the machine one of each type, of a terminal one. */
static bool is_same(const struct record *one, const struct record *other)
{
	if (one->type < INIT_PROCESS)
		return one->type == other->type;
	return other->type >= INIT_PROCESS && other->type <= DEAD_PROCESS && !memcmp(one->id, other->id, sizeof one->id);
}

/* Into its place in utmp; `only` is the process that must be there, 0: any. */
static int put(struct record *record, int flags, pid_t only)
{
	int fd = open_locked(UTMP, flags), r = 0;
	struct record found = { .type = 0 };
	off_t at = 0;

	if (fd < 0)
		return fd;
	for (int i = 0; i < MAX_RECORDS && pread(fd, &found, sizeof found, at) == sizeof found; i++) {
		if (is_same(record, &found))
			break;
		at += sizeof found;
		memset(&found, 0, sizeof found);
	}
	if (only && (!is_same(record, &found) || found.pid != only))
		r = -ESRCH;
	else if (pwrite(fd, record, sizeof *record, at) != sizeof *record)
		r = errno ? -errno : -ENOSPC;
	close(fd);
	return r;
}

/* To the end of wtmp, where that is whole. */
static void append(const struct record *record)
{
	int fd = open_locked(WTMP, O_APPEND);
	off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

	if (fd < 0)
		return;
	/* A full disk must not leave half a record, behind which nobody could read. */
	if (end % (off_t)sizeof *record == 0 && write(fd, record, sizeof *record) != sizeof *record && ftruncate(fd, end)) {
		close(fd);
		return;
	}
	close(fd);
}

int logins_boot(char level)
{
	struct record boot = record_of_machine(BOOT_TIME, 0, "reboot");
	/* There was no runlevel before: sysvinit says so by an N. */
	struct record run_level = record_of_machine(RUN_LEVEL, level + 256 * 'N', "runlevel");
	struct stat wtmp;
	int r;

	boot.s -= (record_time)(clock_now_ns() / NS_PER_S);
	r = put(&boot, O_CREAT, 0);
	if (!r)
		r = put(&run_level, 0, 0);
	/* The same programs write to both. */
	if (!r && stat(WTMP, &wtmp) == 0 && (lchown(UTMP, 0, wtmp.st_gid) || chmod(UTMP, wtmp.st_mode & 0664)))
		r = -errno;
	append(&boot);
	append(&run_level);
	return r;
}

void logins_begin(const char *tty)
{
	struct record record = record_of_tty(INIT_PROCESS, getpid(), tty);

	record.session = getpid();
	if (put(&record, 0, 0) == 0)
		append(&record);
}

void logins_end(const char *tty, pid_t pid)
{
	struct record record = record_of_tty(DEAD_PROCESS, pid, tty);

	if (put(&record, 0, pid) == 0)
		append(&record);
}

void logins_shutdown(void)
{
	struct record record = record_of_machine(RUN_LEVEL, 0, "shutdown");

	append(&record);
}
