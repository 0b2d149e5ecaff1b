/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the bytes that a guest writes to a 16550 go out on the line. No QEMU headers.
 *
 * The transmit register shares its port with the divisor latch, and in loopback mode nothing leaves the chip (National
 * Semiconductor PC16550D, 8.0 Registers).
 */
#ifndef BOOTLAB_UART_H
#define BOOTLAB_UART_H

#include <stdbool.h>
#include <stdint.h>

struct uart {
	uint16_t port;		/* of the first register; 0: there is none to watch */
	bool divisor_latch;	/* LCR bit 7 */
	bool loopback;		/* MCR bit 4 */
	uint64_t unreported;	/* bytes sent since the last record */
	uint8_t latest, before;	/* the latest of all bytes sent, and the one before it */
};

/* Account for an 8-bit write; returns whether it sent `value`. */
bool uart_write(struct uart *uart, uint16_t port, uint8_t value);

/*
 * Whether the byte that was just sent may be the last of a prompt, which no line feed follows: "login: ", "# ", "=>". What
 * comes of it costs little, and most of these stand in the midst of a line.
 */
bool uart_may_wait(const struct uart *uart);

#endif
