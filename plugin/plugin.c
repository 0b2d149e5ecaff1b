/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin as QEMU sees it: its options, and the callbacks that it asks for. It records a boot, without the guest noticing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/read.h"
#include "console.h"
#include "doorbells.h"
#include "halts.h"
#include "hypervisor.h"
#include "instrument.h"
#include "kvm_exits.h"
#include "marks.h"
#include "modelled_disks.h"
#include "network/wire.h"
#include "pauses.h"
#include "qemu_plugin_api.h"
#include "random_numbers.h"
#include "recording.h"
#include "screen.h"

/* Which version of its interface QEMU is to serve us by; a QEMU accepts only some. */
QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_FIRST_VERSION;

static bool started;  /* a block has been translated */
static bool profiled; /* a full profile is made as well */

/*
 * QEMU reads the version as soon as we are in memory, and tells its own only to a plugin that it has accepted. So whoever
 * starts QEMU says which to ask for; by hand nobody has to, up to QEMU 10.2.
 */
__attribute__((constructor)) static void choose_version(void)
{
	const char *chosen = getenv("BOOTLAB_QEMU_PLUGIN_VERSION");
	char *end;
	long version;

	if (!chosen)
		return;
	version = strtol(chosen, &end, 10);
	if (*end || version < QEMU_PLUGIN_FIRST_VERSION || version > QEMU_PLUGIN_LAST_VERSION) {
		fprintf(stderr, "bootlab-plugin: BOOTLAB_QEMU_PLUGIN_VERSION=%s: knows %d to %d\n", chosen,
			QEMU_PLUGIN_FIRST_VERSION, QEMU_PLUGIN_LAST_VERSION);
		return;
	}
	qemu_plugin_version = (int)version;
}

static void on_translation(struct qemu_plugin_tb *tb, void *userdata)
{
	(void)userdata;
	pthread_mutex_lock(&recording.lock);
	if (!started) {
		started = true;
		machine_start(&recording.machine);
		pthread_mutex_unlock(&recording.lock);
		random_numbers_open();
		doorbells_open();
		network_open(marks_answered);
		marks_start();
		kvm_exits_start(qemu_plugin_tb_vaddr(tb));
		pthread_mutex_lock(&recording.lock);
	}
	if (!recording.stopped) {
		/* Before anybody else registers callbacks in the block. */
		if (profiled)
			instrument_block(tb, marks_find_entry(qemu_plugin_tb_vaddr(tb)), marks_slide());
		kvm_exits_watch(tb);
		hypervisor_watch(tb);
		marks_watch(tb);
		console_watch(tb, qemu_plugin_tb_n_insns(tb));
		doorbells_watch(tb, qemu_plugin_tb_n_insns(tb));
		halts_watch(tb, qemu_plugin_tb_n_insns(tb));
		random_numbers_watch(tb, qemu_plugin_tb_n_insns(tb));
	} else if (modelled_disks_work()) {
		/* What is held back must be let go for as long as the guest runs. */
		doorbells_watch(tb, qemu_plugin_tb_n_insns(tb));
	}
	pauses_watch(tb, qemu_plugin_tb_n_insns(tb));
	pthread_mutex_unlock(&recording.lock);
}

static void on_vcpu_init(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	if (vcpu != 0)
		return; /* all vCPUs are of one model: the handles are the same */
	registers_find(recording.config.arch, &recording.registers);
	kvm_exits_vcpu();
	hypervisor_vcpu();
	if (profiled)
		instrument_vcpu(vcpu);
}

static void on_exit(void *userdata)
{
	int r;

	(void)userdata;
	pauses_close();
	pthread_mutex_lock(&recording.lock);
	if (!recording.stopped) {
		struct stamp at = machine_now(&recording.machine, 0);

		console_report();
		screen_close(false);
		if (recording.state) {
			modelled_disks_keep();
			random_numbers_keep();
		}
		recording_end(at);
	}
	recording_tell_write_error();
	r = writer_close(&recording.writer);
	if (r && !recording.write_error_told)
		fprintf(stderr, "bootlab-plugin: trace: %s\n", strerror(-r));
	pthread_mutex_unlock(&recording.lock);
}

static void on_vcpu_init_with_id(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	on_vcpu_init(vcpu, NULL);
}

static void on_translation_with_id(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	on_translation(tb, NULL);
}

static void on_exit_with_id(qemu_plugin_id_t id, void *userdata)
{
	(void)id;
	on_exit(userdata);
}

