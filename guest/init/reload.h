/* SPDX-License-Identifier: MIT */
/*
 * Reads the system's files: at boot, and anew when somebody asks for it. What runs then goes on as it was started, until it is down; what
 * is new is there to be started; what has no file any more ends when it is stopped.
 */
#ifndef BOOTLAB_INIT_RELOAD_H
#define BOOTLAB_INIT_RELOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "units/config.h"
#include "units/units.h"

/* All units, as the files say now; `config` is read, too. */
struct units *reload_first(struct config *config);

/*
 * Begin to read all unit files again (init.conf is of the boot alone), and one more instance of a template if `name` is one that nothing has
 * named so far. Another process does it; nothing has changed before reload_end. 0 or -errno. One at a time.
 */
int reload_begin(struct slice name);

/* A process has ended, maybe that one. */
void reload_reaped(pid_t pid, int status);

/*
 * -EINPROGRESS as long as it is read, until `*ret_until_ns` at most. Then once, for it is over: 0, and what has become of all units in
 * words; -errno, and all is as before.
 */
int reload_end(int64_t now_ns, int64_t *ret_until_ns, char *ret_said, size_t size);

#endif
