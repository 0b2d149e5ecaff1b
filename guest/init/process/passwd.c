/* SPDX-License-Identifier: MIT */
#include "passwd.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "shared/files.h"
#include "shared/text.h"

enum { MAX_FIELDS = 7 };

static char content[FILE_BYTES];

static size_t split(struct slice line, struct slice *fields)
{
	size_t n = 0;

	while (n < MAX_FIELDS) {
		const char *colon = memchr(line.at, ':', line.size);

		fields[n++] = (struct slice){ line.at, colon ? (size_t)(colon - line.at) : line.size };
		if (!colon)
			break;
		line = slice_from(line, (size_t)(colon + 1 - line.at));
	}
	return n;
}

/* 0, -ENOENT or -errno; the fields of the line whose first one is `name`. */
static int find_line(const char *path, const char *name, size_t n_wanted, struct slice *fields)
{
	ssize_t size = file_read(path, content, sizeof content);
	struct lines lines;
	struct slice line;

	if (size < 0)
		return (int)size;
	lines = lines_of(content, (size_t)size);
	while (line_next(&lines, &line))
		if (split(line, fields) >= n_wanted && slice_is(fields[0], name))
			return 0;
	return -ENOENT;
}

static bool names_member(struct slice members, const char *name)
{
	while (members.size > 0) {
		const char *comma = memchr(members.at, ',', members.size);
		size_t size = comma ? (size_t)(comma - members.at) : members.size;

		if (slice_is((struct slice){ members.at, size }, name))
			return true;
		members = slice_from(members, comma ? size + 1 : size);
	}
	return false;
}

static void add_groups(const char *name, struct identity *identity)
{
	ssize_t size = file_read("/etc/group", content, sizeof content);
	struct lines lines = lines_of(content, size > 0 ? (size_t)size : 0);
	struct slice line, fields[MAX_FIELDS];
	int64_t gid;

	while (line_next(&lines, &line))
		if (split(line, fields) >= 4 && names_member(fields[3], name) && identity->n_groups < MAX_GROUPS &&
		    !parse_number(fields[2], 0, UINT32_MAX, &gid))
			identity->groups[identity->n_groups++] = (gid_t)gid;
}

int passwd_find_user(const char *name, struct identity *ret)
{
	struct slice fields[MAX_FIELDS];
	int64_t uid, gid;
	int r;

	*ret = (struct identity){ .n_groups = 1 };
	if (!parse_number(slice_of(name), 0, UINT32_MAX, &uid)) {
		ret->uid = (uid_t)uid;
		ret->gid = ret->groups[0] = (gid_t)uid;
		return 0;
	}
	r = find_line("/etc/passwd", name, 4, fields);
	if (r)
		return r;
	if (parse_number(fields[2], 0, UINT32_MAX, &uid) || parse_number(fields[3], 0, UINT32_MAX, &gid))
		return -EINVAL;
	ret->uid = (uid_t)uid;
	ret->gid = ret->groups[0] = (gid_t)gid;
	add_groups(name, ret);
	return 0;
}

int passwd_find_group(const char *name, gid_t *ret)
{
	struct slice fields[MAX_FIELDS];
	int64_t gid;
	int r;

	if (!parse_number(slice_of(name), 0, UINT32_MAX, &gid)) {
		*ret = (gid_t)gid;
		return 0;
	}
	r = find_line("/etc/group", name, 3, fields);
	if (r)
		return r;
	if (parse_number(fields[2], 0, UINT32_MAX, &gid))
		return -EINVAL;
	*ret = (gid_t)gid;
	return 0;
}
