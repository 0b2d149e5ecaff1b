/* SPDX-License-Identifier: MIT */
/*
 * bootlab-preload: what a session will open is read while its user still types a password. It learns that from the sessions before, and
 * gives way at once to whoever needs the disk or the memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "habits.h"
#include "opened.h"
#include "demand.h"
#include "readahead/learn.h"
#include "readahead/machine.h"
#include "readahead/replay.h"
#include "readahead/store.h"
#include "shared/clock.h"
#include "shared/files.h"

#define SHIPPED "/etc/bootlab/preload"             /* bootlab put it into the image: never changed here */
#define LEARNED "/var/lib/bootlab-preload/habits"  /* made here */
#define SOCKET "/run/bootlab-preload"              /* where a session says that it begins */
#define RECORD "bootlab-preload record\n"          /* instead of habits: print what one session taught */

enum { EXIT_IGNORED = 1, EXIT_USE = 2 };
/* One page in a tenth of a second is nobody: a disk that turns gives a busy reader ten. */
enum { LOOK_MS = 100, QUIET_MS = 300, REST_MS = 2000, LONGEST_START_MS = 60000, FOREGROUND_BYTES = 4 << 10 };
enum rest { AT_REST, BUSY, SESSION };

const char said_by[] = "bootlab-preload";

static const char help[] =
	"usage: bootlab-preload watch [FILE]\n"
	"       bootlab-preload session\n"
	"       bootlab-preload show [FILE]\n"
	"       bootlab-preload forget [FILE]\n"
	"\n"
	"Read what a session will open while its user still types a password.\n"
	"\n"
	"  watch      read ahead, as soon as nobody else reads; learn from each session that begins\n"
	"  session    a session begins: for pam_exec, which names its user; nothing that goes wrong holds a login up\n"
	"  show       print what is known\n"
	"  forget     begin anew\n"
	"  FILE       [default: " SHIPPED " if it is there, else " LEARNED "]\n"
	"\n"
	"Exit status: 0 done; 1 FILE was ignored or not written, with one line why; 2 wrong use.\n";

struct work {
	const char *name;
	bool shipped, record, kept; /* kept: what is known lies in the file */
	int root, socket;
	struct habits habits;
	struct demand demand;
	char user[HABITS_NAME]; /* of the session that has begun */
	const char *why;        /* reading ended early */
};

static bool known_here(struct work *work)
{
	const char *why = "";
	size_t size;
	char *text = store_read(work->name, HABITS_BYTES, &size);
	int r;

	if (!text) {
		if (errno != ENOENT)
			say("%s: ignored: %s", work->name, strerror(errno));
		return false;
	}
	work->record = size >= strlen(RECORD) && !memcmp(text, RECORD, strlen(RECORD));
	r = work->record ? 0 : habits_read(&work->habits, text, size, &why);
	free(text);
	if (work->record)
		return false;
	if (r)
		say("%s: ignored: it %s", work->name, r == -ENOMEM ? "does not fit into memory" : why);
	else if (work->habits.pack.root != root_identity(work->root))
		say("%s: ignored: it is of another file system", work->name);
	else if (work->habits.pack.packages != packages_identity(work->root) && !work->shipped)
		say("%s: ignored: packages have changed", work->name);
	else
		return work->kept = true;
	habits_free(&work->habits);
	return false;
}

/* A word from a session, or from nobody within `wait_ms`. */
static bool session_begins(struct work *work, int wait_ms)
{
	struct pollfd until = { .fd = work->socket, .events = POLLIN };
	ssize_t got;

	if (poll(&until, 1, wait_ms) <= 0)
		return false;
	got = recv(work->socket, work->user, sizeof work->user - 1, MSG_DONTWAIT);
	work->user[got > 0 ? got : 0] = 0;
	return got > 0;
}

/* Until nobody has read from the disk for so long; at most a minute. A session ends it if `break_off`. */
static enum rest wait_for_rest(struct work *work, int quiet_ms, bool break_off)
{
	int quiet = 0;

