/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes one line of the config apart: names, addresses, numbers, and the complaint about what is wrong. */
#include "line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

int line_complain(struct line *line, const char *format, ...)
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

static int out_of_memory(struct line *line)
{
	line_complain(line, "out of memory");
	return -ENOMEM;
}

int line_append(struct line *line, void *array, size_t *count, const void *element, size_t size)
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

int line_read_name(struct line *line, const char *word, char *ret)
{
	size_t size = strlen(word);

	if (!name_valid(word, size))
		return line_complain(line, "name '%.80s' must be 1 to %d printable ASCII characters", word, TRACE_NAME_MAX);
	memcpy(ret, word, size + 1);
	return 0;
}

/* The value of a hexadecimal digit, -1 if it is none. */
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

int line_read_address(struct line *line, const char *word, uint64_t *ret)
{
	uint64_t value = 0;
	size_t size = strlen(word);

	if (size == 0 || size > 16)
		return line_complain(line, "address '%.80s' must be 1 to 16 hexadecimal digits, without 0x", word);
	for (size_t i = 0; i < size; i++) {
		int digit = hex_digit(word[i]);

		if (digit < 0)
			return line_complain(line, "address '%.80s' must be 1 to 16 hexadecimal digits, without 0x", word);
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return 0;
}

int line_read_decimal(struct line *line, const char *word, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end || errno)
		return line_complain(line, "'%.80s' must be a decimal number", word);
	return 0;
}

int line_read_rest(struct line *line, unsigned words, char **ret)
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

int line_read_code(struct line *line, const char *word, struct code *ret)
{
	size_t digits = strlen(word);

	if (digits % 2 || digits / 2 < TRACE_CODE_MIN || digits / 2 > TRACE_CODE_MAX)
		return line_complain(line, "code '%.80s' must be %d to %d bytes of two digits", word, TRACE_CODE_MIN, TRACE_CODE_MAX);
	ret->size = digits / 2;
	for (size_t i = 0; i < ret->size; i++) {
		int high = hex_digit(word[2 * i]), low = hex_digit(word[2 * i + 1]);

		ret->any[i] = word[2 * i] == '?' && word[2 * i + 1] == '?';
		if (!ret->any[i] && (high < 0 || low < 0))
			return line_complain(line, "code '%.80s': '%.2s' is neither two hexadecimal digits nor ??", word, word + 2 * i);
		ret->bytes[i] = ret->any[i] ? 0 : (uint8_t)(high << 4 | low);
	}
	return 0;
}
