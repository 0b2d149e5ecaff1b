/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names_add() of tests: keeps what is named instead of writing it. */
#ifndef BOOTLAB_TESTS_NAMES_GIVEN_H
#define BOOTLAB_TESTS_NAMES_GIVEN_H

#include <string.h>

#include "check.h"
#include "records/names.h"

enum { FIRST_NUMBER = 1000, NAMES_GIVEN_MAX = 64 };

static struct {
	enum profile_space space;
	uint64_t address;
	char text[1100];
} names_given[NAMES_GIVEN_MAX];
static uint32_t n_names_given;

uint32_t names_add(struct names *names, enum profile_space space, uint64_t address, const char *text)
{
	(void)names;
	CHECK(n_names_given < NAMES_GIVEN_MAX && strlen(text) < sizeof names_given->text);
	names_given[n_names_given].space = space;
	names_given[n_names_given].address = address;
	strcpy(names_given[n_names_given].text, text);
	return FIRST_NUMBER + n_names_given++;
}

static inline const char *name_given(uint32_t number)
{
	CHECK(number >= FIRST_NUMBER && number < FIRST_NUMBER + n_names_given);
	return names_given[number - FIRST_NUMBER].text;
}

#endif
