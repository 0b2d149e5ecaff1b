/* SPDX-License-Identifier: MIT */
/*
 * bootlab-readahead: what the last boot read from its disk is read ahead of this one, in the best order. Started as init it does
 * so beside the real one.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "learn.h"
#include "machine.h"
#include "narrow.h"
#include "pack.h"
#include "replay.h"
#include "shared/clock.h"
#include "shared/files.h"
#include "shared/rest.h"
#include "shared/text.h"
#include "store.h"

#define SHIPPED "/etc/bootlab/readahead"                 /* bootlab put it into the image: never changed here */
#define LEARNED "/var/lib/bootlab-readahead/pack"        /* made here, and made anew here */
#define REAL_INIT "/sbin/bootlab-readahead.init"         /* what /sbin/init was in an image that bootlab made */
#define WORD "bootlab_readahead"                         /* on the kernel's command line: none, block or need */

enum { EXIT_IGNORED = 1, EXIT_USE = 2, IN_FLIGHT_TURNING = 8, IN_FLIGHT_FLASH = 4, MOST_IN_FLIGHT = 64 };
enum { OLDEST_S = 30 * 24 * 3600, FIRST_BYTES = 4 << 20, GATE_MS = 2000, LEARNING_S = 600, LEARN_ON_S = 60 };

const char said_by[] = "bootlab-readahead";

static const char help[] =
	"usage: bootlab-readahead start [--root DIR] [--order none|block|need] [--in-flight N] [PACK]\n"
	"       bootlab-readahead goal  [--root DIR] [--name GOAL] [PACK]\n"
	"       bootlab-readahead show  [PACK]\n"
	"       bootlab-readahead forget [PACK]\n"
	"\n"
	"Read ahead what the last boot read from its disk.\n"
	"\n"
	"  start            read it, as PACK says; without one, learn what this boot reads\n"
	"  goal             the boot is done: note how long it took; or make PACK of what is learned until the machine\n"
	"                   has nothing to do, for a minute at most\n"
	"  show             print PACK\n"
	"  forget           the next boot learns anew: for a package manager to call\n"
	"  PACK             [default: " SHIPPED " if it is there, else " LEARNED "]\n"
	"  --root DIR       the root that is read [default: /]; in an initramfs where it is mounted\n"
	"  --order ORDER    not as PACK says: none, block (as it lies on the disk), need (as the boot asks)\n"
	"  --in-flight N    reads that the disk has at once, 1 to 64 [default: 8 by block, 4 by need]\n"
	"  --name GOAL      what is reached; another one is learned anew [default: goal]\n"
	"\n"
	"Exit status: 0 done; 1 PACK was ignored, or nothing could be learned, with one line why; 2 wrong use.\n";

struct work {
	const char *pack_name, *root_name, *goal;
	int root, order, gate; /* order: -1 as the pack says */
	unsigned in_flight;
	int64_t first, bin;
	bool shipped;
};

/* The pack, if it is one and of this system; false with a line why not, but for one that is not there. */
static bool take_pack(const struct work *work, struct pack *pack, bool *ret_record)
{
	char kernel[PACK_NAME];
	const char *why = "";
	size_t size;
	char *text = store_read(work->pack_name, PACK_BYTES, &size);
	int r;

	*pack = (struct pack){ 0 };
	*ret_record = false;
	if (!text) {
		if (errno != ENOENT)
			say("%s: ignored: %s", work->pack_name, strerror(errno));
		return false;
	}
	*ret_record = size >= strlen(PACK_RECORD) && !memcmp(text, PACK_RECORD, strlen(PACK_RECORD));
	r = *ret_record ? -EINVAL : pack_read(pack, text, size, &why);
	free(text);
	if (*ret_record)
		return false;
	kernel_name(kernel);
	if (r)
		say("%s: ignored: it %s", work->pack_name, r == -ENOMEM ? "does not fit into memory" : why);
	else if (pack->root != root_identity(work->root))
		say("%s: ignored: it is of another file system", work->pack_name);
	else if (strcmp(pack->kernel, kernel) != 0)
		say("%s: ignored: it is of the kernel %s", work->pack_name, pack->kernel);
	else
		return true;
	pack_free(pack);
	return false;
}

