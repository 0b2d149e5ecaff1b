/* SPDX-License-Identifier: MIT */
/* Looks users and groups up in /etc/passwd and /etc/group. */
#include "passwd.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "shared/files.h"
#include "shared/own.h"
#include "shared/text.h"

enum { MAX_FIELDS = 7, UID_FIELD = 2, CONTENT_BYTES = 1 << 22 };

/* In the child alone, which has no more pages of it than the file takes. */
static char *content;

/* Its size, -EFBIG when it does not fit, -errno. */
static ssize_t read_content(const char *path)
{
	ssize_t size;

	content = content ? content : own_room_of_child(CONTENT_BYTES);
	size = file_read(path, content, CONTENT_BYTES);
	return size == CONTENT_BYTES ? -EFBIG : size;
}

static size_t split(struct slice line, struct slice *fields)
{
	size_t n = 0;

	memset(fields, 0, MAX_FIELDS * sizeof *fields);
	while (n < MAX_FIELDS) {
		const char *colon = memchr(line.at, ':', line.size);

		fields[n++] = (struct slice){ line.at, colon ? (size_t)(colon - line.at) : line.size };
		if (!colon)
			break;
		line = slice_from(line, (size_t)(colon + 1 - line.at));
	}
	return n;
}

/* 0, -ENOENT or -errno; the fields of the line whose field `which` is `wanted`. */
static int find_line(const char *path, size_t which, const char *wanted, size_t n_wanted, struct slice *fields)
{
	ssize_t size = read_content(path);
	struct lines lines;
	struct slice line;

	if (size < 0)
		return (int)size;
	lines = lines_of(content, (size_t)size);
	while (line_next(&lines, &line))
		if (split(line, fields) >= n_wanted && slice_is(fields[which], wanted))
			return 0;
	return -ENOENT;
}

static void copy(char *to, struct slice text)
{
	size_t size = text.size < MAX_PASSWD_TEXT ? text.size : 0;

	if (size > 0)
		memcpy(to, text.at, size);
	to[size] = '\0';
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

/* -E2BIG for more than there is room for: to leave one out could give rights, or take them. */
static int add_groups(const char *name, struct identity *identity)
{
	ssize_t size = read_content("/etc/group");
	struct lines lines = lines_of(content, size > 0 ? (size_t)size : 0);
	struct slice line, fields[MAX_FIELDS];
	int64_t gid;

	if (size == -EFBIG)
		return -EFBIG;
	while (line_next(&lines, &line)) {
		if (split(line, fields) < 4 || !names_member(fields[3], name) || parse_number(fields[2], 0, UINT32_MAX, &gid))
			continue;
		if (identity->n_groups == MAX_GROUPS)
			return -E2BIG;
		identity->groups[identity->n_groups++] = (gid_t)gid;
	}
	return 0;
}

int passwd_find_user(const char *name, struct identity *ret)
{
	struct slice fields[MAX_FIELDS];
	int64_t uid, gid;
	bool is_number = !parse_number(slice_of(name), 0, UINT32_MAX, &uid);
	int r = find_line("/etc/passwd", is_number ? UID_FIELD : 0, name, 4, fields);

	*ret = (struct identity){ .n_groups = 1 };
	/* A number needs no line; where there is one, the user is as if named. */
	if (r && is_number && r != -EFBIG) {
		ret->uid = (uid_t)uid;
		ret->gid = ret->groups[0] = (gid_t)uid;
		return 0;
	}
	if (r)
		return r;
	if (parse_number(fields[UID_FIELD], 0, UINT32_MAX, &uid) || parse_number(fields[3], 0, UINT32_MAX, &gid))
		return -EINVAL;
	ret->uid = (uid_t)uid;
	ret->gid = ret->groups[0] = (gid_t)gid;
	copy(ret->name, fields[0]);
	/* Lines may be cut short behind the group. */
	copy(ret->home, fields[5]);
	copy(ret->shell, fields[6]);
	return add_groups(ret->name, ret);
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
	r = find_line("/etc/group", 0, name, 3, fields);
	if (r)
		return r;
	if (parse_number(fields[2], 0, UINT32_MAX, &gid))
		return -EINVAL;
	*ret = (gid_t)gid;
	return 0;
}
