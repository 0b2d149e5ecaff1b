/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests calls that are recorded one by one, and system calls that are added up. */
#include "records/calls.h"

#include "profile_read.h"

static void test_watched(struct calls *calls)
{
	struct open_call call = { .kind = CALL_PROBE, .start_ns = 100, .start_instructions = 90, .task_instructions = 40, .task = 3 };
	uint32_t numbers[200];

	strcpy(call.text, "0000:00:01.0\tvirtio-pci");
	for (unsigned i = 0; i < 200; i++) {
		call.argument = i;
		numbers[i] = calls_open(calls, &call);
		CHECK(numbers[i]);
	}
	/* Places are used again. */
	calls_close(calls, numbers[50], &(struct call_end){ 150, 120, 60 }, 0);
	call.argument = 1000;
	CHECK(calls_open(calls, &call) == numbers[50]);
	calls_close(calls, numbers[199], &(struct call_end){ 160, 130, 70 }, CALL_UNFINISHED);
}

static void test_system_calls(struct calls *calls)
{
	struct open_call call = { .kind = CALL_SYSTEM };

	for (unsigned round = 0; round < 2; round++)
		for (unsigned task = 0; task < 40; task++)
			for (unsigned function = 0; function < 40; function++) {
				call.task = task;
				call.argument = function;
				calls_close(calls, calls_open(calls, &call), &(struct call_end){ 10, 7, 5 }, 0);
			}
	CHECK(calls->n_totals == 1600);
	calls_cut(calls);
	calls_close(calls, calls_open(calls, &call), &(struct call_end){ 10, 7, 5 }, 0);
	calls_cut(calls);
}

int main(void)
{
	struct profile_writer writer;
	struct calls calls = { .writer = &writer };
	struct profile_syscall total;
	struct profile_call call;
	char text[256];

	profile_path_make();
	CHECK(profile_writer_open(profile_path, &writer) == 0);
	calls_cut(&calls); /* there have been none */
	test_watched(&calls);
	test_system_calls(&calls);
	calls_deinit(&calls);
	CHECK(profile_writer_close(&writer) == 0);
	profile_load();
	unlink(profile_path);

	CHECK(profile_text_record(PROFILE_CALL, 0, sizeof call, &call, text, sizeof text));
	CHECK(call.kind == CALL_PROBE && call.argument == 50 && call.start_ns == 100 && call.end_ns == 150 && call.task == 3);
	CHECK(call.start_instructions == 90 && call.end_instructions == 120 && call.task_instructions == 20 && call.flags == 0);
	CHECK(!strcmp(text, "0000:00:01.0\tvirtio-pci") && call.text_size == strlen(text));
	CHECK(profile_text_record(PROFILE_CALL, 1, sizeof call, &call, text, sizeof text) && call.flags == CALL_UNFINISHED);
	for (size_t i = 0; i < 1600; i++) {
		CHECK(profile_record(PROFILE_SYSCALL, i, sizeof total, &total));
		CHECK(total.calls == 2 && total.elapsed_ns == 20 && total.instructions == 10);
	}
	CHECK(profile_record(PROFILE_SYSCALL, 1600, sizeof total, &total) && total.calls == 1 && total.task == 39);
	CHECK(!profile_record(PROFILE_SYSCALL, 1601, sizeof total, &total));
	puts("test_calls: ok");
	return 0;
}
