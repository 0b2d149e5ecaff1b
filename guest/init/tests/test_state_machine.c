/* SPDX-License-Identifier: MIT */
/*
 * All of supervision/ and shutdown.c over scripted processes and a clock that this test moves: 10,000 random sets of units, each
 * with random exits, readiness, deafness to signals, connections and requests, to the end of a shutdown. After every step: no
 * unit is up without what it needs, no process is in two units, no unit has more connections than its file says; and every
 * shutdown ends in SIGKILL to all, then sync and a read-only root.
 *
 * The system calls below take the place of the C library's; process/spawn.c, ready.c and sockets.c are played here.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "dice.h"
#include "process/adoption.h"
#include "process/ready.h"
#include "process/sockets.h"
#include "process/spawn.h"
#include "shared/clock.h"
#include "shutdown.h"
#include "state/account.h"
#include "state/log.h"
#include "state/pids.h"
#include "state/runs.h"
#include "supervision/exits.h"
#include "supervision/pressure.h"
#include "supervision/supervise.h"
#include "units/graph.h"
#include "units/unit_file.h"
#include "unmount.h"

enum { SCHEDULES = 10000, MOST_UNITS = 8, MOST_PROCESSES = 512, EVENTS = 60, SPINS = 10000, SLACK_S = 8 };
enum { FIRST_PID = 1000, STRANGER = 4242, LISTENING_FD = 1 << 20, CONNECTION_FD };

struct process {
	bool exists, zombie, deaf, stuck, is_main, is_sync, announces, ready_said;
	pid_t pid, group, session;
	unit_id unit, serves; /* the unit whose connection it has */
	int64_t exec_ns, ready_ns, exit_ns; /* 0: never */
	int status;
};

static int64_t now_ns;
static struct process processes[MOST_PROCESSES];
static size_t n_processes;
static const struct spawn_watchers *watchers[MOST_UNITS + 1];
static bool killed_all, synced, sync_begun;
static int64_t sync_begun_ns, asked_ns;
static jmp_buf machine_ended;
static loop_fn *listening[MOST_UNITS + 1];
static unsigned n_connected, n_queued, n_not_accepted;
static unsigned n_ups, n_adopted, n_refused, n_left, n_synced, n_hung, n_reloads, n_left_out;

static struct process *find(pid_t pid)
{
	for (size_t i = 0; i < n_processes; i++)
		if (processes[i].exists && processes[i].pid == pid)
			return &processes[i];
	return NULL;
}

static int64_t later(unsigned most_ms)
{
	return now_ns + (1 + (int64_t)below(most_ms)) * NS_PER_MS;
}

static struct process *add_process(unit_id id)
{
	struct process *process = &processes[n_processes];

	CHECK(n_processes < MOST_PROCESSES);
	*process = (struct process){ .exists = true, .pid = FIRST_PID + (pid_t)n_processes, .unit = id, .serves = NO_UNIT };
	process->group = process->session = process->pid;
	n_processes++;
	return process;
}

static void end(struct process *process, int status)
{
	if (process->zombie || process->stuck)
		return;
	process->zombie = true;
	process->status = status;
	/* What it forked is PID 1's from now on, as it was before: here all are its children. */
}

/* ---- System calls -------------------------------------------------------------------------------------------------------- */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){ .tv_sec = now_ns / NS_PER_S, .tv_nsec = now_ns % NS_PER_S };
	return 0;
}

static void signal_one(struct process *process, int number)
{
	if (number == SIGKILL)
		end(process, SIGKILL);
	else if (number == SIGTERM && !process->deaf && !process->zombie)
		process->exit_ns = later(300);
}

int kill(pid_t pid, int number)
{
	bool found = false;

	if (pid == -1 && number == SIGKILL)
		killed_all = true;
	for (size_t i = 0; i < n_processes; i++) {
		struct process *process = &processes[i];

		if (!process->exists || !(pid == -1 || process->pid == pid || process->group == -pid))
			continue;
		found = true;
		signal_one(process, number);
	}
	errno = ESRCH;
	return found ? 0 : -1;
}

