/* SPDX-License-Identifier: MIT */
/* CHECK(condition): say where a test failed, and fail. */
#ifndef BOOTLAB_SLEEP_TESTS_CHECK_H
#define BOOTLAB_SLEEP_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

#endif
