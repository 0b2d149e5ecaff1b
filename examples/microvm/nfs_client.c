/* SPDX-License-Identifier: MIT */
/*
 * PID 1 of the NFS example: a client of an NFSv4 server, and nothing else.
 *
 * It says "ready" as its first act. Then it proves that the machine does its work: brings the network card up, mounts the
 * export and looks up how; in a folder of its own writes a file, locks a part of it against another process, renames it;
 * unmounts, mounts again, lists the folder, reads the file back; removes all of it and unmounts.
 *
 * The kernel's command line says where the server is: "nfs_port=20490". Several such guests may run at once, each under
 * a name of its own: by it the server tells them apart, and takes a second one of the same name for the first, rebooted.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* QEMU's user-mode network: this guest, its mask, the host. */
#define ADDRESS "10.0.2.15"
#define NETMASK "255.255.255.0"
#define SERVER "10.0.2.2"
#define EXPORT SERVER ":/export"
enum { FILE_SIZE = 256 << 10, LOCK_START = 4096, LOCK_SIZE = 512 };

static unsigned char written[FILE_SIZE], back[FILE_SIZE];
static char own_name[32], own_folder[64];

/* bootlab's mark (guest/README.md): an instruction that does nothing, stamped exactly, then a line for other clocks. */
static void mark(const char *name)
{
	long size = (long)strlen(name);
#if defined(__x86_64__)
	__asm__ volatile("jmp 1f\n1:\n\t.byte 0x0f, 0x1f, 0x84, 0x00, 0xb0, 0x07, 0x1a, 0xb5" : : "D"(name), "S"(size) : "memory");
#elif defined(__aarch64__)
	register const char *x0 __asm__("x0") = name;
	register long x1 __asm__("x1") = size;
	__asm__ volatile("b 1f\n1:\n\t.inst 0xd2a160ff" : : "r"(x0), "r"(x1) : "memory");
#endif
	printf("bootlab: mark %s\n", name);
}

__attribute__((noreturn)) static void fail(const char *what)
{
	printf("bootlab: check failed: %s: %s\n", what, strerror(errno));
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* For what went wrong without an error number. */
__attribute__((noreturn)) static void fail_as(int error, const char *what)
{
	errno = error;
	fail(what);
}

static void set_address(int fd, struct ifreq *request, unsigned long what, const char *address)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&request->ifr_addr;

	memset(in, 0, sizeof(*in));
	in->sin_family = AF_INET;
	inet_pton(AF_INET, address, &in->sin_addr);
	if (ioctl(fd, what, request) < 0)
		fail("eth0");
}

static void start_network(void)
{
	struct ifreq request = {.ifr_name = "eth0"};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		fail("socket");
	set_address(fd, &request, SIOCSIFADDR, ADDRESS);
	set_address(fd, &request, SIOCSIFNETMASK, NETMASK);
	if (ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		fail("eth0");
	request.ifr_flags |= IFF_UP | IFF_RUNNING;
	if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		fail("eth0 up");
	close(fd);
}

/* Two guests of one seed read the same random numbers; what differs between them is when. */
static void take_name(void)
{
	struct timespec now;
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number) || clock_gettime(CLOCK_MONOTONIC, &now) < 0)
		fail("random number");
	number ^= (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	snprintf(own_name, sizeof(own_name), "client-%016llx", (unsigned long long)number);
	snprintf(own_folder, sizeof(own_folder), "/mnt/%s", own_name);
	if (sethostname(own_name, strlen(own_name)) < 0)
		fail("sethostname");
}

static void mount_export(void)
{
	const char *port = getenv("nfs_port");
	char options[128];

	snprintf(options, sizeof(options), "vers=4.1,proto=tcp,sec=sys,addr=" SERVER ",clientaddr=" ADDRESS ",port=%s",
		 port != NULL ? port : "20490");
	if (mount(EXPORT, "/mnt", "nfs4", 0, options) < 0)
		fail("mount " EXPORT);
}

