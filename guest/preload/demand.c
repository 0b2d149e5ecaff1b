/* SPDX-License-Identifier: MIT */
/* From the kernel's pressure stall information (Documentation/accounting/psi.rst), the device's counts and this process' own. */
#include "demand.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "shared/files.h"

enum { TEXT_BYTES = 4096, SECTOR = 512, LEAST_OF_MEMORY = 10 };

/* Somebody waited 50 ms in a second for memory. */
static const char trigger[] = "some 50000 1000000";

static bool read_text(const char *path, char *ret)
{
	ssize_t got = file_read(path, ret, TEXT_BYTES - 1);

	ret[got > 0 ? got : 0] = 0;
	return got > 0;
}

int64_t available_kib(const char *text)
{
	const char *at = strstr(text, "MemAvailable:");

	return at ? strtoll(at + strlen("MemAvailable:"), NULL, 10) : -1;
}

int64_t sectors_read(const char *text)
{
	long long ios, merges, sectors;

	return sscanf(text, "%lld %lld %lld", &ios, &merges, &sectors) == 3 ? sectors : -1;
}

static int64_t own_bytes(void)
{
	char text[TEXT_BYTES];
	const char *at;

	/* At the start of a line: there is rchar, too, which counts what came from memory. */
	if (!read_text("/proc/self/io", text) || !(at = strstr(text, "\nread_bytes:")))
		return 0;
	return strtoll(at + strlen("\nread_bytes:"), NULL, 10);
}

static int64_t sectors_now(const struct demand *demand)
{
	char text[TEXT_BYTES];

	return read_text(demand->disk, text) ? sectors_read(text) : -1;
}

void demand_begin(struct demand *demand, int root)
{
	char text[TEXT_BYTES];
	const char *total;
	struct stat status;

	*demand = (struct demand){ .memory = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC) };
	if (demand->memory >= 0 && write(demand->memory, trigger, sizeof trigger) < 0) {
		close(demand->memory);
		demand->memory = -1;
	}
	if (!fstat(root, &status))
		snprintf(demand->disk, sizeof demand->disk, "/sys/dev/block/%u:%u/stat", major(status.st_dev), minor(status.st_dev));
	if (read_text("/proc/meminfo", text) && (total = strstr(text, "MemTotal:")))
		demand->least_kib = strtoll(total + strlen("MemTotal:"), NULL, 10) / LEAST_OF_MEMORY;
	demand->sectors = sectors_now(demand);
	demand->own_bytes = own_bytes();
}

void demand_end(struct demand *demand)
{
	if (demand->memory >= 0)
		close(demand->memory);
	demand->memory = -1;
}

bool demand_of_memory(const struct demand *demand)
{
	struct pollfd short_of = { .fd = demand->memory, .events = POLLPRI };
	char text[TEXT_BYTES];
	int64_t kib;

	if (demand->memory >= 0 && poll(&short_of, 1, 0) > 0 && short_of.revents & POLLPRI)
		return true;
	kib = read_text("/proc/meminfo", text) ? available_kib(text) : -1;
	return kib >= 0 && kib < demand->least_kib;
}

int64_t demand_of_disk(struct demand *demand)
{
	int64_t sectors = sectors_now(demand), own = own_bytes(), others;

	if (sectors < 0 || demand->sectors < 0)
		return 0;
	others = (sectors - demand->sectors) * SECTOR - (own - demand->own_bytes);
	/* What of ours is on its way is in one count and not yet in the other. */
	if (others < 0)
		return 0;
	demand->sectors = sectors;
	demand->own_bytes = own;
	return others;
}

