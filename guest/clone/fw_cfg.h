/* SPDX-License-Identifier: MIT */
/* QEMU's fw_cfg device, by which the host says who this guest is: through the kernel's file, or at the device's own ports. */
#ifndef BOOTLAB_CLONE_FW_CFG_H
#define BOOTLAB_CLONE_FW_CFG_H

#include <stddef.h>
#include <stdint.h>

struct fw_cfg {
	int fd; /* of the kernel's file; -1: by the ports */
	uint16_t key; /* of the ports: the file's number */
};

/* Find the file. 0; -ENOENT: QEMU has no such file; another -errno: it cannot be reached from here. */
int fw_cfg_open(struct fw_cfg *ret);

/* What it says now, exactly `size` bytes. 0 or -errno. */
int fw_cfg_read(const struct fw_cfg *fw_cfg, char *ret, size_t size);

#endif
