/* SPDX-License-Identifier: MIT */
/* Reads init.conf into the settings that belong to no unit. */
#include "config.h"

#include <string.h>

#include "shared/clock.h"
#include "words.h"

enum { SHUTDOWN_TIMEOUT_S = 30, MAX_STARTING = 1000, MAX_NAME = 32 };

struct reading {
	struct config *config;
	struct units *units;
	const char *path, *key;
	unsigned line;
};

static void wrong(struct reading *reading, const char *expected)
{
	units_complain(reading->units, reading->path, reading->line, "%s: expected %s", reading->key, expected);
}

void config_init(struct config *config)
{
	*config = (struct config){ .level = '2',
				   .lsb = true,
				   .early = true,
				   .fstab = true,
				   .quiet = true,
				   .shutdown_timeout_ns = SHUTDOWN_TIMEOUT_S * NS_PER_S };
}

static const char *keep(struct reading *reading, struct slice value)
{
	return arena_text(&reading->units->arena, value.at, value.size);
}

static void read_goals(struct reading *reading, struct slice value)
{
	struct slice name;

	while (word_next(&value, &name)) {
		const char *text = keep(reading, name);

		if (reading->config->n_goals == MAX_GOALS || !text) {
			wrong(reading, "no more than 16 goals");
			return;
		}
		reading->config->goals[reading->config->n_goals++] = text;
	}
}

static void read_starting(struct reading *reading, struct slice value)
{
	int64_t number;

	if (slice_is(value, "auto"))
		reading->config->starting = 0;
	else if (parse_number(value, 1, MAX_STARTING, &number))
		wrong(reading, "auto, or a number from 1 to 1000");
	else
		reading->config->starting = (unsigned)number;
}

static void read_level(struct reading *reading, struct slice value)
{
	if (value.size != 1 || value.at[0] < '2' || value.at[0] > '5')
		wrong(reading, "a runlevel from 2 to 5");
	else
		reading->config->level = value.at[0];
}

static void read_flag(struct reading *reading, struct slice value)
{
	struct config *config = reading->config;
	bool flag;

	if (parse_bool(value, &flag))
		wrong(reading, "yes or no");
	else if (!strcmp(reading->key, "lsb"))
		config->lsb = flag;
	else if (!strcmp(reading->key, "systemd"))
		config->systemd = flag;
	else if (!strcmp(reading->key, "fstab"))
		config->fstab = flag;
	else
		config->early = flag;
}

static void read_console(struct reading *reading, struct slice value)
{
	if (!slice_is(value, "quiet") && !slice_is(value, "info"))
		wrong(reading, "quiet (failures and marks) or info (every unit)");
	else
		reading->config->quiet = slice_is(value, "quiet");
}

static void read_failure(struct reading *reading, struct slice value)
{
	static const char *const WORDS[] = { "hold", "shell", "reboot" };

	for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
		if (slice_is(value, WORDS[i])) {
			if (!strcmp(reading->key, "on-crash"))
				reading->config->on_crash = (enum on_failure)i;
			else
				reading->config->on_failure = (enum on_failure)i;
			return;
		}
	wrong(reading, "hold (do nothing), shell or reboot");
}

static void read_emergency(struct reading *reading, struct slice value)
{
	if (value.size == 0 || value.at[0] != '/')
		wrong(reading, "a program by its full path");
	else
		reading->config->emergency = keep(reading, value);
}

static void read_shutdown(struct reading *reading, struct slice value)
{
	int64_t ns;

	if (parse_duration(value, &ns) || ns == 0)
		wrong(reading, "a time such as 30s");
	else
		reading->config->shutdown_timeout_ns = ns;
}

static void read_watchdog(struct reading *reading, struct slice value)
{
	struct slice device, time = value;
	int64_t ns;

	if (!word_next(&time, &device) || device.at[0] != '/' || parse_duration(time, &ns) || ns < 2 * NS_PER_S) {
		wrong(reading, "a device and a time of 2 s or more: /dev/watchdog 30s");
		return;
	}
	reading->config->watchdog = keep(reading, device);
	reading->config->watchdog_ns = ns;
}

