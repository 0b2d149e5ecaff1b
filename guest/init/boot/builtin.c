/* SPDX-License-Identifier: MIT */
/* Adds the units that PID 1 does itself to those that the system's files describe. */
#include "builtin.h"

#include <limits.h>
#include <string.h>

#include "early.h"
#include "network.h"
#include "shared/clock.h"
#include "shared/files.h"
#include "shared/print.h"

/* A file system that has to be mended takes its time. */
enum { CHECK_TIMEOUT_S = 15 * 60 };

#define NETWORK "networking ifupdown"
#define AFTER_NETWORK "loopback modules"

/* Which work there is, under which names, and after what. */
static const struct {
	const char *name;
	int (*work)(void);
	bool waits;
	const char *provides, *after;
	const char *setting; /* only if init.conf has such a line, with one of these keys ... */
	const char *file;    /* ... or this file is there; neither: always */
} BUILTINS[] = {
	{ "basics", early_basics, false, "mountkernfs mountkernfs.sh mountdevsubfs mountdevsubfs.sh", "", NULL, NULL },
	{ "hostname", early_hostname, false, "hostname.sh", "basics", "hostname", "/etc/hostname" },
	{ "loopback", network_loopback, false, "", "", NULL, NULL },
	{ "folders", early_folders, false, "bootmisc bootmisc.sh", "basics", "folder link", "/etc/init.d/bootmisc.sh" },
	{ "limits", early_limits, false, "", "", "limit-files", NULL },
	{ "seed", early_seed, true, "urandom", "basics local-file-systems", "seed", "/etc/init.d/urandom" },
	{ "sysctl", early_sysctl, false, "procps procps.sh", "basics modules", "sysctl", "/etc/sysctl.conf" },
	{ "modules", early_modules, true, "kmod", "basics", "module", "/etc/bootlab/modules" },
	{ "local-file-systems", early_file_systems, true,
	  "checkroot checkroot.sh checkroot-bootclean checkroot-bootclean.sh checkfs checkfs.sh mountall mountall.sh "
	  "mountall-bootclean mountall-bootclean.sh mountoverflowtmp mtab mtab.sh "
	  /* It empties /run, unless the one before has; while services start, it would take what they have put there. */
	  "mountnfs-bootclean mountnfs-bootclean.sh", "basics modules", "mount", "/etc/fstab" },
	{ "logins", early_logins, true, "systemd-update-utmp systemd-update-utmp-runlevel", "basics local-file-systems", NULL,
	  "/var/log/wtmp" },
	{ "addresses", network_addresses, true, NETWORK, AFTER_NETWORK, "address", NULL },
};

/* One of these keys. But a line that asks for DHCP is a unit of its own. */
static bool is_set(const struct config *config, const char *keys)
{
	for (size_t i = 0; keys && i < config->n_settings; i++) {
		struct slice rest = slice_of(keys), key;

		while (word_next(&rest, &key))
			if (slice_is(key, config->settings[i].key) && !network_is_dhcp(&config->settings[i]))
				return true;
	}
	return false;
}

/* The scripts of a distribution are looked for only where its services count. */
static bool is_there(const struct config *config, const char *root, const char *file)
{
	char path[PATH_MAX];

	if (file && !config->lsb && !config->systemd && !strncmp(file, "/etc/init.d/", strlen("/etc/init.d/")))
		return false;
	return file && print(path, sizeof path, "%s%s", root, file) < (int)sizeof path && file_exists(path);
}

static struct unit *add(struct units *units, const char *unit_name, const char *provides, const char *after)
{
	struct unit *unit = units_add(units, ORIGIN_BUILTIN, slice_of(unit_name), "built in");
	struct ref how = { .relation = RELATION_AFTER, .when = AT_START };
	struct slice names = slice_of(provides), name;

	if (!unit)
		return NULL;
	unit->readiness = READY_EXIT;
	while (word_next(&names, &name))
		units_name(units, unit, name, 0);
	names = slice_of(after);
	while (word_next(&names, &name))
		units_refer(units, unit, name, how);
	return unit;
}

static void add_work(struct units *units, size_t which)
{
	struct unit *unit = add(units, BUILTINS[which].name, BUILTINS[which].provides, BUILTINS[which].after);

	if (!unit)
		return;
	unit->builtin = BUILTINS[which].work;
	unit->builtin_waits = BUILTINS[which].waits;
	unit->is_network = BUILTINS[which].work == network_addresses;
	if (BUILTINS[which].work == early_file_systems)
		unit->start_timeout_ns = CHECK_TIMEOUT_S * NS_PER_S;
}

/* It runs on: a lease ends. */
static void add_dhcp(struct units *units, const struct setting *setting)
{
	char name[UNIT_NAME_MAX + 1];
	struct unit *unit;

	print(name, sizeof name, "dhcp-%s", setting->words[0]);
	/* Its host name is asked for, too. */
	unit = add(units, name, NETWORK, AFTER_NETWORK " hostname");
	if (!unit)
		return;
	unit->readiness = READY_FD;
	unit->builtin_daemon = network_dhcp;
	unit->builtin_waits = unit->is_network = true;
	unit->about = setting->words[0];
	unit->restart = RESTART_ALWAYS;
}

void builtin_add(struct units *units, const struct config *config, const char *root)
{
	early_init(config);
	for (size_t i = 0; config->early && i < sizeof BUILTINS / sizeof BUILTINS[0]; i++) {
		bool always = !BUILTINS[i].setting && !BUILTINS[i].file;

		if (BUILTINS[i].work == early_file_systems && !config->fstab && !is_set(config, "mount"))
			continue;
		if (always || is_set(config, BUILTINS[i].setting) || is_there(config, root, BUILTINS[i].file))
			add_work(units, i);
	}
	for (size_t i = 0; config->early && i < config->n_settings; i++)
		if (network_is_dhcp(&config->settings[i]))
			add_dhcp(units, &config->settings[i]);
}
