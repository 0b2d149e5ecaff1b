/* SPDX-License-Identifier: MIT */
/* Writes and checks the note beside a hibernation image. */
#include "note.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "kept/header.h"

static const char FIRST[] = "bootlab-hibernation 1\n";
static const char TAKEN[] = "bootlab-hibernation taken\n";
static const char SWAP[] = "SWAPSPACE2";

/* Of the swap header (linux/swap.h): the number of its last page. */
enum { LAST_PAGE_AT = 1028, SWAP_AT = NOTE_SIZE - (sizeof SWAP - 1) };

int note_find_room(const char first[NOTE_SIZE], uint64_t at)
{
	uint32_t last;

	if (memcmp(first + SWAP_AT, SWAP, sizeof SWAP - 1))
		return -EINVAL;
	memcpy(&last, first + LAST_PAGE_AT, sizeof last);
	return ((uint64_t)last + 1) * NOTE_SIZE <= at ? 0 : -ENOSPC;
}

void note_kernel(char ret[KERNEL_MAX])
{
	struct utsname name;

	uname(&name);
	snprintf(ret, KERNEL_MAX, "%.60s %.130s", name.release, name.version);
}

int note_write(const char *kernel, const struct stamps *stamps, char ret[NOTE_SIZE])
{
	int size;

	memset(ret, 0, NOTE_SIZE);
	size = snprintf(ret, NOTE_SIZE, "%skernel %s\n", FIRST, kernel);
	for (size_t i = 0; i < stamps->n; i++) {
		const struct stamp *one = &stamps->all[i];
		size_t room = NOTE_SIZE - (size_t)size;
		int more = snprintf(ret + size, room, "device %s %08" PRIx32 "\n", one->source, crc32_of(one->bytes, STAMP_SIZE));

		if ((size_t)more + sizeof "crc 01234567\n" > room)
			return -ENOSPC;
		size += more;
	}
	sprintf(ret + size, "crc %08" PRIx32 "\n", crc32_of(ret, (size_t)size));
	return 0;
}

void note_take(char ret[NOTE_SIZE])
{
	memset(ret, 0, NOTE_SIZE);
	memcpy(ret, TAKEN, sizeof TAKEN);
}

static int why(char ret[REFUSAL_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

static int why(char ret[REFUSAL_MAX], const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vsnprintf(ret, REFUSAL_MAX, format, words);
	va_end(words);
	return -1;
}

/* Where the text of a whole note ends, its own CRC left out; NULL: it is none. */
static const char *find_end(const char *note)
{
	const char *end = strstr(note, "\ncrc ");
	uint32_t crc;

	if (strncmp(note, FIRST, sizeof FIRST - 1) || !end || sscanf(end + 1, "crc %8" SCNx32, &crc) != 1)
		return NULL;
	return crc32_of(note, (size_t)(end + 1 - note)) == crc ? end + 1 : NULL;
}

static int check_device(const char *line, int (*stamp)(const char *device, char *ret), char ret[REFUSAL_MAX])
{
	static char now[STAMP_SIZE];
	char path[STAMP_PATH];
	uint32_t crc;
	int r;

	if (sscanf(line, "device %127s %8" SCNx32, path, &crc) != 2)
		return why(ret, "its note has a line that is none");
	r = stamp(path, now);
	if (r) {
		why(ret, "%s cannot be read: %s", path, strerror(-r));
		return r;
	}
	return crc32_of(now, STAMP_SIZE) == crc ? 0 : why(ret, "changed since it was made: the file system on %s", path);
}

int note_check(const char note[NOTE_SIZE], const char *kernel, int (*stamp)(const char *device, char *ret), char ret[REFUSAL_MAX])
{
	const char *line, *end;
	size_t size = strlen(kernel);
	int r;

	if (!memcmp(note, TAKEN, sizeof TAKEN - 1))
		return why(ret, "it was taken before");
	if (note[NOTE_SIZE - 1] || !(end = find_end(note)))
		return why(ret, "its note is missing or damaged");
	line = note + sizeof FIRST - 1;
	if (strncmp(line, "kernel ", 7) || strncmp(line + 7, kernel, size) || line[7 + size] != '\n')
		return why(ret, "it is of another kernel: %.*s", (int)strcspn(line + 7, "\n"), line + 7);
	for (line = strchr(line, '\n') + 1; line < end; line = strchr(line, '\n') + 1) {
		r = check_device(line, stamp, ret);
		if (r)
			return r;
	}
	return 0;
}
