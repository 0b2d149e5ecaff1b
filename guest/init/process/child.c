/* SPDX-License-Identifier: MIT */
/* Makes a forked child into a unit's process: descriptors, user, limits, folders, terminal, then its program. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "boot/logins.h"
#include "confine.h"
#include "environment.h"
#include "limits.h"
#include "loop.h"
#include "passwd.h"
#include "shared/files.h"
#include "shared/large.h"
#include "shared/own.h"
#include "shared/print.h"
#include "shared/text.h"

enum { EXIT_NOT_EXECUTED = 127, FIRST_FD = 3, SAID_BYTES = 300, CLOSE_BYTES = 1 << 21 };

const char *child_step_name(unsigned step)
{
	static const char *const STEPS[] = { "",	   "tty",	 "descriptor", "limit",	      "group",
					     "user", "run-folder", "directory",  "environment", "capabilities", "exec" };

	return step < sizeof STEPS / sizeof STEPS[0] ? STEPS[step] : "";
}

/* Of a connection's process: PID 1 knows only that it ended. The log has the reason. */
static void say_why(const struct child *child, enum child_step step, int error)
{
	char text[SAID_BYTES];
	int size = print(text, sizeof text, "%s: %s: %s\n", child->command->argv[0], child_step_name(step), strerror(error));

	if (write(child->output_fd, text, size < SAID_BYTES ? (size_t)size : SAID_BYTES - 1) < 0)
		_exit(EXIT_NOT_EXECUTED);
}

__attribute__((noreturn))
static void give_up(const struct child *child, enum child_step step, int error)
{
	struct exec_failure failure = { .error = error, .step = (uint8_t)step };

	if (child->exec_fd < 0 && child->output_fd >= 0)
		say_why(child, step, error);
	/* The pipe is empty, so this does not wait; if PID 1 is not there to read, nobody is. */
	if (child->exec_fd >= 0 && write(child->exec_fd, &failure, sizeof failure) < 0)
		_exit(EXIT_NOT_EXECUTED);
	_exit(EXIT_NOT_EXECUTED);
}

/* Before Linux 5.9. What is open is listed, where there is /proc; else all that could be. */
static void close_each(unsigned from, unsigned to)
{
	struct arena arena = { .bytes = own_room_of_child(CLOSE_BYTES), .size = CLOSE_BYTES };
	struct listing open_ones;
	struct rlimit limit;
	int64_t fd;

	if (folder_list("/proc/self/fd", &arena, &open_ones) == 0 && open_ones.left_out == 0) {
		for (size_t i = 0; i < open_ones.n; i++)
			if (!parse_number(slice_of(open_ones.names[i]), from, (int64_t)to - 1, &fd))
				close((int)fd);
		return;
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < to)
		to = (unsigned)limit.rlim_cur;
	for (; from < to; from++)
		close((int)from);
}

void child_close_others(const int *kept, size_t n_kept)
{
	unsigned from = FIRST_FD, next;

	for (; from < INT_MAX; from = next + 1) {
		next = INT_MAX;
		for (size_t i = 0; i < n_kept; i++)
			if (kept[i] >= (int)from && kept[i] < (int)next)
				next = (unsigned)kept[i];
		if (next > from && syscall(SYS_close_range, from, next - 1, 0) && errno == ENOSYS)
			close_each(from, next);
	}
}

static void open_tty(const struct child *child)
{
	int fd = open(child->unit->tty, O_RDWR | O_NOCTTY);

	if (fd < 0)
		give_up(child, STEP_TTY, errno);
	/* Without one (/dev/console has no job control) the program runs all the same. */
	ioctl(fd, TIOCSCTTY, 1);
	for (int i = 0; i < FIRST_FD; i++)
		if (dup2(fd, i) < 0)
			give_up(child, STEP_TTY, errno);
	if (fd >= FIRST_FD)
		close(fd);
}

