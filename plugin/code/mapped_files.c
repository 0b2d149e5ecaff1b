/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the files that processes run code of, each once, with its functions where they are known. */
#include "mapped_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place is a number below 2**59: so many bits of it are the offset in the file. */
enum { OFFSET_BITS = 40 };
static const uint64_t OFFSET_MASK = (UINT64_C(1) << OFFSET_BITS) - 1;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int read_symbols(const struct object *object, char *message, size_t message_size, struct symbols_of *ret)
{
	FILE *file = fopen(object->path, "re");
	int r;

	if (!file) {
		r = -errno;
		snprintf(message, message_size, "%s: %s", object->path, strerror(errno));
		return r;
	}
	r = functions_read(file, object->path, message, message_size, &ret->functions);
	fclose(file);
	if (!r)
		ret->name = object->name;
	return r;
}

int mapped_files_init(const struct config *config, struct names *names, char *message, size_t message_size,
		      struct mapped_files *ret)
{
	*ret = (struct mapped_files){ .names = names, .symbols = calloc(config->n_objects + 1, sizeof *ret->symbols) };
	if (!ret->symbols) {
		snprintf(message, message_size, "objects: out of memory");
		return -ENOMEM;
	}
	for (size_t i = 0; i < config->n_objects; i++) {
		int r;

		if (config->objects[i].name[0] == '[')
			continue; /* not a file of the guest */
		r = read_symbols(&config->objects[i], message, message_size, &ret->symbols[ret->n_symbols]);
		if (r) {
			mapped_files_deinit(ret);
			return r;
		}
		ret->n_symbols++;
	}
	return 0;
}

void mapped_files_deinit(struct mapped_files *files)
{
	for (size_t i = 0; i < files->n_symbols; i++)
		functions_deinit(&files->symbols[i].functions);
	free(files->symbols);
	for (uint32_t i = 0; i < files->n_files; i++) {
		free(files->files[i]->path);
		free(files->files[i]->function_numbers);
		free(files->files[i]);
	}
	free(files->files);
	*files = (struct mapped_files){ .names = NULL };
}

/* By path, or by name alone where the config gives no path. */
static const struct functions *find_symbols(const struct mapped_files *files, const char *path)
{
	for (size_t i = 0; i < files->n_symbols; i++) {
		const char *name = files->symbols[i].name;

		if (!strcmp(name, *name == '/' ? path : base_name(path)))
			return &files->symbols[i].functions;
	}
	return NULL;
}

static struct mapped_file *new_file(struct mapped_files *files, uint64_t inode, const char *path)
{
	struct mapped_file *file = calloc(1, sizeof *file);

	if (!file)
		return NULL;
	file->inode = inode;
	file->path = strdup(path);
	file->functions = find_symbols(files, path);
	if (file->functions)
		file->function_numbers = calloc(file->functions->count, sizeof *file->function_numbers);
	if (!file->path || (file->functions && !file->function_numbers)) {
		free(file->path);
		free(file);
		return NULL;
	}
	return file;
}

struct mapped_file *mapped_files_get(struct mapped_files *files, uint64_t inode, const char *path)
{
	struct mapped_file *file;

	for (uint32_t i = 0; i < files->n_files; i++)
		if (files->files[i]->inode == inode && !strcmp(files->files[i]->path, path))
			return files->files[i];
	if (files->n_files == files->capacity) {
		uint32_t capacity = files->capacity ? 2 * files->capacity : 32;
		struct mapped_file **grown = realloc(files->files, capacity * sizeof *grown);

		if (!grown)
			return NULL;
		files->files = grown;
		files->capacity = capacity;
	}
	file = new_file(files, inode, path);
	if (file) {
		files->files[files->n_files++] = file;
		file->number = files->n_files;
	}
	return file;
}

static uint32_t number_of_file(struct mapped_files *files, struct mapped_file *file)
{
	const char *name = base_name(file->path);
	char text[256];

	if (!file->file_number) {
		/* `[vdso]` has its brackets already. */
		snprintf(text, sizeof text, *name == '[' ? "%s" : "[%s]", name);
		file->file_number = names_add(files->names, SPACE_USER, 0, text);
	}
	return file->file_number;
}

static uint32_t number_of_function(struct mapped_files *files, struct mapped_file *file, uint32_t line)
{
	char text[1024];

	if (!file->function_numbers[line]) {
		snprintf(text, sizeof text, "%s [%s]", file->functions->names[line], base_name(file->path));
		file->function_numbers[line] = names_add(files->names, SPACE_USER, 0, text);
	}
	return file->function_numbers[line];
}

void mapped_file_place(struct mapped_files *files, struct mapped_file *file, uint64_t offset, struct code_place *ret)
{
	uint32_t line;

	*ret = (struct code_place){ .address = (uint64_t)file->number << OFFSET_BITS | (offset & OFFSET_MASK) };
	if (!file->functions || !functions_find(file->functions, offset, &line)) {
		ret->function = number_of_file(files, file);
		ret->role = ROLE_PLAIN;
		ret->flags = CODE_ANONYMOUS;
		return;
	}
	ret->function = number_of_function(files, file, line);
	ret->role = file->functions->roles[line];
	ret->flags = file->functions->addresses[line] == offset ? CODE_START : 0;
}