static void open_gate(struct work *work)
{
	if (work->gate >= 0)
		close(work->gate);
	work->gate = -1;
}

static int begin_learning(struct work *work, bool record)
{
	unsigned long before;
	int r = learn_begin(said_by);

	if (r)
		say("this kernel does not tell what is read (%s): the goal will look at what is in memory", strerror(-r));
	else if (!narrow_begin(work->root, record ? NARROWEST_BYTES : NARROW_BYTES, LEARNING_S, &before) && before &&
		 learn_keep(said_by, before))
		narrow_end(work->root, before); /* the goal would not know what it was */
	open_gate(work);
	return EXIT_SUCCESS;
}

static int start(struct work *work)
{
	struct replay_options options = { .root = work->root, .first = work->first, .bin = work->bin };
	struct replayed done;
	struct pack pack;
	bool record;
	int r;

	if (work->order == ORDER_NONE)
		return EXIT_SUCCESS;
	if (!take_pack(work, &pack, &record)) {
		int learning = record || !work->shipped ? begin_learning(work, record) : EXIT_IGNORED;

		open_gate(work);
		return learning;
	}
	options.order = work->order >= 0 ? (enum order)work->order : pack.order;
	options.in_flight = work->in_flight;
	if (!options.in_flight)
		options.in_flight = options.order == ORDER_BLOCK ? IN_FLIGHT_TURNING : IN_FLIGHT_FLASH;
	options.gate = work->gate;
	work->gate = -1;
	if (options.order == ORDER_NONE) {
		pack_free(&pack);
		return EXIT_SUCCESS;
	}
	r = replay(&pack, &options, &done);
	pack_free(&pack);
	if (r) {
		say("%s: nothing is read ahead: %s", work->pack_name, strerror(-r));
		return EXIT_IGNORED;
	}
	say("read %lld bytes ahead by %s, %zu ranges of %zu files, %zu files not there%s", (long long)done.bytes,
	    order_name(options.order), done.ranges, done.files, done.skipped, done.memory_short ? ", memory is short" : "");
	if (work->shipped) {
		char fact[64];

		snprintf(fact, sizeof fact, "bootlab: fact readahead.bytes %lld\n", (long long)done.bytes);
		file_write("/dev/console", fact);
	}
	return EXIT_SUCCESS;
}

static int keep(const struct work *work, const struct pack *pack)
{
	size_t size;
	char *text;
	int r = pack_text(pack, &text, &size);

	if (!r) {
		r = store_write(work->pack_name, text, size);
		free(text);
	}
	if (r)
		say("%s: not written: %s", work->pack_name, strerror(-r));
	return r ? EXIT_IGNORED : EXIT_SUCCESS;
}

/* Each line a fact, for the host that boots this image to learn. */
static int tell_host(const struct pack *pack)
{
	FILE *console = fopen("/dev/console", "we");
	size_t size, number = 0;
	struct slice line;
	struct lines lines;
	char *text;

	if (!console || pack_text(pack, &text, &size)) {
		if (console)
			fclose(console);
		return EXIT_IGNORED;
	}
	lines = lines_of(text, size);
	while (line_next(&lines, &line))
		fprintf(console, "bootlab: fact readahead.%zu %.*s\n", ++number, (int)line.size, line.at);
	fprintf(console, "bootlab: fact readahead.end %zu\n", number);
	free(text);
	return fclose(console) ? EXIT_IGNORED : EXIT_SUCCESS;
}

