/* SPDX-License-Identifier: MIT */
/* Makes a unit of an init script's header, and reads what $network and its like stand for. */
#include "lsb_unit.h"

#include <string.h>

#include "lsb_header.h"
#include "shared/clock.h"

/* A script checks, waits and starts; five minutes is what systemd gave it. */
enum { SCRIPT_TIMEOUT_S = 300 };

static const char DEFAULT_FACILITIES[] = "$local_fs +mountall +mountall-bootclean +mountoverflowtmp +umountfs\n"
					 "$network +networking +ifupdown\n"
					 "$named +named +dnsmasq +lwresd +bind9 +unbound +pdns-recursor $network\n"
					 "$remote_fs $local_fs +mountnfs +mountnfs-bootclean +umountnfs +sendsigs\n"
					 "$syslog +rsyslog +sysklogd +syslog-ng +dsyslog +inetutils-syslogd\n"
					 "$portmap +rpcbind\n"
					 "$time +hwclock\n"
					 "<interactive> glibc udev console-screen keymap keyboard-setup console-setup cryptdisks "
					 "cryptdisks-early checkfs-loop\n";

/* What each keyword means as a dependency. LSB has no hard ones: a script is started after what it requires has been,
 * however that went. */
static const struct {
	enum lsb_keyword keyword;
	struct ref how;
} MEANINGS[] = {
	{ LSB_REQUIRED_START, { .relation = RELATION_AFTER, .when = AT_START, .must_exist = true } },
	{ LSB_SHOULD_START, { .relation = RELATION_AFTER, .when = AT_START } },
	{ LSB_START_AFTER, { .relation = RELATION_AFTER, .when = AT_START } },
	{ LSB_START_BEFORE, { .relation = RELATION_AFTER, .when = AT_START, .reversed = true } },
	{ LSB_REQUIRED_STOP, { .relation = RELATION_AFTER, .when = AT_STOP } },
	{ LSB_SHOULD_STOP, { .relation = RELATION_AFTER, .when = AT_STOP } },
	{ LSB_STOP_AFTER, { .relation = RELATION_AFTER, .when = AT_STOP, .reversed = true } },
};

bool lsb_is_script_name(struct slice name)
{
	static const char *const ENDS[] = { ".new",  ".org", ".orig", ".save", ".swp", ".core", ".old", "~" };
	static const char *const PARTS[] = { ".dpkg", ".ucf", ".rpm", ".ba" };
	static const char *const NO_SCRIPTS[] = { "README", "rc", "rcS", "skeleton", "functions", "boot", "halt", "reboot" };

	if (name.size == 0 || memchr("$.#%_+-\\*[]^:()~", name.at[0], 16))
		return false;
	for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++)
		if (slice_ends(name, ENDS[i]))
			return false;
	for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
		if (memmem(name.at, name.size, PARTS[i], strlen(PARTS[i])))
			return false;
	for (size_t i = 0; i < sizeof NO_SCRIPTS / sizeof NO_SCRIPTS[0]; i++)
		if (slice_is(name, NO_SCRIPTS[i]))
			return false;
	return true;
}

static uint8_t parse_levels(struct slice value)
{
	uint8_t levels = 0;

	for (size_t i = 0; i < value.size; i++) {
		if (value.at[i] >= '0' && value.at[i] <= '6')
			levels |= (uint8_t)(1u << (value.at[i] - '0'));
		if (value.at[i] == 'S' || value.at[i] == 's')
			levels |= 1u << LEVEL_S;
	}
	return levels;
}

static void refer(struct units *units, struct unit *unit, struct slice value, struct ref how)
{
	struct slice name;

	while (word_next(&value, &name)) {
		if (slice_is(name, "$all")) {
			unit->after_all |= (how.when & AT_START) && !how.reversed;
			unit->stops_first |= (how.when & AT_STOP) && !how.reversed;
			continue;
		}
		if (slice_is(name, "$null"))
			continue;
		/* "+name" is optional wherever it stands. */
		if (slice_starts(name, "+")) {
			how.must_exist = false;
			name = slice_from(name, 1);
		}
		if (name.size > 0)
			units_refer(units, unit, name, how);
	}
}

static void add_commands(struct units *units, struct unit *unit, const struct lsb_source *source)
{
	const char *script = arena_text(&units->arena, source->script_path, strlen(source->script_path));
	const char *const start[] = { script, "start" }, *const stop[] = { script, "stop" };

	if (!script || !units_command(units, unit, PHASE_START, start, 2, false, 0) ||
	    !units_command(units, unit, PHASE_STOP, stop, 2, true, 0))
		unit->broken = true;
}

static bool is_openrc(const struct lsb_source *source)
{
	struct lines lines = lines_of(source->text, source->size);
	struct slice first;

	return line_next(&lines, &first) && slice_starts(first, "#!") && slice_ends(slice_trim(first), "openrc-run");
}

