/* SPDX-License-Identifier: MIT */
/* Puts what a unit's processes write into the log, line by line. */
#ifndef BOOTLAB_INIT_OUTPUT_H
#define BOOTLAB_INIT_OUTPUT_H

#include "units/units.h"

void output_readable(int fd, unsigned id);

/* Take what is left in the pipe of a unit that is down, and close it unless something of the unit still has it. */
void output_drain(unit_id id);

#endif
