/* SPDX-License-Identifier: MIT */
/* Notes what happened to each unit and when, in memory, and writes it out when it is asked for. */
#include "account.h"

#include <string.h>

#include "shared/clock.h"
#include "shared/own.h"

/* For ten thousand units; a small system keeps fewer, and so has them in fewer pages. */
enum { MAX_RECORDS = 1 << 17, RECORDS_AT_LEAST = 1 << 14, RECORDS_A_UNIT = 10 };

static struct account_record *records;
static struct account_header header;
static uint32_t most;

void account_begin(int64_t begun_ns)
{
	OWN_TABLE(records, MAX_RECORDS);
	header = (struct account_header){ .begun_ns = begun_ns };
	most = RECORDS_AT_LEAST;
}

void account_expect(size_t n_units)
{
	uint32_t wanted = n_units * RECORDS_A_UNIT < MAX_RECORDS ? (uint32_t)n_units * RECORDS_A_UNIT : MAX_RECORDS;

	most = wanted > RECORDS_AT_LEAST ? wanted : RECORDS_AT_LEAST;
}

void account_add(enum account_kind kind, unit_id unit, uint32_t pid, uint8_t detail, uint64_t value)
{
	int64_t now_ns = clock_now_ns();

	if (kind == ACCOUNT_GOAL && header.goal_ns == 0)
		header.goal_ns = now_ns;
	/* The boot is what it is for: what is full stays as it is. */
	if (header.n_records == most) {
		header.lost++;
		return;
	}
	records[header.n_records++] = (struct account_record){
		.t_ns = now_ns, .value = value, .pid = pid, .unit = unit, .kind = (uint8_t)kind, .detail = detail
	};
}

size_t account_write(const struct units *units, char *ret, size_t size)
{
	size_t names = 0, used = sizeof header;

	for (size_t i = 0; i < units->n_units; i++)
		names += strlen(units->unit[i].name) + 1;
	names = (names + 7) / 8 * 8;
	if (size < sizeof header + names + header.n_records * sizeof records[0])
		return 0;
	memcpy(header.magic, ACCOUNT_MAGIC, sizeof header.magic);
	header.n_units = (uint32_t)units->n_units;
	header.names_size = (uint32_t)names;
	header.written_ns = clock_now_ns();
	memcpy(ret, &header, sizeof header);
	memset(ret + used, 0, names);
	for (size_t i = 0, at = used; i < units->n_units; i++) {
		strcpy(ret + at, units->unit[i].name);
		at += strlen(units->unit[i].name) + 1;
	}
	used += names;
	memcpy(ret + used, records, header.n_records * sizeof records[0]);
	return used + header.n_records * sizeof records[0];
}
