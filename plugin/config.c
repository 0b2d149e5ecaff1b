/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 8, LINE_MAX_SIZE = 4096 };

static const uint64_t SPAN_NS = 20000;

/* x86-64 KASLR moves by CONFIG_PHYSICAL_ALIGN, arm64 by MIN_KIMG_ALIGN, boot loaders align to either: all are 2 MiB. */
static const uint64_t SLIDE_GRANULE = UINT64_C(2) << 20;

struct line {
	const char *path;
	unsigned number;
	size_t n_words;
	char *words[WORDS_MAX];
	const char *whole; /* the line as it was, for a last word that may hold spaces */
	char *message;
	size_t message_size;
};

__attribute__((format(printf, 2, 3))) static int complain(struct line *line, const char *format, ...)
{
	va_list arguments;
	int used = snprintf(line->message, line->message_size, "%s:%u: ", line->path, line->number);

	if (used < 0 || (size_t)used >= line->message_size)
		return -EINVAL;
	va_start(arguments, format);
	vsnprintf(line->message + used, line->message_size - (size_t)used, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

bool name_valid(const char *name, size_t size)
{
	if (size == 0 || size > TRACE_NAME_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return true;
}

static int out_of_memory(struct line *line)
{
	complain(line, "out of memory");
	return -ENOMEM;
}

/* Append `element` to the `count` of `size` bytes each at `*array`. */
static int append(struct line *line, void *array, size_t *count, const void *element, size_t size)
{
	void *grown;

	memcpy(&grown, array, sizeof grown);
	grown = realloc(grown, (*count + 1) * size);
	if (!grown)
		return out_of_memory(line);
	memcpy((char *)grown + *count * size, element, size);
	memcpy(array, &grown, sizeof grown);
	++*count;
	return 0;
}

static int read_name(struct line *line, const char *word, char *ret)
{
	size_t size = strlen(word);

	if (!name_valid(word, size))
		return complain(line, "name '%.80s' must be 1 to %d printable ASCII characters", word, TRACE_NAME_MAX);
	memcpy(ret, word, size + 1);
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static int read_address(struct line *line, const char *word, uint64_t *ret)
{
	uint64_t value = 0;
	size_t size = strlen(word);

	if (size == 0 || size > 16)
		return complain(line, "address '%.80s' must be 1 to 16 hexadecimal digits, without 0x", word);
	for (size_t i = 0; i < size; i++) {
		int digit = hex_digit(word[i]);

		if (digit < 0)
			return complain(line, "address '%.80s' must be 1 to 16 hexadecimal digits, without 0x", word);
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return 0;
}

static int read_code(struct line *line, const char *word, struct code *ret)
{
	size_t digits = strlen(word);

	if (digits % 2 || digits / 2 < TRACE_CODE_MIN || digits / 2 > TRACE_CODE_MAX)
		return complain(line, "code '%.80s' must be %d to %d bytes of two digits", word, TRACE_CODE_MIN, TRACE_CODE_MAX);
	ret->size = digits / 2;
	for (size_t i = 0; i < ret->size; i++) {
		int high = hex_digit(word[2 * i]), low = hex_digit(word[2 * i + 1]);

		ret->any[i] = word[2 * i] == '?' && word[2 * i + 1] == '?';
		if (!ret->any[i] && (high < 0 || low < 0))
			return complain(line, "code '%.80s': '%.2s' is neither two hexadecimal digits nor ??", word, word + 2 * i);
		ret->bytes[i] = ret->any[i] ? 0 : (uint8_t)(high << 4 | low);
	}
	return 0;
}

static int read_probe(struct line *line, enum probe_kind kind, struct config *config)
{
	struct probe probe = { .kind = kind };
	bool from = kind == PROBE_MARK && line->n_words == 7 && !strcmp(line->words[4], "from");
	int r;

	if (line->n_words != 4 && !from)
		return complain(line, "expected: %s NAME ADDRESS CODE%s", line->words[0],
				kind == PROBE_MARK ? " [from LOW HIGH]" : "");
	if ((r = read_name(line, line->words[1], probe.name)) || (r = read_address(line, line->words[2], &probe.address)) ||
	    (r = read_code(line, line->words[3], &probe.code)))
		return r;
	if (from) {
		if ((r = read_address(line, line->words[5], &probe.from_low)) ||
		    (r = read_address(line, line->words[6], &probe.from_high)))
			return r;
		if (probe.from_low >= probe.from_high)
			return complain(line, "from %s %s: an empty range", line->words[5], line->words[6]);
	}
	return append(line, &config->probes, &config->n_probes, &probe, sizeof probe);
}

static int read_arch(struct line *line, struct config *config)
{
	if (line->n_words == 2 && !strcmp(line->words[1], "x86_64"))
		config->arch = ARCH_X86_64;
	else if (line->n_words == 2 && !strcmp(line->words[1], "aarch64"))
		config->arch = ARCH_AARCH64;
	else
		return complain(line, "expected: arch x86_64 or arch aarch64");
	return 0;
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

static int read_calls(struct line *line, struct config *config)
{
	return read_probe(line, PROBE_CALLS, config);
}

static int read_user(struct line *line, struct config *config)
{
	int r;

	if (line->n_words != 3)
		return complain(line, "expected: user NAME AFTER");
	if (config->user_name[0])
		return complain(line, "a second user line; there is only one first user instruction");
	if ((r = read_name(line, line->words[1], config->user_name)))
		return r;
	return read_name(line, line->words[2], config->user_after);
}

static int read_guestmarks(struct line *line, struct config *config)
{
	if (line->n_words != 1)
		return complain(line, "guestmarks takes no words");
	config->guest_marks = true;
	return 0;
}

static int read_uart(struct line *line, struct config *config)
{
	uint64_t port;
	int r;

	if (line->n_words != 2)
		return complain(line, "expected: uart PORT");
	if ((r = read_address(line, line->words[1], &port)))
		return r;
	if (port == 0 || port > 0xffff)
		return complain(line, "uart %s: an x86 port is 1 to ffff", line->words[1]);
	if (config->arch != ARCH_X86_64)
		return complain(line, "uart: only x86_64 has ports");
	config->uart_port = (uint16_t)port;
	return 0;
}

static int read_stop(struct line *line, struct config *config)
{
	if (line->n_words != 2)
		return complain(line, "expected: stop NAME");
	if (config->stop[0])
		return complain(line, "a second stop line");
	return read_name(line, line->words[1], config->stop);
}

static int read_decimal(struct line *line, const char *word, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end || errno)
		return complain(line, "'%.80s' must be a decimal number", word);
	return 0;
}

/* Behind the first `words` words, up to the end of the line. */
static int read_path(struct line *line, unsigned words, char **ret)
{
	const char *path = line->whole + strspn(line->whole, " \t");
	size_t size;

	for (unsigned i = 0; i < words; i++) {
		path += strcspn(path, " \t");
		path += strspn(path, " \t");
	}
	size = strcspn(path, "\r\n");
	*ret = strndup(path, size);
	return *ret ? 0 : out_of_memory(line);
}

static int read_functions(struct line *line, struct config *config)
{
	if (line->n_words < 2)
		return complain(line, "expected: functions PATH");
	if (config->functions)
		return complain(line, "a second functions line");
	return read_path(line, 1, &config->functions);
}

static int read_hook(struct line *line, struct config *config)
{
	static const char *const kinds[HOOK_KINDS] = {
		[HOOK_SWITCH] = "switch",
		[HOOK_WAKE] = "wake",
		[HOOK_FORK] = "fork",
		[HOOK_EXEC] = "exec",
		[HOOK_COMM] = "comm",
		[HOOK_EXIT] = "exit",
		[HOOK_INITCALL] = "initcall",
		[HOOK_CONSOLE_INITCALLS] = "console_initcalls",
		[HOOK_PROBE] = "probe",
		[HOOK_DEFER] = "defer",
		[HOOK_MODULE] = "module",
		[HOOK_UNMAP_MODULE] = "unmap_module",
		[HOOK_BLOCK_ISSUE] = "block_issue",
		[HOOK_BLOCK_DONE] = "block_done",
		[HOOK_MAP] = "map",
		[HOOK_MAP_SPECIAL] = "map_special",
	};
	struct hook hook;
	int r;

	if (line->n_words != 3)
		return complain(line, "expected: hook KIND ADDRESS");
	for (hook.kind = 0; hook.kind < HOOK_KINDS; hook.kind++)
		if (!strcmp(line->words[1], kinds[hook.kind]))
			break;
	if (hook.kind == HOOK_KINDS)
		return complain(line, "unknown hook '%.80s'", line->words[1]);
	r = read_address(line, line->words[2], &hook.address);
	return r ? r : append(line, &config->hooks, &config->n_hooks, &hook, sizeof hook);
}

static int read_offset(struct line *line, struct config *config)
{
	struct offset offset;
	int r;

	if (line->n_words != 3)
		return complain(line, "expected: offset NAME VALUE");
	if ((r = read_name(line, line->words[1], offset.name)) || (r = read_decimal(line, line->words[2], &offset.value)))
		return r;
	return append(line, &config->offsets, &config->n_offsets, &offset, sizeof offset);
}

static int read_span(struct line *line, struct config *config)
{
	if (line->n_words != 2)
		return complain(line, "expected: span NS");
	return read_decimal(line, line->words[1], &config->span_ns);
}

static int read_object(struct line *line, struct config *config)
{
	struct object object;
	int r;

	if (line->n_words < 3)
		return complain(line, "expected: object NAME PATH");
	if ((r = read_name(line, line->words[1], object.name)) || (r = read_path(line, 2, &object.path)))
		return r;
	r = append(line, &config->objects, &config->n_objects, &object, sizeof object);
	if (r)
		free(object.path);
	return r;
}

static int read_cutlines(struct line *line, struct config *config)
{
	if (line->n_words != 1)
		return complain(line, "cutlines takes no words");
	config->cut_lines = true;
	return 0;
}

static const struct {
	const char *word;
	int (*read)(struct line *line, struct config *config);
} keywords[] = {
	{ "arch", read_arch },	 { "mark", read_mark }, { "entry", read_entry },	   { "image", read_image },
	{ "calls", read_calls }, { "user", read_user }, { "guestmarks", read_guestmarks }, { "stop", read_stop },
	{ "uart", read_uart },	 { "hook", read_hook }, { "functions", read_functions }, { "offset", read_offset },
	{ "span", read_span },	 { "object", read_object },	   { "cutlines", read_cutlines },
};

static int read_line(struct line *line, struct config *config)
{
	if (config->arch == ARCH_NONE && strcmp(line->words[0], "arch"))
		return complain(line, "expected 'arch' before anything else, got '%.80s'", line->words[0]);
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(line->words[0], keywords[i].word))
			return keywords[i].read(line, config);
	return complain(line, "unknown word '%.80s'", line->words[0]);
}

static bool mark_exists(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_probes; i++)
		if (config->probes[i].kind != PROBE_CALLS && !strcmp(config->probes[i].name, name))
			return true;
	return !strcmp(config->user_name, name);
}

/* A name that nothing can ever record would only show as a boot that hangs until its deadline. */
static int check_names(struct line *line, const struct config *config)
{
	if (config->arch == ARCH_NONE)
		return complain(line, "the file has no arch line");
	if (config->user_name[0] && !mark_exists(config, config->user_after))
		return complain(line, "user %s %s: there is no mark %s", config->user_name, config->user_after, config->user_after);
	if (config->cut_lines && !config->uart_port)
		return complain(line, "cutlines: there is no uart line");
	if (config->stop[0] && !config->guest_marks && !mark_exists(config, config->stop))
		return complain(line, "stop %s: there is no mark %s, and no guestmarks line", config->stop, config->stop);
	return 0;
}

int config_read(FILE *file, const char *path, char *message, size_t message_size, struct config *ret)
{
	struct line line = { .path = path, .message = message, .message_size = message_size };
	struct config config = { .arch = ARCH_NONE, .span_ns = SPAN_NS };
	char text[LINE_MAX_SIZE], whole[LINE_MAX_SIZE];
	int r = 0;

	line.whole = whole;

	while (!r && fgets(text, sizeof text, file)) {
		char *rest = NULL;

		line.number++;
		strcpy(whole, text);
		line.n_words = 0;
		if (!strchr(text, '\n') && !feof(file)) {
			r = complain(&line, "line longer than %zu characters", sizeof text - 2);
			break;
		}
		for (char *word = strtok_r(text, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest)) {
			if (line.n_words == 0 && word[0] == '#')
				break;
			if (line.n_words == WORDS_MAX && strcmp(line.words[0], "functions") && strcmp(line.words[0], "object")) {
				r = complain(&line, "more than %d words", WORDS_MAX);
				break;
			}
			if (line.n_words < WORDS_MAX)
				line.words[line.n_words++] = word;
		}
		if (!r && line.n_words)
			r = read_line(&line, &config);
	}
	if (!r && ferror(file))
		r = complain(&line, "cannot be read: %s", strerror(errno));
	if (!r)
		r = check_names(&line, &config);
	if (r)
		config_deinit(&config);
	else
		*ret = config;
	return r;
}

void config_deinit(struct config *config)
{
	for (size_t i = 0; i < config->n_objects; i++)
		free(config->objects[i].path);
	free(config->objects);
	free(config->offsets);
	free(config->hooks);
	free(config->functions);
	free(config->probes);
	*config = (struct config){ .arch = ARCH_NONE };
}

bool config_offset(const struct config *config, const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < config->n_offsets; i++)
		if (!strcmp(config->offsets[i].name, name)) {
			*ret = config->offsets[i].value;
			return true;
		}
	return false;
}

bool address_is_high(uint64_t address)
{
	return address >> 63;
}

enum place probe_place(const struct probe *probe, uint64_t address, const uint64_t *slide)
{
	bool congruent = (address - probe->address) % SLIDE_GRANULE == 0;

	switch (probe->kind) {
	case PROBE_MARK:
	case PROBE_CALLS:
		if (slide)
			return address == probe->address + *slide ? PLACE_YES : PLACE_NO;
		return congruent && address_is_high(address) ? PLACE_IF_CODE : PLACE_NO;
	case PROBE_ENTRY:
		return congruent && !address_is_high(address) ? PLACE_IF_CODE : PLACE_NO;
	case PROBE_IMAGE:
		return address == probe->address ? PLACE_IF_CODE : PLACE_NO;
	}
	return PLACE_NO;
}

bool code_matches(const struct code *code, const uint8_t *bytes, size_t size)
{
	if (size < code->size)
		return false;
	for (size_t i = 0; i < code->size; i++)
		if (!code->any[i] && code->bytes[i] != bytes[i])
			return false;
	return true;
}
