/* SPDX-License-Identifier: MIT */
/* Another kernel, entered in the place of the one that runs (kexec_load(2)). */
#ifndef BOOTLAB_SLEEP_START_H
#define BOOTLAB_SLEEP_START_H

/* Loads it, with the initramfs `archive` where that file exists. 0 or -errno, and then what could not be had. */
int start_load(const char *kernel, const char *archive, const char *command_line, const char **ret_what);

/* Enters what was loaded, and comes back with -errno only. */
int start_enter(void);

#endif
