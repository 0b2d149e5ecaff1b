/* SPDX-License-Identifier: MIT */
/* Tests what counts as a machine that has nothing to do. */
#include "shared/rest.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static void test_ticks(void)
{
	unsigned long long idle, all;

	CHECK(rest_ticks("cpu  10 20 30 400 50 6 7 0 0 0\ncpu0 1 1 1 1 1 1 1\n", &idle, &all));
	CHECK(idle == 400 && all == 523);
	CHECK(!rest_ticks("", &idle, &all));
	CHECK(!rest_ticks("cpu  1 2 3\n", &idle, &all));
}

static void test_a_busy_machine_is_waited_for_no_longer_than_asked(void)
{
	struct timespec began, ended;
	pid_t children[64];
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (n > 64)
		n = 64;
	for (long i = 0; i < n; i++) {
		children[i] = fork();
		if (!children[i]) {
			alarm(30);
			for (;;)
				;
		}
	}
	clock_gettime(CLOCK_MONOTONIC, &began);
	CHECK(!rest_await(1));
	clock_gettime(CLOCK_MONOTONIC, &ended);
	CHECK(ended.tv_sec - began.tv_sec >= 1 && ended.tv_sec - began.tv_sec < 25);
	for (long i = 0; i < n; i++)
		kill(children[i], SIGKILL);
}

int main(void)
{
	test_ticks();
	test_a_busy_machine_is_waited_for_no_longer_than_asked();
	puts("test_rest: ok");
	return 0;
}
