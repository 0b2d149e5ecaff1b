/* SPDX-License-Identifier: MIT */
/* Tests small promises of the readers and of a unit's life: delays, modes, the runlevel that scripts are told, the log's rings. */
#include <errno.h>
#include <unistd.h>

#include "check.h"
#include "process/environment.h"
#include "shared/clock.h"
#include "state/account.h"
#include "state/log.h"
#include "state/runs.h"
#include "supervision/lifecycle.h"
#include "supervision/supervise.h"
#include "units/config.h"
#include "units/graph.h"
#include "units/unit_file.h"

enum { LINES = 20000 };

static struct config config;

static struct unit *own(const char *name, const char *text)
{
	return unit_file_parse(&units, slice_of(name), "u.unit", text, strlen(text));
}

static int64_t delay_ns(const char *text, uint32_t restarts)
{
	unit_id id;

	begin();
	id = units_id(&units, own("u", text));
	graph_resolve(&units, &(struct graph_options){ .goals = NULL });
	supervise_init(&units, &config);
	runs_enter(id, STATE_STARTING);
	runs[id].restarts = restarts;
	lifecycle_fail(id, "it is a test");
	CHECK(runs[id].state == STATE_BACKOFF);
	return runs[id].deadline_ns - runs[id].since_ns;
}

static bool is_about(int64_t ns, int64_t expected_ns)
{
	return ns >= expected_ns - NS_PER_S / 10 && ns <= expected_ns + NS_PER_S / 10;
}

static void test_restart_delays(void)
{
	static const char FIVE_MINUTES[] = "exec /a\nrestart always\nrestart-delay 5min\n";

	CHECK(is_about(delay_ns(FIVE_MINUTES, 0), 300 * NS_PER_S) && is_about(delay_ns(FIVE_MINUTES, 9), 300 * NS_PER_S));
	CHECK(is_about(delay_ns("exec /a\nrestart always\nrestart-delay 1s\n", 2), 4 * NS_PER_S));
	CHECK(is_about(delay_ns("exec /a\nrestart always\nrestart-delay 1s\n", 9), 60 * NS_PER_S));
	begin();
	own("u", "exec /a\nrestart always\nrestart-delay infinity\n");
	CHECK(!strcmp(complaints, "u.unit:3: restart-delay: expected a time; a unit that is not to be started again says "
				  "`restart no`\n"));
}

static void test_modes_of_folders(void)
{
	static const char TEXT[] = "folder /a 0755\nfolder /b 0999\nfolder /c rwx\nfolder /d 01777\nfolder /e 755\nfolder /f\n";
	struct config read;

	begin();
	config_init(&read);
	config_parse(&read, &units, "init.conf", TEXT, sizeof TEXT - 1);
	CHECK(!strcmp(complaints, "init.conf:2: folder: expected a path and its mode in octal digits, as 0755\n"
				  "init.conf:3: folder: expected a path and its mode in octal digits, as 0755\n"
				  "init.conf:4: folder: expected a path and its mode in octal digits, as 0755\n"));
	CHECK(read.n_settings == 3);
}

static void test_the_runlevel_that_scripts_are_told(void)
{
	static const struct identity NOBODY;
	const struct unit unit = { .origin = ORIGIN_LSB, .runlevel = '5' };
	char *const *environment = environment_build(&unit, &NOBODY, 0, NULL, 0, true);
	bool told = false;

	CHECK(environment);
	for (; *environment; environment++)
		told |= !strcmp(*environment, "RUNLEVEL=5");
	CHECK(told);
}