pid_t getpgid(pid_t pid)
{
	return find(pid) ? find(pid)->group : -1;
}

pid_t getsid(pid_t pid)
{
	return find(pid) ? find(pid)->session : -1;
}

int waitid(idtype_t type, id_t id, siginfo_t *ret, int options)
{
	bool any = false;

	CHECK(options & WNOWAIT);
	ret->si_pid = 0;
	for (size_t i = 0; i < n_processes; i++) {
		if (!processes[i].exists || (type == P_PID && processes[i].pid != (pid_t)id))
			continue;
		any = true;
		if (processes[i].zombie && ret->si_pid == 0)
			ret->si_pid = processes[i].pid;
	}
	errno = ECHILD;
	return any ? 0 : -1;
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	static const int ERRORS[] = { EAGAIN, ECONNABORTED, EMFILE, ENFILE, ENOMEM };

	(void)address, (void)size;
	CHECK(fd == LISTENING_FD && (flags & SOCK_CLOEXEC));
	if (below(8))
		return CONNECTION_FD;
	n_not_accepted++;
	errno = ERRORS[below(sizeof ERRORS / sizeof ERRORS[0])];
	return -1;
}

/* Of shutdown.c: the child that syncs and unmounts. */
pid_t fork(void)
{
	struct process *process;

	CHECK(killed_all || n_left == 0);
	sync_begun = true;
	sync_begun_ns = now_ns;
	if (below(8) == 0) {
		errno = EAGAIN;
		return -1;
	}
	process = add_process(NO_UNIT);
	process->is_sync = true;
	process->deaf = true;
	process->exit_ns = below(10) ? later(2500) : 0; /* a dead disk */
	return process->pid;
}

bool unmount_all(void)
{
	synced = true;
	return true;
}

int reboot(int command)
{
	CHECK(command == RB_POWER_OFF);
	longjmp(machine_ended, 1);
}

/* ---- In the place of spawn.c and ready.c --------------------------------------------------------------------------------- */

int spawn_command(const struct units *all, unit_id id, const struct command *command, bool as_main,
		  const struct spawn_watchers *told)
{
	struct process *process;

	if (below(40) == 0)
		return -EAGAIN;
	process = add_process(id);
	process->is_main = as_main;
	process->deaf = below(6) == 0;
	process->stuck = below(200) == 0;
	process->exec_ns = later(20);
	process->status = below(4) ? 0 : 1 << 8;
	if (!as_main) {
		process->exit_ns = below(12) ? later(400) : 0;
	} else {
		process->announces = below(4) == 0;
		process->ready_ns = below(6) ? later(600) : 0;
		process->exit_ns = below(2) ? later(4000) : 0;
	}
	/* What a start command leaves behind: of its session, or as far away as daemons go. */
	if (command->phase == PHASE_START && below(3) == 0) {
		struct process *helper = add_process(NO_UNIT);

		helper->group = below(2) ? process->pid : helper->pid;
		helper->session = below(2) ? process->pid : helper->pid;
		helper->exit_ns = later(6000);
	}
	watchers[id] = told;
	(void)all;
	if (as_main)
		runs_set_main(id, process->pid);
	else
		runs_set_pid(id, process->pid);
	if (command->phase == PHASE_START)
		runs[id].session = process->pid;
	return 0;
}

int spawn_connection(const struct units *all, unit_id id, const struct command *command, int connection)
{
	struct process *process;

	CHECK(connection == CONNECTION_FD && command->phase == PHASE_START && runs[id].connections < all->unit[id].each_connection);
	if (below(20) == 0)
		return -EAGAIN;
	process = add_process(NO_UNIT);
	process->serves = id;
	process->deaf = below(6) == 0;
	process->stuck = below(100) == 0;
	process->status = below(4) ? 0 : 1 << 8;
	process->exit_ns = below(3) ? later(1500) : 0;
	pids_add_connection(id, process->pid);
	runs[id].connections++;
	n_connected++;
	return 0;
}

