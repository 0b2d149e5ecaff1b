/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files whose code processes run, and the functions of those whose symbols the config brings. */
#ifndef BOOTLAB_MAPPED_FILES_H
#define BOOTLAB_MAPPED_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "code_map.h"
#include "config/config.h"
#include "functions.h"
#include "records/names.h"

struct mapped_file {
	uint32_t number; /* from 1 */
	uint64_t inode;	 /* with the path it tells files apart; memory of a freed one is used again */
	char *path;
	const struct functions *functions; /* by offset in the file, NULL: no symbols */
	uint32_t *function_numbers;	   /* one per line, 0: not given yet */
	uint32_t file_number;		   /* of `[file]`, 0: not given yet */
};

struct mapped_files {
	struct names *names;
	struct symbols_of {
		const char *name; /* in the config */
		struct functions functions;
	} *symbols;
	size_t n_symbols;
	struct mapped_file **files;
	uint32_t n_files, capacity;
};

/* Reads the objects that `config`, which must outlive it, names. Returns 0, or a negative errno with one line in `message`. */
int mapped_files_init(const struct config *config, struct names *names, char *message, size_t message_size,
		      struct mapped_files *ret);
void mapped_files_deinit(struct mapped_files *files);

/* The file of this inode and path, `/` and names from the root of its file system; NULL when memory runs out. */
struct mapped_file *mapped_files_get(struct mapped_files *files, uint64_t inode, const char *path);

/* The place of an offset in a file, which every process that maps it shares. */
void mapped_file_place(struct mapped_files *files, struct mapped_file *file, uint64_t offset, struct code_place *ret);

#endif
