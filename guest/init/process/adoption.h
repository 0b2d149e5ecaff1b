/* SPDX-License-Identifier: MIT */
/*
 * Which process a unit may say is its main one (MAINPID=, a pid file). That process gets the unit's signals from PID 1, who may
 * kill anything: so nobody may name one that he could not end himself.
 */
#ifndef BOOTLAB_INIT_ADOPTION_H
#define BOOTLAB_INIT_ADOPTION_H

#include <sys/types.h>

#include "units/units.h"

enum adoption {
	ADOPTION_DONE,
	ADOPTION_LATER,	  /* it is no child of PID 1, or not yet */
	ADOPTION_REFUSED, /* `*ret_why` says why */
};

/*
 * Make `pid`, named by a process or in a file of `by`, the main process of the unit. Root is believed, but not about a process
 * that another unit holds.
 */
enum adoption adoption_try(unit_id id, pid_t pid, uid_t by, const char **ret_why);

#endif
