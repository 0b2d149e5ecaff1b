/* SPDX-License-Identifier: MIT */
/* Builds the environment of a unit's program, and puts variables into its words. */
#include "environment.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "shared/files.h"
#include "shared/large.h"
#include "shared/print.h"
#include "units/words.h"

enum { IPV6_GROUPS = 8, MAX_VARIABLES = 256, MAX_ARGUMENTS = 256, TEXT_BYTES = 1 << 16 };

LARGE static char *variables[MAX_VARIABLES + 1];
static size_t n_variables;
LARGE static char text_bytes[TEXT_BYTES];
static struct arena text;

static bool add(const char *variable)
{
	const char *equals = strchr(variable, '=');
	size_t name = equals ? (size_t)(equals + 1 - variable) : 0;

	if (!equals)
		return true;
	for (size_t i = 0; i < n_variables; i++)
		if (!strncmp(variables[i], variable, name)) {
			variables[i] = (char *)variable;
			return true;
		}
	if (n_variables == MAX_VARIABLES)
		return false;
	variables[n_variables++] = (char *)variable;
	return true;
}

static bool add_pair(const char *name, const char *value)
{
	const char *variable = arena_join(&text, name, value);

	return variable && add(variable);
}

static bool is_name_character(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/*
 * NAME=VALUE to the end of the line, as systemd.exec(5) has it: quotes keep what is in them and go, a backslash takes what follows
 * as it is, blanks at the end are none of the value. NULL when it is no such line, or does not fit.
 */
static const char *read_variable(struct slice line)
{
	char *variable = arena_take(&text, line.size + 1);
	size_t at = 0, used = 0, solid;
	char quote = 0;

	while (at < line.size && is_name_character(line.at[at]))
		at++;
	if (!variable || at == 0 || at == line.size || line.at[at] != '=')
		return NULL;
	memcpy(variable, line.at, ++at);
	used = solid = at;
	while (at < line.size && (line.at[at] == ' ' || line.at[at] == '\t'))
		at++;
	for (; at < line.size; at++) {
		char c = line.at[at];

		if (quote && c == quote) {
			quote = 0;
		} else if (!quote && (c == '"' || c == '\'')) {
			quote = c;
		} else if (c == '\\' && quote != '\'' && at + 1 < line.size) {
			variable[used++] = line.at[++at];
		} else {
			variable[used++] = c;
			if (!quote && (c == ' ' || c == '\t'))
				continue;
		}
		solid = used;
	}
	variable[solid] = '\0';
	return variable;
}

/* 0 or -errno. */
static int add_file(const char *path)
{
	LARGE static char content[FILE_BYTES];
	bool may_be_missing = path[0] == '-';
	ssize_t size = file_read(path + may_be_missing, content, sizeof content);
	struct lines lines = lines_of(content, size > 0 ? (size_t)size : 0);
	struct slice line;

	if (size < 0)
		return may_be_missing ? 0 : (int)size;
	if (size == sizeof content)
		return -EFBIG;
	while (line_next(&lines, &line)) {
		const char *variable;

		line = slice_trim(line);
		if (line.size == 0 || line.at[0] == '#' || line.at[0] == ';')
			continue;
		variable = read_variable(line);
		if (variable && !add(variable))
			return -E2BIG;
	}
	return 0;
}

/* A shell that lets nobody in, which systemd does not name to services. */
static bool is_no_shell(const char *shell)
{
	const char *slash = strrchr(shell, '/');

	return slash && (!strcmp(slash, "/nologin") || !strcmp(slash, "/false") || !strcmp(slash, "/true"));
}

/* systemd's services have a home and a name only where User= gives them one. */
static bool add_user(const struct unit *unit, const struct identity *identity)
{
	bool is_service = unit->origin == ORIGIN_SYSTEMD;
	bool has_home = *identity->home && (!is_service || strcmp(identity->home, "/") != 0);

	if (!unit->user || !*identity->name)
		return is_service || add("HOME=/");
	if (!add_pair("USER=", identity->name) || !add_pair("LOGNAME=", identity->name))
		return false;
	if ((!is_service || has_home) && !add_pair("HOME=", has_home ? identity->home : "/"))
		return false;
	return (is_service && is_no_shell(identity->shell)) || add_pair("SHELL=", *identity->shell ? identity->shell : "/bin/sh");
}

/* RUNTIME_DIRECTORY, as systemd.exec(5) has it: full paths, with colons between them. */
static bool add_run_folders(const struct unit *unit)
{
	const char *paths = "";

	for (const char *const *name = unit->run_folders; name && *name && paths; name++) {
		const char *path = arena_join(&text, *paths ? ":/run/" : "/run/", *name);

		paths = path ? arena_join(&text, paths, path) : NULL;
	}
	return paths && (!*paths || add_pair("RUNTIME_DIRECTORY=", paths));
}

/* As inet_ntop(3) writes it, whose own way takes the C library's printf along: the longest row of zeros is left out. */
static void put_ipv6(const uint8_t *bytes, char *to, size_t room)
{
	size_t used = 0, zeros_at = 0, n_zeros = 1;

	for (size_t i = 0, n = 0; i < IPV6_GROUPS; i++) {
		n = bytes[2 * i] || bytes[2 * i + 1] ? 0 : n + 1;
		if (n > n_zeros) {
			n_zeros = n;
			zeros_at = i + 1 - n;
		}
	}
	for (size_t i = 0; i < IPV6_GROUPS;) {
		if (n_zeros > 1 && i == zeros_at) {
			used += (size_t)print(to + used, room - used, "::");
			i += n_zeros;
			continue;
		}
		used += (size_t)print(to + used, room - used, "%s%x", used > 0 && to[used - 1] != ':' ? ":" : "",
				      (unsigned)(bytes[2 * i] << 8 | bytes[2 * i + 1]));
		i++;
	}
}

/* Who has connected, as systemd says it; of a path nobody is known. */
static bool add_remote(int connection)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} peer = { .any = { .sa_family = AF_UNSPEC } };
	const uint8_t *ipv4 = (const uint8_t *)&peer.in.sin_addr;
	char address[INET6_ADDRSTRLEN] = "", port[8];
	socklen_t size = sizeof peer;

	if (getpeername(connection, &peer.any, &size) || (peer.any.sa_family != AF_INET && peer.any.sa_family != AF_INET6))
		return true;
	/* One of IPv4 at a socket of all addresses. */
	if (peer.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&peer.in6.sin6_addr))
		ipv4 = &peer.in6.sin6_addr.s6_addr[12];
	else if (peer.any.sa_family == AF_INET6)
		ipv4 = NULL;
	if (ipv4)
		print(address, sizeof address, "%u.%u.%u.%u", ipv4[0], ipv4[1], ipv4[2], ipv4[3]);
	else
		put_ipv6(peer.in6.sin6_addr.s6_addr, address, sizeof address);
	/* Both families have the port at the same place. */
	print(port, sizeof port, "%u", ntohs(peer.in.sin_port));
	return add_pair("REMOTE_ADDR=", address) && add_pair("REMOTE_PORT=", port);
}

