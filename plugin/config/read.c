/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the config file line by line, and refuses lines that do not fit together. */
#include "read.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "disk_lines.h"
#include "line.h"
#include "past_lines.h"
#include "price_lines.h"
#include "profile_lines.h"
#include "screen_lines.h"
#include "sleep_lines.h"

enum { LINE_MAX_SIZE = 4096, FD_MAX = 1 << 20 };

static const uint64_t SPAN_NS = 20000;

static int read_probe(struct line *line, enum probe_kind kind, struct config *config)
{
	struct probe probe = { .kind = kind };
	bool from = kind == PROBE_MARK && line->n_words == 7 && !strcmp(line->words[4], "from");
	bool after = (kind == PROBE_IMAGE || kind == PROBE_MARK) && line->n_words == 6 && !strcmp(line->words[4], "after");
	int r;

	if (line->n_words != 4 && !from && !after)
		return line_complain(line, "expected: %s NAME ADDRESS CODE%s", line->words[0],
				kind == PROBE_MARK ? " [from LOW HIGH | after MARK]" :
				kind == PROBE_IMAGE ? " [after MARK]" : "");
	if ((r = line_read_name(line, line->words[1], probe.name)) || (r = line_read_address(line, line->words[2], &probe.address)) ||
	    (r = line_read_code(line, line->words[3], &probe.code)))
		return r;
	if (after && (r = line_read_name(line, line->words[5], probe.after)))
		return r;
	if (from) {
		if ((r = line_read_address(line, line->words[5], &probe.from_low)) ||
		    (r = line_read_address(line, line->words[6], &probe.from_high)))
			return r;
		if (probe.from_low >= probe.from_high)
			return line_complain(line, "from %s %s: an empty range", line->words[5], line->words[6]);
	}
	return line_append(line, &config->probes, &config->n_probes, &probe, sizeof probe);
}

static int read_arch(struct line *line, struct config *config)
{
	uint64_t kernel_start;
	int r;

	address_split(ADDRESS_HALF);
	for (enum arch arch = ARCH_X86_64; arch <= ARCH_RISCV64; arch++) {
		if (line->n_words < 2 || strcmp(line->words[1], arch_name(arch)))
			continue;
		config->arch = arch;
		address_slides(arch);
		if (arch == ARCH_ARMV7 && line->n_words == 3) {
			r = line_read_address(line, line->words[2], &kernel_start);
			if (!r)
				address_split(kernel_start);
			return r;
		}
		if (arch != ARCH_ARMV7 && line->n_words == 2)
			return 0;
	}
	return line_complain(line, "expected: arch x86_64, arch aarch64, arch riscv64 or arch armv7 KERNEL_START");
}

static int read_mark(struct line *line, struct config *config)
{
	return read_probe(line, PROBE_MARK, config);
}

static int read_entry(struct line *line, struct config *config)
{
	return read_probe(line, PROBE_ENTRY, config);
}

static int read_image(struct line *line, struct config *config)
{
	return read_probe(line, PROBE_IMAGE, config);
}

static int read_moved(struct line *line, struct config *config)
{
	return read_probe(line, PROBE_MOVED, config);
}

static int read_calls(struct line *line, struct config *config)
{
	return read_probe(line, PROBE_CALLS, config);
}

static int read_charge(struct line *line, struct config *config)
{
	uint64_t ns;
	int r;

	if (line->n_words != 5)
		return line_complain(line, "expected: charge NAME ADDRESS CODE NS");
	if ((r = line_read_decimal(line, line->words[4], &ns)))
		return r;
	if (ns == 0 || ns > CHARGE_MAX_NS)
		return line_complain(line, "charge %s: %s ns is not 1 to %" PRIu64, line->words[1], line->words[4], CHARGE_MAX_NS);
	for (size_t i = 0; i < config->n_probes; i++)
		if (config->probes[i].kind == PROBE_CHARGE && !strcmp(config->probes[i].name, line->words[1]))
			return line_complain(line, "charge %s: a second line of this name", line->words[1]);
	line->n_words = 4;
	r = read_probe(line, PROBE_CHARGE, config);
	if (!r)
		config->probes[config->n_probes - 1].ns = ns;
	return r;
}

static int read_at(struct line *line, struct config *config)
{
	struct timed_mark mark;
	int r;

	if (line->n_words != 3)
		return line_complain(line, "expected: at NS NAME");
	if ((r = line_read_decimal(line, line->words[1], &mark.t_ns)) || (r = line_read_name(line, line->words[2], mark.name)))
		return r;
	if (mark.t_ns > INT64_MAX)
		return line_complain(line, "at %s: too late for a clock of 63 bits", line->words[1]);
	return line_append(line, &config->timed_marks, &config->n_timed_marks, &mark, sizeof mark);
}

