/* SPDX-License-Identifier: MIT */
/* Reads the lines of a .service file, fills in specifiers, and says what is wrong or refused. */
#include "service_reading.h"

#include <string.h>

#include "shared/print.h"

void service_wrong(struct service_reading *reading, const char *expected)
{
	units_complain(reading->units, reading->path, reading->line, "%s: expected %s", reading->key, expected);
}

static void break_unit(struct unit *unit, const char *why)
{
	unit->broken = true;
	unit->why_broken = why;
}

void service_refuse(struct service_reading *reading, const char *what)
{
	units_complain(reading->units, reading->path, reading->line, "%s: %s: %s is not started", reading->key, what,
		       reading->unit->name);
	break_unit(reading->unit, "its file asks for something that would be done differently here");
}

/* As systemd-escape(1) writes it: a dash is a slash, and \xNN a byte. */
static void unescape(const char *text, char *ret)
{
	static const char DIGITS[] = "0123456789abcdef";

	for (; *text; text++) {
		const char *high = text[0] == '\\' && text[1] == 'x' && text[2] ? strchr(DIGITS, text[2]) : NULL;
		const char *low = high && text[3] ? strchr(DIGITS, text[3]) : NULL;

		*ret++ = low ? (char)((high - DIGITS) * 16 + (low - DIGITS)) : *text == '-' ? '/' : *text;
		text += low ? 3 : 0;
	}
	*ret = '\0';
}

bool service_fill_in(struct service_reading *reading, struct slice value, char *ret, size_t room, struct slice *ret_value)
{
	static const struct {
		char letter;
		const char *text;
	} SPECIFIERS[] = { { 't', "/run" },	  { 'S', "/var/lib" }, { 'C', "/var/cache" }, { 'L', "/var/log" }, { 'E', "/etc" },
			   { 'T', "/tmp" },	  { 'V', "/var/tmp" }, { '%', "%" },	      { 'u', "root" },	   { 'U', "0" },
			   { 'g', "root" },	  { 'G', "0" },	       { 'h', "/root" } };
	const char *name = reading->unit->name, *at_sign = strchr(name, '@');
	char instance[UNIT_NAME_MAX + 1], unescaped[UNIT_NAME_MAX + 1], prefix[UNIT_NAME_MAX + 1];
	size_t used = 0;

	print(instance, sizeof instance, "%s", at_sign ? at_sign + 1 : "");
	print(prefix, sizeof prefix, "%.*s", at_sign ? (int)(at_sign - name) : (int)strlen(name), name);
	unescape(instance, unescaped);

	for (size_t at = 0; at < value.size; at++) {
		const char *text = NULL;
		char one[2] = { value.at[at], '\0' };

		if (value.at[at] != '%') {
			text = one;
		} else if (++at < value.size) {
			for (size_t i = 0; i < sizeof SPECIFIERS / sizeof SPECIFIERS[0]; i++)
				if (SPECIFIERS[i].letter == value.at[at])
					text = SPECIFIERS[i].text;
			/* The instances of a socket are one unit here, which has the template's name. */
			if (at_sign && !at_sign[1] && strchr("nNiI", value.at[at])) {
				service_refuse(reading, "a connection has no name here");
				return false;
			}
			if (value.at[at] == 'n' || value.at[at] == 'N' || (value.at[at] == 'P' && !at_sign))
				text = name;
			if (value.at[at] == 'p')
				text = prefix;
			if (value.at[at] == 'i')
				text = instance;
			if (value.at[at] == 'I')
				text = unescaped;
		}
		if (!text || used + 2 * strlen(text) + sizeof ".service" >= room) {
			service_refuse(reading, text ? "it is too long" : "it has a specifier (%) that is not known here");
			return false;
		}
		for (const char *c = text; *c; c++) {
			if (text != one && reading->is_words && strchr("\\\"' ", *c))
				ret[used++] = '\\';
			ret[used++] = *c;
		}
		if (text == name && value.at[at] == 'n') {
			memcpy(ret + used, ".service", strlen(".service"));
			used += strlen(".service");
		}
	}
	*ret_value = (struct slice){ ret, used };
	return true;
}

bool service_line(struct service_reading *reading, struct lines *lines, char *joined, struct slice *ret)
{
	struct slice line;
	size_t size = 0;

	while (line_next(lines, &line)) {
		bool goes_on;

		line = slice_trim(line);
		if (line.size == 0 || line.at[0] == '#' || line.at[0] == ';') {
			if (size == 0)
				continue;
			if (line.size > 0)
				continue; /* a comment between joined lines */
			break;
		}
		if (size == 0)
			reading->line = lines->number;
		goes_on = slice_ends(line, "\\");
		line.size -= goes_on;
		if (size + line.size + 1 > SERVICE_LINE_BYTES) {
			units_complain(reading->units, reading->path, reading->line, "longer than %d bytes: %s", SERVICE_LINE_BYTES,
				       reading->unit ? "it is not started" : "the rest is ignored");
			if (reading->unit)
				break_unit(reading->unit, "a line in its file is too long");
			break;
		}
		memcpy(joined + size, line.at, line.size);
		size += line.size;
		if (!goes_on)
			break;
		joined[size++] = ' ';
	}
	*ret = slice_trim((struct slice){ joined, size });
	return size > 0;
}
