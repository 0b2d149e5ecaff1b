/* SPDX-License-Identifier: MIT */
/*
 * Fills and copies memory a word at a time. zig links its own memset and memcpy with musl, and at -Os those go byte by byte: four
 * instructions a byte, a fifth of what process 1 does until its first service.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* glibc's are fast, and the sanitizers want their own. */
#ifdef __has_feature
#define IS_SANITIZED __has_feature(address_sanitizer)
#else
#define IS_SANITIZED 1
#endif
#if defined(MEMORY_TESTED) || (!defined(__GLIBC__) && !IS_SANITIZED)

typedef uintptr_t __attribute__((may_alias)) word;

struct odd {
	uintptr_t word;
} __attribute__((packed, may_alias));

#ifndef MEMORY_ANYWHERE
#if defined(__x86_64__) || defined(__aarch64__)
#define MEMORY_ANYWHERE 1
#else
#define MEMORY_ANYWHERE 0
#endif
#endif

/* Without it the compiler sees what the loops do, and calls memset and memcpy for it. */
#define NO_CALL() __asm__ volatile("")

void *memset(void *to, int value, size_t size)
{
	const word filled = (word)-1 / 255 * (unsigned char)value;
	unsigned char *at = to;

	for (; size > 0 && (uintptr_t)at % sizeof filled; size--) {
		*at++ = (unsigned char)value;
		NO_CALL();
	}
	for (; size >= sizeof filled; size -= sizeof filled, at += sizeof filled) {
		*(word *)(void *)at = filled;
		NO_CALL();
	}
	for (; size > 0; size--) {
		*at++ = (unsigned char)value;
		NO_CALL();
	}
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	const unsigned char *source = from;
	unsigned char *at = to;

	/* At odd addresses where the machine reads and writes words there. */
	for (; MEMORY_ANYWHERE && size >= sizeof(word); size -= sizeof(word), at += sizeof(word), source += sizeof(word)) {
		((struct odd *)at)->word = ((const struct odd *)source)->word;
		NO_CALL();
	}
	if (!MEMORY_ANYWHERE && ((uintptr_t)at | (uintptr_t)source) % sizeof(word) == 0)
		for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word), source += sizeof(word)) {
			*(word *)(void *)at = *(const word *)(const void *)source;
			NO_CALL();
		}
	for (; size > 0; size--) {
		*at++ = *source++;
		NO_CALL();
	}
	return to;
}

#endif