static int read_user(struct line *line, struct config *config)
{
	int r;

	if (line->n_words != 3)
		return line_complain(line, "expected: user NAME AFTER");
	if (config->user_name[0])
		return line_complain(line, "a second user line; there is only one first user instruction");
	if ((r = line_read_name(line, line->words[1], config->user_name)))
		return r;
	return line_read_name(line, line->words[2], config->user_after);
}

static int read_guestmarks(struct line *line, struct config *config)
{
	if (line->n_words != 1)
		return line_complain(line, "guestmarks takes no words");
	config->guest_marks = true;
	return 0;
}

static int read_uart(struct line *line, struct config *config)
{
	uint64_t port;
	int r;

	if (line->n_words != 2)
		return line_complain(line, "expected: uart PORT");
	if ((r = line_read_address(line, line->words[1], &port)))
		return r;
	if (port == 0 || port > 0xffff)
		return line_complain(line, "uart %s: an x86 port is 1 to ffff", line->words[1]);
	if (config->arch != ARCH_X86_64)
		return line_complain(line, "uart: only x86_64 has ports");
	config->uart_port = (uint16_t)port;
	return 0;
}

static int read_stop(struct line *line, struct config *config)
{
	if (line->n_words != 2)
		return line_complain(line, "expected: stop NAME");
	if (config->stop[0])
		return line_complain(line, "a second stop line");
	return line_read_name(line, line->words[1], config->stop);
}

static int read_pause(struct line *line, struct config *config)
{
	if (line->n_words != 2)
		return line_complain(line, "expected: pause NAME");
	if (config->pause[0])
		return line_complain(line, "a second pause line");
	return line_read_name(line, line->words[1], config->pause);
}

static int read_skip(struct line *line, struct config *config)
{
	int r;

	if (line->n_words != 3)
		return line_complain(line, "expected: skip NAME NS");
	if (config->skip_at[0])
		return line_complain(line, "a second skip line");
	if ((r = line_read_name(line, line->words[1], config->skip_at)) ||
	    (r = line_read_decimal(line, line->words[2], &config->skip_ns)))
		return r;
	if (config->skip_ns == 0 || config->skip_ns > CHARGE_MAX_NS)
		return line_complain(line, "skip %s: %s ns is not 1 to %" PRIu64, line->words[1], line->words[2], CHARGE_MAX_NS);
	return 0;
}

static int read_network(struct line *line, struct config *config)
{
	uint64_t fd;
	int r;

	if (line->n_words != 3)
		return line_complain(line, "expected: network FD NETDEV");
	if (config->network_fd >= 0)
		return line_complain(line, "a second network line");
	if ((r = line_read_decimal(line, line->words[1], &fd)) || (r = line_read_name(line, line->words[2], config->network_name)))
		return r;
	if (fd > FD_MAX)
		return line_complain(line, "network %s: not a file descriptor", line->words[1]);
	config->network_fd = (int)fd;
	return 0;
}

static const struct {
	const char *word;
	int (*read)(struct line *line, struct config *config);
} keywords[] = {
	{ "arch", read_arch },	 { "mark", read_mark }, { "entry", read_entry },	   { "image", read_image },
	{ "calls", read_calls }, { "user", read_user }, { "guestmarks", read_guestmarks }, { "stop", read_stop },
	{ "uart", read_uart },	 { "moved", read_moved }, { "pause", read_pause }, { "skip", read_skip },
	{ "charge", read_charge }, { "at", read_at },	{ "network", read_network },
	{ "price", price_line_read }, { "touch", touch_line_read },
	{ "kvm", kvm_line_read }, { "asleep", asleep_line_read }, { "press", press_line_read },
	{ "slide", slide_line_read }, { "past", past_line_read },
};

static int read_line(struct line *line, struct config *config)
{
	int r;

	if (config->arch == ARCH_NONE && strcmp(line->words[0], "arch"))
		return line_complain(line, "expected 'arch' before anything else, got '%.80s'", line->words[0]);
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(line->words[0], keywords[i].word))
			return keywords[i].read(line, config);
	if (disk_lines_read(line, config, &r) || screen_lines_read(line, config, &r) || profile_lines_read(line, config, &r))
		return r;
	return line_complain(line, "unknown word '%.80s'", line->words[0]);
}

static bool mark_exists(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_probes; i++)
		if (!probe_repeats(&config->probes[i]) && !strcmp(config->probes[i].name, name))
			return true;
	for (size_t i = 0; i < config->n_timed_marks; i++)
		if (!strcmp(config->timed_marks[i].name, name))
			return true;
	return screen_lines_have(config, name) || !strcmp(config->user_name, name);
}

