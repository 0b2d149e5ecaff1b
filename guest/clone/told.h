/* SPDX-License-Identifier: MIT */
/* How the host tells this guest who it is: by QEMU's fw_cfg device, or else by a drive. */
#ifndef BOOTLAB_CLONE_TOLD_H
#define BOOTLAB_CLONE_TOLD_H

#include <stddef.h>

#include "fw_cfg.h"

struct told {
	struct fw_cfg fw_cfg;
	int drive; /* its descriptor; -1: fw_cfg */
};

/* 0; -ENOENT: this guest is not told; another -errno: fw_cfg cannot be reached from here, and there is no drive. */
int told_open(struct told *ret);

/* What the host says now, exactly `size` bytes. 0 or -errno. */
int told_read(const struct told *told, char *ret, size_t size);

#endif
