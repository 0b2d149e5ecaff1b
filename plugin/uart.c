/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows the registers of a 16550 that decide whether a written byte is sent. */
#include "uart.h"

enum { TRANSMIT = 0, LINE_CONTROL = 3, MODEM_CONTROL = 4 };
enum { LINE_CONTROL_DIVISOR = 0x80, MODEM_CONTROL_LOOPBACK = 0x10 };

bool uart_write(struct uart *uart, uint16_t port, uint8_t value)
{
	switch (port - uart->port) {
	case TRANSMIT:
		if (uart->divisor_latch || uart->loopback)
			return false;
		uart->unreported++;
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
