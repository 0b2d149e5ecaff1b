/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the proof of QEMU's lock, on one of our own that does less than it should. */
#include "internals/lock.h"

#include <errno.h>
#include <string.h>

#include "check.h"

static struct {
	bool held, keeps, never_takes;
} qemu;

void bql_lock_impl(const char *file, int line);
void bql_unlock(void);
bool bql_locked(void);

void bql_lock_impl(const char *file, int line)
{
	(void)line;
	CHECK(file && !qemu.held);
	qemu.held = !qemu.never_takes;
}

void bql_unlock(void)
{
	qemu.held = qemu.keeps;
}

bool bql_locked(void)
{
	return qemu.held;
}

static void check_refused(const char *wanted)
{
	struct qemu_lock lock;
	char message[128] = "";

	CHECK(lock_open(message, sizeof message, &lock) == -ENOTSUP);
	CHECK(!strcmp(message, wanted));
	memset(&qemu, 0, sizeof qemu);
}

int main(void)
{
	struct qemu_lock lock;
	char message[128];

	CHECK(lock_open(message, sizeof message, &lock) == 0 && !qemu.held);
	lock_take(&lock);
	CHECK(qemu.held);
	lock_give(&lock);
	CHECK(!qemu.held);
	CHECK(lock_take_unless_held(&lock) && qemu.held && !lock_take_unless_held(&lock) && qemu.held);
	check_refused("QEMU's lock is held where the guest runs");
	qemu.never_takes = true;
	check_refused("bql_lock_impl does not take the lock");
	qemu.keeps = true;
	check_refused("bql_unlock does not give the lock back");
	puts("test_lock: ok");
	return 0;
}
