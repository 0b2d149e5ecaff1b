/* SPDX-License-Identifier: MIT */
/* Units that wait for themselves, through others: opened where it hurts least, and said with the whole way round. */
#ifndef BOOTLAB_INIT_CYCLES_H
#define BOOTLAB_INIT_CYCLES_H

#include "units.h"

/* Among the edges of `when`, AT_START or AT_STOP. Afterwards these can be ordered. */
void cycles_open(struct units *units, uint8_t when);

#endif