int spawn_builtin(const struct units *all, unit_id id, const struct spawn_watchers *told)
{
	(void)all, (void)id, (void)told;
	abort();
}

int spawn_result(unit_id id, const char **ret_step)
{
	(void)id;
	*ret_step = "exec";
	return 0;
}

pid_t spawn_shell(const char *program)
{
	(void)program;
	return -EAGAIN;
}

void sockets_init(const struct units *all)
{
	(void)all;
	memset(listening, 0, sizeof listening);
}

int sockets_open(const struct units *all, unit_id id, const char **ret_address)
{
	*ret_address = "tcp 80";
	return all->unit[id].n_sockets > 0 && below(40) == 0 ? -EADDRINUSE : 0;
}

int sockets_watch(const struct units *all, unit_id id, loop_fn *fn)
{
	CHECK(all->unit[id].n_sockets > 0);
	if (below(40) == 0)
		return -ENOMEM;
	listening[id] = fn;
	return 0;
}

void sockets_unwatch(const struct units *all, unit_id id)
{
	(void)all;
	listening[id] = NULL;
}

void sockets_close(const struct units *all, unit_id id)
{
	sockets_unwatch(all, id);
}

void sockets_succeed(const struct units *before, const struct units *all)
{
	(void)before, (void)all;
	abort();
}

void sockets_change(const struct units *all, const struct unit *was, unit_id id)
{
	(void)all, (void)was, (void)id;
	abort();
}

const int *sockets_of(const struct units *all, unit_id id)
{
	(void)all, (void)id;
	return NULL;
}

int ready_open_notify(unit_id id, loop_fn *readable)
{
	(void)id, (void)readable;
	return 0;
}

/* Any process there is, of anybody: a thief's choice. */
static pid_t some_pid(void)
{
	pid_t pid = FIRST_PID + (pid_t)below((unsigned)n_processes + 1);

	return below(10) ? pid : STRANGER;
}

void ready_drain_notify(unit_id id, ready_fn *ready)
{
	struct process *process = find(runs[id].main);

	if (!process || process->ready_said || process->ready_ns == 0 || process->ready_ns > now_ns)
		return;
	process->ready_said = true;
	if (process->announces) {
		const char *why;
		pid_t pid = some_pid();

		switch (adoption_try(id, pid, below(2) ? 0 : 65534, &why)) {
		case ADOPTION_LATER:
			runs[id].next_main = pid;
			break;
		case ADOPTION_REFUSED:
			n_refused++;
			break;
		default:
			n_adopted++;
		}
	}
	ready(id);
}

enum ready_line ready_read_line(unit_id id)
{
	(void)id;
	return LINE_AWAITED;
}

bool ready_look_at_pidfile(unit_id id)
{
	const char *why;

	return below(8) == 0 && adoption_try(id, some_pid(), below(2) ? 0 : 65534, &why) == ADOPTION_DONE;
}

bool ready_adopt_announced(unit_id id)
{
	pid_t pid = runs[id].next_main;
	const char *why;

	runs[id].next_main = 0;
	return adoption_try(id, pid, 0, &why) == ADOPTION_DONE;
}

/* ---- Units ---------------------------------------------------------------------------------------------------------------- */

/* One that is started, or once for each, by who connects. */
static void add_listener(unsigned number)
{
	static const char *const RESTART[] = { "no", "on-failure", "always" };
	char text[512], name[16], path[32];
	size_t used = (size_t)snprintf(text, sizeof text, "exec /bin/a\noutput null\nlisten tcp %u\nrestart %s\nstop-timeout %s\n",
				       80 + number, RESTART[below(3)], below(5) ? "700ms" : "infinity");

	used += (size_t)snprintf(text + used, sizeof text - used, below(3) ? "each-connection %u\n" : "on-demand yes\n", 1 + below(4));
	for (unsigned other = 0; other < number; other++)
		if (below(4) == 0)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s u%u\n", below(2) ? "needs" : "after", other);
	snprintf(name, sizeof name, "u%u", number);
	snprintf(path, sizeof path, "u%u.unit", number);
	CHECK(unit_file_parse(&units, slice_of(name), path, text, used));
}

