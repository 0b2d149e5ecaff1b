/* SPDX-License-Identifier: MIT */
/* CHECK(claim): say where and what, and fail the program. */
#ifndef BOOTLAB_SHARED_TESTS_CHECK_H
#define BOOTLAB_SHARED_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(claim)                                                                         \
	do {                                                                                 \
		if (!(claim)) {                                                              \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim); \
			exit(EXIT_FAILURE);                                                  \
		}                                                                            \
	} while (0)

#endif
