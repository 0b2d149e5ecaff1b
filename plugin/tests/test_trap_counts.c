/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests counting: each trap of each node apart, more of them than the first table holds, and a cut that begins anew. */
#include "records/trap_counts.h"

#include "profile_read.h"

int main(void)
{
	enum { NODES = 100, NUMBERS = 100 };
	struct trap trap = { .kind = TRAP_OUT, .number = 0x3f8 };
	struct trap_counts counts = { 0 };
	struct profile_writer writer;
	struct profile_trap record;
	size_t sum = 0, index;

	profile_path_make();
	CHECK(profile_writer_open(profile_path, &writer) == 0);
	trap_counts_cut(&counts, &writer); /* nothing yet */
	for (int round = 0; round < 3; round++)
		for (uint32_t node = 0; node < NODES; node++)
			for (uint32_t number = 0; number < NUMBERS; number++) {
				trap.number = number;
				trap_counts_add(&counts, node, &trap);
			}
	/* What differs in one field only is another one. */
	trap = (struct trap){ .kind = TRAP_CR_WRITE, .number = 4, .changes = 0x80 };
	trap_counts_add(&counts, 7, &trap);
	trap.changes = 0x20;
	trap_counts_add(&counts, 7, &trap);
	trap.state = TRAP_CACHES_OFF;
	trap_counts_add(&counts, 7, &trap);
	CHECK(counts.count == NODES * NUMBERS + 3);
	trap_counts_cut(&counts, &writer);
	trap_counts_add(&counts, 7, &trap);
	counts.lost = 5;
	trap_counts_cut(&counts, &writer);
	CHECK(profile_writer_close(&writer) == 0);
	trap_counts_deinit(&counts);
	profile_load();
	unlink(profile_path);
	for (index = 0; index < NODES * NUMBERS; index++) {
		CHECK(profile_record(PROFILE_TRAP, index, sizeof record, &record) && record.kind == TRAP_OUT && record.count == 3);
		sum += record.node * NUMBERS + record.number;
	}
	CHECK(sum == (size_t)NODES * NUMBERS * (NODES * NUMBERS - 1) / 2);
	CHECK(profile_record(PROFILE_TRAP, index + 2, sizeof record, &record));
	CHECK(record.kind == TRAP_CR_WRITE && record.changes == 0x20 && record.state == TRAP_CACHES_OFF && record.count == 1);
	CHECK(profile_record(PROFILE_TRAP, index + 3, sizeof record, &record) && record.node == 7 && record.count == 1);
	CHECK(profile_record(PROFILE_TRAP, index + 4, sizeof record, &record) && record.kind == TRAP_LOST && record.count == 5);
	CHECK(!profile_record(PROFILE_TRAP, index + 5, sizeof record, &record));
	puts("test_trap_counts: ok");
	return 0;
}
