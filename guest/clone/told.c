/* SPDX-License-Identifier: MIT */
/* Asks at both places, fw_cfg first: where that is, no drive is looked for. */
#include "told.h"

#include "drive.h"

int told_open(struct told *ret)
{
	int r = fw_cfg_open(&ret->fw_cfg);

	ret->drive = -1;
	if (!r)
		return 0;
	ret->drive = drive_open();
	return ret->drive < 0 ? r : 0;
}

int told_read(const struct told *told, char *ret, size_t size)
{
	return told->drive < 0 ? fw_cfg_read(&told->fw_cfg, ret, size) : drive_read(told->drive, ret, size);
}
