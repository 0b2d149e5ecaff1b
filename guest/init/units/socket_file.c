/* SPDX-License-Identifier: MIT */
/* Reads .socket files: a socket of each ListenStream= and ListenDatagram=, as `listen` in a unit file has it. */
#include "socket_file.h"

#include <string.h>

#include "service_reading.h"
#include "shared/large.h"
#include "shared/print.h"

enum { ADDRESS_BYTES = 200, CONNECTIONS_DEFAULT = 64 };

LARGE static struct service_reading reading;
static int64_t most_connections;
LARGE static char descriptor_name[UNIT_NAME_MAX + 1];
LARGE static char joined[SERVICE_LINE_BYTES + 1];

static bool next_setting(struct lines *lines, struct slice *key, struct slice *value)
{
	struct slice line;
	const char *equals;

	while (service_line(&reading, lines, joined, &line)) {
		equals = memchr(line.at, '=', line.size);
		if (line.at[0] == '[' || !equals)
			continue;
		*key = slice_trim((struct slice){ line.at, (size_t)(equals - line.at) });
		*value = slice_trim(slice_from(line, (size_t)(equals + 1 - line.at)));
		return true;
	}
	return false;
}

void socket_file_service(struct slice name, const char *text, size_t size, struct slice *ret_service)
{
	LARGE static char service[UNIT_NAME_MAX + 1];
	struct lines lines = lines_of(text, size);
	struct slice key, value;

	print(service, sizeof service, "%.*s", (int)name.size, name.at);
	bool accepts = false, flag;

	while (next_setting(&lines, &key, &value))
		if (slice_is(key, "Accept") && !parse_bool(value, &flag))
			accepts = flag;
		else if (slice_is(key, "Service") && slice_ends(value, ".service"))
			print(service, sizeof service, "%.*s", (int)(value.size - strlen(".service")), value.at);
	/* Each connection is an instance of that template. */
	if (accepts)
		print(service, sizeof service, "%.*s@", (int)name.size, name.at);
	*ret_service = slice_of(service);
}

static bool refuse(const char *what)
{
	units_complain(reading.units, reading.path, reading.line, "%s: %s: this socket file is left out", reading.key, what);
	return false;
}

/* As `listen` has it: "tcp PORT", "unix /run/NAME MODE". */
static bool add_address(const char *kind, struct slice value, const char *mode, struct socket_address *ret)
{
	char text[ADDRESS_BYTES];
	bool is_path = value.size > 0 && value.at[0] == '/';
	const char *expected;

	if (is_path && strcmp(kind, "tcp") != 0)
		return refuse("datagrams at a path are not known here");
	/* /var/run is a link to it. */
	if (slice_starts(value, "/var/run/"))
		value = slice_from(value, strlen("/var"));
	if (print(text, sizeof text, "%s %.*s %s", is_path ? "unix" : kind, (int)value.size, value.at, is_path ? mode : "") >=
	    (int)sizeof text)
		return refuse("it is too long");
	expected = socket_address_parse(slice_trim(slice_of(text)), ret);
	if (expected)
		return refuse("only ports and paths /run/[FOLDER/]NAME are known here");
	ret->text = arena_text(&reading.units->arena, text, strlen(text));
	return ret->text || refuse("there is no room for it");
}

