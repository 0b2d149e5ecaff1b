/* SPDX-License-Identifier: MIT */
/*
 * Reads a file of QEMU's fw_cfg device. What QEMU was started with is in no snapshot, so a clone reads what its own QEMU has.
 *
 * The device's ports and its directory: QEMU, docs/specs/fw_cfg.rst.
 */
#include "fw_cfg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define NAME "opt/bootlab/clone"
#define KERNEL_FILE "/sys/firmware/qemu_fw_cfg/by_name/" NAME "/raw"

#if defined(__x86_64__)

#include <sys/io.h>

enum { SELECTOR = 0x510, DATA = 0x511, SIGNATURE = 0, DIRECTORY = 0x19, MOST_FILES = 4096 };

struct directory_entry {
	uint8_t size[4], key[2], reserved[2];
	char name[56];
};

static void read_port(void *ret, size_t size)
{
	__asm__ volatile("rep insb" : "+D"(ret), "+c"(size) : "d"((uint16_t)DATA) : "memory");
}

static int find_at_ports(struct fw_cfg *ret)
{
	struct directory_entry entry;
	uint8_t count[4];
	char signature[4];

	if (ioperm(SELECTOR, 2, 1))
		return -errno;
	outw(SIGNATURE, SELECTOR);
	read_port(signature, sizeof signature);
	if (memcmp(signature, "QEMU", sizeof signature))
		return -ENODEV;
	outw(DIRECTORY, SELECTOR);
	read_port(count, sizeof count);
	for (unsigned n = (unsigned)count[2] << 8 | count[3]; n > 0; n--) {
		read_port(&entry, sizeof entry);
		if (!strncmp(entry.name, NAME, sizeof entry.name)) {
			ret->key = (uint16_t)(entry.key[0] << 8 | entry.key[1]);
			return 0;
		}
	}
	return -ENOENT;
}

static void read_at_ports(const struct fw_cfg *fw_cfg, char *ret, size_t size)
{
	outw(fw_cfg->key, SELECTOR);
	read_port(ret, size);
}

#else

static int find_at_ports(struct fw_cfg *ret)
{
	(void)ret;
	return -ENOENT;
}

static void read_at_ports(const struct fw_cfg *fw_cfg, char *ret, size_t size)
{
	(void)fw_cfg;
	memset(ret, 0, size);
}

#endif

int fw_cfg_open(struct fw_cfg *ret)
{
	ret->fd = open(KERNEL_FILE, O_RDONLY | O_CLOEXEC);
	return ret->fd >= 0 ? 0 : find_at_ports(ret);
}

int fw_cfg_read(const struct fw_cfg *fw_cfg, char *ret, size_t size)
{
	ssize_t got;

	if (fw_cfg->fd < 0) {
		read_at_ports(fw_cfg, ret, size);
		return 0;
	}
	got = pread(fw_cfg->fd, ret, size, 0);
	if (got < 0)
		return -errno;
	return (size_t)got == size ? 0 : -EIO;
}
