/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes and reads what a model knows: requests that wait or are under way, head, cache, and which blocks were touched. */
#include "state.h"

#include <errno.h>
#include <string.h>

int disk_state_write(FILE *file, const struct disk_model *model)
{
	size_t touched = disk_flash_touched_size(&model->figures);

	if (fwrite(model, sizeof *model, 1, file) != 1 || (touched && fwrite(model->flash.touched, touched, 1, file) != 1))
		return errno ? -errno : -EIO;
	return 0;
}

/* The places of one say where in `touched` is looked, its id where its bytes are, its operation what it is called. */
static bool are_requests(const struct disk_request *requests, size_t count, uint64_t sectors)
{
	for (size_t i = 0; i < count; i++)
		if (requests[i].id >= DISK_REQUESTS_MAX || (unsigned)requests[i].operation > DISK_FLUSH ||
		    requests[i].sectors > sectors || requests[i].sector > sectors - requests[i].sectors)
			return false;
	return true;
}

static bool is_valid(const struct disk_model *model)
{
	uint64_t sectors = model->figures.sectors;

	return model->n_waiting <= DISK_REQUESTS_MAX && model->n_active <= DISK_REQUESTS_MAX &&
	       model->n_waiting + model->n_active <= DISK_REQUESTS_MAX && model->head.cached <= DISK_EXTENTS_MAX &&
	       model->head.n_unwritten <= DISK_EXTENTS_MAX && are_requests(model->waiting, model->n_waiting, sectors) &&
	       are_requests(model->active, model->n_active, sectors);
}

int disk_state_read(FILE *file, struct disk_model *model)
{
	uint8_t *touched = model->flash.touched; /* the file's pointer means nothing here */
	size_t size = disk_flash_touched_size(&model->figures);
	struct disk_model found;

	if (fread(&found, sizeof found, 1, file) != 1 || found.kind != model->kind ||
	    memcmp(&found.figures, &model->figures, sizeof found.figures) || !is_valid(&found) ||
	    (size && fread(touched, size, 1, file) != 1))
		return -EINVAL;
	*model = found;
	model->flash.touched = touched;
	return 0;
}
