/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a disk would have done what it was asked for: a model in integers, without a clock of its own. No QEMU headers.
 *
 * It is asked for requests at a time, says when it wants to be looked at next, and gives up what is done by then. All figures
 * come from whoever makes it (bootlab/system/disk_model.py has them, with their sources); there is none in here.
 */
#ifndef BOOTLAB_MODEL_H
#define BOOTLAB_MODEL_H

#include <stdbool.h>

#include "figures.h"
#include "flash.h"
#include "head.h"

enum { DISK_REQUESTS_MAX = 1024 }; /* as a virtio ring can have */

struct disk_model {
	enum disk_kind kind;
	struct disk_figures figures;
	struct disk_request waiting[DISK_REQUESTS_MAX]; /* in the order in which they came */
	uint32_t passed_over[DISK_REQUESTS_MAX]; /* by so many that came later */
	size_t n_waiting;
	struct disk_request active[DISK_REQUESTS_MAX];
	size_t n_active;
	int64_t now_ns; /* the latest moment that it was told of */
	int64_t busy_ns; /* the head moves until then; DISK_HEAD */
	struct disk_flash flash;
	struct disk_head head;
};

/* 0, or -EINVAL or -ENOMEM with one line in `message`. */
int disk_model_init(enum disk_kind kind, const struct disk_figures *figures, char *message, size_t message_size,
		    struct disk_model *ret);
void disk_model_deinit(struct disk_model *model);

/* One more request, with its id, operation and place, at `now_ns`, when all that is done by then was taken. 0, or -ENOBUFS. */
int disk_model_ask(struct disk_model *model, const struct disk_request *request, int64_t now_ns);

/* When disk_model_take() may have something; INT64_MAX: not before the next request. */
int64_t disk_model_next(const struct disk_model *model);

/* The next request that is done at `now_ns`; false where there is none. Goes on with what waits. */
bool disk_model_take(struct disk_model *model, int64_t now_ns, struct disk_request *ret);

/* Forget all requests: the device was reset. */
void disk_model_reset(struct disk_model *model);

#endif
