/* SPDX-License-Identifier: MIT */
/* Tests how limits, capabilities and signals are read, from both formats, and what a process finds of them. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "process/confine.h"
#include "units/confinement.h"
#include "units/service_file.h"
#include "units/signals.h"
#include "units/unit_file.h"

enum { CHOWN = 0, NET_BIND_SERVICE = 10, SYS_ADMIN = 21 };

static struct unit *own(const char *text)
{
	begin();
	return unit_file_parse(&units, slice_of("u"), "u.unit", text, strlen(text));
}

static struct unit *service(const char *text)
{
	struct unit *unit;

	begin();
	unit = service_file_begin(&units, slice_of("s"), "s.service");
	service_file_read("s.service", text, strlen(text));
	service_file_finish();
	return unit;
}

/* Each would have something else run: by its name and its line. What says that there is to be none of it changes nothing. */
static void check_refused(void)
{
	static const char *const KEYS[] = {
		"RootDirectory=/srv", "RootImage=/i", "ExecCondition=/b", "DynamicUser=yes", "SupplementaryGroups=audio",
		"ExecSearchPath=/opt", "PassEnvironment=A", "UnsetEnvironment=A", "SetLoginEnvironment=yes", "PAMName=login",
		"SecureBits=keep-caps", "Personality=x86", "BindPaths=/a:/b", "BindReadOnlyPaths=/a:/b", "MountImages=/i:/m",
		"ExtensionImages=/i", "ExtensionDirectories=/d", "NetworkNamespacePath=/n", "IPCNamespacePath=/n", "OpenFile=/f",
		"StandardInputText=x", "StandardInputData=eA==", "LoadCredential=a:/b", "LoadCredentialEncrypted=a:/b",
		"SetCredential=a:b", "SetCredentialEncrypted=a:b", "RuntimeMaxSec=5", "Requisite=b.service", "AssertHost=x",
		"RuntimeDirectoryMode=07x", "ExecStartPre=/b \"open",
	};
	char text[6000], expected[100];

	for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
		size_t name = !strncmp(KEYS[i], "Assert", 6) ? 6 : strcspn(KEYS[i], "=");

		snprintf(text, sizeof text, "[Service]\nExecStart=/a\n%s\n", KEYS[i]);
		snprintf(expected, sizeof expected, "s.service:3: %.*s: ", (int)name, KEYS[i]);
		CHECK(service(text)->broken && strstr(complaints, expected) && strstr(complaints, "s is not started"));
	}
	CHECK(!service("[Service]\nExecStart=/a\nDynamicUser=no\nRuntimeMaxSec=infinity\nBindPaths=\n")->broken && !*complaints);
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	memcpy(text, "[Service]\nExecStart=/a ", strlen("[Service]\nExecStart=/a "));
	CHECK(service(text)->broken && strstr(complaints, "s.service:2: longer than 4096 bytes: it is not started"));
}

static const struct resource_limit *limit(const struct unit *unit, int which)
{
	CHECK(unit->confinement);
	return &unit->confinement->resources[which];
}

static void test_limits(void)
{
	static const char *const WRONG[] = { "limit-nofile 0", "limit-nofile 5:4", "limit-nofile 4K", "limit-core 5X", "limit-core",
					     "limit-nice 41",  "limit-nice -21",   "limit-cpu soon",  "limit-as 9999999T", "limit-core -1" };
	struct unit *unit = own("exec /a\nlimit-nofile 100:200\nlimit-core infinity\nlimit-memlock 64K\nlimit-cpu 1min\nlimit-rttime 1ms\n"
				"limit-nice -5\nlimit-rtprio 10\nlimit-as 1G:infinity\nfiles 50\n");
	char text[64];

	CHECK(!*complaints && limit(unit, RLIMIT_NOFILE)->soft == 50 && limit(unit, RLIMIT_NOFILE)->hard == 50);
	CHECK(limit(unit, RLIMIT_CORE)->soft == UINT64_MAX && limit(unit, RLIMIT_MEMLOCK)->hard == 65536);
	CHECK(limit(unit, RLIMIT_CPU)->soft == 60 && limit(unit, RLIMIT_RTTIME)->soft == 1000);
	CHECK(limit(unit, RLIMIT_NICE)->soft == 25 && limit(unit, RLIMIT_RTPRIO)->soft == 10);
	CHECK(limit(unit, RLIMIT_AS)->soft == 1 << 30 && limit(unit, RLIMIT_AS)->hard == UINT64_MAX);
	CHECK(!limit(unit, RLIMIT_STACK)->given);
	for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
		snprintf(text, sizeof text, "exec /a\n%s\n", WRONG[i]);
		own(text);
		if (!strstr(complaints, "expected a limit or SOFT:HARD"))
			fprintf(stderr, "taken: %s\n", text);
		CHECK(strstr(complaints, "u.unit:2: limit-") && strstr(complaints, "expected a limit or SOFT:HARD"));
	}
	/* What says nothing of it has no room for it. */
	CHECK(!own("exec /a\nno-new-privileges no\n")->confinement);
}

