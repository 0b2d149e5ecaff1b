/* SPDX-License-Identifier: MIT */
/* Makes text of a format and values, without a heap, fractions or languages. */
#include "print.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { DIGITS_MAX = 20 };

struct printing {
	char *to;
	size_t room, size;
};

static void put(struct printing *printing, char c)
{
	if (printing->size + 1 < printing->room)
		printing->to[printing->size] = c;
	printing->size++;
}

static void fill(struct printing *printing, char c, int n)
{
	for (; n > 0; n--)
		put(printing, c);
}

/* The digits end behind `end`; gives where they begin. */
static const char *digits_of(uint64_t number, unsigned base, char letter, char *end)
{
	do {
		unsigned digit = (unsigned)(number % base);

		*--end = (char)(digit < 10 ? '0' + digit : (unsigned)letter + digit - 10);
		number /= base;
	} while (number > 0);
	return end;
}

/* %d, %ld, %zd and the like: as wide as its type says. */
static int64_t take_signed(va_list *arguments, int longs)
{
	return longs == 0 ? va_arg(*arguments, int) : longs == 1 ? va_arg(*arguments, long) : va_arg(*arguments, long long);
}

static uint64_t take_unsigned(va_list *arguments, int longs)
{
	return longs == 0 ? va_arg(*arguments, unsigned) :
	       longs == 1 ? va_arg(*arguments, unsigned long) :
			    va_arg(*arguments, unsigned long long);
}

static int take_number(const char **format, va_list *arguments)
{
	int number = 0;

	if (**format == '*') {
		(*format)++;
		return va_arg(*arguments, int);
	}
	for (; **format >= '0' && **format <= '9'; (*format)++)
		number = number * 10 + (**format - '0');
	return number;
}

/* What stands behind a %; gives what stands behind that. */
static const char *put_value(struct printing *printing, const char *format, va_list *arguments)
{
	char digits[DIGITS_MAX], single, sign = '\0';
	bool left = false, zeros = false;
	int width, most = -1, longs = 0, size;
	const char *text;

	for (;; format++) {
		left |= *format == '-';
		zeros |= *format == '0';
		if (*format != '-' && *format != '0')
			break;
	}
	width = take_number(&format, arguments);
	if (*format == '.') {
		format++;
		most = take_number(&format, arguments);
	}
	for (; *format == 'l' || *format == 'z'; format++)
		longs++;
	text = digits + sizeof digits;
	switch (*format) {
	case 's':
		text = va_arg(*arguments, const char *);
		size = (int)(most >= 0 ? strnlen(text, (size_t)most) : strlen(text));
		break;
	case 'd': {
		int64_t number = take_signed(arguments, longs);

		sign = number < 0 ? '-' : '\0';
		text = digits_of(number < 0 ? -(uint64_t)number : (uint64_t)number, 10, 0, digits + sizeof digits);
		size = (int)(digits + sizeof digits - text);
		break;
	}
	case 'u':
	case 'x':
	case 'X':
		text = digits_of(take_unsigned(arguments, longs), *format == 'u' ? 10 : 16, *format == 'X' ? 'A' : 'a',
				 digits + sizeof digits);
		size = (int)(digits + sizeof digits - text);
		break;
	case 'p':
		put(printing, '0');
		put(printing, 'x');
		text = digits_of((uintptr_t)va_arg(*arguments, void *), 16, 'a', digits + sizeof digits);
		size = (int)(digits + sizeof digits - text);
		break;
	default: /* %c and %% */
		single = *format == 'c' ? (char)va_arg(*arguments, int) : *format;
		text = &single;
		size = 1;
	}
	width -= size + (sign != '\0');
	if (!left && !zeros)
		fill(printing, ' ', width);
	if (sign)
		put(printing, sign);
	if (!left && zeros)
		fill(printing, '0', width);
	for (int i = 0; i < size; i++)
		put(printing, text[i]);
	if (left)
		fill(printing, ' ', width);
	return format + 1;
}

int print_list(char *to, size_t room, const char *format, va_list arguments)
{
	struct printing printing = { .to = to, .room = room };
	va_list left;

	va_copy(left, arguments);
	while (*format) {
		if (*format == '%' && format[1])
			format = put_value(&printing, format + 1, &left);
		else
			put(&printing, *format++);
	}
	va_end(left);
	if (room > 0)
		to[printing.size < room ? printing.size : room - 1] = '\0';
	return (int)printing.size;
}

int print(char *to, size_t room, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = print_list(to, room, format, arguments);
	va_end(arguments);
	return size;
}