static int learned(const struct work *work, bool record)
{
	struct pack pack = { .learned_s = time(NULL), .order = ORDER_BLOCK };
	struct learned found;
	int r, answer = EXIT_IGNORED;

	kernel_name(pack.kernel);
	snprintf(pack.goal, sizeof pack.goal, "%s", work->goal);
	pack.root = root_identity(work->root);
	pack.packages = packages_identity(work->root);
	if (pack.learned_s < 0)
		pack.learned_s = 0;
	r = learn_end(said_by, work->root, true, (struct names){ 0 }, &pack, &found);
	narrow_end(work->root, found.kept);
	if (r) {
		say("nothing is learned: %s", strerror(-r));
	} else {
		say("learned %zu pages of %zu files, %s; %zu pages without a name, %zu not noted", found.pages, pack.n_files,
		    found.traced ? "in their order" : "from memory, without their order", found.unnamed, found.lost);
		if (!record)
			pack.order = trials_next(&pack.trials);
		answer = record ? tell_host(&pack) : keep(work, &pack);
	}
	pack_free(&pack);
	return answer;
}

/* What the pack was learned on is not so any more, or it is old: why, or NULL. */
static const char *outdated(const struct work *work, const struct pack *pack)
{
	int64_t age_s = (int64_t)time(NULL) - pack->learned_s;

	if (pack->packages != packages_identity(work->root))
		return "packages have changed";
	if (strcmp(pack->goal, work->goal) != 0)
		return "its goal was another one";
	return age_s > OLDEST_S ? "it is a month old" : NULL;
}

static int forget(const struct work *work)
{
	if (work->shipped || !unlink(work->pack_name) || errno == ENOENT)
		return EXIT_SUCCESS;
	say("%s: not removed: %s", work->pack_name, strerror(errno));
	return EXIT_IGNORED;
}

static int goal(const struct work *work)
{
	struct pack pack;
	const char *why;
	bool record;
	int answer = EXIT_SUCCESS;

	if (!take_pack(work, &pack, &record)) {
		if (!record && work->shipped)
			return EXIT_SUCCESS;
		/* What the goal started is on its way: a login window reads the most of all that, seconds behind it. */
		rest_await(LEARN_ON_S);
		return learned(work, record);
	}
	why = outdated(work, &pack);
	if (work->shipped) {
		answer = EXIT_SUCCESS;
	} else if (why) {
		say("%s: %s: the next boot learns anew", work->pack_name, why);
		answer = forget(work);
	} else if (!trials_are_over(&pack.trials) && !trials_add(&pack.trials, pack.order, clock_now_ns())) {
		pack.order = trials_next(&pack.trials);
		if (trials_are_over(&pack.trials))
			say("%s: order %s from now on", work->pack_name, order_name(pack.order));
		answer = keep(work, &pack);
	}
	pack_free(&pack);
	return answer;
}

static int show(const struct work *work)
{
	const char *why = "";
	size_t size;
	struct pack pack;
	char *text = store_read(work->pack_name, PACK_BYTES, &size);
	int r = text ? pack_read(&pack, text, size, &why) : -errno;

	if (r) {
		fprintf(stderr, "bootlab-readahead: %s: %s%s\n", work->pack_name, text ? "it " : "", text ? why : strerror(-r));
		free(text);
		return EXIT_IGNORED;
	}
	fputs(text, stdout);
	free(text);
	pack_free(&pack);
	return fflush(stdout) ? EXIT_IGNORED : EXIT_SUCCESS;
}

static void choose_pack(struct work *work)
{
	struct stat status;

	if (!work->pack_name)
		work->pack_name = stat(SHIPPED, &status) ? LEARNED : SHIPPED;
	work->shipped = !strcmp(work->pack_name, SHIPPED);
}

/* ORDER[,READS AT ONCE[,KIB OF INIT[,KIB PUT IN ORDER TOGETHER]]]: what is not understood is not done. */
static void take_word(struct work *work, const char *word)
{
	int64_t numbers[] = { 0, work->first >> 10, work->bin >> 10 };
	struct slice rest = slice_of(word);
	enum order order;

	for (int i = -1; i < 3 && rest.size > 0; i++) {
		const char *comma = memchr(rest.at, ',', rest.size);
		struct slice one = { rest.at, comma ? (size_t)(comma - rest.at) : rest.size };

		if (i < 0 ? order_parse(one, &order) : parse_number(one, i == 0, i == 0 ? MOST_IN_FLIGHT : 1 << 20, &numbers[i])) {
			say(WORD "=%s: not understood", word);
			return;
		}
		rest = slice_from(rest, comma ? one.size + 1 : one.size);
	}
	work->order = (int)order;
	work->in_flight = (unsigned)numbers[0];
	work->first = numbers[1] << 10;
	work->bin = numbers[2] << 10;
}