static void open_null(const struct child *child, int connection)
{
	int in = open("/dev/null", O_RDONLY), out = child->output_fd;

	/* No /dev yet: an empty pipe reads the same. */
	if (in < 0) {
		int ends[2];

		if (pipe(ends))
			give_up(child, STEP_DESCRIPTOR, errno);
		close(ends[1]);
		in = ends[0];
	}
	if (out < 0)
		out = open(child->unit->output == OUTPUT_CONSOLE ? "/dev/console" : "/dev/null", O_WRONLY | O_NOCTTY);
	if (dup2(in, 0) < 0 || (out >= 0 && (dup2(out, 1) < 0 || dup2(out, 2) < 0)))
		give_up(child, STEP_DESCRIPTOR, errno);
	/* As inetd has it: who connects is who it reads of and writes to. */
	if (child->unit->connection_is_input && connection >= 0 &&
	    (dup2(connection, 0) < 0 || dup2(connection, 1) < 0 || (!child->unit->logs_errors && dup2(connection, 2) < 0)))
		give_up(child, STEP_DESCRIPTOR, errno);
	if (in > 2)
		close(in);
	if (out > 2 && out != child->output_fd)
		close(out);
}

/* Out of the way of the numbers that the program expects something else at; closed by exec. */
static int move_up(const struct child *child, int fd)
{
	int first = FIRST_SOCKET_FD + (int)child->n_sockets, ready = child->ready_fd < 0 ? 0 : child->unit->ready_fd + 1;
	int moved = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, first > ready ? first : ready);

	if (moved < 0 && fd >= 0)
		give_up(child, STEP_DESCRIPTOR, errno);
	return moved;
}

static void place_at(const struct child *child, int fd, int wanted)
{
	if (dup2(fd, wanted) < 0)
		give_up(child, STEP_DESCRIPTOR, errno);
}

static void place_descriptors(struct child *child, const int *sockets)
{
	int ready_fd;

	if (child->n_sockets == 0 && child->ready_fd < 0)
		return;
	child->exec_fd = move_up(child, child->exec_fd);
	ready_fd = move_up(child, child->ready_fd);
	for (unsigned i = 0; i < child->n_sockets; i++)
		place_at(child, sockets[i], FIRST_SOCKET_FD + (int)i);
	if (ready_fd >= 0)
		place_at(child, ready_fd, child->unit->ready_fd);
}

static void set_limits(const struct child *child)
{
	const struct unit *unit = child->unit;
	char text[16];

	int r;

	limits_give_back();
	if (unit->origin == ORIGIN_SYSTEMD)
		limits_of_service();
	r = unit->confinement ? confine_resources(unit->confinement) : 0;
	if (r)
		give_up(child, STEP_LIMIT, -r);
	if (unit->nice != 0 && setpriority(PRIO_PROCESS, 0, unit->nice))
		give_up(child, STEP_LIMIT, errno);
	/* A kernel without /proc has no such score to set, either. */
	print(text, sizeof text, "%d", unit->oom);
	if (unit->oom_given)
		file_write("/proc/self/oom_score_adj", text);
}

static void find_identity(const struct child *child, struct identity *ret)
{
	const struct unit *unit = child->unit;
	int r;

	if (unit->user) {
		r = passwd_find_user(unit->user, ret);
		if (r)
			give_up(child, STEP_USER, -r);
	}
	if (unit->group) {
		r = passwd_find_group(unit->group, &ret->gid);
		if (r)
			give_up(child, STEP_GROUP, -r);
	}
}

/*
 * Below /run, which is new at every boot; what is there already stays as it is but for its owner. Those on the way to it are made, too, as
 * root's. Each step is a folder and no link: one may belong to a user, who could have put something else of root's in the place of the next.
 */
