/* SPDX-License-Identifier: MIT */
/* Settings of .service files about what a process may do and which signals it gets, read into a unit. Only for service_*.c. */
#ifndef BOOTLAB_INIT_SERVICE_PROCESS_H
#define BOOTLAB_INIT_SERVICE_PROCESS_H

#include "service_reading.h"

/* Reads the value of a setting; `argument` says which of several it is. */
typedef void service_setting_fn(struct service_reading *reading, struct slice value, int argument);

enum { SERVICE_SIGNAL_STOP, SERVICE_SIGNAL_RELOAD, SERVICE_SIGNAL_KILL, SERVICE_SIGNAL_WATCHDOG };

void service_read_limit(struct service_reading *reading, struct slice value, int argument);
void service_read_group(struct service_reading *reading, struct slice value, int argument);
void service_read_capabilities(struct service_reading *reading, struct slice value, int argument);
void service_read_privileges(struct service_reading *reading, struct slice value, int argument);
void service_read_signal(struct service_reading *reading, struct slice value, int argument);
void service_read_hang_up(struct service_reading *reading, struct slice value, int argument);
void service_read_pipe(struct service_reading *reading, struct slice value, int argument);
void service_read_no_kill(struct service_reading *reading, struct slice value, int argument);

/* Condition...= and Assert...=: false when there is no such condition here. */
bool service_read_condition(struct service_reading *reading, struct slice key, struct slice value);

/* An empty value takes back what was said before; false when `read` is none of these. */
bool service_process_reset(struct service_reading *reading, service_setting_fn *read, int argument);

#endif