/* One setting that is no address; false when the file cannot be had here. */
static bool read_setting(struct slice key, struct slice value, char *mode)
{
	static const char *const SILENT[] = { "Description", "Documentation", "WantedBy", "Before",		"After",   "Service", "Also",
					      "Wants",	     "RequiredBy",    "Alias",	  "DefaultDependencies", "Conflicts", "PartOf" };
	/* What its program, or who connects, would see. */
	static const char *const DIFFERENT[] = { "ListenSequentialPacket", "ListenFIFO",  "ListenSpecial", "ListenNetlink",
						 "ListenMessageQueue",	   "ListenUSBFunction", "SocketUser",  "SocketGroup",
						 "BindIPv6Only",	   "PassCredentials",	"PassSecurity", "Transparent",
						 "BindToDevice",	   "ReusePort",		"SocketProtocol", "MaxConnectionsPerSource" };
	bool flag;

	for (size_t i = 0; i < sizeof SILENT / sizeof SILENT[0]; i++)
		if (slice_is(key, SILENT[i]))
			return true;
	if (slice_is(key, "Accept"))
		return !parse_bool(value, &flag) || refuse("expected yes or no");
	if (slice_is(key, "MaxConnections"))
		return !parse_number(value, 1, CONNECTIONS_MOST, &most_connections) || refuse("expected a number from 1 to 1000");
	if (slice_is(key, "FileDescriptorName")) {
		print(descriptor_name, sizeof descriptor_name, "%.*s", (int)value.size, value.at);
		return true;
	}
	if (slice_is(key, "SocketMode")) {
		print(mode, 8, "%.*s", (int)(value.size < 7 ? value.size : 7), value.at);
		return true;
	}
	for (size_t i = 0; i < sizeof DIFFERENT / sizeof DIFFERENT[0]; i++)
		if (slice_is(key, DIFFERENT[i]))
			return refuse("it is not known here");
	if (!reading.unit && reading.n_ignored++ == 0)
		units_complain(reading.units, reading.path, reading.line, "%s: ignored, as may be others", reading.key);
	return true;
}

/* Each of its sockets has the name of the .socket file, unless that says another. */
static void add_names(struct units *units, struct unit *unit, const char *path, size_t n)
{
	LARGE static char names[MAX_UNIT_SOCKETS * (UNIT_NAME_MAX + 1)];
	const char *name = *descriptor_name ? descriptor_name : strrchr(path, '/') + 1;
	size_t used = (size_t)print(names, sizeof names, "%s", unit->socket_names ? unit->socket_names : "");

	for (size_t i = 0; i < n && used < sizeof names; i++)
		used += (size_t)print(names + used, sizeof names - used, "%s%s", used > 0 ? ":" : "", name);
	if (used < sizeof names)
		unit->socket_names = arena_text(&units->arena, names, used);
}

bool socket_file_read(struct units *units, struct unit *unit, const char *path, const char *text, size_t size)
{
	static char key_text[64];
	LARGE static struct socket_address addresses[MAX_UNIT_SOCKETS];
	struct lines lines = lines_of(text, size);
	struct slice key, value;
	char mode[8] = "0666";
	size_t n = 0;
	bool is_good = true;

	reading.units = units;
	reading.unit = unit;
	reading.path = path;
	reading.key = key_text;
	reading.n_ignored = 0;
	most_connections = CONNECTIONS_DEFAULT;
	descriptor_name[0] = '\0';
	/* The mode first: it may stand behind the addresses. All mistakes are said, not the first alone. */
	for (int turn = 0; turn < 2; turn++, lines = lines_of(text, size))
		while (next_setting(&lines, &key, &value)) {
			bool stream = slice_is(key, "ListenStream"), datagram = slice_is(key, "ListenDatagram");

			print(key_text, sizeof key_text, "%.*s", (int)(key.size < 40 ? key.size : 40), key.at);
			if (!stream && !datagram) {
				is_good &= turn == 1 || read_setting(key, value, mode);
			} else if (turn == 1 && value.size == 0) {
				n = 0;
			} else if (turn == 1 && n == MAX_UNIT_SOCKETS) {
				is_good = refuse("too many sockets");
			} else if (turn == 1) {
				is_good &= add_address(stream ? "tcp" : "udp", value, mode, &addresses[n]);
				n++;
			}
		}
	if (!is_good || n == 0 || !unit)
		return is_good && n > 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < units->n_sockets; j++)
			if (socket_address_same(&units->sockets[j], &addresses[i]))
				return refuse("another unit has this address");
	/* The unit is the template itself, by the name that socket_file_service has given. */
	if (slice_ends(slice_of(unit->name), "@")) {
		for (size_t i = 0; i < n; i++)
			if (addresses[i].type != SOCK_STREAM)
				return refuse("datagrams are no connections");
		unit->each_connection = (uint16_t)most_connections;
	}
	if (unit->n_sockets + n > MAX_UNIT_SOCKETS)
		return refuse("too many sockets");
	for (size_t i = 0; i < n; i++)
		if (!units_socket(units, unit, &addresses[i]))
			return false;
	add_names(units, unit, path, n);
	return true;
}