static void make_run_folders(const struct child *child, const struct identity *identity)
{
	LARGE static char path[PATH_MAX];
	char *end, *step;

	for (const char *const *name = child->unit->run_folders; name && *name; name++) {
		int at = open("/run", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (print(path, sizeof path, "%s", *name) >= (int)sizeof path)
			give_up(child, STEP_RUN_FOLDER, ENAMETOOLONG);
		for (step = path; step && at >= 0; step = end ? end + 1 : NULL) {
			int above = at;

			end = strchr(step, '/');
			if (end)
				*end = '\0';
			if (!*step)
				continue;
			if (mkdirat(above, step, 0755) && errno != EEXIST)
				give_up(child, STEP_RUN_FOLDER, errno);
			at = openat(above, step, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			close(above);
		}
		if (at < 0 || fchown(at, identity->uid, identity->gid) || (child->unit->run_mode && fchmod(at, child->unit->run_mode)))
			give_up(child, STEP_RUN_FOLDER, errno);
		close(at);
	}
}

static void become_user(const struct child *child, const struct identity *identity)
{
	const struct unit *unit = child->unit;

	if ((!unit->user && !unit->group) || child->command->as_root)
		return;
	/* As systemd has it: of the group root nobody has others. */
	if (setgroups(unit->origin == ORIGIN_SYSTEMD && identity->gid == 0 ? 0 : identity->n_groups, identity->groups) || setgid(identity->gid))
		give_up(child, STEP_GROUP, errno);
	if (unit->user && setuid(identity->uid))
		give_up(child, STEP_USER, errno);
}

/* Returns only when it cannot be executed, with errno set. systemd's services may name a program without its folder. */
static void execute(const char *const *argv, bool renamed, char *const *environment)
{
	char *const *told = (char *const *)argv + renamed;
	static const char *const FOLDERS[] = { "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin" };
	LARGE static char path[PATH_MAX];

	if (strchr(argv[0], '/')) {
		execve(argv[0], told, environment);
		return;
	}
	for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
		if (print(path, sizeof path, "%s/%s", FOLDERS[i], argv[0]) < (int)sizeof path)
			execve(path, told, environment);
		if (errno != ENOENT && errno != ENOTDIR)
			return;
	}
}

void child_run(const struct child *given)
{
	struct child child = *given;
	const struct unit *unit = child.unit;
	const char *const *argv = child.command->argv;
	LARGE static struct identity identity; /* root's, if nobody says another */
	int kept[3 + MAX_UNIT_SOCKETS] = { child.exec_fd, child.output_fd, child.ready_fd }, *sockets = kept + 3;
	const struct confinement *confined;
	char *const *environment;
	int r;

	/* Its own session first: a signal for the unit is one for its process group, and PID 1's are still blocked. */
	setsid();
	umask(unit->umask);
	for (unsigned i = 0; i < child.n_sockets; i++)
		sockets[i] = move_up(&child, child.sockets[i]);
	/* Closed by exec too, but until then they count against the limit. */
	child_close_others(kept, 3 + child.n_sockets);
	if (unit->tty)
		open_tty(&child);
	else
		open_null(&child, child.n_sockets > 0 ? sockets[0] : -1);
	if (unit->connection_is_input) {
		for (unsigned i = 0; i < child.n_sockets; i++)
			close(sockets[i]);
		child.n_sockets = 0;
	}
	place_descriptors(&child, sockets);
	set_limits(&child);
	find_identity(&child, &identity);
	environment = environment_build(unit, &identity, child.main, child.notify_name, child.n_sockets,
					child.command->phase == PHASE_START);
	if (!environment)
		give_up(&child, STEP_ENVIRONMENT, errno);
	if (unit->origin == ORIGIN_SYSTEMD && !child.command->literal)
		argv = environment_expand(argv, environment);
	if (!argv)
		give_up(&child, STEP_ENVIRONMENT, E2BIG);
	make_run_folders(&child, &identity);
	if (unit->asks_login && child.command->phase == PHASE_START)
		logins_begin(unit->tty);
	if (chdir(unit->directory ? unit->directory : "/"))
		give_up(&child, STEP_DIRECTORY, errno);
	confined = child.command->unconfined ? NULL : unit->confinement;
	r = confined ? confine_before_user(confined) : 0;
	if (r)
		give_up(&child, STEP_CAPABILITIES, -r);
	become_user(&child, &identity);
	r = confined ? confine_after_user(confined) : 0;
	if (r)
		give_up(&child, STEP_CAPABILITIES, -r);
	loop_become_child();
	if (unit->ignores_pipe)
		signal(SIGPIPE, SIG_IGN);
	execute(argv, child.command->renamed, environment);
	give_up(&child, STEP_EXEC, errno);
}
