/* SPDX-License-Identifier: MIT */
/* Finds units that wait for themselves by way of others, says the whole way round, opens it where it hurts least. */
#ifndef BOOTLAB_INIT_CYCLES_H
#define BOOTLAB_INIT_CYCLES_H

#include "units.h"

/* Among the edges of `when`, AT_START or AT_STOP. Afterwards these can be ordered. */
void cycles_open(struct units *units, uint8_t when);

#endif
