/* SPDX-License-Identifier: MIT */
/* Packs a folder into memory, and unpacks it again, without a heap. */
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "plan.h"
#include "shared/files.h"
#include "shared/large.h"

enum { MAGIC = 0x314b4c42, LINKS_MAX = 256, NAMES_SIZE = 1 << 20, ATTRIBUTES_SIZE = 1 << 16, FIRST_OF_LINK = 1 };

/* Numbers as this machine has them: nobody else reads it. `path`: bytes, its NUL among them, behind this. */
struct record {
	uint32_t magic, flags, mode, uid, gid, nanoseconds, path, attributes;
	uint64_t rdev, size;
	int64_t seconds;
};

struct attribute {
	uint32_t name, value;
};

struct link {
	ino_t inode;
	size_t path;
};

struct packing {
	struct archive *archive;
	struct timespec begin;
	bool changed;
	size_t links;
};

LARGE static char names_room[NAMES_SIZE] __attribute__((aligned(16)));
LARGE static char attribute_names[ATTRIBUTES_SIZE], attribute_value[ATTRIBUTES_SIZE];
LARGE static struct link links[LINKS_MAX];

static int put(struct archive *archive, const void *bytes, size_t size)
{
	if (size > archive->size - archive->used)
		return -ENOSPC;
	memcpy(archive->bytes + archive->used, bytes, size);
	archive->used += size;
	return 0;
}

/* An overlay's own: which file below it was copied from. The copies that are made of them have none. */
static bool is_of_lower(const char *name)
{
	return !strncmp(name, "trusted.overlay.", 16) && strcmp(name, "trusted.overlay.opaque");
}

static int put_attributes(struct archive *archive, const char *path, uint32_t *count)
{
	ssize_t size = llistxattr(path, attribute_names, sizeof attribute_names);

	if (size < 0)
		return errno == ENOTSUP ? 0 : -errno;
	for (const char *name = attribute_names; name < attribute_names + size; name += strlen(name) + 1) {
		struct attribute head = { .name = (uint32_t)strlen(name) + 1 };
		ssize_t value = lgetxattr(path, name, attribute_value, sizeof attribute_value);
		int r;

		if (is_of_lower(name))
			continue;
		if (value < 0)
			return -errno;
		head.value = (uint32_t)value;
		if ((r = put(archive, &head, sizeof head)) || (r = put(archive, name, head.name)) ||
		    (r = put(archive, attribute_value, head.value)))
			return r;
		(*count)++;
	}
	return 0;
}

static int put_content(struct archive *archive, const char *path, const struct stat *status)
{
	size_t size = (size_t)status->st_size;
	ssize_t got;

	if (size > archive->size - archive->used)
		return -ENOSPC;
	got = S_ISLNK(status->st_mode) ? readlink(path, archive->bytes + archive->used, size) :
					 file_read(path, archive->bytes + archive->used, size);
	if (got < 0)
		return S_ISLNK(status->st_mode) ? -errno : (int)got;
	archive->used += size;
	/* Shorter by now: whoever shortened it has changed its time as well. */
	return (size_t)got == size ? 0 : -EAGAIN;
}

/* The first name of a file that has several, as its place in the archive; 0 for one that is met first. */
static int find_link(struct packing *packing, ino_t inode, size_t path, size_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < packing->links; i++)
		if (links[i].inode == inode) {
			*ret = links[i].path;
			return 0;
		}
	if (packing->links == LINKS_MAX)
		return -EMLINK;
	links[packing->links++] = (struct link){ inode, path };
	return 0;
}

static bool is_since(const struct timespec *one, const struct timespec *begin)
{
	return one->tv_sec > begin->tv_sec || (one->tv_sec == begin->tv_sec && one->tv_nsec >= begin->tv_nsec);
}