static void add_unit(unsigned number)
{
	static const char *const READY[] = { "exec", "exit", "fork", "notify", "notify", "pidfile" };
	static const char *const RESTART[] = { "no", "on-failure", "always" };
	static const char *const RELATION[] = { "needs", "wants", "after" };
	char text[1024], name[16], path[32];
	size_t used = (size_t)snprintf(text, sizeof text, "exec /bin/a\nready %s\nrestart %s\n", READY[below(6)], RESTART[below(3)]);

	for (unsigned other = 0; other < number; other++)
		if (below(3) == 0)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s u%u\n", RELATION[below(3)], other);
	used += (size_t)snprintf(text + used, sizeof text - used, "pidfile /run/none\ntimeout %s\nstop-timeout %s\n",
				 below(5) ? "1500ms" : "infinity", below(5) ? "700ms" : "infinity");
	if (below(4) == 0)
		used += (size_t)snprintf(text + used, sizeof text - used, "pre /bin/b\n");
	if (below(4) == 0)
		used += (size_t)snprintf(text + used, sizeof text - used, "post /bin/c\n");
	if (below(3) == 0)
		used += (size_t)snprintf(text + used, sizeof text - used, "stop /bin/d\n");
	if (below(3) == 0)
		used += (size_t)snprintf(text + used, sizeof text - used, "reload /bin/e\nreload -/bin/f\n");
	if (below(6) == 0)
		used += (size_t)snprintf(text + used, sizeof text - used, "restart-limit %u\n", 1 + below(3));
	if (below(8) == 0)
		used += (size_t)snprintf(text + used, sizeof text - used, "serial yes\n");
	if (below(8) == 0)
		used += (size_t)snprintf(text + used, sizeof text - used, "enable no\n");
	if (below(12) == 0)
		used += (size_t)snprintf(text + used, sizeof text - used, "condition %spath /\n", below(2) ? "not " : "");
	if (below(20) == 0)
		used += (size_t)snprintf(text + used, sizeof text - used, "needs nobody\n");
	snprintf(name, sizeof name, "u%u", number);
	snprintf(path, sizeof path, "u%u.unit", number);
	CHECK(unit_file_parse(&units, slice_of(name), path, text, used));
}

/* ---- What holds at all times ---------------------------------------------------------------------------------------------- */

/* Up; or up by its sockets, and its program is being started because somebody has come. */
static bool is_there(unit_id id)
{
	return runs[id].state == STATE_UP || (runs[id].state == STATE_STARTING && units.unit[id].on_demand && runs[id].demanded);
}

static void check_needs(void)
{
	for (size_t i = 0; i < units.n_units; i++) {
		const struct run *run = &runs[i];

		/* One that is on its way down waits for those that need it. */
		if (run->state != STATE_UP || run->stop_wanted)
			continue;
		n_ups++;
		for (edge_id e = units.unit[i].edges_out; e != NO_EDGE; e = units.edges[e].next_of_from)
			if (units.edges[e].relation == RELATION_NEEDS && (units.edges[e].when & AT_START))
				CHECK(is_there(units.edges[e].to));
	}
}

