/* SPDX-License-Identifier: MIT */
/* What a plain fork has not, and an own_fork has; and that PID 1 itself keeps all of it. */
#include <stdio.h>
#include <sys/mman.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "shared/own.h"

enum { BYTES = 1 << 16 };

/* mincore(2) tells what is mapped without touching it. */
static int is_mapped(char *bytes)
{
	unsigned char resident[BYTES / 4096];

	return mincore((void *)(((unsigned long)bytes + 4095) / 4096 * 4096), 4096, resident) == 0;
}

static int status_of(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	static long *table;
	char *mine, *childs, *mapped;
	pid_t pid;

	OWN_TABLE(table, 100);
	table[99] = 7;
	OWN_TABLE(table, 100);
	CHECK(table[99] == 7); /* it is taken once */
	mine = own_take(BYTES);
	childs = own_room_of_child(BYTES);
	for (int i = 0; i < BYTES; i++)
		CHECK(mine[i] == 0);
	mine[BYTES - 1] = 1;
	own_keep();
	mapped = own_map(BYTES, false);
	CHECK(mapped);
	mapped[0] = 3;
	pid = fork();
	if (pid == 0) {
		childs[0] = 1;
		_exit(is_mapped(mine) || is_mapped(mapped) ? 1 : 0);
	}
	CHECK(status_of(pid) == 0);
	pid = own_fork();
	if (pid == 0)
		_exit(mine[BYTES - 1] == 1 && mapped[0] == 3 && table[99] == 7 ? 0 : 1);
	CHECK(status_of(pid) == 0);
	pid = fork();
	if (pid == 0)
		_exit(is_mapped(mine) ? 1 : 0);
	CHECK(status_of(pid) == 0);
	CHECK(mine[BYTES - 1] == 1 && childs[0] == 0);
	own_unmap(mapped);
	CHECK(!is_mapped(mapped));
	/* Given back, it can be had again and again. */
	for (int i = 0; i < 10; i++) {
		mapped = own_map(BYTES, false);
		CHECK(mapped && mapped[0] == 0);
		mapped[0] = 1;
		own_unmap(mapped);
	}
	/* What another process writes is here, and stays when that one has gone. */
	mapped = own_map(BYTES, true);
	CHECK(mapped);
	pid = own_fork();
	if (pid == 0) {
		strcpy(mapped, "said");
		_exit(0);
	}
	CHECK(status_of(pid) == 0 && !strcmp(mapped, "said"));
	pid = fork();
	if (pid == 0)
		_exit(is_mapped(mapped) ? 1 : 0);
	CHECK(status_of(pid) == 0);
	own_unmap(mapped);
	puts("test_own: ok");
	return 0;
}
