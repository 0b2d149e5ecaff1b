/* SPDX-License-Identifier: MIT */
/* Waits for descriptors, signals and deadlines, the one place in which PID 1 ever waits. */
#include "loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "shared/clock.h"
#include "shared/large.h"
#include "shared/own.h"

enum { EVENTS = 32, MAX_POLLED = 256, LONGEST_MS = 60000, FIRST_REAL_TIME = 32 };

static struct {
	loop_fn *fn;
	unsigned argument;
	bool paused;
} *watches;
static int epoll_fd = -1, n_fds; /* all that are watched are below `n_fds` */
static volatile sig_atomic_t came[MAX_SIGNAL + 1];
static sigset_t none;

static void note(int number)
{
	if (number > 0 && number <= MAX_SIGNAL)
		came[number] = 1;
}

static const int ANSWERED[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGPWR, SIGUSR1, SIGUSR2, SIGWINCH };

void loop_become_child(void)
{
	sigset_t unblocked;

	/* Before the mask goes: a SIGTERM that waits is for the child, and not to be noted and forgotten. */
	for (unsigned i = 0; i < sizeof ANSWERED / sizeof ANSWERED[0]; i++)
		signal(ANSWERED[i], SIG_DFL);
	sigemptyset(&unblocked);
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
}

void loop_init(bool use_epoll)
{
	struct sigaction action = { .sa_handler = note };
	sigset_t all;

	sigfillset(&all);
	/* A fault must reach its handler (crash.c), blocked or not. */
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGABRT);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&none);
	/* What an initramfs's shell ignored every program would inherit. */
	for (int number = 1; number < FIRST_REAL_TIME; number++)
		signal(number, SIG_DFL);
	for (unsigned i = 0; i < sizeof ANSWERED / sizeof ANSWERED[0]; i++)
		sigaction(ANSWERED[i], &action, NULL);
	if (use_epoll)
		epoll_fd = epoll_create1(EPOLL_CLOEXEC);
}

int loop_watch(int fd, loop_fn *fn, unsigned argument)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || fd >= MAX_FDS)
		return -EMFILE;
	OWN_TABLE(watches, MAX_FDS);
	/* epoll that has no room for it: ppoll from now on. */
	if (epoll_fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) && errno != EEXIST) {
		close(epoll_fd);
		epoll_fd = -1;
	}
	watches[fd].fn = fn;
	watches[fd].argument = argument;
	watches[fd].paused = false;
	if (fd >= n_fds)
		n_fds = fd + 1;
	return 0;
}

static bool is_watched(int fd)
{
	return watches && fd >= 0 && fd < MAX_FDS && watches[fd].fn;
}

void loop_pause(int fd)
{
	if (!is_watched(fd) || watches[fd].paused)
		return;
	watches[fd].paused = true;
	/* Not just no events: the end of a pipe would be told over and over. */
	if (epoll_fd >= 0)
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void loop_resume(int fd)
{
	if (is_watched(fd) && watches[fd].paused)
		loop_watch(fd, watches[fd].fn, watches[fd].argument);
}

void loop_forget(int fd)
{
	if (!is_watched(fd))
		return;
	/* A copy in a child could keep it in the set. */
	if (epoll_fd >= 0)
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	watches[fd].fn = NULL;
}

void loop_close(int *fd)
{
	if (*fd < 0)
		return;
	loop_forget(*fd);
	close(*fd);
	*fd = -1;
}

static void call(int fd)
{
	if (is_watched(fd) && !watches[fd].paused)
		watches[fd].fn(fd, watches[fd].argument);
}

static void wait_polling(int timeout_ms)
{
	struct timespec timeout = { timeout_ms / 1000, timeout_ms % 1000 * NS_PER_MS };
	LARGE static struct pollfd polled[MAX_POLLED];
	static int next;
	nfds_t n = 0;

	/* More than fit take turns. */
	for (int i = 0; i < n_fds && n < MAX_POLLED; i++) {
		int fd = (next + i) % n_fds;

		if (watches[fd].fn && !watches[fd].paused)
			polled[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	if (n == MAX_POLLED)
		next = (polled[n - 1].fd + 1) % n_fds;
	if (ppoll(polled, n, &timeout, &none) <= 0)
		return;
	for (nfds_t i = 0; i < n; i++)
		if (polled[i].revents)
			call(polled[i].fd);
}

void loop_wait(int64_t deadline_ns)
{
	struct epoll_event events[EVENTS];
	int64_t left_ns = deadline_ns == INT64_MAX ? INT64_MAX : deadline_ns - clock_awake_ns();
	int timeout_ms = LONGEST_MS, n;

	if (left_ns < LONGEST_MS * NS_PER_MS)
		timeout_ms = left_ns <= 0 ? 0 : (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS);
	if (epoll_fd < 0) {
		wait_polling(timeout_ms);
		return;
	}
	n = epoll_pwait(epoll_fd, events, EVENTS, timeout_ms, &none);
	for (int i = 0; i < n; i++)
		call(events[i].data.fd);
}

bool loop_signal(int number)
{
	bool answer = came[number];

	came[number] = 0;
	return answer;
}
