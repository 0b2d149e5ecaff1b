/* SPDX-License-Identifier: MIT */
/* A DHCP client for one interface (RFC 2131): asks, configures, renews. docs/init.md says what it leaves out. */
#ifndef BOOTLAB_INIT_DHCP_H
#define BOOTLAB_INIT_DHCP_H

/* In a process of its own, for as long as it lives: keep the interface's address, and write a line to `ready_fd` when it has
 * one for the first time. Returns -errno when that cannot even be tried. */
int dhcp_run(const char *interface, int ready_fd);

#endif
