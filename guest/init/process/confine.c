/* SPDX-License-Identifier: MIT */
/* Applies resource limits, capability sets and no-new-privileges to the process that calls it. */
#include "confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/files.h"

enum { CAPABILITY_BITS = 64, NUMBER_BYTES = 32 };

/* No kernel takes more descriptors than fs.nr_open, not even as infinity. */
static rlim_t most_files(void)
{
	char text[NUMBER_BYTES];
	ssize_t size = file_read("/proc/sys/fs/nr_open", text, sizeof text);
	struct slice line = { text, size > 0 ? (size_t)size : 0 };
	struct lines lines = lines_of(line.at, line.size);
	struct rlimit now;
	int64_t number;

	if (line_next(&lines, &line) && !parse_number(line, 1, INT64_MAX, &number))
		return (rlim_t)number;
	return getrlimit(RLIMIT_NOFILE, &now) ? RLIM_INFINITY : now.rlim_max;
}

static rlim_t kernel_limit(uint64_t limit, int which)
{
	if (limit != UINT64_MAX)
		return (rlim_t)limit;
	return which == RLIMIT_NOFILE ? most_files() : RLIM_INFINITY;
}

int confine_resources(const struct confinement *confinement)
{
	for (int i = 0; i < RESOURCES; i++) {
		const struct resource_limit *given = &confinement->resources[i];
		struct rlimit limit = { kernel_limit(given->soft, i), kernel_limit(given->hard, i) };

		if (given->given && setrlimit(i, &limit))
			return -errno;
	}
	return 0;
}

int confine_before_user(const struct confinement *confinement)
{
	for (unsigned i = 0; confinement->bounding_given && i < CAPABILITY_BITS; i++) {
		/* Beyond the last one that this kernel has. */
		if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) < 0)
			break;
		if (!(confinement->bounding >> i & 1) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0))
			return -errno;
	}
	return confinement->ambient && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) ? -errno : 0;
}

static int keep_capabilities(uint64_t ambient)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i].inheritable |= (uint32_t)(ambient >> i * 32);
	if (syscall(SYS_capset, &header, data))
		return -errno;
	for (unsigned i = 0; i < CAPABILITY_BITS; i++)
		if ((ambient >> i & 1) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0))
			return -errno;
	return 0;
}

int confine_after_user(const struct confinement *confinement)
{
	int r = confinement->ambient ? keep_capabilities(confinement->ambient) : 0;

	if (r)
		return r;
	return confinement->no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}
