/* SPDX-License-Identifier: MIT */
/* Does the work of early boot that scripts do elsewhere: host name, limits, folders, seed, sysctl, modules. */
#include "early.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fstab.h"
#include "logins.h"
#include "process/limits.h"
#include "shared/files.h"
#include "shared/large.h"
#include "shared/print.h"
#include "shared/text.h"
#include "state/log.h"

enum { SEED_BYTES = 512, PATH_BYTES = 512 };

/* As the kernel has it (linux/stat.h); musl's header leaves it out. */
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif

static const struct config *config;
LARGE static char content[FILE_BYTES];

void early_init(const struct config *given)
{
	config = given;
}

const struct setting *early_next_setting(const char *key, size_t *at)
{
	while (*at < config->n_settings) {
		const struct setting *setting = &config->settings[(*at)++];

		if (!strcmp(setting->key, key))
			return setting;
	}
	return NULL;
}

/* Say what a line of init.conf could not get; the first error is the unit's. */
int early_complain(const struct setting *setting, int r, int first)
{
	return early_complain_word(setting, 0, r, first);
}

int early_complain_word(const struct setting *setting, size_t word, int r, int first)
{
	if (r >= 0)
		return first;
	log_say(LOG_FAILURE, "%s:%u: %s %s%s%s: %s", config->path, setting->line, setting->key, setting->words[0],
		word > 0 ? " " : "", word > 0 ? setting->words[word] : "", strerror(-r));
	return first ? first : r;
}

/* ---- Kernel file systems and device nodes ------------------------------------------------------------------------------ */