/* Beside the real init, which waits until its own files are there, but never long. */
static int run_as_init(char **argv)
{
	static const char *const inits[] = { REAL_INIT, "/lib/systemd/systemd", "/sbin/bootlab-init", "/bin/sh" };
	int gate[2] = { -1, -1 };
	pid_t child;

	if (pipe2(gate, O_CLOEXEC))
		gate[0] = gate[1] = -1;
	child = fork();
	if (child == 0) {
		struct work work = { .root_name = "/", .goal = "goal", .order = -1, .gate = gate[1], .first = FIRST_BYTES };

		close(gate[0]);
		setsid();
		work.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		choose_pack(&work);
		/* The kernel hands init the words of its command line that it does not know. */
		if (getenv(WORD) && *getenv(WORD))
			take_word(&work, getenv(WORD));
		_exit(work.root < 0 ? EXIT_IGNORED : start(&work));
	}
	close(gate[1]);
	if (child > 0 && gate[0] >= 0) {
		struct pollfd until = { .fd = gate[0], .events = POLLIN };

		poll(&until, 1, GATE_MS);
	}
	close(gate[0]);
	for (size_t i = 0; i < sizeof inits / sizeof *inits; i++)
		execv(inits[i], argv);
	say("no init: %s", strerror(errno));
	return EXIT_IGNORED;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "root", required_argument, NULL, 'r' }, { "order", required_argument, NULL, 'o' },
		{ "in-flight", required_argument, NULL, 'i' }, { "name", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	struct work work = { .root_name = "/", .goal = "goal", .order = -1, .gate = -1, .first = FIRST_BYTES };
	enum order order;
	int64_t number;
	int option, answer;

	if (getpid() == 1)
		return run_as_init(argv);
	while ((option = getopt_long(argc, argv, "r:o:i:n:h", long_options, NULL)) >= 0)
		switch (option) {
		case 'r':
			work.root_name = optarg;
			break;
		case 'o':
			if (order_parse(slice_of(optarg), &order)) {
				fprintf(stderr, "bootlab-readahead: --order %s: expected none, block or need\n", optarg);
				return EXIT_USE;
			}
			work.order = (int)order;
			break;
		case 'i':
			if (parse_number(slice_of(optarg), 1, MOST_IN_FLIGHT, &number)) {
				fprintf(stderr, "bootlab-readahead: --in-flight %s: expected 1 to %d\n", optarg, MOST_IN_FLIGHT);
				return EXIT_USE;
			}
			work.in_flight = (unsigned)number;
			break;
		case 'n':
			work.goal = optarg;
			if (!*optarg || strlen(optarg) >= PACK_NAME || strpbrk(optarg, " \t\r\n")) {
				fprintf(stderr, "bootlab-readahead: --name %s: expected a word of less than %d bytes\n", optarg, PACK_NAME);
				return EXIT_USE;
			}
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(help, stderr);
			return EXIT_USE;
		}
	if (optind >= argc || argc - optind > 2) {
		fputs(help, stderr);
		return EXIT_USE;
	}
	work.pack_name = optind + 1 < argc ? argv[optind + 1] : NULL;
	choose_pack(&work);
	work.root = open(work.root_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (work.root < 0) {
		fprintf(stderr, "bootlab-readahead: --root %s: %s\n", work.root_name, strerror(errno));
		return EXIT_USE;
	}
	if (!strcmp(argv[optind], "start"))
		answer = start(&work);
	else if (!strcmp(argv[optind], "goal"))
		answer = goal(&work);
	else if (!strcmp(argv[optind], "show"))
		answer = show(&work);
	else if (!strcmp(argv[optind], "forget"))
		answer = forget(&work);
	else {
		fputs(help, stderr);
		answer = EXIT_USE;
	}
	close(work.root);
	return answer;
}
