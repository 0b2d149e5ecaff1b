/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which bytes written to a 16550 go out on the line. */
#include "uart.h"

#include "check.h"

int main(void)
{
	struct uart uart = { .port = 0x3f8 };

	CHECK(uart_write(&uart, 0x3f8, 'a'));
	CHECK(!uart_write(&uart, 0x2f8, 'b')); /* another UART */
	CHECK(!uart_write(&uart, 0x3f9, 'c')); /* interrupt enable */
	CHECK(!uart_write(&uart, 0x3fb, 0x83));
	CHECK(!uart_write(&uart, 0x3f8, 1)); /* the divisor */
	CHECK(!uart_write(&uart, 0x3fb, 0x03));
	CHECK(uart_write(&uart, 0x3f8, 'd'));
	CHECK(!uart_write(&uart, 0x3fc, 0x1f));
	CHECK(!uart_write(&uart, 0x3f8, 'e')); /* loopback */
	CHECK(!uart_write(&uart, 0x3fc, 0x0b));
	CHECK(uart_write(&uart, 0x3f8, '\n'));
	CHECK(uart.unreported == 3);

	uart_write(&uart, 0x3f8, ':');
	CHECK(!uart_may_wait(&uart));
	uart_write(&uart, 0x3f8, ' ');
	CHECK(uart_may_wait(&uart)); /* "login: " */
	uart_write(&uart, 0x3f8, ' ');
	CHECK(!uart_may_wait(&uart));
	uart_write(&uart, 0x3f8, '#');
	CHECK(uart_may_wait(&uart));
	uart_write(&uart, 0x2f8, 'x'); /* another UART: still the last */
	CHECK(uart_may_wait(&uart));
	uart_write(&uart, 0x3f8, '\0');
	CHECK(!uart_may_wait(&uart));
	return 0;
}