/* By whoever was here before: a program of an initramfs, whose files a new mount would hide. */
static bool is_mount_point(const char *folder)
{
	char above[PATH_BYTES];
	struct statx whole;
	struct stat own, other;

	/* Linux 5.8 says it in one call. */
	if (statx(AT_FDCWD, folder, AT_NO_AUTOMOUNT, 0, &whole) == 0 && (whole.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
		return whole.stx_attributes & STATX_ATTR_MOUNT_ROOT;
	return print(above, sizeof above, "%s/..", folder) < (int)sizeof above && stat(folder, &own) == 0 &&
	       stat(above, &other) == 0 && own.st_dev != other.st_dev;
}

static int mount_kernel_fs(const char *type, const char *folder, unsigned long flags, const char *options)
{
	if (is_mount_point(folder) || mount(type, folder, type, flags, options) == 0 || errno == EBUSY || errno == ENODEV)
		return 0;
	/* A root that cannot be written to has the folders, or goes without. */
	if (errno != ENOENT || mkdir(folder, 0755))
		return -errno;
	return mount(type, folder, type, flags, options) == 0 || errno == ENODEV ? 0 : -errno;
}

static void make_nodes(void)
{
	static const struct {
		const char *path;
		unsigned major, minor;
		mode_t mode;
	} NODES[] = {
		{ "/dev/console", 5, 1, 0600 }, { "/dev/null", 1, 3, 0666 },  { "/dev/zero", 1, 5, 0666 },
		{ "/dev/full", 1, 7, 0666 },	{ "/dev/random", 1, 8, 0666 }, { "/dev/urandom", 1, 9, 0666 },
		{ "/dev/tty", 5, 0, 0666 },	{ "/dev/ptmx", 5, 2, 0666 },   { "/dev/kmsg", 1, 11, 0600 },
	};

	for (size_t i = 0; i < sizeof NODES / sizeof NODES[0]; i++)
		mknod(NODES[i].path, S_IFCHR | NODES[i].mode, makedev(NODES[i].major, NODES[i].minor));
}

static void make_links(void)
{
	static const char *const LINKS[][2] = { { "/proc/self/fd", "/dev/fd" },
						{ "/proc/self/fd/0", "/dev/stdin" },
						{ "/proc/self/fd/1", "/dev/stdout" },
						{ "/proc/self/fd/2", "/dev/stderr" } };
	mode_t mask = umask(0);

	/* devtmpfs has all of them; something else may have none. */
	if (!file_exists("/dev/null") || !file_exists("/dev/ptmx"))
		make_nodes();
	umask(mask);
	for (size_t i = 0; i < sizeof LINKS / sizeof LINKS[0]; i++)
		if (symlink(LINKS[i][0], LINKS[i][1]) && errno == EROFS)
			return;
}

int early_basics(void)
{
	int r = mount_kernel_fs("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	int first = r, n;

	r = mount_kernel_fs("sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	first = first ? first : r;
	r = mount_kernel_fs("devtmpfs", "/dev", MS_NOSUID, NULL);
	first = first ? first : r;
	make_links();
	/* devtmpfs comes without them. */
	mkdir("/dev/pts", 0755);
	mkdir("/dev/shm", 0755);
	n = mount_kernel_fs("devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "gid=5,mode=620,ptmxmode=666");
	n |= mount_kernel_fs("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777");
	if (file_exists("/sys/fs/cgroup"))
		n |= mount_kernel_fs("cgroup2", "/sys/fs/cgroup", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	r = mount_kernel_fs("tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=0755");
	first = first ? first : r;
	mkdir("/run/lock", 01777);
	mkdir("/run/bootlab", 0755);
	(void)n; /* terminals, shared memory and cgroups are missed by those who use them */
	return first;
}

/* ---- Names, limits, folders -------------------------------------------------------------------------------------------- */

int early_hostname(void)
{
	struct slice name;
	struct lines lines;
	ssize_t size;
	size_t at = 0;
	const struct setting *setting = early_next_setting("hostname", &at);

	if (setting)
		return early_complain(setting, sethostname(setting->words[0], strlen(setting->words[0])) ? -errno : 0, 0);
	size = file_read("/etc/hostname", content, sizeof content);
	if (size < 0)
		return (int)size;
	lines = lines_of(content, (size_t)size);
	while (line_next(&lines, &name)) {
		name = slice_trim(name);
		if (name.size > 0 && name.at[0] != '#')
			return sethostname(name.at, name.size) ? -errno : 0;
	}
	return 0;
}

int early_limits(void)
{
	const struct setting *setting;
	size_t at = 0;
	int first = 0;

	while ((setting = early_next_setting("limit-files", &at))) {
		int64_t number;
		int r = parse_number(slice_of(setting->words[0]), 64, 1 << 30, &number);

		if (!r)
			r = limits_set_files((rlim_t)number);
		first = early_complain(setting, r, first);
	}
	return first;
}

/* Make a folder with those above it. */
static int make_folder(const char *path, mode_t mode)
{
	char part[PATH_BYTES];
	int size = print(part, sizeof part, "%s", path);

	if (size >= (int)sizeof part)
		return -ENAMETOOLONG;
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(part, 0755);
		*slash = '/';
	}
	if (mkdir(part, mode) && errno != EEXIST)
		return -errno;
	return chmod(part, mode) ? -errno : 0;
}

int early_folders(void)
{
	const struct setting *setting;
	size_t at = 0;
	int first = 0;

	while ((setting = early_next_setting("folder", &at))) {
		mode_t mode = 0;

		for (const char *digit = setting->n_words > 1 ? setting->words[1] : "0755"; *digit; digit++)
			mode = mode * 8 + (mode_t)(*digit - '0');
		first = early_complain(setting, make_folder(setting->words[0], mode & 07777), first);
	}
	at = 0;
	while ((setting = early_next_setting("link", &at))) {
		int r = setting->n_words == 2 ? 0 : -EINVAL;

		if (!r && symlink(setting->words[1], setting->words[0]) && errno != EEXIST)
			r = -errno;
		first = early_complain(setting, r, first);
	}
	return first;
}

/* ---- Random seed --------------------------------------------------------------------------------------------------------- */

static const char *seed_path(void)
{
	size_t at = 0;
	const struct setting *setting = early_next_setting("seed", &at);

	return setting ? setting->words[0] : "/var/lib/urandom/random-seed";
}

static int write_seed(const char *path)
{
	char bytes[SEED_BYTES];
	int fd, r = 0;

	if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) < 0 &&
	    syscall(SYS_getrandom, bytes, sizeof bytes, 4 /* GRND_INSECURE: stirred with the old seed all the same */) < 0)
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, bytes, sizeof bytes) != sizeof bytes || fsync(fd))
		r = errno ? -errno : -EIO;
	close(fd);
	return r;
}

int early_seed(void)
{
	struct {
		int bits, size;
		char bytes[SEED_BYTES];
	} pool = { .bits = 0 };
	ssize_t size = file_read(seed_path(), pool.bytes, sizeof pool.bytes);
	int fd, r;

	if (size <= 0)
		return write_seed(seed_path());
	pool.size = (int)size;
	fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	/* Stirred in first; it counts as random only when it can never be used again. */
	if (write(fd, pool.bytes, (size_t)size) < 0)
		r = -errno;
	else
		r = write_seed(seed_path());
	pool.bits = pool.size * 8 < 256 ? pool.size * 8 : 256;
	if (!r && ioctl(fd, RNDADDENTROPY, &pool))
		r = -errno;
	close(fd);
	return r;
}

void early_save_seed(void)
{
	if (config->early && file_exists(seed_path()))
		write_seed(seed_path());
}

/* ---- sysctl, modules, file systems ------------------------------------------------------------------------------------- */

static int write_sysctl(struct slice key, struct slice value)
{
	char path[PATH_BYTES], text[PATH_BYTES];
	int prefix = print(path, sizeof path, "/proc/sys/%.*s", (int)key.size, key.at);

	if (prefix >= (int)sizeof path || print(text, sizeof text, "%.*s\n", (int)value.size, value.at) >= (int)sizeof text)
		return -ENAMETOOLONG;
	/* net.ipv4.conf.eth0/1.x: a slash stands for a dot of the name. */
	for (char *c = path + strlen("/proc/sys/"); *c; c++)
		*c = *c == '.' ? '/' : *c == '/' ? '.' : *c;
	return file_write(path, text);
}

static void read_sysctl_file(const char *path)
{
	ssize_t size = file_read(path, content, sizeof content);
	struct lines lines = lines_of(content, size > 0 ? (size_t)size : 0);
	struct slice line;

	while (line_next(&lines, &line)) {
		const char *equals;
		bool may_fail;
		struct slice key;
		int r;

		line = slice_trim(line);
		equals = memchr(line.at, '=', line.size);
		if (line.size == 0 || line.at[0] == '#' || line.at[0] == ';' || !equals)
			continue;
		may_fail = line.at[0] == '-';
		key = slice_trim((struct slice){ line.at + may_fail, (size_t)(equals - line.at) - may_fail });
		r = write_sysctl(key, slice_trim(slice_from(line, (size_t)(equals + 1 - line.at))));
		if (r && !may_fail)
			log_say(LOG_NOTE, "%s:%u: %.*s: %s", path, lines.number, (int)key.size, key.at, strerror(-r));
	}
}

int early_sysctl(void)
{
	LARGE static char names[16384];
	struct arena arena = { .bytes = names, .size = sizeof names };
	const struct setting *setting;
	struct listing files;
	char path[PATH_BYTES];
	size_t at = 0;
	int first = 0;

	if (!folder_list("/etc/sysctl.d", &arena, &files)) {
		if (files.left_out > 0)
			log_say(LOG_FAILURE, "/etc/sysctl.d: no room for %zu of its names: they are left out", files.left_out);
		for (size_t i = 0; i < files.n; i++)
			if (slice_ends(slice_of(files.names[i]), ".conf") &&
			    print(path, sizeof path, "/etc/sysctl.d/%s", files.names[i]) < (int)sizeof path)
				read_sysctl_file(path);
	}
	read_sysctl_file("/etc/sysctl.conf");
	while ((setting = early_next_setting("sysctl", &at)))
		first = early_complain(setting,
				 setting->n_words == 2 ? write_sysctl(slice_of(setting->words[0]), slice_of(setting->words[1])) :
							 -EINVAL,
				 first);
	return first;
}

static int load_module(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, parameters, 0) && errno != EEXIST)
		r = -errno;
	close(fd);
	return r;
}

