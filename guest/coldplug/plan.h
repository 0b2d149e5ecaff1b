/* SPDX-License-Identifier: MIT */
/*
 * What to load and to wait for, as bootlab resolved it when it built the image (bootlab/build/modules/coldplug_plan.py writes it):
 *
 *   # a comment
 *   serial                                one module at a time
 *   module FILE AFTER [PARAMETERS]        AFTER: numbers of earlier modules, from 0, with commas; - for none
 *   background                            the modules below are loaded later, at the lowest priority, while the boot goes on
 *   wait DEVICE DURATION                  an absolute path; "10s", "500ms", "infinity"
 */
#ifndef BOOTLAB_COLDPLUG_PLAN_H
#define BOOTLAB_COLDPLUG_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module {
	char *path, *parameters;
	uint32_t *after;
	uint32_t n_after;
	uint32_t line;
};

struct awaited {
	char *path;
	int64_t timeout_ns; /* 0: for ever */
	uint32_t line;
};

struct plan {
	struct module *modules;
	struct awaited *devices;
	size_t n_modules, n_devices;
	size_t n_first; /* modules that the boot waits for: all of them without `background` */
	bool serial, background;
};

/*
 * Adds what `text` says to `plan`, to be freed in any case; every wrong line is told on stderr as NAME:LINE. Of a wrong one
 * `module` there is a module without a path, so that the numbers of the others stay right. The number of wrong lines, or
 * -ENOMEM.
 */
int plan_read(struct plan *plan, const char *text, size_t size, const char *name);

void plan_free(struct plan *plan);

#endif
