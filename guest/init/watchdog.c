/* SPDX-License-Identifier: MIT */
/* Opens the hardware watchdog and feeds it in time. */
#include "watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/watchdog.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "shared/clock.h"
#include "state/log.h"

enum { FEEDS_A_TIMEOUT = 3 };

int64_t watchdog_step(const char *path, int64_t timeout_ns, int64_t now_ns)
{
	static int64_t next_ns;
	static int fd = -1;
	static unsigned n_missing;
	int seconds = (int)(timeout_ns / NS_PER_S);

	if (!path)
		return INT64_MAX;
	if (now_ns < next_ns)
		return next_ns;
	if (fd < 0) {
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		/* The first look may come before /dev is there. */
		if (fd < 0 && n_missing++ == 1)
			log_say(LOG_FAILURE, "%s: %s: nothing watches PID 1; it is looked for on", path, strerror(errno));
		if (fd >= 0 && ioctl(fd, WDIOC_SETTIMEOUT, &seconds))
			log_say(LOG_FAILURE, "%s: takes no timeout of %d s: %s", path, seconds, strerror(errno));
	}
	/* It is left armed to the end: what hangs in shutting down is restarted, too. */
	if (fd >= 0)
		ioctl(fd, WDIOC_KEEPALIVE, 0);
	next_ns = now_ns + timeout_ns / FEEDS_A_TIMEOUT;
	return next_ns;
}