char *const *environment_build(const struct unit *unit, const struct identity *identity, pid_t main, const char *notify_name,
			       unsigned n_sockets, bool is_main)
{
	const char level[2] = { unit->runlevel, '\0' };
	char number[24];
	bool fits;

	text = (struct arena){ .bytes = text_bytes, .size = TEXT_BYTES };
	n_variables = 0;
	fits = add("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin") && add_user(unit, identity);

	if (unit->origin == ORIGIN_SYSTEMD)
		fits = fits && add("LANG=C.UTF-8") && add_file("-/etc/locale.conf") == 0 && add_run_folders(unit) &&
		       (!unit->pidfile || add_pair("PIDFILE=", unit->pidfile));
	if (unit->tty || unit->origin != ORIGIN_SYSTEMD)
		fits = fits && add_pair("TERM=", unit->tty ? "linux" : "dumb");

	print(number, sizeof number, "%d", (int)main);
	if (unit->runlevel)
		fits = fits && add("PREVLEVEL=N") && add_pair("RUNLEVEL=", level);
	if (main > 0)
		fits = fits && add_pair("MAINPID=", number);
	for (const char *const *variable = unit->environment; variable && *variable; variable++)
		fits = fits && add(*variable);
	for (const char *const *file = unit->environment_files; file && *file; file++) {
		int r = add_file(*file);

		if (r) {
			errno = -r;
			return NULL;
		}
	}
	if (notify_name)
		fits = fits && add_pair("NOTIFY_SOCKET=@", notify_name);
	if (notify_name && is_main && unit->watchdog_ns > 0) {
		print(number, sizeof number, "%lld", (long long)(unit->watchdog_ns / 1000));
		fits = fits && add_pair("WATCHDOG_USEC=", number);
		print(number, sizeof number, "%d", (int)getpid());
		fits = fits && add_pair("WATCHDOG_PID=", number);
	}
	if (n_sockets > 0) {
		print(number, sizeof number, "%d", (int)getpid());
		fits = fits && add_pair("LISTEN_PID=", number);
		print(number, sizeof number, "%u", n_sockets);
		fits = fits && add_pair("LISTEN_FDS=", number);
		if (unit->socket_names)
			fits = fits && add_pair("LISTEN_FDNAMES=", unit->socket_names);
	}
	if (unit->each_connection && n_sockets > 0)
		fits = fits && add("LISTEN_FDNAMES=connection");
	if (unit->each_connection)
		fits = fits && add_remote(n_sockets > 0 ? FIRST_SOCKET_FD : 0);
	errno = E2BIG;
	return fits ? variables : NULL;
}

