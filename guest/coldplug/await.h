/* SPDX-License-Identifier: MIT */
/* Wait for devices by name, and for nothing else: no settling, no polling of what a kernel can tell. */
#ifndef BOOTLAB_COLDPLUG_AWAIT_H
#define BOOTLAB_COLDPLUG_AWAIT_H

#include "plan.h"

/* Each as long as it may take, from now on; the number of those that did not come. Each was told on stderr. */
unsigned await_devices(const struct plan *plan, const char *plan_name);

#endif
