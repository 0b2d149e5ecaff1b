/* SPDX-License-Identifier: MIT */
/* /etc/bootlab/init.conf: settings that belong to no unit. docs/init.md lists the keys. */
#ifndef BOOTLAB_INIT_CONFIG_H
#define BOOTLAB_INIT_CONFIG_H

#include "units.h"

enum { MAX_GOALS = 16, MAX_SETTINGS = 64 };

/* Of the time for shutting down: what units have until they are ended with all other processes. */
enum { SHUTDOWN_UNITS_PERCENT = 70 };

/* What built-in early boot does; each is one line of the file, told apart by its key. */
struct setting {
	const char *key;
	const char *const *words;
	size_t n_words;
	uint16_t line;
};

enum on_failure { FAILURE_HOLD, FAILURE_SHELL, FAILURE_REBOOT };

struct config {
	const char *path;
	const char *goals[MAX_GOALS + 1];
	size_t n_goals;
	unsigned starting; /* at once; 0: as many as do the machine good (pressure.h) */
	char level;	   /* LSB runlevel, '2' to '5' */
	bool lsb, systemd, early, quiet, fstab;
	const char *emergency; /* program of the emergency shell */
	enum on_failure on_failure, on_crash;
	int64_t shutdown_timeout_ns;
	const char *watchdog;
	int64_t watchdog_ns;
	struct setting settings[MAX_SETTINGS];
	size_t n_settings;
};

void config_init(struct config *config);

/* Take what `text` says; mistakes are complained about through `units`. */
void config_parse(struct config *config, struct units *units, const char *path, const char *text, size_t size);

/* The words that the kernel's command line leaves in the environment of PID 1: bootlab_goal=a,b bootlab_starting=4
 * bootlab_console=info bootlab_emergency=/bin/sh. */
void config_environment(struct config *config, struct units *units, char *const *environment);

#endif