static void ask_for_callbacks(qemu_plugin_id_t id)
{
	bool with_id = qemu_plugin_version < QEMU_PLUGIN_USERDATA_VERSION;

	qemu_plugin_register_vcpu_init_cb(
		id, with_id ? (qemu_plugin_any_cb_t)on_vcpu_init_with_id : (qemu_plugin_any_cb_t)on_vcpu_init, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(
		id, with_id ? (qemu_plugin_any_cb_t)on_translation_with_id : (qemu_plugin_any_cb_t)on_translation, NULL);
	qemu_plugin_register_atexit_cb(id, with_id ? (qemu_plugin_any_cb_t)on_exit_with_id : (qemu_plugin_any_cb_t)on_exit,
				       NULL);
}

static int load_config(const char *path, const char *target)
{
	char message[512];
	FILE *file = fopen(path, "re");
	int r;

	if (!file) {
		fprintf(stderr, "bootlab-plugin: %s: %s\n", path, strerror(errno));
		return -1;
	}
	r = config_read(file, path, message, sizeof message, &recording.config);
	fclose(file);
	if (r) {
		fprintf(stderr, "bootlab-plugin: %s\n", message);
		return -1;
	}
	if (strcmp(target, registers_target(recording.config.arch))) {
		fprintf(stderr, "bootlab-plugin: %s: made for %s, but this QEMU emulates %s\n", path, arch_name(recording.config.arch),
			target);
		return -1;
	}
	console_open(recording.config.uart_port);
	return marks_open();
}

static int open_machine(void)
{
	char message[512];

	if (machine_open(message, sizeof message, &recording.machine)) {
		fprintf(stderr, "bootlab-plugin: %s\n", message);
		return -1;
	}
	if (recording.config.stop[0] && !recording.machine.shutdown_request) {
		fprintf(stderr, "bootlab-plugin: stop %s: this QEMU does not export qemu_system_shutdown_request\n", recording.config.stop);
		return -1;
	}
	if (recording.config.pause[0] && (!recording.machine.qmp_stop || !recording.machine.is_running || recording.machine.shift < 0)) {
		fprintf(stderr, "bootlab-plugin: pause %s: needs -icount, and a QEMU that exports qmp_stop and runstate_is_running\n",
			recording.config.pause);
		return -1;
	}
	return 0;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *config = NULL, *out = NULL, *profile = NULL, *requests = NULL, *writes = NULL, *pictures = NULL,
		   *state = NULL, *resumed = NULL;
	char message[512];
	int r;

	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "config=", 7)) {
			config = argv[i] + 7;
		} else if (!strncmp(argv[i], "out=", 4)) {
			out = argv[i] + 4;
		} else if (!strncmp(argv[i], "profile=", 8)) {
			profile = argv[i] + 8;
		} else if (!strncmp(argv[i], "requests=", 9)) {
			requests = argv[i] + 9;
		} else if (!strncmp(argv[i], "writes=", 7)) {
			writes = argv[i] + 7;
		} else if (!strncmp(argv[i], "pictures=", 9)) {
			pictures = argv[i] + 9;
		} else if (!strncmp(argv[i], "state=", 6)) {
			state = argv[i] + 6;
		} else if (!strncmp(argv[i], "resume=", 7)) {
			resumed = argv[i] + 7;
		} else {
			fprintf(stderr,
				"bootlab-plugin: unknown option '%s'; there are config=FILE, out=FILE, profile=FILE, requests=FILE, "
				"writes=FILE, pictures=FILE, state=FOLDER and resume=FOLDER\n",
				argv[i]);
			return -1;
		}
	}
	if (!config || !out) {
		fprintf(stderr, "bootlab-plugin: option %s=FILE is missing\n", config ? "out" : "config");
		return -1;
	}
	if (!info->system_emulation) {
		fprintf(stderr, "bootlab-plugin: works with qemu-system-*, not with user-mode QEMU\n");
		return -1;
	}
	if (load_config(config, info->target_name) || open_machine())
		return -1;
	r = modelled_disks_log(requests, writes);
	if (r) {
		fprintf(stderr, "bootlab-plugin: %s, %s: %s\n", requests ? requests : "-", writes ? writes : "-", strerror(-r));
		return -1;
	}
	r = screen_log(pictures);
	if (r) {
		fprintf(stderr, "bootlab-plugin: %s: %s\n", pictures, strerror(-r));
		return -1;
	}
	/* Whose options these are does not say for how long. */
	recording.state = state ? strdup(state) : NULL;
	recording.resumed = resumed ? strdup(resumed) : NULL;
	profiled = profile;
	if (profile && instrument_open(&recording.config, &recording.machine, info, profile, message, sizeof message)) {
		fprintf(stderr, "bootlab-plugin: %s\n", message);
		return -1;
	}
	r = kvm_exits_open(profiled, info->system.max_vcpus);
	if (r) {
		fprintf(stderr, "bootlab-plugin: %s\n", strerror(-r));
		return -1;
	}
	r = writer_open(out, recording.machine.shift, config_charges(&recording.config), &recording.writer);
	if (r) {
		fprintf(stderr, "bootlab-plugin: %s: %s\n", out, strerror(-r));
		return -1;
	}
	halts_open(info);
	pauses_open(info);
	ask_for_callbacks(id);
	return 0;
}