static int pack_one(struct packing *packing, const char *path, const char *relative, const struct stat *status)
{
	struct archive *archive = packing->archive;
	size_t at = archive->used, first = 0, size = strlen(relative) + 1;
	struct record record = { MAGIC,
				 0,
				 status->st_mode,
				 status->st_uid,
				 status->st_gid,
				 (uint32_t)status->st_mtim.tv_nsec,
				 (uint32_t)size,
				 0,
				 status->st_rdev,
				 0,
				 status->st_mtim.tv_sec };
	int r = put(archive, &record, sizeof record);

	if (r || (r = put(archive, relative, size)))
		return r;
	if (!S_ISDIR(status->st_mode) && status->st_nlink > 1 && (r = find_link(packing, status->st_ino, at + sizeof record, &first)))
		return r;
	if (first) {
		const char *name = archive->bytes + first;

		record.flags = FIRST_OF_LINK;
		record.size = strlen(name) + 1;
		r = put(archive, name, record.size);
	} else {
		r = put_attributes(archive, path, &record.attributes);
		if (!r && (S_ISREG(status->st_mode) || S_ISLNK(status->st_mode))) {
			record.size = (uint64_t)status->st_size;
			r = put_content(archive, path, status);
		}
	}
	memcpy(archive->bytes + at, &record, sizeof record);
	return r;
}

/* One file, and all that is below it; without an archive it is only looked at. `path` has room for any. */
static int walk(struct packing *packing, char *path, size_t base, struct arena names)
{
	size_t length = strlen(path);
	struct listing listing;
	struct stat status;
	int r;

	if (lstat(path, &status))
		return errno == ENOENT ? -EAGAIN : -errno;
	packing->changed |= is_since(&status.st_ctim, &packing->begin);
	if (packing->archive) {
		r = pack_one(packing, path, length == base ? "." : path + base + 1, &status);
		if (r)
			return r;
	}
	if (!S_ISDIR(status.st_mode))
		return 0;
	r = folder_list(path, &names, &listing);
	if (r || listing.left_out)
		return r ? r : -E2BIG;
	for (size_t i = 0; i < listing.n; i++) {
		if (length + strlen(listing.names[i]) + 2 > PATH_MAX)
			return -ENAMETOOLONG;
		sprintf(path + length, "/%s", listing.names[i]);
		r = walk(packing, path, base, names);
		path[length] = '\0';
		if (r)
			return r;
	}
	return 0;
}

int archive_pack(const char *folder, struct archive *ret)
{
	const struct arena names = { names_room, sizeof names_room, 0 };
	struct packing packing = { .archive = ret };
	char path[PATH_MAX];
	struct timespec end;
	int r;

	ret->used = 0;
	/* By the clock that files' times are of: what changes from now on has this time, or a later one. */
	clock_gettime(CLOCK_REALTIME_COARSE, &packing.begin);
	snprintf(path, sizeof path, "%s", folder);
	r = walk(&packing, path, strlen(path), names);
	if (r)
		return r;
	packing.archive = NULL;
	r = walk(&packing, path, strlen(path), names);
	/* Set back meanwhile: then times say nothing. */
	clock_gettime(CLOCK_REALTIME_COARSE, &end);
	packing.changed |= !is_since(&end, &packing.begin);
	return r ? r : packing.changed ? -EAGAIN : 0;
}

struct unpacking {
	const char *at, *end;
	struct record record;
	const char *path, *attributes, *content;
};

static bool is_below(const char *path)
{
	return *path != '/' && strcmp(path, "..") && strncmp(path, "../", 3) && !strstr(path, "/../") &&
	       (strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/.."));
}

static const char *next(struct unpacking *ret, uint64_t size)
{
	const char *at = ret->at;

	if (size > (uint64_t)(ret->end - at))
		return NULL;
	ret->at += size;
	return at;
}

static const char *next_text(struct unpacking *ret, uint64_t size)
{
	const char *text = next(ret, size);

	return text && size && !text[size - 1] ? text : NULL;
}

/* 1: there is one more; 0: no more; -EBADMSG. */
static int next_record(struct unpacking *ret)
{
	const char *head;

	if (ret->at == ret->end)
		return 0;
	head = next(ret, sizeof ret->record);
	if (!head)
		return -EBADMSG;
	memcpy(&ret->record, head, sizeof ret->record);
	ret->path = ret->record.magic == MAGIC ? next_text(ret, ret->record.path) : NULL;
	if (!ret->path || !is_below(ret->path))
		return -EBADMSG;
	ret->attributes = ret->at;
	for (uint32_t i = 0; i < ret->record.attributes; i++) {
		struct attribute attribute;

		head = next(ret, sizeof attribute);
		if (!head)
			return -EBADMSG;
		memcpy(&attribute, head, sizeof attribute);
		if (!next_text(ret, attribute.name) || !next(ret, attribute.value))
			return -EBADMSG;
	}
	ret->content = next(ret, ret->record.size);
	return ret->content ? 1 : -EBADMSG;
}

static bool is_hole(const char *bytes, uint64_t size)
{
	return !*bytes && !memcmp(bytes, bytes + 1, size - 1);
}

/* Blocks of zeros become holes: a file that had some would take more memory than there is. */
static int write_content(const char *path, const char *bytes, uint64_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), r;

	if (fd < 0)
		return -errno;
	r = ftruncate(fd, (off_t)size) ? -errno : 0;
	for (uint64_t done = 0; !r && done < size;) {
		uint64_t part = size - done < BLOCK ? size - done : BLOCK;
		ssize_t n = is_hole(bytes + done, part) ? (ssize_t)part : pwrite(fd, bytes + done, part, (off_t)done);

		if (n < 0)
			r = -errno;
		else
			done += (uint64_t)n;
	}
	close(fd);
	return r;
}

