/* SPDX-License-Identifier: MIT */
/* Names of signals, as people write them. */
#ifndef BOOTLAB_INIT_SIGNALS_H
#define BOOTLAB_INIT_SIGNALS_H

#include <stdint.h>

#include "shared/text.h"

/* "INT", "SIGINT", "RTMIN+3" or "2". NULL, or what was expected instead. */
const char *signal_parse(struct slice text, uint8_t *ret);

#endif
