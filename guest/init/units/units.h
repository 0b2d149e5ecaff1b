/* SPDX-License-Identifier: MIT */
/*
 * Units as the files describe them: what runs, what it needs, and when it counts as ready. Filled once by the readers of
 * the file formats (unit_file.c, lsb_unit.c, service_file.c, builtin.c), then resolved by graph.c. What a unit is doing at
 * the moment is not here but in state/runs.h.
 *
 * A mistake in a file is complained about with its path and line, and costs that line or that unit, never the boot.
 */
#ifndef BOOTLAB_INIT_UNITS_H
#define BOOTLAB_INIT_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/arena.h"
#include "shared/text.h"
#include "socket_address.h"

enum {
	/* Pages of these tables that nothing touches are never handed out: large ones cost a small system nothing. */
	MAX_UNITS = 1 << 14,
	MAX_NAMES = (1 << 16) - 1,
	MAX_REFS = 1 << 18,
	MAX_EDGES = 1 << 18,
	MAX_COMMANDS = 1 << 16,
	MAX_SOCKETS = 1 << 12,
	MAX_UNIT_SOCKETS = 16,
	CONNECTIONS_MOST = 1000, /* of one unit at once */
	FIRST_SOCKET_FD = 3, /* SD_LISTEN_FDS_START */
	MAX_WORDS = 64, /* of one command, one environment */
	ARENA_BYTES = 1 << 24,
	UNIT_NAME_MAX = 100,
	MESSAGE_MAX = 400,
};

typedef uint16_t unit_id;
enum { NO_UNIT = 0xffff };

typedef uint32_t edge_id; /* of units.edges */
#define NO_EDGE UINT32_MAX

typedef uint32_t ref_id; /* of units.refs */
#define NO_REF UINT32_MAX

/* ORIGIN_GONE: there was one of this name before all files were read anew. */
enum origin { ORIGIN_OWN, ORIGIN_LSB, ORIGIN_SYSTEMD, ORIGIN_BUILTIN, ORIGIN_FACILITY, ORIGIN_GONE };

/* What has become of the file of a unit that goes on as it was started. */
enum on_disk { DISK_SAME, DISK_CHANGED, DISK_GONE };

enum readiness {
	READY_EXEC,    /* its program has been executed */
	READY_EXIT,    /* its program has ended well; it stays up without a process */
	READY_FORK,    /* its program has ended well and left a daemon behind, named by `pidfile` if that is given */
	READY_PIDFILE, /* its program runs on, and has written `pidfile` */
	READY_NOTIFY,  /* it said READY=1 to $NOTIFY_SOCKET */
	READY_FD,      /* it wrote a line to descriptor `ready_fd` */
};

enum restart { RESTART_NO, RESTART_ON_FAILURE, RESTART_ALWAYS };

/* Who gets the signals when it is stopped: all that it has started; SIGTERM its main process alone; that one alone at all. */
enum kill_mode { KILL_ALL, KILL_MIXED, KILL_MAIN };

enum output { OUTPUT_LOG, OUTPUT_CONSOLE, OUTPUT_NULL };

/*
 * PHASE_TERMINATE has no commands: all stop commands have ended, or taken too long. PHASE_RELOAD is one of units that are up, and so is
 * PHASE_LISTEN: its program is started when somebody connects.
 */
enum phase { PHASE_PRE, PHASE_START, PHASE_POST, PHASE_STOP, PHASE_TERMINATE, PHASE_RELOAD, PHASE_LISTEN };

struct command {
	const char *const *argv;
	const char *path; /* of the drop-in that says it; NULL: of the unit */
	uint8_t phase;
	bool may_fail;
	bool as_root; /* whatever user the unit is run as */
	bool unconfined; /* and whatever it may not do otherwise */
	bool renamed; /* argv[0] is the program, and argv[1] what it is told that it is called */
	bool literal; /* no variables are put in */
	uint16_t line;
};

enum relation {
	RELATION_NEEDS,	 /* comes along; without it the unit cannot start */
	RELATION_WANTS,	 /* comes along, first; may fail or be missing */
	RELATION_AFTER,	 /* is first if it is there at all */
	RELATION_MEMBER, /* of a facility: the facility is there when this is */
	RELATION_PULLS,	 /* comes along, in no order (systemd's Wants= alone) */
};

