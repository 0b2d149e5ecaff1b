/* SPDX-License-Identifier: MIT */
/* Users and groups of /etc/passwd and /etc/group, by name or number. Nothing else is asked: no name service. */
#ifndef BOOTLAB_INIT_PASSWD_H
#define BOOTLAB_INIT_PASSWD_H

#include <stddef.h>
#include <sys/types.h>

enum { MAX_GROUPS = 1024 };

enum { MAX_PASSWD_TEXT = 256 };

struct identity {
	uid_t uid;
	gid_t gid;
	gid_t groups[MAX_GROUPS]; /* with the first */
	size_t n_groups;
	char name[MAX_PASSWD_TEXT], home[MAX_PASSWD_TEXT], shell[MAX_PASSWD_TEXT]; /* empty: not known */
};

/* 0 or -errno; -ENOENT when there is no such user. */
int passwd_find_user(const char *name, struct identity *ret);
int passwd_find_group(const char *name, gid_t *ret);

#endif