static void check_pids(void)
{
	for (size_t i = 0; i < units.n_units; i++) {
		const pid_t held[] = { runs[i].pid, runs[i].main };

		for (size_t j = 0; j < 2; j++) {
			if (held[j] <= 0)
				continue;
			CHECK(find(held[j]) && pids_owner(held[j]) == i);
			for (size_t k = 0; k < units.n_units; k++)
				CHECK(k == i || (runs[k].pid != held[j] && runs[k].main != held[j]));
		}
		CHECK(runs[i].pid <= 0 || runs[i].pid != runs[i].main);
		CHECK((runs[i].state != STATE_OFF && runs[i].state != STATE_WAITING && runs[i].state != STATE_BLOCKED) ||
		      (runs[i].pid <= 0 && runs[i].main <= 0));
	}
}

static void check_counts(void)
{
	unsigned counts[STATES] = { 0 };

	for (size_t i = 0; i < units.n_units; i++) {
		counts[runs[i].state]++;
		n_left_out += runs[i].state == STATE_LEFT_OUT;
	}
	for (size_t i = 0; i < STATES; i++)
		CHECK(runs_count((enum state)i) == counts[i]);
}

static void check_connections(void)
{
	unsigned counts[MOST_UNITS] = { 0 };

	for (size_t i = 0; i < n_processes; i++)
		if (processes[i].exists && processes[i].serves != NO_UNIT)
			counts[processes[i].serves]++;
	for (size_t i = 0; i < units.n_units; i++) {
		enum state state = runs[i].state;
		bool is_up = state == STATE_UP || state == STATE_STOPPING;

		CHECK(runs[i].connections <= units.unit[i].each_connection);
		/* Those that nobody can kill are left behind by a unit that is down. */
		CHECK(runs[i].connections <= counts[i] && (is_up || runs[i].connections == 0));
		/* Who comes is answered, unless the unit is on its way down or full; it is tried again if nothing was to be had. */
		CHECK(state != STATE_UP || runs[i].stop_wanted || runs_ending || units.unit[i].each_connection == 0 ||
		      listening[i] || runs[i].is_full);
		CHECK(!listening[i] || state == STATE_UP);
	}
}

/* Somebody connects to each unit that listens, or to none. */
static void connect_to_some(void)
{
	for (unit_id i = 0; i < units.n_units; i++) {
		if (units.unit[i].n_sockets == 0 || below(3) == 0 || n_processes > MOST_PROCESSES / 2)
			continue;
		if (listening[i])
			listening[i](LISTENING_FD, i);
		else
			n_queued += runs[i].state == STATE_UP;
	}
}

/* ---- A life ---------------------------------------------------------------------------------------------------------------- */

static void reap_all(void)
{
	for (size_t i = 0; i < n_processes; i++) {
		struct process *process = &processes[i];
		struct rusage used = { .ru_maxrss = 1 };

		if (!process->exists || !process->zombie)
			continue;
		synced |= process->is_sync && process->status == 0;
		exits_zombie(process->pid);
		process->exists = false;
		exits_reaped(process->pid, process->status, &used);
	}
}

/* What processes do of themselves by now. */
static void play(void)
{
	for (size_t i = 0; i < n_processes; i++) {
		struct process *process = &processes[i];

		if (!process->exists || process->zombie)
			continue;
		if (process->exec_ns > 0 && process->exec_ns <= now_ns) {
			process->exec_ns = 0;
			if (runs[process->unit].pid == process->pid || runs[process->unit].main == process->pid)
				watchers[process->unit]->exec(-1, process->unit);
		}
		if (process->ready_ns > 0 && process->ready_ns <= now_ns && !process->ready_said && process->unit != NO_UNIT &&
		    runs[process->unit].main == process->pid)
			watchers[process->unit]->notify(-1, process->unit);
		if (process->exit_ns > 0 && process->exit_ns <= now_ns)
			end(process, process->status);
	}
}

static int64_t next_of_processes(void)
{
	int64_t next_ns = INT64_MAX;

	for (size_t i = 0; i < n_processes; i++) {
		const struct process *process = &processes[i];
		const int64_t times[] = { process->exec_ns, process->ready_said ? 0 : process->ready_ns, process->exit_ns };

		for (size_t j = 0; j < 3 && process->exists && !process->zombie; j++)
			if (times[j] > now_ns && times[j] < next_ns)
				next_ns = times[j];
	}
	return next_ns;
}

