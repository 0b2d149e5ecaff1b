/* SPDX-License-Identifier: MIT */
/* What two machines must not have in common: random numbers, the time, names, the address of a network card. */
#include "change.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { US_PER_S = 1000000 };

#define MACHINE_ID "/etc/machine-id"
#define OTHER_ID "/run/bootlab-machine-id"

static int open_urandom(void)
{
	int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	/* Without devtmpfs nobody made it; the device is there all the same. */
	if (mknod("/dev/urandom", S_IFCHR | 0666, makedev(1, 9)))
		return -1;
	return open("/dev/urandom", O_RDWR | O_CLOEXEC);
}

int change_random(const struct identity *identity)
{
	/* As struct rand_pool_info, whose last member has no length. */
	struct {
		int bits, size;
		uint8_t bytes[IDENTITY_SEED];
	} pool = { .bits = 8 * IDENTITY_SEED, .size = IDENTITY_SEED };
	int fd, r = 0;

	if (!identity->has_seed)
		return 0;
	fd = open_urandom();
	if (fd < 0)
		return -errno;
	memcpy(pool.bytes, identity->seed, IDENTITY_SEED);
	/* Writing to /dev/urandom would change nothing before the next reseeding, which may be minutes away. */
	if (ioctl(fd, RNDADDENTROPY, &pool) || ioctl(fd, RNDRESEEDCRNG))
		r = -errno;
	close(fd);
	return r;
}

int change_clock(const struct identity *identity, int64_t *ret_behind_us)
{
	struct timespec told = { .tv_sec = identity->time_us / US_PER_S, .tv_nsec = identity->time_us % US_PER_S * 1000 };
	struct timespec own;
	int64_t behind_us;

	*ret_behind_us = 0;
	if (!identity->time_us)
		return 0;
	if (clock_gettime(CLOCK_REALTIME, &own))
		return -errno;
	behind_us = (int64_t)own.tv_sec * US_PER_S + own.tv_nsec / 1000 - identity->time_us;
	if (behind_us > 0) {
		*ret_behind_us = behind_us;
		return 0;
	}
	return clock_settime(CLOCK_REALTIME, &told) ? -errno : 0;
}

int change_host_name(const struct identity *identity)
{
	return identity->name[0] && sethostname(identity->name, strlen(identity->name)) ? -errno : 0;
}

static int write_id(const char *path, const char *id)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0444), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, id, IDENTITY_ID) != IDENTITY_ID || write(fd, "\n", 1) != 1)
		r = errno ? -errno : -EIO;
	close(fd);
	return r;
}

int change_machine_id(const struct identity *identity)
{
	int r;

	if (!identity->machine_id[0])
		return 0;
	r = write_id(MACHINE_ID, identity->machine_id);
	if (r != -EROFS)
		return r;
	r = write_id(OTHER_ID, identity->machine_id);
	return !r && mount(OTHER_ID, MACHINE_ID, NULL, MS_BIND, NULL) ? -errno : r;
}

/* The first card's name. /proc and no netlink: a kernel may have been built without. */
static int find_card(char ret[IFNAMSIZ])
{
	FILE *file = fopen("/proc/net/dev", "re");
	char line[512];
	int r = -ENODEV;

	if (!file)
		return -errno;
	while (r && fgets(line, sizeof line, file)) {
		char *name = line + strspn(line, " "), *end = strchr(name, ':');

		if (!end || end - name >= IFNAMSIZ)
			continue;
		*end = '\0';
		if (strcmp(name, "lo")) {
			strcpy(ret, name);
			r = 0;
		}
	}
	fclose(file);
	return r;
}

int change_mac(const struct identity *identity)
{
	struct ifreq request = { 0 };
	int fd, r;

	if (!identity->has_mac)
		return 0;
	r = find_card(request.ifr_name);
	if (r)
		return r;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(request.ifr_hwaddr.sa_data, identity->mac, IDENTITY_MAC);
	r = ioctl(fd, SIOCSIFHWADDR, &request) ? -errno : 0;
	close(fd);
	return r;
}

static int run_program(const char *path)
{
	char *const argv[] = { (char *)(uintptr_t)path, NULL };
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		execv(path, argv);
		_exit(127);
	}
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

static int is_plain_name(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

unsigned change_by_programs(const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, is_plain_name, alphasort);
	unsigned failed = 0;

	for (int i = 0; i < n; i++) {
		char path[512];
		int status;

		snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
		status = run_program(path);
		if (status) {
			fprintf(stderr, "bootlab: clone: %s: failed (wait status %#x)\n", path, (unsigned)status);
			failed++;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return failed;
}
