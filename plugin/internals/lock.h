/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's one big lock, which its devices, disks and timers are worked on under. No QEMU headers.
 *
 * The vCPU's thread does not hold it while the guest runs. Whoever takes it holds no lock of ours: QEMU may call us, and wait
 * for such a lock, with its own held.
 */
#ifndef BOOTLAB_LOCK_H
#define BOOTLAB_LOCK_H

#include <stdbool.h>
#include <stddef.h>

struct qemu_lock {
	void (*take)(const char *file, int line);
	void (*give)(void);
	bool (*is_held)(void);
};

/* Find it, and prove that it is taken and given back. From where the guest runs. 0, or -ENOTSUP with one line in `message`. */
int lock_open(char *message, size_t message_size, struct qemu_lock *ret);

void lock_take(const struct qemu_lock *lock);
/* Take it unless this thread holds it already; returns whether it was taken, and so has to be given back. */
bool lock_take_unless_held(const struct qemu_lock *lock);
void lock_give(const struct qemu_lock *lock);

#endif