int early_modules(void)
{
	const struct setting *setting;
	struct slice line;
	struct lines lines;
	char path[PATH_BYTES];
	size_t at = 0;
	int first = 0;
	ssize_t size = file_read("/etc/bootlab/modules", content, sizeof content);

	/* In load order, as bootlab writes it into an image. */
	lines = lines_of(content, size > 0 ? (size_t)size : 0);
	while (line_next(&lines, &line)) {
		int r;

		if (line.size == 0 || print(path, sizeof path, "%.*s", (int)line.size, line.at) >= (int)sizeof path)
			continue;
		r = load_module(path, "");
		if (r)
			log_say(LOG_FAILURE, "/etc/bootlab/modules:%u: %s: %s", lines.number, path, strerror(-r));
		first = first ? first : r;
	}
	while ((setting = early_next_setting("module", &at)))
		first = early_complain(setting, load_module(setting->words[0], setting->n_words > 1 ? setting->words[1] : ""), first);
	return first;
}

int early_file_systems(void)
{
	const struct setting *setting;
	size_t at = 0;
	int first = config->fstab ? fstab_mount("/etc/fstab") : 0;

	while ((setting = early_next_setting("mount", &at))) {
		struct fstab_line line = { .n_words = 4 };
		int r = -EINVAL;

		if (setting->n_words >= 3) {
			line.device = setting->words[0];
			line.folder = setting->words[1];
			line.type = setting->words[2];
			line.options = setting->n_words > 3 ? setting->words[3] : "";
			mkdir(line.folder, 0755);
			r = fstab_mount_line(&line);
		}
		first = early_complain(setting, r, first);
	}
	return first;
}

int early_logins(void)
{
	return logins_boot(config->level);
}