	demand_of_disk(&work->demand);
	for (int waited = 0; quiet < quiet_ms && waited < LONGEST_START_MS; waited += LOOK_MS) {
		if (break_off && session_begins(work, LOOK_MS))
			return SESSION;
		if (!break_off)
			poll(NULL, 0, LOOK_MS);
		quiet = demand_of_disk(&work->demand) > FOREGROUND_BYTES ? 0 : quiet + LOOK_MS;
	}
	return quiet < quiet_ms ? BUSY : AT_REST;
}

static const char never[] = "the disk was not at rest for a minute";

/* Ahead of each read. */
static bool go_on(void *context, int64_t bytes)
{
	struct work *work = context;

	(void)bytes;
	if (session_begins(work, 0)) {
		work->why = "a session began";
		return false;
	}
	if (demand_of_disk(&work->demand) > 0) {
		enum rest rest = wait_for_rest(work, QUIET_MS, true);

		if (rest != AT_REST) {
			work->why = rest == SESSION ? "a session began" : never;
			return false;
		}
	}
	/* Last: somebody may have taken it during the wait. */
	if (demand_of_memory(&work->demand)) {
		work->why = "memory is short";
		return false;
	}
	return true;
}

/* What turns is read in the order of its places, all else as it is needed. */
static enum order order_of(int root)
{
	char path[96], text[8];
	struct stat status;

	if (fstat(root, &status))
		return ORDER_NEED;
	for (int parent = 0; parent < 2; parent++) {
		snprintf(path, sizeof path, "/sys/dev/block/%u:%u/%squeue/rotational", major(status.st_dev), minor(status.st_dev),
			 parent ? "../" : "");
		if (file_read(path, text, sizeof text) > 0)
			return text[0] == '1' ? ORDER_BLOCK : ORDER_NEED;
	}
	return ORDER_NEED;
}

/* To the host that boots this image. */
static void tell(const char *name, const char *value)
{
	char line[128];

	snprintf(line, sizeof line, "bootlab: fact preload.%s %s\n", name, value);
	file_write("/dev/console", line);
}

/* True when it was a session that ended it. */
static bool preload(struct work *work)
{
	struct replay_options options = { .root = work->root, .in_flight = 2, .gate = -1, .go_on = go_on, .context = work };
	struct replayed done = { 0 };
	struct pack pack;
	enum rest rest;
	int r;

	rest = wait_for_rest(work, QUIET_MS, true);
	if (rest != AT_REST) {
		say("%s: nothing is read: %s", work->name, rest == SESSION ? "a session began before the disk was at rest" : never);
		return rest == SESSION;
	}
	demand_of_memory(&work->demand); /* the kernel keeps its word until somebody looks: it is of the boot, and over */
	options.order = order_of(work->root);
	r = habits_pick(&work->habits, &pack);
	if (!r)
		r = replay(&pack, &options, &done);
	if (r)
		say("%s: nothing is read: %s", work->name, strerror(-r));
	else
		say("read %lld bytes by %s, %zu ranges of %zu files, %zu files not there%s%s", (long long)done.bytes,
		    order_name(options.order), done.ranges, done.files, done.skipped, done.stopped ? ", until " : "",
		    done.stopped      ? work->why :
		    done.memory_short ? ", no more than half the free memory" :
					"");
	if (work->shipped) {
		char bytes[24];

		snprintf(bytes, sizeof bytes, "%lld", (long long)done.bytes);
		tell("bytes", bytes);
		tell("until", done.stopped ? work->why : done.memory_short ? "half the free memory" : "all");
	}
	pack_free(&pack);
	return done.stopped && work->user[0];
}

/* Each line a fact, for the host that boots this image to learn. */
static int tell_host(const char *text, size_t size)
{
	FILE *console = fopen("/dev/console", "we");
	struct lines lines = lines_of(text, size);
	struct slice line;
	size_t number = 0;

	if (!console)
		return -errno;
	while (line_next(&lines, &line))
		fprintf(console, "bootlab: fact preload.%zu %.*s\n", ++number, (int)line.size, line.at);
	fprintf(console, "bootlab: fact preload.end %zu\n", number);
	return fclose(console) ? -errno : 0;
}