/* As mount.nfs and df do. */
static void look_up_mount(void)
{
	FILE *mounts = fopen("/proc/mounts", "r");
	char line[1024];

	if (mounts == NULL)
		fail("/proc/mounts");
	while (fgets(line, sizeof(line), mounts) != NULL) {
		if (strncmp(line, EXPORT " /mnt nfs4 ", strlen(EXPORT " /mnt nfs4 ")) == 0 && strstr(line, "vers=4.1") != NULL) {
			fclose(mounts);
			return;
		}
	}
	fail_as(ENOENT, EXPORT " in /proc/mounts");
}

static void unmount(void)
{
	if (chdir("/") < 0 || umount("/mnt") < 0)
		fail("umount /mnt");
}

static void write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	for (size_t i = 0; i < FILE_SIZE; i++)
		written[i] = (unsigned char)(i ^ i >> 8 ^ i >> 16 ^ (unsigned char)own_name[i % strlen(own_name)]);
	if (fd < 0 || write(fd, written, FILE_SIZE) != FILE_SIZE || fsync(fd) < 0 || close(fd) < 0)
		fail("write");
}

static int set_lock(int fd, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = LOCK_START, .l_len = LOCK_SIZE};

	return fcntl(fd, F_SETLK, &lock);
}

/* A lock of a part, taken at the server, that keeps another process out and lets it in when it is gone. */
static void lock_file(const char *path)
{
	int fd = open(path, O_RDWR);

	if (fd < 0 || set_lock(fd, F_WRLCK) < 0)
		fail("lock");
	for (int held = 1; held >= 0; held--) {
		int status;
		pid_t other = fork();

		if (other < 0)
			fail("fork");
		if (other == 0) {
			int mine = open(path, O_RDWR), granted = set_lock(mine, F_WRLCK) == 0;

			_exit(mine < 0 || granted == held);
		}
		if (waitpid(other, &status, 0) != other || status != 0)
			fail_as(EDEADLK, held ? "another process got a lock that is held" : "another process got no free lock");
		if (held && set_lock(fd, F_UNLCK) < 0)
			fail("unlock");
	}
	close(fd);
}

static void read_back(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t used = 0;
	ssize_t size;

	if (fd < 0)
		fail(path);
	while ((size = read(fd, back + used, FILE_SIZE - used)) > 0)
		used += (size_t)size;
	if (size < 0)
		fail("read");
	for (size_t i = 0; i < FILE_SIZE; i++) {
		if (i >= used || back[i] != written[i]) {
			printf("of %d bytes %zu came back, and number %zu is another\n", FILE_SIZE, used, i);
			fail_as(EIO, "read back");
		}
	}
	close(fd);
}

/* There is one file, and nothing else. */
static void list(const char *expected)
{
	DIR *folder = opendir(".");
	struct dirent *entry;
	int found = 0;

	if (folder == NULL)
		fail("list");
	while ((entry = readdir(folder)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (strcmp(entry->d_name, expected) != 0)
			fail_as(EEXIST, entry->d_name);
		found++;
	}
	if (found != 1)
		fail_as(ENOENT, expected);
	closedir(folder);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	mark("ready");
	mkdir("/mnt", 0755);
	mkdir("/proc", 0755);
	/* Another init may have mounted it. */
	if (mount("proc", "/proc", "proc", 0, NULL) < 0 && errno != EBUSY)
		fail("proc");
	take_name();
	start_network();
	mount_export();
	look_up_mount();
	if (mkdir(own_folder, 0755) < 0 || chdir(own_folder) < 0)
		fail(own_folder);
	write_file("draft");
	lock_file("draft");
	if (rename("draft", "final") < 0)
		fail("rename");
	unmount();
	/* What is read now comes from the server. */
	mount_export();
	if (chdir(own_folder) < 0)
		fail(own_folder);
	list("final");
	read_back("final");
	if (unlink("final") < 0 || chdir("/mnt") < 0 || rmdir(own_folder) < 0)
		fail("remove");
	unmount();
	printf("bootlab: check ok\n");
	for (;;)
		pause();
}