enum { AT_START = 1, AT_STOP = 2 };

/* A name that a unit's file mentions; graph.c makes edges of it. */
struct ref {
	const char *name;
	unit_id from;
	uint16_t line;
	uint8_t relation;
	uint8_t when;	/* AT_START, AT_STOP or both */
	bool reversed;	/* the other one waits for us: before, X-Start-Before */
	bool must_exist; /* say so if nothing has this name */
	bool hard;	/* RELATION_PULLS that brings the unit down if it is missing */
	bool binds;	/* as in struct edge */
	uint16_t named;	/* the first of units.names with this text; NO_NAME: none. Of graph_resolve */
	ref_id next;	/* of the same unit */
};

/* `from` waits for `to`. */
struct edge {
	unit_id from, to;
	uint16_t line;
	uint8_t relation, when;
	bool dropped; /* it was part of a cycle */
	bool binds;   /* RELATION_NEEDS: when the other one ends of itself, too */
	edge_id next_of_from, next_of_to;
};

struct condition;
struct confinement;

struct unit {
	const char *name, *path;
	enum origin origin;
	enum readiness readiness;
	enum restart restart;
	enum output output;
	enum kill_mode kill_mode;
	bool enabled;	  /* of its own, at boot */
	bool wanted;	  /* enabled, or comes along with one that is */
	bool goal;	  /* the goal, or before it on the way there */
	bool broken;	  /* cannot start: why */
	bool after_all;	  /* LSB's $all, at start; a unit may say it, too */
	bool stops_first; /* and at stop */
	bool serial;	  /* nothing else may start meanwhile */
	bool deferred;	  /* not before the goal is ready */
	bool no_defaults; /* does not wait for the built-in basics */
	const char *why_broken;
	uint32_t first_command;
	uint16_t n_commands, line;
	uint16_t first_socket, n_sockets;
	ref_id refs, last_ref;	      /* list through refs */
	edge_id edges_out, edges_in; /* heads of the lists through edges */
	uint32_t n_edges_out, n_edges_in;
	uint16_t height;	      /* longest way from here to a unit that nothing waits for */
	uint8_t levels;		      /* LSB: bit 0..6 of runlevels, bit 7: S */
	uint8_t stop_levels;
	char runlevel; /* that its script is told; 0: it is no script */
	uint16_t stop_timeout_line; /* where its file says it; 0: nowhere */
	const char *user, *group, *directory, *pidfile, *tty, *mark;
	const char *const *environment;
	const char *socket_names;	/* those of .socket files, for LISTEN_FDNAMES, with colons between them; NULL: none has one */
	const char *const *run_folders; /* below /run, made before it starts, its user's */
	const char *const *environment_files; /* each with a - before it if it may be missing */
	uint16_t umask, run_mode; /* the mode of its run folders; 0: 0755 */
	int64_t start_timeout_ns, stop_timeout_ns, restart_delay_ns;
	int64_t watchdog_ns; /* within which it says WATCHDOG=1, again and again; 0: nothing is expected */
	uint32_t restart_limit;
	int ready_fd, nice, oom;
	bool oom_given;
	bool on_demand;		/* started when somebody connects to one of its sockets */
	uint16_t each_connection; /* how many processes at once, each with a connection of its own; 0: it accepts them itself */
	bool connection_is_input; /* and output: the process's standard ones. Else it is descriptor 3 */
	bool logs_errors;	  /* its standard error is the log all the same */
	bool ignores_pipe;	/* its programs are started with SIGPIPE ignored */
	bool asks_login;	/* at its tty: it has records in utmp and wtmp */
	bool hangs_up;		/* SIGHUP follows its stop signal */
	uint8_t stop_signal;	/* 0: SIGTERM */
	uint8_t reload_signal;	/* for its main process; 0: none */
	struct confinement *confinement; /* NULL: none */
	struct condition *conditions;	 /* a list; NULL: none */
	int (*builtin)(void);
	bool builtin_waits; /* for disks or devices: so it is done in a process of its own */
	int (*builtin_daemon)(const char *about, int ready_fd); /* or it runs on, and says by a line that it is ready */
	const char *about;
	bool is_network; /* built in, and waited for only by who says so */
	uint64_t fingerprint; /* of the text of its files */
	enum on_disk on_disk;
	uint32_t later;	      /* DISK_CHANGED: place of what its files say now, behind all units */
};