/* Whether a mark of this name is made as a block of the kernel begins: only there may the clock be moved. */
static bool is_of_kernel(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_probes; i++)
		if (config->probes[i].kind == PROBE_MARK && !strcmp(config->probes[i].name, name))
			return true;
	return false;
}

static bool can_be_recorded(const struct config *config, const char *name)
{
	return !name[0] || config->guest_marks || config->network_fd >= 0 || mark_exists(config, name);
}

static int check_screen(struct line *line, const struct config *config)
{
	for (size_t i = 0; i < config->n_screen_marks; i++) {
		const struct screen_mark *mark = &config->screen_marks[i];

		if (!can_be_recorded(config, mark->after))
			return line_complain(line, "%s after %s: there is no mark %s, and no guestmarks line", mark->name, mark->after,
					     mark->after);
		if (mark->kind == SCREEN_PICTURED && (!mark->picture || !mark->region.width))
			return line_complain(line, "pictured %s: there is no %s line", mark->name, mark->picture ? "region" : "picture");
	}
	for (size_t i = 0; i < config->n_screen_typings; i++) {
		const struct screen_typing *typing = &config->screen_typings[i];

		if (!can_be_recorded(config, typing->after))
			return line_complain(line, "%s after %s: there is no mark %s, and no guestmarks line", typing->name,
					     typing->after, typing->after);
		if (!typing->n_keys)
			return line_complain(line, "typed %s: there is no key line", typing->name);
	}
	return 0;
}

/* A name that nothing can ever record would only show as a boot that hangs until its deadline. */
static int check_names(struct line *line, const struct config *config)
{
	if (config->arch == ARCH_NONE)
		return line_complain(line, "the file has no arch line");
	if (config->user_name[0] && !mark_exists(config, config->user_after))
		return line_complain(line, "user %s %s: there is no mark %s", config->user_name, config->user_after, config->user_after);
	if (config->cut_lines && !config->uart_port)
		return line_complain(line, "cutlines: there is no uart line");
	if (!can_be_recorded(config, config->stop))
		return line_complain(line, "stop %s: there is no mark %s, and no guestmarks line", config->stop, config->stop);
	if (!can_be_recorded(config, config->pause))
		return line_complain(line, "pause %s: there is no mark %s, and no guestmarks line", config->pause, config->pause);
	if (config->skip_at[0] && !is_of_kernel(config, config->skip_at))
		return line_complain(line, "skip %s: there is no mark line of this name", config->skip_at);
	if (!can_be_recorded(config, config->asleep_after))
		return line_complain(line, "asleep %s: there is no mark %s, and no guestmarks line", config->asleep_after,
				     config->asleep_after);
	if (config->press.key[0] && !can_be_recorded(config, config->press.after))
		return line_complain(line, "press %s behind %s: there is no mark %s, and no guestmarks line", config->press.key,
				     config->press.after, config->press.after);
	return check_screen(line, config);
}

int config_read(FILE *file, const char *path, char *message, size_t message_size, struct config *ret)
{
	struct line line = { .path = path, .message = message, .message_size = message_size };
	struct config config = { .arch = ARCH_NONE, .span_ns = SPAN_NS, .network_fd = -1 };
	char text[LINE_MAX_SIZE], whole[LINE_MAX_SIZE];
	int r = 0;

	line.whole = whole;

	while (!r && fgets(text, sizeof text, file)) {
		char *rest = NULL;

		line.number++;
		strcpy(whole, text);
		line.n_words = 0;
		if (!strchr(text, '\n') && !feof(file)) {
			r = line_complain(&line, "line longer than %zu characters", sizeof text - 2);
			break;
		}
		for (char *word = strtok_r(text, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest)) {
			if (line.n_words == 0 && word[0] == '#')
				break;
			if (line.n_words == WORDS_MAX && strcmp(line.words[0], "functions") && strcmp(line.words[0], "object") &&
			    strcmp(line.words[0], "picture")) {
				r = line_complain(&line, "more than %d words", WORDS_MAX);
				break;
			}
			if (line.n_words < WORDS_MAX)
				line.words[line.n_words++] = word;
		}
		if (!r && line.n_words)
			r = read_line(&line, &config);
	}
	if (!r && ferror(file))
		r = line_complain(&line, "cannot be read: %s", strerror(errno));
	if (!r)
		r = check_names(&line, &config);
	if (r)
		config_deinit(&config);
	else
		*ret = config;
	return r;
}
