/* SPDX-License-Identifier: MIT */
/* Opens the sockets of units and keeps them open while their programs come and go. */
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/large.h"
#include "shared/print.h"

LARGE static int open_fds[MAX_SOCKETS];

void sockets_init(const struct units *units)
{
	for (size_t i = 0; i < units->n_sockets; i++)
		open_fds[i] = -1;
}

/* The folder below /run that the path may be in; what is there already is as good. */
static void make_folder(const char *path)
{
	char folder[sizeof((struct sockaddr_un *)NULL)->sun_path + 1];

	print(folder, sizeof folder, "%s", path);
	*strrchr(folder, '/') = '\0';
	mkdir(folder, 0755);
}

static int bind_path(int fd, const struct socket_address *address)
{
	const char *path = address->at.local.sun_path;
	struct stat found;
	mode_t before;
	int r;

	make_folder(path);
	/* That of an earlier start: nobody listens there any more. */
	if (lstat(path, &found) == 0 && S_ISSOCK(found.st_mode))
		unlink(path);
	before = umask(0777 & ~address->mode);
	r = bind(fd, &address->at.any, address->size);
	umask(before);
	return r;
}

static int bind_internet(int fd, const struct socket_address *address)
{
	static const int YES = 1, NO = 0;

	/* Another one of the last life may still be closing. */
	if (address->type == SOCK_STREAM)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &YES, sizeof YES);
	/* The interface may get its address later. */
	setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &YES, sizeof YES);
	if (address->everywhere && address->at.any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &NO, sizeof NO);
	return bind(fd, &address->at.any, address->size);
}

static int open_one(const struct socket_address *address)
{
	struct socket_address other = *address;
	int fd = socket(other.at.any.sa_family, other.type | SOCK_CLOEXEC, 0), r;

	if (fd < 0 && errno == EAFNOSUPPORT && other.everywhere) {
		other.at.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = address->at.in6.sin6_port };
		other.size = sizeof other.at.in;
		fd = socket(AF_INET, other.type | SOCK_CLOEXEC, 0);
	}
	if (fd < 0)
		return -errno;
	r = other.at.any.sa_family == AF_UNIX ? bind_path(fd, &other) : bind_internet(fd, &other);
	if (r || (other.type == SOCK_STREAM && listen(fd, SOMAXCONN))) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

int sockets_open(const struct units *units, unit_id id, const char **ret_address)
{
	const struct unit *unit = &units->unit[id];

	for (unsigned i = unit->first_socket; i < unit->first_socket + unit->n_sockets; i++) {
		*ret_address = units->sockets[i].text;
		if (open_fds[i] < 0)
			open_fds[i] = open_one(&units->sockets[i]);
		if (open_fds[i] < 0)
			return open_fds[i];
		/* Who has gone again before PID 1 accepts him must not keep it waiting. A program gets it as it was at first. */
		if (fcntl(open_fds[i], F_SETFL, unit->each_connection ? O_NONBLOCK : 0))
			return -errno;
	}
	return 0;
}

int sockets_watch(const struct units *units, unit_id id, loop_fn *fn)
{
	const struct unit *unit = &units->unit[id];
	int r = 0;

	for (unsigned i = unit->first_socket; i < unit->first_socket + unit->n_sockets && !r; i++)
		r = loop_watch(open_fds[i], fn, id);
	return r;
}

void sockets_unwatch(const struct units *units, unit_id id)
{
	const struct unit *unit = &units->unit[id];

	for (unsigned i = unit->first_socket; i < unit->first_socket + unit->n_sockets; i++)
		loop_forget(open_fds[i]);
}

void sockets_close(const struct units *units, unit_id id)
{
	const struct unit *unit = &units->unit[id];

	for (unsigned i = unit->first_socket; i < unit->first_socket + unit->n_sockets; i++) {
		if (open_fds[i] < 0)
			continue;
		/* A fork on its way to exec may still have it: the address is free all the same. */
		shutdown(open_fds[i], SHUT_RDWR);
		loop_close(&open_fds[i]);
	}
}

/* Those of `was` to where the same addresses are of `unit`; others are closed. */
static void move(const struct units *before, const struct unit *was, int *fds, const struct units *units, const struct unit *unit)
{
	for (unsigned i = 0; i < was->n_sockets; i++) {
		unsigned to = unit->first_socket, end = to + unit->n_sockets;

		if (fds[i] < 0)
			continue;
		while (to < end && !socket_address_same(&before->sockets[was->first_socket + i], &units->sockets[to]))
			to++;
		if (to < end)
			open_fds[to] = fds[i];
		else
			loop_close(&fds[i]);
	}
}

void sockets_succeed(const struct units *before, const struct units *units)
{
	LARGE static int was[MAX_SOCKETS];

	memcpy(was, open_fds, before->n_sockets * sizeof was[0]);
	sockets_init(units);
	for (size_t i = 0; i < before->n_units; i++)
		if (before->unit[i].n_sockets > 0)
			move(before, &before->unit[i], was + before->unit[i].first_socket, units, &units->unit[i]);
}

void sockets_change(const struct units *units, const struct unit *was, unit_id id)
{
	int fds[MAX_UNIT_SOCKETS];

	for (unsigned i = 0; i < was->n_sockets; i++) {
		fds[i] = open_fds[was->first_socket + i];
		open_fds[was->first_socket + i] = -1;
	}
	move(units, was, fds, units, &units->unit[id]);
}

const int *sockets_of(const struct units *units, unit_id id)
{
	return &open_fds[units->unit[id].first_socket];
}
