/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads which disks are exact, which are modelled, and the figures of the models. */
#include "disk_lines.h"

#include <string.h>

static int read_exactdisks(struct line *line, struct config *config)
{
	if (line->n_words != 1)
		return line_complain(line, "exactdisks takes no words");
	config->exact_disks = true;
	return 0;
}

static struct modelled_disk *find(const struct config *config, const char *drive)
{
	for (size_t i = 0; i < config->n_modelled_disks; i++)
		if (!strcmp(config->modelled_disks[i].drive, drive))
			return &config->modelled_disks[i];
	return NULL;
}

static int read_disk(struct line *line, struct config *config)
{
	struct modelled_disk disk = { .kind = DISK_FLASH };
	int r;

	if (line->n_words != 3 || (strcmp(line->words[2], "flash") && strcmp(line->words[2], "head")))
		return line_complain(line, "expected: disk DRIVE flash|head");
	if (!strcmp(line->words[2], "head"))
		disk.kind = DISK_HEAD;
	if ((r = line_read_name(line, line->words[1], disk.drive)))
		return r;
	if (find(config, disk.drive))
		return line_complain(line, "a second disk line for %s", disk.drive);
	return line_append(line, &config->modelled_disks, &config->n_modelled_disks, &disk, sizeof disk);
}

static int read_figure(struct line *line, struct config *config)
{
	struct modelled_disk *disk;
	enum disk_figure figure;
	uint64_t value;
	int r;

	if (line->n_words != 4)
		return line_complain(line, "expected: figure DRIVE FIGURE VALUE");
	disk = find(config, line->words[1]);
	if (!disk)
		return line_complain(line, "figure %.80s: there is no disk line of this name before it", line->words[1]);
	figure = disk_figure_find(line->words[2]);
	if (figure == DISK_FIGURES)
		return line_complain(line, "figure %s: a model has no '%.80s'", disk->drive, line->words[2]);
	if ((r = line_read_decimal(line, line->words[3], &value)))
		return r;
	/* What is computed with them stays within 63 bits. */
	if (value > UINT64_C(1) << 40)
		return line_complain(line, "figure %s %s: %s is more than 2**40", disk->drive, line->words[2], line->words[3]);
	disk->figures[figure] = (int64_t)value;
	return 0;
}

static int read_keepwrites(struct line *line, struct config *config)
{
	struct modelled_disk *disk;

	if (line->n_words != 2)
		return line_complain(line, "expected: keepwrites DRIVE");
	disk = find(config, line->words[1]);
	if (!disk)
		return line_complain(line, "keepwrites %.80s: there is no disk line of this name before it", line->words[1]);
	disk->keeps_writes = true;
	return 0;
}

bool disk_lines_read(struct line *line, struct config *config, int *ret)
{
	static const struct {
		const char *word;
		int (*read)(struct line *line, struct config *config);
	} keywords[] = {
		{ "exactdisks", read_exactdisks },
		{ "disk", read_disk },
		{ "figure", read_figure },
		{ "keepwrites", read_keepwrites },
	};

	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(line->words[0], keywords[i].word)) {
			*ret = keywords[i].read(line, config);
			return true;
		}
	return false;
}