/* Those of one text are a list in the order in which they came; the first of each is in the list of its bucket, too. */
struct name {
	const char *text;
	uint32_t hash;
	unit_id unit;
	uint16_t next_in_bucket, next_same;
	uint16_t last_same; /* of the first one of a text */
};
enum { NO_NAME = 0xffff };

typedef void complain_fn(void *context, const char *path, unsigned line, const char *message);

/* A boot touches the first pages of each table and no others: what is not a table comes first, beside the first units. */
struct units {
	size_t n_units, n_names, n_refs, n_edges, n_commands, n_sockets;
	size_t n_later;		      /* at the end of `unit` */
	const struct units *before;   /* NULL: nothing was read before. Else a unit of a name has the same number again */
	struct arena arena;
	complain_fn *complain;
	void *complain_context;
	unsigned n_complaints;
	unsigned n_unreadable; /* files and folders that are there, and could not be read this time */
	unsigned n_left_out;   /* that there was no room for */
	const char *left_out;  /* the last unit of which that was said */
	uint16_t buckets[1 << 11]; /* a place in `names` + 1: 0 is none, so that what is all zeros is empty */
	struct unit unit[MAX_UNITS];
	struct name names[MAX_NAMES];
	struct ref refs[MAX_REFS];
	struct edge edges[MAX_EDGES];
	struct command commands[MAX_COMMANDS];
	struct socket_address sockets[MAX_SOCKETS];
	char memory[ARENA_BYTES];
};

/* Of what is all zeros. */
void units_init(struct units *units, complain_fn *complain, void *context);

/* What is added from now on keeps the number that a unit of its name had before. */
void units_succeed(struct units *units, const struct units *before);

/* A piece of what its files say: of the same pieces comes the same fingerprint. */
void units_mix(struct unit *unit, const char *text, size_t size);

__attribute__((format(printf, 4, 5)))
void units_complain(struct units *units, const char *path, unsigned line, const char *format, ...);

/* There is no room for more than `most` of `what`, which is a part of `unit`: it is said once a unit, which cannot be started. */
void units_full(struct units *units, struct unit *unit, unsigned line, const char *what, size_t most);

/* A new unit with defaults, or NULL (complained about) when there is no room or the name is no name. */
struct unit *units_add(struct units *units, enum origin origin, struct slice name, const char *path);

unit_id units_id(const struct units *units, const struct unit *unit);

/* Another name that `unit` answers to. */
void units_name(struct units *units, struct unit *unit, struct slice name, unsigned line);

/* The first unit of this name, or NO_UNIT; the next one of the same name after `*cursor`. */
unit_id units_find(const struct units *units, struct slice name);
unit_id units_find_next(const struct units *units, struct slice name, uint16_t *cursor);

/* The first of units->names with this text, or NO_NAME. */
uint16_t units_find_name(const struct units *units, struct slice name);

/* What `unit` mentions; false when there is no room for it. */
bool units_refer(struct units *units, struct unit *unit, struct slice name, struct ref how);

/* A command of the unit that was added last. `words` holds NULL-terminated text in the arena. */
bool units_command(struct units *units, struct unit *unit, enum phase phase, const char *const *words, size_t n_words,
		   bool may_fail, unsigned line);

/* The command added last, for what else is to be said of it. And: forget those of the unit added last that are of this phase. */
struct command *units_last_command(struct units *units);
void units_forget_commands(struct units *units, struct unit *unit, enum phase phase);

/* A socket of the unit that was added last; false when there is no room for it. */
bool units_socket(struct units *units, struct unit *unit, const struct socket_address *address);

/* The arena's copy of an array of words with NULL behind it, or NULL. */
const char *const *units_words(struct units *units, const char *const *words, size_t n_words);

const char *origin_name(enum origin origin);

#endif
