/* SPDX-License-Identifier: MIT */
/*
 * bootlab-clone: where a snapshot of this machine belongs, and what a machine that is restored from it must change first.
 *
 * It makes a mark at which the host may keep the machine. What runs behind that is either the machine itself, which was never
 * kept, or a clone: the host says which. A clone gets random numbers, time and names of its own before anybody else runs on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "change.h"
#include "identity.h"
#include "mark.h"
#include "stamps.h"
#include "told.h"

#define AFTER_WAKING "/etc/bootlab/after-waking"

enum { EXIT_FAILED = 1, EXIT_USE = 2 };

static const char help[] =
	"usage: bootlab-clone [MARK]\n"
	"\n"
	"Say that this machine may be kept here, and go on; in a clone of it, make that a machine of its own first.\n"
	"\n"
	"  MARK   the mark to make [default: snapshot]\n"
	"\n"
	"In a clone the programs in " AFTER_WAKING " run at last, in the order of their names.\n"
	"Exit status: 0 go on; 1 a step failed in a clone, and was named; 2 wrong use. A clone whose file systems have\n"
	"changed since it was kept restarts the machine at once, without writing anything.\n";

static struct stamps stamps;
static char text[IDENTITY_SIZE];

static void make_mark(const char *name)
{
	mark_announce(name, (long)strlen(name));
	printf("bootlab: mark %s\n", name);
}

/* Nothing is written back: what this machine believes of the disk is not so any more. */
__attribute__((noreturn)) static void refuse(const char *what, const char *where)
{
	printf("bootlab: clone refused: %s%s\n", what, where);
	fflush(stdout);
	/* The line must be out before the machine is gone; a console that is no terminal has nothing to wait for. */
	fsync(STDOUT_FILENO);
	mark_announce("clone_refused", (long)strlen("clone_refused"));
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* A host that cannot stop a machine at an instruction says `held`: whoever reads on after that is a clone, or was let go. */
static int read_identity(const struct told *told, const char *mark, struct identity *ret)
{
	unsigned line = 0;
	int r;

	for (;;) {
		r = told_read(told, text, sizeof text);
		if (!r)
			r = identity_read(text, sizeof text, ret, &line);
		/* Reading waits for the host as it is: a sleep would be part of every clone's waking. */
		if (r || strcmp(ret->held, mark))
			return r;
	}
}

static unsigned failed(const char *step, int r)
{
	if (!r)
		return 0;
	printf("bootlab: clone failed: %s: %s\n", step, strerror(-r));
	return 1;
}

static unsigned change(const struct identity *identity)
{
	unsigned wrong = failed("random numbers", change_random(identity));
	int64_t behind_us;

	wrong += failed("clock", change_clock(identity, &behind_us));
	if (behind_us) {
		printf("bootlab: clone: the time that it was told is %lld us behind its own, which it keeps\n", (long long)behind_us);
		printf("bootlab: fact clock_behind_us %lld\n", (long long)behind_us);
	}
	wrong += failed("host name", change_host_name(identity));
	wrong += failed("machine-id", change_machine_id(identity));
	wrong += failed("mac", change_mac(identity));
	return wrong + change_by_programs(AFTER_WAKING);
}

/* What the host compares between clones: the first random bytes that this one was given. */
static void tell(const struct identity *identity)
{
	unsigned char drawn[16];
	char digits[2 * sizeof drawn + 1], host[IDENTITY_NAME + 1] = "";

	if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
		memset(drawn, 0, sizeof drawn);
	for (size_t i = 0; i < sizeof drawn; i++)
		sprintf(digits + 2 * i, "%02x", drawn[i]);
	gethostname(host, sizeof host - 1);
	printf("bootlab: fact clone %lld %s %s\n", (long long)identity->number, digits, host);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "snapshot";
	struct identity identity = { 0 };
	const struct stamp *changed;
	struct told told;
	unsigned wrong;
	int r;

	if (argc > 2 || !name[0] || name[0] == '-' || strlen(name) > MARK_NAME_MAX) {
		fputs(help, argc == 2 && !strcmp(name, "--help") ? stdout : stderr);
		return argc == 2 && !strcmp(name, "--help") ? 0 : EXIT_USE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	r = told_open(&told);
	if (r && r != -ENOENT)
		printf("bootlab: clone: fw_cfg: %s, and no drive: a clone of this machine would not know that it is one\n", strerror(-r));
	sync();
	stamps_take(&stamps);
	if (stamps.left_out)
		printf("bootlab: clone: %zu file systems have no stamp: more than %d, or not to be read\n", stamps.left_out, STAMPS_MAX);
	/* All that is read from here on is this clone's own. */
	make_mark(name);
	if (r)
		return 0;
	r = read_identity(&told, name, &identity);
	if (r)
		refuse("who this clone is cannot be read: ", strerror(-r));
	if (!identity.number)
		return 0;
	make_mark("woke");
	changed = stamps_find_changed(&stamps);
	if (changed)
		refuse("changed since the snapshot: the file system on ", changed->source);
	wrong = change(&identity);
	tell(&identity);
	return wrong ? EXIT_FAILED : 0;
}
