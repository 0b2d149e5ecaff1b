/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows the registers of a 16550 that decide whether a written byte is sent. */
#include "uart.h"

#include <string.h>

enum { TRANSMIT = 0, LINE_CONTROL = 3, MODEM_CONTROL = 4 };
enum { LINE_CONTROL_DIVISOR = 0x80, MODEM_CONTROL_LOOPBACK = 0x10 };

bool uart_write(struct uart *uart, uint16_t port, uint8_t value)
{
	switch (port - uart->port) {
	case TRANSMIT:
		if (uart->divisor_latch || uart->loopback)
			return false;
		uart->unreported++;
		uart->before = uart->latest;
		uart->latest = value;
		return true;
	case LINE_CONTROL:
		uart->divisor_latch = value & LINE_CONTROL_DIVISOR;
		return false;
	case MODEM_CONTROL:
		uart->loopback = value & MODEM_CONTROL_LOOPBACK;
		return false;
	default:
		return false;
	}
}

static bool is_one_of(uint8_t value, const char *these)
{
	return value && strchr(these, value);
}

bool uart_may_wait(const struct uart *uart)
{
	return is_one_of(uart->latest, "#$>%?") || (uart->latest == ' ' && is_one_of(uart->before, "#$>%?:])"));
}