static const char *value_of(struct slice name, char *const *environment)
{
	for (; *environment; environment++)
		if (!strncmp(*environment, name.at, name.size) && (*environment)[name.size] == '=')
			return *environment + name.size + 1;
	return "";
}

/* ${NAME} anywhere in the word, and $$ for a dollar. */
static const char *expand_word(const char *word, char *const *environment)
{
	LARGE static char made[FILE_BYTES];
	size_t used = 0;

	while (*word) {
		const char *close = word[0] == '$' && word[1] == '{' ? strchr(word, '}') : NULL, *value = word;
		size_t size = 1;

		if (close) {
			value = value_of((struct slice){ word + 2, (size_t)(close - word - 2) }, environment);
			size = strlen(value);
			word = close + 1;
		} else {
			word += word[0] == '$' && word[1] == '$' ? 2 : 1;
		}
		if (used + size >= sizeof made)
			return NULL;
		memcpy(made + used, value, size);
		used += size;
	}
	return arena_text(&text, made, used);
}

const char *const *environment_expand(const char *const *argv, char *const *environment)
{
	LARGE static const char *expanded[MAX_ARGUMENTS + 1];
	size_t n = 0;

	for (; *argv; argv++) {
		struct slice name = { *argv + 1, 0 };
		int words;

		while ((*argv)[0] == '$' && is_name_character(name.at[name.size]))
			name.size++;
		if (n == MAX_ARGUMENTS)
			return NULL;
		if (name.size == 0 || name.at[name.size]) {
			expanded[n] = expand_word(*argv, environment);
			if (!expanded[n++])
				return NULL;
			continue;
		}
		words = words_parse(&text, slice_of(value_of(name, environment)), expanded + n, MAX_ARGUMENTS - n);
		if (words < 0)
			return NULL;
		n += (size_t)words;
	}
	expanded[n] = NULL;
	return n > 0 ? expanded : NULL;
}
