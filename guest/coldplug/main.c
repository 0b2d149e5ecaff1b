/* SPDX-License-Identifier: MIT */
/* bootlab-coldplug: the modules that this image's machine needs, in order, and then the devices that the boot needs. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "await.h"
#include "devices.h"
#include "load.h"
#include "plan.h"
#include "shared/files.h"
#include "shared/text.h"

#define PLAN "/etc/bootlab/coldplug"

enum { EXIT_INCOMPLETE = 1, EXIT_USE = 2, MOST_THREADS = 16 };

static const char help[] =
	"usage: bootlab-coldplug [--serial] [--threads N] [--verbose] [PLAN]\n"
	"       bootlab-coldplug --devices\n"
	"\n"
	"Load the modules that PLAN lists, each after those that it needs, and wait for the devices that it names.\n"
	"\n"
	"  PLAN             what bootlab wrote into the image [default: " PLAN "]\n"
	"  -s, --serial     one module at a time, as the plan may say itself\n"
	"  -t, --threads N  that many side by side, 1 to 16 [default: 4 a CPU]\n"
	"  -v, --verbose    say how long each took\n"
	"  -d, --devices    print the devices there are, for the host to make a plan of\n"
	"  -h, --help\n"
	"\n"
	"Exit status: 0 all is there; 1 a module or a device is not, and was named; 2 wrong use or no plan.\n";

/* The file's content, of any size, or NULL with errno. */
static char *read_whole(const char *path, size_t *ret_size)
{
	struct stat status;
	char *content;
	ssize_t got;

	if (stat(path, &status))
		return NULL;
	content = malloc((size_t)status.st_size + 1);
	if (!content)
		return NULL;
	got = file_read(path, content, (size_t)status.st_size);
	if (got < 0) {
		errno = (int)-got;
		free(content);
		return NULL;
	}
	*ret_size = (size_t)got;
	return content;
}

/*
 * Loads all of the plan in a process of its own, which outlives this one. The number of modules that failed, of those that the
 * boot waits for, comes through `answer`; -1: there is no such process.
 */
static int load_beside(const struct plan *plan, const struct load_options *options)
{
	int answer[2];
	pid_t pid;

	if (pipe2(answer, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		struct loading *loading = load_begin(plan, options);
		unsigned failed = loading ? load_await_first(loading) : 1;

		/* Whoever started the other one may have ended it: the modules are still wanted. */
		signal(SIGPIPE, SIG_IGN);
		if (write(answer[1], &failed, sizeof failed) < 0)
			fprintf(stderr, "coldplug: nobody waits any more: %s\n", strerror(errno));
		close(answer[0]);
		close(answer[1]);
		_exit(loading && load_end(loading) ? EXIT_INCOMPLETE : EXIT_SUCCESS);
	}
	close(answer[1]);
	if (pid > 0)
		return answer[0];
	close(answer[0]);
	return -1;
}

static unsigned run_beside(const struct plan *plan, const struct load_options *options, int answer)
{
	unsigned missing = await_devices(plan, options->plan_name), failed = 0;

	if (read(answer, &failed, sizeof failed) != sizeof failed)
		failed = 1; /* killed: nothing is known of them */
	close(answer);
	return missing + failed;
}

static int run(const char *name, struct load_options *options, bool serial)
{
	struct plan plan = { 0 };
	struct loading *loading = NULL;
	size_t size = 0;
	char *text = read_whole(name, &size);
	unsigned missing;
	int wrong, answer = -1;

	if (!text) {
		fprintf(stderr, "coldplug: %s: %s\n", name, strerror(errno));
		return EXIT_USE;
	}
	wrong = plan_read(&plan, text, size, name);
	free(text);
	plan.serial |= serial;
	options->plan_name = name;
	if (wrong >= 0 && plan.background)
		answer = load_beside(&plan, options);
	if (wrong >= 0 && answer < 0)
		loading = load_begin(&plan, options);
	if (answer < 0 && !loading) {
		fprintf(stderr, "coldplug: %s: %s\n", name, strerror(ENOMEM));
		plan_free(&plan);
		return EXIT_USE;
	}
	if (answer >= 0) {
		missing = run_beside(&plan, options, answer);
	} else {
		missing = await_devices(&plan, name);
		missing += load_end(loading);
	}
	plan_free(&plan);
	return wrong || missing ? EXIT_INCOMPLETE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "serial", no_argument, NULL, 's' },  { "threads", required_argument, NULL, 't' },
		{ "verbose", no_argument, NULL, 'v' }, { "devices", no_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },    { 0 },
	};
	struct load_options options = { 0 };
	bool serial = false, devices = false;
	int64_t threads;
	int option;

	while ((option = getopt_long(argc, argv, "st:vdh", long_options, NULL)) >= 0)
		switch (option) {
		case 's':
			serial = true;
			break;
		case 't':
			if (parse_number(slice_of(optarg), 1, MOST_THREADS, &threads)) {
				fprintf(stderr, "coldplug: --threads %s: expected 1 to %d\n", optarg, MOST_THREADS);
				return EXIT_USE;
			}
			options.threads = (unsigned)threads;
			break;
		case 'v':
			options.verbose = true;
			break;
		case 'd':
			devices = true;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(help, stderr);
			return EXIT_USE;
		}
	if (argc - optind > !devices) {
		fputs(help, stderr);
		return EXIT_USE;
	}
	if (devices) {
		int r = devices_tell();

		if (r)
			fprintf(stderr, "coldplug: /sys/devices: %s\n", strerror(-r));
		return r ? EXIT_INCOMPLETE : EXIT_SUCCESS;
	}
	return run(optind < argc ? argv[optind] : PLAN, &options, serial);
}
