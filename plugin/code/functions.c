/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a functions file into sorted tables, and finds the function at an address. */
#include "functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char HEAD[] = "bootlab-functions 1\n";

static const struct {
	const char *word;
	enum role role;
} roles[] = {
	{ "-", ROLE_PLAIN },	     { "thunk", ROLE_THUNK }, { "return", ROLE_RETURN }, { "trampoline", ROLE_TRAMPOLINE },
	{ "entry", ROLE_ENTRY },     { "stubs", ROLE_STUBS }, { "fork", ROLE_FORK },	 { "syscall", ROLE_SYSCALL },
	{ "end", ROLE_END },
};

static int read_text(FILE *file, char **ret, size_t *ret_size)
{
	size_t capacity = 1 << 16, size = 0;
	char *text = malloc(capacity), *grown;

	while (text) {
		size += fread(text + size, 1, capacity - size - 1, file);
		if (size < capacity - 1)
			break;
		grown = realloc(text, capacity *= 2);
		if (!grown)
			free(text);
		text = grown;
	}
	if (!text)
		return -ENOMEM;
	if (ferror(file)) {
		free(text);
		return -EIO;
	}
	text[size] = '\0';
	*ret = text;
	*ret_size = size;
	return 0;
}

static bool read_role(const char *word, size_t size, uint8_t *ret)
{
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
		if (strlen(roles[i].word) == size && !memcmp(roles[i].word, word, size)) {
			*ret = roles[i].role;
			return true;
		}
	return false;
}

/* `line` ends with a NUL. Returns what is wrong with it, or NULL. */
static const char *read_line(char *line, struct functions *functions)
{
	char *role, *name, *rest;
	uint32_t n = functions->count;

	functions->addresses[n] = strtoull(line, &rest, 16);
	if (rest == line || *rest != ' ')
		return "expected: ADDRESS ROLE NAME";
	role = rest + 1;
	name = strchr(role, ' ');
	if (!read_role(role, name ? (size_t)(name - role) : strlen(role), &functions->roles[n]))
		return "unknown role";
	if (!name && functions->roles[n] != ROLE_END)
		return "expected: ADDRESS ROLE NAME";
	if (n && functions->addresses[n] <= functions->addresses[n - 1])
		return "addresses must ascend";
	functions->names[n] = name ? name + 1 : "";
	functions->count++;
	return NULL;
}

static int read_lines(const char *path, char *message, size_t message_size, struct functions *functions)
{
	unsigned number = 2;

	for (char *line = functions->text + strlen(HEAD), *end; *line; line = end + 1, number++) {
		const char *wrong;

		end = strchr(line, '\n');
		wrong = end ? NULL : "the last line is cut off";
		if (end) {
			*end = '\0';
			wrong = read_line(line, functions);
		}
		if (wrong) {
			snprintf(message, message_size, "%s:%u: %s", path, number, wrong);
			return -EINVAL;
		}
	}
	if (functions->count == 0 || functions->roles[functions->count - 1] != ROLE_END) {
		snprintf(message, message_size, "%s:%u: the last line must have the role end", path, number - 1);
		return -EINVAL;
	}
	return 0;
}

int functions_read(FILE *file, const char *path, char *message, size_t message_size, struct functions *ret)
{
	struct functions functions = { 0 };
	size_t size, lines = 1;
	int r = read_text(file, &functions.text, &size);

	if (r) {
		snprintf(message, message_size, "%s: %s", path, strerror(-r));
		return r;
	}
	if (strncmp(functions.text, HEAD, strlen(HEAD)) || strlen(functions.text) != size) {
		snprintf(message, message_size, "%s:1: expected 'bootlab-functions 1'", path);
		functions_deinit(&functions);
		return -EINVAL;
	}
	for (const char *c = functions.text; (c = strchr(c, '\n')); c++)
		lines++;
	functions.addresses = calloc(lines, sizeof *functions.addresses);
	functions.roles = calloc(lines, sizeof *functions.roles);
	functions.names = calloc(lines, sizeof *functions.names);
	if (functions.addresses && functions.roles && functions.names) {
		r = read_lines(path, message, message_size, &functions);
	} else {
		snprintf(message, message_size, "%s: out of memory", path);
		r = -ENOMEM;
	}
	if (r)
		functions_deinit(&functions);
	else
		*ret = functions;
	return r;
}

int functions_open(const char *path, char *message, size_t message_size, struct functions *ret)
{
	FILE *file = fopen(path, "re");
	int r;

	if (!file) {
		r = -errno;
		snprintf(message, message_size, "%s: %s", path, strerror(-r));
		return r;
	}
	r = functions_read(file, path, message, message_size, ret);
	fclose(file);
	return r;
}

void functions_deinit(struct functions *functions)
{
	free(functions->addresses);
	free(functions->roles);
	free(functions->names);
	free(functions->text);
	*functions = (struct functions){ 0 };
}

bool functions_find(const struct functions *functions, uint64_t address, uint32_t *ret)
{
	uint32_t low = 0, high = functions->count;

	/* The first line above the address. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (functions->addresses[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || functions->roles[low - 1] == ROLE_END)
		return false;
	*ret = low - 1;
	return true;
}

bool functions_span(const struct functions *functions, uint64_t address)
{
	if (functions_has_vectors(functions) && address >= FUNCTIONS_VECTORS)
		return false;
	return functions->count && address >= functions->addresses[0] &&
	       address < functions->addresses[functions->count - 1];
}