/* As the loop of main.c, until nothing happens before `until_ns`. */
static void run_until(int64_t until_ns)
{
	unsigned spins = 0;

	for (;;) {
		int64_t next_ns, own_ns;

		play();
		reap_all();
		supervise_schedule(now_ns);
		check_needs();
		check_pids();
		check_counts();
		check_connections();
		CHECK(spins++ < SPINS);
		next_ns = supervise_timers(now_ns);
		if (next_ns <= now_ns)
			continue;
		n_left = 0;
		for (size_t i = 0; i < n_processes; i++)
			n_left += processes[i].exists;
		own_ns = shutdown_step(now_ns);
		next_ns = own_ns < next_ns ? own_ns : next_ns;
		own_ns = next_of_processes();
		next_ns = own_ns < next_ns ? own_ns : next_ns;
		if (next_ns >= until_ns) {
			now_ns = until_ns;
			return;
		}
		if (next_ns > now_ns)
			spins = 0;
		now_ns = next_ns > now_ns ? next_ns : now_ns;
	}
}

static void ask_something(void)
{
	char name[16];

	snprintf(name, sizeof name, "u%u", below((unsigned)units.n_units));
	switch (below(4)) {
	case 0:
		supervise_start(slice_of(name));
		break;
	case 1:
		supervise_stop(slice_of(name));
		break;
	case 2:
		n_reloads += supervise_reload(slice_of(name)) == 0;
		break;
	default:
		supervise_restart(slice_of(name));
	}
}

static void live(const struct config *config, int64_t shutdown_timeout_ns)
{
	supervise_init(&units, config);
	shutdown_init(shutdown_timeout_ns, false, false);
	supervise_boot();
	for (unsigned i = below(EVENTS); i > 0; i--) {
		run_until(later(700));
		if (n_processes > MOST_PROCESSES / 2)
			break;
		connect_to_some();
		ask_something();
	}
	asked_ns = now_ns;
	for (unsigned i = below(4); i > 0; i--) {
		shutdown_begin(END_POWER_OFF);
		run_until(later(1500));
	}
	shutdown_begin(END_POWER_OFF);
	run_until(now_ns + shutdown_timeout_ns + (SLACK_S + 10) * NS_PER_S);
	CHECK(!"the machine has ended");
}

int main(void)
{
	struct config config;

	config_init(&config);
	log_init(-1, true);
	places_init(2, 4);
	for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
		/* volatile: kept over the jump. */
		volatile int64_t shutdown_timeout_ns = (1 + (int64_t)below(60)) * 100 * NS_PER_MS;

		begin();
		account_begin(0);
		now_ns = NS_PER_S;
		n_processes = 0;
		killed_all = synced = sync_begun = false;
		for (unsigned i = 0, n = 1 + below(MOST_UNITS); i < n; i++)
			below(4) ? add_unit(i) : add_listener(i);
		graph_resolve(&units, &(struct graph_options){ .goals = NULL });
		if (setjmp(machine_ended) == 0)
			live(&config, shutdown_timeout_ns);
		/* Sync has ended, or has had three seconds and the kernel was asked. */
		CHECK(sync_begun && (synced || now_ns - sync_begun_ns >= 3 * NS_PER_S));
		CHECK(now_ns - asked_ns <= shutdown_timeout_ns + SLACK_S * NS_PER_S);
		n_synced += synced;
		n_hung += !synced;
	}
	/* All of it has been seen. */
	CHECK(n_ups > SCHEDULES && n_adopted > 100 && n_refused > 100 && n_reloads > 1000 && n_left_out > 1000 && n_hung > 100 && n_synced > SCHEDULES / 2);
	CHECK(n_connected > SCHEDULES && n_queued > 1000 && n_not_accepted > 1000);
	puts("test_state_machine: ok");
	return 0;
}