static int keep(struct work *work)
{
	char *text = NULL;
	size_t size;
	int r = habits_text(&work->habits, &text, &size);

	if (!r && work->record)
		r = tell_host(text, size);
	else if (!r && !work->shipped)
		r = store_write(work->name, text, size);
	if (!r && !work->record && !work->shipped)
		work->kept = true;
	if (text)
		free(text);
	return r;
}

/* The session has begun; what it reads until the disk is at rest is what it begins with. */
static void learn(struct work *work)
{
	struct pack read = { 0 };
	struct learned found = { 0 };
	struct opened opened = { 0 };
	char user[HABITS_NAME];
	bool whole; /* all that was opened is known */
	int r, list = opened_begin("/");

	strcpy(user, work->user);
	work->user[0] = 0;
	learn_drop(said_by);
	r = learn_begin(said_by);
	wait_for_rest(work, REST_MS, false);
	if (list >= 0 && opened_end(list, "/", &opened))
		opened.lost++;
	if (work->kept && access(work->name, F_OK) && errno == ENOENT)
		habits_free(&work->habits); /* somebody asked to begin anew */
	whole = list >= 0 && !opened.lost && opened.n > 0;
	if (!r)
		r = learn_end(said_by, work->root, false, whole ? (struct names){ opened.paths, opened.n } : (struct names){ 0 }, &read,
			      &found);
	if (!r) {
		kernel_name(work->habits.pack.kernel);
		work->habits.pack.root = root_identity(work->root);
		work->habits.pack.packages = packages_identity(work->root);
		r = habits_learn(&work->habits, user, &read, whole ? opened.paths : NULL, opened.n);
	}
	if (!r)
		r = keep(work);
	if (r) {
		say("nothing is learned of this session: %s", strerror(-r));
		if (work->record)
			tell("failed", strerror(-r));
	} else {
		say("a session of %s opened %zu files and read %zu pages of %zu; %zu files are known, %zu left out, "
		    "%zu pages without a name, %zu not noted%s%s", user, opened.n,
		    found.pages, read.n_files, work->habits.pack.n_files, work->habits.left_out, found.unnamed, found.lost,
		    list < 0 ? "; this kernel does not tell what is opened" : "",
		    opened.lost ? "; more was opened than the kernel had room for" : "");
	}
	pack_free(&read);
	opened_free(&opened);
	while (session_begins(work, 0))
		say("a session of %s began meanwhile: nothing is learned of it", work->user);
	work->user[0] = 0;
}

static int listen_to_sessions(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCKET };
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	mode_t before;

	if (s < 0)
		return -errno;
	unlink(SOCKET);
	before = umask(0177); /* root alone says who logs in */
	if (bind(s, (struct sockaddr *)&address, sizeof address)) {
		int r = -errno;

		close(s);
		return r;
	}
	umask(before);
	return s;
}

static int watch(struct work *work)
{
	bool known = known_here(work), begun = false;

	if (work->shipped && !known && !work->record)
		return EXIT_IGNORED;
	work->socket = listen_to_sessions();
	if (work->socket < 0) {
		say(SOCKET ": %s", strerror(-work->socket));
		if (work->record)
			tell("failed", strerror(-work->socket));
		return EXIT_IGNORED;
	}
	if (work->record)
		tell("watching", "yes");
	setpriority(PRIO_PROCESS, 0, 19);
	demand_begin(&work->demand, work->root);
	if (known)
		begun = preload(work);
	while (begun || session_begins(work, -1)) {
		begun = false;
		if (work->shipped && !work->record)
			break;
		learn(work);
		if (work->record)
			break;
	}
	demand_end(&work->demand);
	unlink(SOCKET);
	return EXIT_SUCCESS;
}

