/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of QEMU's block layer that the plugin finds by name. A test that plays QEMU defines them itself. */
#ifndef BOOTLAB_TESTS_QEMU_BLOCK_H
#define BOOTLAB_TESTS_QEMU_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void bql_lock_impl(const char *file, int line);
void bql_unlock(void);
bool bql_locked(void);
void *qemu_get_aio_context(void);
bool aio_poll(void *context, bool blocking);
void bdrv_drain_all(void);
void aio_bh_schedule_oneshot_full(void *context, void (*function)(void *), void *opaque, const char *name);
void *blk_all_next(void *before);
bool blk_is_inserted(void *which);
int64_t blk_getlength(void *which);
void *blk_aio_preadv(void *which, int64_t offset, void *vector, int flags, void (*done)(void *, int), void *opaque);
int blk_pread(void *which, int64_t offset, int64_t size, void *ret, int flags);
void qemu_iovec_init(void *vector, int count);
void qemu_iovec_add(void *vector, void *bytes, size_t size);
void qemu_iovec_destroy(void *vector);
void *blk_get_attached_dev(void *which);
const char *blk_name(void *which);
void *blk_get_stats(void *which);
void block_acct_start(void *counters, void *cookie, int64_t bytes, int type);
void block_acct_done(void *counters, void *cookie);
const char *object_get_typename(void *device);
int64_t object_property_get_int(void *device, const char *property, void **error);
bool object_property_get_bool(void *device, const char *property, void **error);

#endif