/* As systemd 252 gives them to its services (tests/boot/init/test_beside_systemd.py). */
static void test_variables_of_services(void)
{
	static const char *const FOLDERS[] = { "one", "two/three", NULL };
	static const struct identity ROOT = { .name = "" };
	static const struct identity DAEMON = { .name = "d", .home = "/var/lib/d", .shell = "/usr/sbin/nologin" };
	static const char *const OF_ROOT[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", NULL };
	static const char *const OF_DAEMON[] = { "USER=d", "LOGNAME=d", "HOME=/var/lib/d", "RUNTIME_DIRECTORY=/run/one:/run/two/three",
						 "PIDFILE=/run/d.pid", "LISTEN_FDS=2", "LISTEN_FDNAMES=a.socket:web", NULL };
	const struct unit plain = { .origin = ORIGIN_SYSTEMD };
	const struct unit daemon = { .origin = ORIGIN_SYSTEMD, .user = "d", .run_folders = FOLDERS, .pidfile = "/run/d.pid",
				     .socket_names = "a.socket:web" };
	char *const *environment = environment_build(&plain, &ROOT, 0, NULL, 0, true);
	size_t at = 0;

	if (access("/etc/locale.conf", F_OK) == 0)
		return; /* this machine's language would be among them */
	for (; OF_ROOT[at]; at++)
		CHECK(environment && environment[at] && !strcmp(environment[at], OF_ROOT[at]));
	CHECK(!environment[at]);
	environment = environment_build(&daemon, &DAEMON, 0, NULL, 2, true);
	CHECK(environment);
	for (size_t i = 0; OF_DAEMON[i]; i++) {
		for (at = 0; environment[at] && strcmp(environment[at], OF_DAEMON[i]) != 0; at++)
			;
		CHECK(environment[at]);
	}
	for (at = 0; environment[at]; at++)
		CHECK(strncmp(environment[at], "SHELL=", 6) != 0 && strncmp(environment[at], "TERM=", 5) != 0);
}

static void test_variables_of_files(void)
{
	static const char FILE_TEXT[] = "# none\nOPTS=-a -b  \nQUOTED=\"one two\" 'three'\nEMPTY=\nexport X=1\nBACK=a\\ b\nTABS=\tx\n";
	static const char *const EXPECTED[] = { "OPTS=-a -b", "QUOTED=one two three", "EMPTY=", "BACK=a b", "TABS=x" };
	static const char *const WORDS[] = { "/bin/a", "$$A", "${OPTS}x", "$OPTS", "$$", NULL };
	static const char *const EXPANDED[] = { "/bin/a", "$A", "-a -bx", "-a", "-b", "$", NULL };
	static const struct identity NOBODY;
	char path[] = "/tmp/test_details.XXXXXX";
	const char *files[] = { "-/nowhere/at-all", path, NULL };
	const struct unit unit = { .environment_files = files };
	const char *const *argv;
	char *const *environment;
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, FILE_TEXT, sizeof FILE_TEXT - 1) == sizeof FILE_TEXT - 1);
	close(fd);
	environment = environment_build(&unit, &NOBODY, 0, NULL, 0, true);
	CHECK(environment);
	for (size_t i = 0; i < sizeof EXPECTED / sizeof EXPECTED[0]; i++) {
		size_t at = 0;

		while (environment[at] && strcmp(environment[at], EXPECTED[i]) != 0)
			at++;
		CHECK(environment[at]);
	}
	for (size_t at = 0; environment[at]; at++)
		CHECK(strncmp(environment[at], "export", 6) != 0 && strncmp(environment[at], "X=", 2) != 0);
	argv = environment_expand(WORDS, environment);
	for (size_t i = 0; EXPANDED[i] || argv[i]; i++)
		CHECK(argv[i] && EXPANDED[i] && !strcmp(argv[i], EXPANDED[i]));
	unlink(path);
	/* One that must be there. */
	CHECK(!environment_build(&unit, &NOBODY, 0, NULL, 0, true) && errno == ENOENT);
}

static void test_a_flood_leaves_the_lines_of_others(void)
{
	static char copy[1 << 20];
	size_t size;
	char *noise;

	log_say(LOG_NOTE, "first");
	log_line(1, "one", "before");
	for (int i = 0; i < LINES; i++)
		log_line(2, "noise", i == LINES - 1 ? "the last" : "y");
	log_line(1, "one", "after");
	size = log_copy(copy, sizeof copy - 1);
	copy[size] = '\0';
	CHECK(strstr(copy, "] first\n") && strstr(copy, "] one: before\n") && strstr(copy, "] noise: the last\n"));
	/* In the order in which it was said. */
	noise = strstr(copy, "] noise: ");
	CHECK(strstr(copy, "] one: before\n") < noise && noise < strstr(copy, "] one: after\n"));
	CHECK(strstr(copy, "] noise: the last\n") < strstr(copy, "] one: after\n"));
}

int main(void)
{
	config_init(&config);
	account_begin(0);
	log_init(-1, true);
	test_variables_of_services();
	test_restart_delays();
	test_modes_of_folders();
	test_the_runlevel_that_scripts_are_told();
	test_variables_of_files();
	test_a_flood_leaves_the_lines_of_others();
	puts("test_details: ok");
	return 0;
}