/* Whoever sits at the machine: no job of cron's, no shell from another host, no change of user, no login window. */
static bool sits_here(void)
{
	static const char *const others[] = {
		"su", "su-l", "sudo", "sudo-i", "doas", "polkit-1", "runuser", "runuser-l", "cron", "crond", "atd", "sshd",
		"systemd-user", "gdm-launch-environment", "lightdm-greeter", "sddm-greeter",
	};
	const char *type = getenv("PAM_TYPE"), *service = getenv("PAM_SERVICE"), *host = getenv("PAM_RHOST");

	if (!type || strcmp(type, "open_session") != 0)
		return false;
	for (size_t i = 0; service && i < sizeof others / sizeof *others; i++)
		if (!strcmp(service, others[i]))
			return false;
	return !host || !*host || !strcmp(host, "localhost");
}

/* The image is one that is booted to learn. */
static bool is_to_record(void)
{
	char text[sizeof RECORD];

	return file_read(SHIPPED, text, sizeof text) > 0 && !strncmp(text, RECORD, strlen(RECORD));
}

/* Never an error: the login goes on. */
static int session(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCKET };
	const char *user = getenv("PAM_USER");
	int s;

	if (!sits_here() || !user || !*user || strlen(user) >= HABITS_NAME)
		return EXIT_SUCCESS;
	for (const char *at = user; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f)
			return EXIT_SUCCESS; /* no name that a line can have */
	s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s < 0)
		return EXIT_SUCCESS;
	/* Where nobody watches, the host that boots the image to learn would wait for ever. */
	if (sendto(s, user, strlen(user), 0, (struct sockaddr *)&address, sizeof address) < 0 && is_to_record())
		tell("missed", user);
	close(s);
	return EXIT_SUCCESS;
}

static int show(const struct work *work)
{
	struct habits habits = { 0 };
	const char *why = "";
	size_t size;
	char *text = store_read(work->name, HABITS_BYTES, &size);
	int r = text ? habits_read(&habits, text, size, &why) : -errno;

	if (r) {
		fprintf(stderr, "bootlab-preload: %s: %s%s\n", work->name, text ? "it " : "", text ? why : strerror(-r));
	} else {
		printf("expected by sessions of");
		for (size_t user = 0; user < habits.n_users; user++)
			printf(" %s", habits.users[user]);
		printf(", of a thousand:\n");
		for (size_t file = 0; file < habits.pack.n_files; file++)
			printf("%4lld  /%s\n", (long long)habits_expect(&habits, file, NULL), habits.pack.files[file]);
	}
	free(text);
	habits_free(&habits);
	return r || fflush(stdout) ? EXIT_IGNORED : EXIT_SUCCESS;
}

static int forget(const struct work *work)
{
	if (work->shipped) {
		fprintf(stderr, "bootlab-preload: %s: not removed: it came with the image\n", work->name);
		return EXIT_IGNORED;
	}
	if (!unlink(work->name) || errno == ENOENT)
		return EXIT_SUCCESS;
	fprintf(stderr, "bootlab-preload: %s: not removed: %s\n", work->name, strerror(errno));
	return EXIT_IGNORED;
}

int main(int argc, char **argv)
{
	struct work work = { 0 };
	struct stat status;
	const char *verb = argc > 1 ? argv[1] : "";
	int answer;

	if (argc == 2 && (!strcmp(verb, "--help") || !strcmp(verb, "-h"))) {
		fputs(help, stdout);
		return EXIT_SUCCESS;
	}
	if (argc < 2 || argc > 3 || (argc == 3 && !strcmp(verb, "session"))) {
		fputs(help, stderr);
		return EXIT_USE;
	}
	if (!strcmp(verb, "session"))
		return session();
	work.name = argc == 3 ? argv[2] : stat(SHIPPED, &status) ? LEARNED : SHIPPED;
	work.shipped = !strcmp(work.name, SHIPPED);
	work.root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!strcmp(verb, "watch"))
		answer = watch(&work);
	else if (!strcmp(verb, "show"))
		answer = show(&work);
	else if (!strcmp(verb, "forget"))
		answer = forget(&work);
	else {
		fputs(help, stderr);
		answer = EXIT_USE;
	}
	habits_free(&work.habits);
	return answer;
}