static bool check_header(struct units *units, const struct lsb_source *source, const struct lsb_header *header)
{
	if (!header->found && is_openrc(source))
		units_complain(units, source->header_path, 1, "a script for OpenRC, without an INIT INFO header: not started");
	else if (!header->found)
		units_complain(units, source->header_path, 1,
			       "no INIT INFO header: not started; give it one, or /etc/insserv/overrides/%.*s",
			       (int)source->script.size, source->script.at);
	else if (!header->closed)
		units_complain(units, source->header_path, header->line, "this INIT INFO header has no END: not started");
	return header->closed;
}

/* As insserv has it: x.sh is x where it says so, or says nothing. */
static struct slice name_of_script(struct slice script, struct slice provides)
{
	struct slice plain = script, name;

	if (!slice_ends(script, ".sh"))
		return script;
	plain.size -= strlen(".sh");
	if (!provides.at)
		return plain;
	while (word_next(&provides, &name))
		if (name.size == plain.size && !memcmp(name.at, plain.at, name.size))
			return plain;
	return script;
}

struct unit *lsb_unit_parse(struct units *units, const struct lsb_source *source)
{
	struct slice provides, name;
	struct lsb_header header;
	struct unit *unit;

	lsb_header_parse(source->text, source->size, &header);
	if (!check_header(units, source, &header))
		return NULL;
	if (header.unknown_line)
		units_complain(units, source->header_path, header.unknown_line, "%.*s: unknown keyword; it is ignored",
			       (int)(header.unknown.size < 40 ? header.unknown.size : 40), header.unknown.at);
	provides = header.value[LSB_PROVIDES];
	unit = units_add(units, ORIGIN_LSB, name_of_script(source->script, provides), source->header_path);
	if (!unit)
		return NULL;
	unit->line = (uint16_t)header.line;
	unit->readiness = READY_EXIT;
	unit->start_timeout_ns = SCRIPT_TIMEOUT_S * NS_PER_S;
	unit->levels = parse_levels(header.value[LSB_DEFAULT_START]);
	unit->stop_levels = parse_levels(header.value[LSB_DEFAULT_STOP]);
	units_name(units, unit, source->script, 0);
	if (!header.value[LSB_PROVIDES].at)
		units_complain(units, source->header_path, header.line, "no Provides: it is known as %s", unit->name);
	while (word_next(&provides, &name))
		units_name(units, unit, name, header.lines[LSB_PROVIDES]);
	for (size_t i = 0; i < sizeof MEANINGS / sizeof MEANINGS[0]; i++) {
		struct ref how = MEANINGS[i].how;

		how.line = (uint16_t)header.lines[MEANINGS[i].keyword];
		refer(units, unit, header.value[MEANINGS[i].keyword], how);
	}
	add_commands(units, unit, source);
	if (slice_is(header.value[LSB_INTERACTIVE], "true")) {
		unit->tty = "/dev/console";
		unit->serial = true;
	}
	return unit;
}

static void add_member(struct units *units, struct unit *facility, struct slice member, unsigned line)
{
	struct ref how = { .line = (uint16_t)line, .relation = RELATION_MEMBER, .when = AT_START | AT_STOP };

	if (slice_starts(member, "+"))
		member = slice_from(member, 1);
	if (member.size > 0)
		units_refer(units, facility, member, how);
}

void facilities_parse(struct units *units, const char *path, const char *text, size_t size)
{
	struct lines lines = lines_of(text, size);
	struct slice line, name, member;

	while (line_next(&lines, &line)) {
		uint16_t cursor = NO_NAME;
		struct unit *facility;
		unit_id known;

		if (!word_next(&line, &name) || name.at[0] == '#' || name.at[0] == '<')
			continue;
		if (name.at[0] != '$' || name.size == 1) {
			units_complain(units, path, lines.number, "%.*s: expected a facility such as $network, or <interactive>",
				       (int)(name.size < 40 ? name.size : 40), name.at);
			continue;
		}
		/* Another unit may provide it: that one is waited for besides. */
		while ((known = units_find_next(units, name, &cursor)) != NO_UNIT)
			if (units->unit[known].origin == ORIGIN_FACILITY)
				break;
		facility = known != NO_UNIT ? &units->unit[known] : units_add(units, ORIGIN_FACILITY, name, path);
		if (!facility)
			return;
		facility->line = (uint16_t)lines.number;
		facility->readiness = READY_EXIT;
		while (word_next(&line, &member))
			add_member(units, facility, member, lines.number);
	}
}

void facilities_default(struct units *units)
{
	facilities_parse(units, "insserv.conf", DEFAULT_FACILITIES, sizeof DEFAULT_FACILITIES - 1);
}