static void test_groups(void)
{
	struct unit *unit = own("exec /a\nmemory-max 512M\ncpu-weight 10\npids-max infinity\n");

	CHECK(!*complaints && unit->confinement->group[GROUP_MEMORY_MAX] == 512 << 20);
	CHECK(unit->confinement->group[GROUP_CPU_WEIGHT] == 10 && unit->confinement->group[GROUP_PIDS_MAX] == GROUP_INFINITE);
	CHECK(own("exec /a\nmemory-max 25%\n")->confinement->group[GROUP_MEMORY_MAX] == -25);
	own("exec /a\ncpu-weight 10001\nmemory-max 101%\npids-max 0\n");
	CHECK(strstr(complaints, "u.unit:2: cpu-weight: expected a weight from 1 to 10000") &&
	      strstr(complaints, "u.unit:3: memory-max: expected bytes") && strstr(complaints, "u.unit:4: pids-max: expected a number"));
}

static void test_capabilities(void)
{
	struct unit *unit = own("exec /a\ncapabilities chown CAP_NET_BIND_SERVICE\nambient-capabilities net_bind_service\n");

	CHECK(!*complaints && unit->confinement->bounding_given);
	CHECK(unit->confinement->bounding == (1 << CHOWN | 1 << NET_BIND_SERVICE));
	CHECK(unit->confinement->ambient == 1 << NET_BIND_SERVICE);
	unit = own("exec /a\ncapabilities none\n");
	CHECK(!*complaints && unit->confinement->bounding_given && unit->confinement->bounding == 0);
	unit = own("exec /a\ncapabilities all-but sys_admin\n");
	CHECK(!*complaints && unit->confinement->bounding == ~(UINT64_C(1) << SYS_ADMIN));
	/* One that is not known: it would have more, or less, than was meant. */
	CHECK(own("exec /a\ncapabilities chown flying\n")->broken && own("exec /a\nambient-capabilities all-but chown\n")->broken);
	CHECK(own("exec /a\ncapabilities all-but\n")->broken && own("exec /a\ncapabilities\n")->broken);
	unit = own("exec /a\ncapabilities chown\nambient-capabilities kill\n");
	CHECK(unit->broken && strstr(complaints, "one of them is not among its `capabilities`"));
	CHECK(own("exec /a\nno-new-privileges perhaps\n")->broken);
}