static bool is_mode(const char *word)
{
	size_t digits = strspn(word, "01234567");

	return digits > 0 && digits <= 4 && word[digits] == '\0';
}

static void read_setting(struct reading *reading, struct slice value)
{
	struct config *config = reading->config;
	const char *words[MAX_WORDS];
	int n = words_parse(&reading->units->arena, value, words, MAX_WORDS);

	if (n <= 0 || config->n_settings == MAX_SETTINGS) {
		wrong(reading, n == 0 ? "a value" : n < 0 ? words_error(n) : "no more than 64 such lines");
		return;
	}
	if (!strcmp(reading->key, "folder") && n > 1 && !is_mode(words[1])) {
		wrong(reading, "a path and its mode in octal digits, as 0755");
		return;
	}
	config->settings[config->n_settings++] = (struct setting){ .key = reading->key,
								   .words = units_words(reading->units, words, (size_t)n),
								   .n_words = (size_t)n,
								   .line = (uint16_t)reading->line };
}

static const struct {
	const char *name;
	void (*read)(struct reading *reading, struct slice value);
} KEYS[] = {
	{ "goal", read_goals },		{ "starting", read_starting },	      { "level", read_level },
	{ "lsb", read_flag },		{ "systemd", read_flag },	      { "early", read_flag },
	{ "fstab", read_flag },		{ "console", read_console },	      { "on-failure", read_failure },
	{ "on-crash", read_failure },	{ "emergency", read_emergency },      { "shutdown-timeout", read_shutdown },
	{ "watchdog", read_watchdog },	{ "hostname", read_setting },	      { "sysctl", read_setting },
	{ "mount", read_setting },	{ "address", read_setting },	      { "module", read_setting },
	{ "folder", read_setting },	{ "seed", read_setting },	      { "link", read_setting },
	{ "limit-files", read_setting }, { "ipv6", read_setting },
};

void config_parse(struct config *config, struct units *units, const char *path, const char *text, size_t size)
{
	struct reading reading = { .config = config, .units = units, .path = path };
	struct lines lines = lines_of(text, size);
	struct slice line, key;

	config->path = path;
	while (line_next(&lines, &line)) {
		bool known = false;

		if (!word_next(&line, &key) || key.at[0] == '#')
			continue;
		reading.line = lines.number;
		for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0] && !known; i++)
			if (slice_is(key, KEYS[i].name)) {
				known = true;
				reading.key = KEYS[i].name;
				KEYS[i].read(&reading, slice_trim(line));
			}
		if (!known)
			units_complain(units, path, lines.number, "%.*s: unknown key; the line is ignored",
				       (int)(key.size < MAX_NAME ? key.size : MAX_NAME), key.at);
	}
}

void config_environment(struct config *config, struct units *units, char *const *environment)
{
	static const struct {
		const char *prefix, *key;
		void (*read)(struct reading *reading, struct slice value);
	} WORDS[] = {
		{ "bootlab_goal=", "goal", read_goals },
		{ "bootlab_starting=", "starting", read_starting },
		{ "bootlab_console=", "console", read_console },
		{ "bootlab_emergency=", "emergency", read_emergency },
		{ "bootlab_on_failure=", "on-failure", read_failure },
		{ "bootlab_lsb=", "lsb", read_flag },
		{ "bootlab_systemd=", "systemd", read_flag },
	};
	struct reading reading = { .config = config, .units = units, .path = "kernel command line" };

	for (; environment && *environment; environment++)
		for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
			struct slice word = slice_of(*environment), value;

			if (!slice_starts(word, WORDS[i].prefix))
				continue;
			value = slice_from(word, strlen(WORDS[i].prefix));
			reading.key = WORDS[i].key;
			if (i == 0)
				config->n_goals = 0;
			/* Goals are parted by commas there. */
			while (i == 0 && value.size > 0) {
				const char *comma = memchr(value.at, ',', value.size);
				size_t size = comma ? (size_t)(comma - value.at) : value.size;

				read_goals(&reading, (struct slice){ value.at, size });
				value = slice_from(value, comma ? size + 1 : size);
			}
			if (i > 0)
				WORDS[i].read(&reading, value);
		}
}
