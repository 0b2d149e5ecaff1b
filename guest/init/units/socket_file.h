/* SPDX-License-Identifier: MIT */
/* systemd's .socket files: where a service's sockets listen, so that it is started when somebody connects. */
#ifndef BOOTLAB_INIT_SOCKET_FILE_H
#define BOOTLAB_INIT_SOCKET_FILE_H

#include "units.h"

/* Into `ret_service` the service, without .service, that the socket file `name`.socket is of: the file may name another one. */
void socket_file_service(struct slice name, const char *text, size_t size, struct slice *ret_service);

/*
 * False when this file asks for something that would be done differently here, which is said: then nothing is to be made of it, and its
 * service is started as if there were no such file. Else the unit that was added last has its sockets; NULL: none yet.
 */
bool socket_file_read(struct units *units, struct unit *unit, const char *path, const char *text, size_t size);

#endif