static void test_capabilities_of_services(void)
{
	static const char TEXT[] = "[Service]\nExecStart=/a\nCapabilityBoundingSet=CAP_CHOWN CAP_KILL\nCapabilityBoundingSet=CAP_SYS_ADMIN\n"
				   "CapabilityBoundingSet=~CAP_KILL\nAmbientCapabilities=CAP_CHOWN\nNoNewPrivileges=yes\nLimitNOFILE=1024:524288\n"
				   "LimitCORE=infinity\nTasksMax=7\nMemoryMax=1G\nCPUWeight=50\nKillSignal=SIGQUIT\nSendSIGHUP=yes\n"
				   "ExecReload=/bin/kill -HUP $MAINPID\n";
	struct unit *unit = service(TEXT);

	CHECK(!*complaints && unit->confinement->bounding == (1 << CHOWN | 1 << SYS_ADMIN) && unit->confinement->ambient == 1 << CHOWN);
	CHECK(unit->confinement->no_new_privileges && limit(unit, RLIMIT_NOFILE)->hard == 524288);
	CHECK(unit->confinement->group[GROUP_PIDS_MAX] == 7 && unit->stop_signal == SIGQUIT && unit->hangs_up && unit->n_commands == 2);
	unit = service("[Service]\nExecStart=/a\nCapabilityBoundingSet=~CAP_SYS_ADMIN\n");
	CHECK(unit->confinement->bounding == ~(UINT64_C(1) << SYS_ADMIN));
	unit = service("[Service]\nExecStart=/a\nCapabilityBoundingSet=\n");
	CHECK(unit->confinement->bounding_given && unit->confinement->bounding == 0);
	unit = service("[Service]\nExecStart=/a\nType=notify-reload\n");
	CHECK(unit->reload_signal == SIGHUP);
	/* Refused, by name and line. */
	unit = service("[Service]\nExecStart=/a\nSendSIGKILL=no\n");
	CHECK(unit->broken && strstr(complaints, "s.service:3: SendSIGKILL: what does not end in time gets SIGKILL here: s is not started"));
	unit = service("[Service]\nExecStart=/a\nTasksMax=10%\n");
	CHECK(unit->broken && strstr(complaints, "s.service:3: TasksMax: expected a number of processes and threads, or infinity"));
	CHECK(service("[Service]\nExecStart=/a\nMemoryMax=25%\n")->confinement->group[GROUP_MEMORY_MAX] == -25);
	CHECK(service("[Service]\nExecStart=/a\nCPUWeight=idle\n")->broken);
	CHECK(service("[Service]\nExecStart=/a\nAmbientCapabilities=CAP_FLYING\n")->broken);
	check_refused();
	unit = service("[Service]\nExecStart=/a\nUser=u\nPermissionsStartOnly=yes\nExecStartPre=/b\n");
	CHECK(!*complaints && !units.commands[unit->first_command].as_root && units.commands[unit->first_command + 1].as_root);
	CHECK(units.commands[unit->first_command + 1].unconfined);
	unit = service("[Service]\nExecStart=/a\nRuntimeDirectory=a\nRuntimeDirectoryMode=02750\n");
	CHECK(!*complaints && unit->run_mode == 02750);
	unit = service("[Service]\nExecStart=/a\nRemainAfterExit=yes\n");
	CHECK(!unit->broken && strstr(complaints, "s.service:3: RemainAfterExit: of Type=oneshot alone here"));
	CHECK(!service("[Service]\nExecStart=/a\nType=oneshot\nRemainAfterExit=yes\n")->broken && !*complaints);
	CHECK(!service("[Service]\nExecStart=/a\nPartOf=b.service\n")->broken && strstr(complaints, "PartOf:3"));
	unit = service("[Service]\nExecStart=+/a\n");
	CHECK(units.commands[unit->first_command].unconfined && units.commands[unit->first_command].as_root);
}

static void test_signals(void)
{
	uint8_t number = 0;

	CHECK(!signal_parse(slice_of("SIGINT"), &number) && number == SIGINT);
	CHECK(!signal_parse(slice_of("WINCH"), &number) && number == SIGWINCH);
	CHECK(!signal_parse(slice_of("RTMIN+3"), &number) && number == 37);
	CHECK(!signal_parse(slice_of("9"), &number) && number == SIGKILL);
	CHECK(signal_parse(slice_of("0"), &number) && signal_parse(slice_of("65"), &number) && signal_parse(slice_of(""), &number));
	CHECK(signal_parse(slice_of("RTMIN+31"), &number) && signal_parse(slice_of("sigint"), &number));
	own("exec /a\nstop-signal SOON\nreload-signal HUP\n");
	CHECK(!strcmp(complaints, "u.unit:2: stop-signal: expected a signal: its name, as INT, or its number\n"));
	own("exec /a\nready exit\nreload-signal HUP\n");
	CHECK(strstr(complaints, "reload-signal: it has no main process"));
}

/* In a child: what was set is what the kernel says. */
static int confined(const struct confinement *confinement)
{
	struct rlimit found;

	if (confine_resources(confinement) || getrlimit(RLIMIT_NOFILE, &found) || found.rlim_cur != 20 || found.rlim_max != 30)
		return 1;
	if (confine_before_user(confinement) || confine_after_user(confinement) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 2;
	if (geteuid() == 0 && (prctl(PR_CAPBSET_READ, SYS_ADMIN, 0, 0, 0) != 0 || prctl(PR_CAPBSET_READ, CHOWN, 0, 0, 0) != 1 ||
			       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CHOWN, 0, 0) != 1))
		return 3;
	return 0;
}

static void test_a_process(void)
{
	/* Only root has something to take away. */
	struct unit *unit = own(geteuid() == 0 ? "exec /a\nlimit-nofile 20:30\ncapabilities chown\nambient-capabilities chown\n"
						 "no-new-privileges yes\n" :
						 "exec /a\nlimit-nofile 20:30\nno-new-privileges yes\n");
	pid_t pid = fork();
	int status;

	CHECK(!*complaints);
	if (pid == 0)
		_exit(confined(unit->confinement));
	CHECK(waitpid(pid, &status, 0) == pid);
	if (status)
		fprintf(stderr, "status %d\n", status);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	test_limits();
	test_groups();
	test_capabilities();
	test_capabilities_of_services();
	test_signals();
	test_a_process();
	puts("test_confinement: ok");
	return 0;
}
