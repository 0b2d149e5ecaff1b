/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When flash, or a volume of a cloud, has done a command. */
#ifndef BOOTLAB_FLASH_H
#define BOOTLAB_FLASH_H

#include "figures.h"

enum { DISK_CHANNELS_MAX = 256 };

struct disk_flash {
	int64_t controller_free_ns, bus_free_ns, iops_free_ns;
	int64_t channel_free_ns[DISK_CHANNELS_MAX];
	uint8_t *touched; /* a bit for each block */
};

/* 0 or -ENOMEM. */
int disk_flash_init(const struct disk_figures *figures, struct disk_flash *ret);
void disk_flash_deinit(struct disk_flash *flash);

/* Bytes of `touched`; 0: nothing asks which blocks were. */
size_t disk_flash_touched_size(const struct disk_figures *figures);

/* When it has done a request that it starts on at `t_ns`. */
int64_t disk_flash_done(struct disk_flash *flash, const struct disk_figures *figures, const struct disk_request *request, int64_t t_ns);

#endif
