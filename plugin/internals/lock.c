/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes QEMU's big lock and gives it back, once it is proved that it is one. */
#include "lock.h"

#include <errno.h>
#include <stdio.h>

#include "symbols.h"

static int fail(char *message, size_t message_size, const char *what)
{
	snprintf(message, message_size, "%s", what);
	return -ENOTSUP;
}

int lock_open(char *message, size_t message_size, struct qemu_lock *ret)
{
	struct qemu_lock lock;
	const struct wanted_symbol wanted[] = {
		{ "bql_lock_impl", &lock.take },
		{ "bql_unlock", &lock.give },
		{ "bql_locked", &lock.is_held },
	};
	int r = symbols_find(wanted, sizeof wanted / sizeof *wanted, message, message_size);
	bool held;

	if (r)
		return r;
	if (lock.is_held())
		return fail(message, message_size, "QEMU's lock is held where the guest runs");
	lock_take(&lock);
	held = lock.is_held();
	lock_give(&lock);
	if (!held)
		return fail(message, message_size, "bql_lock_impl does not take the lock");
	if (lock.is_held())
		return fail(message, message_size, "bql_unlock does not give the lock back");
	*ret = lock;
	return 0;
}

void lock_take(const struct qemu_lock *lock)
{
	lock->take("bootlab-plugin", 0);
}

bool lock_take_unless_held(const struct qemu_lock *lock)
{
	if (lock->is_held())
		return false;
	lock_take(lock);
	return true;
}

void lock_give(const struct qemu_lock *lock)
{
	lock->give();
}