static int make_one(const struct unpacking *one, const char *folder, const char *path)
{
	char other[PATH_MAX];
	mode_t mode = (mode_t)one->record.mode;

	if (one->record.flags & FIRST_OF_LINK) {
		if (!one->record.size || one->content[one->record.size - 1] || !is_below(one->content) ||
		    (size_t)snprintf(other, sizeof other, "%s/%s", folder, one->content) >= sizeof other)
			return -EBADMSG;
		return link(other, path) ? -errno : 0;
	}
	if (S_ISDIR(mode))
		return strcmp(one->path, ".") && mkdir(path, 0700) ? -errno : 0;
	if (S_ISREG(mode))
		return write_content(path, one->content, one->record.size);
	if (!S_ISLNK(mode))
		return mknod(path, mode, (dev_t)one->record.rdev) ? -errno : 0;
	if (one->record.size >= sizeof other)
		return -EBADMSG;
	memcpy(other, one->content, one->record.size);
	other[one->record.size] = '\0';
	return symlink(other, path) ? -errno : 0;
}

static int set_all(const struct unpacking *one, const char *path)
{
	const char *at = one->attributes;

	/* First: it takes a capability away, and what a mode has of setuid. */
	if (lchown(path, one->record.uid, one->record.gid))
		return -errno;
	if (!S_ISLNK(one->record.mode) && chmod(path, one->record.mode & 07777))
		return -errno;
	for (uint32_t i = 0; i < one->record.attributes; i++) {
		struct attribute attribute;

		memcpy(&attribute, at, sizeof attribute);
		at += sizeof attribute;
		if (lsetxattr(path, at, at + attribute.name, attribute.value, 0))
			return -errno;
		at += attribute.name + attribute.value;
	}
	return 0;
}

static int set_time(const struct unpacking *one, const char *path)
{
	const struct timespec time = { .tv_sec = one->record.seconds, .tv_nsec = (long)one->record.nanoseconds };

	return utimensat(AT_FDCWD, path, (const struct timespec[]){ time, time }, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

/* Folders get their times in a second turn: by then nothing is made in them any more. */
static int unpack_turn(const struct archive *archive, const char *folder, bool times_of_folders)
{
	struct unpacking one = { .at = archive->bytes, .end = archive->bytes + archive->used };
	char path[PATH_MAX];
	int r, more;

	while ((more = next_record(&one)) > 0) {
		bool is_folder = S_ISDIR(one.record.mode), is_link = one.record.flags & FIRST_OF_LINK;

		if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, one.path) >= sizeof path)
			return -ENAMETOOLONG;
		if (!times_of_folders && ((r = make_one(&one, folder, path)) || (!is_link && (r = set_all(&one, path)))))
			return r;
		if (!is_link && is_folder == times_of_folders && (r = set_time(&one, path)))
			return r;
	}
	return more;
}

int archive_unpack(const struct archive *archive, const char *folder)
{
	int r = unpack_turn(archive, folder, false);

	return r ? r : unpack_turn(archive, folder, true);
}
