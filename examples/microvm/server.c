/* SPDX-License-Identifier: MIT */
/*
 * PID 1 of the microVM example: a static web server and nothing else.
 *
 * It says "ready" as its first act. Then it proves that the machine does its work: mounts the ext4 disk, writes to it,
 * unmounts it and reads it back; makes a cgroup and moves itself into it; brings the network card up and pings the
 * gateway; listens on port 80. What it found is the page that it serves.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* QEMU's user-mode network: this guest, its mask, the gateway. */
#define ADDRESS "10.0.2.15"
#define NETMASK "255.255.255.0"
#define GATEWAY "10.0.2.2"
enum { PORT = 80, PING_SIZE = 64 };

static char page[1024];

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

__attribute__((format(printf, 1, 2))) static void found(const char *format, ...)
{
	size_t used = strlen(page);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(page + used, sizeof(page) - used, format, arguments);
	va_end(arguments);
}

__attribute__((noreturn)) static void stop(void)
{
	sync();
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

__attribute__((noreturn)) static void fail(const char *what)
{
	printf("bootlab: check failed: %s: %s\n", what, strerror(errno));
	stop();
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fsync(fd) < 0 || close(fd) < 0)
		fail(path);
}

static void check_disk(void)
{
	static const char text[] = "written, unmounted and read back";
	char back[sizeof(text)] = "";
	int fd;

	mkdir("/mnt", 0755);
	if (mount("/dev/vda", "/mnt", "ext4", 0, NULL) < 0)
		fail("mount /dev/vda");
	write_file("/mnt/proof", text);
	if (umount("/mnt") < 0 || mount("/dev/vda", "/mnt", "ext4", MS_RDONLY, NULL) < 0)
		fail("mount again");
	fd = open("/mnt/proof", O_RDONLY);
	if (fd < 0 || read(fd, back, sizeof(back) - 1) < 0 || strcmp(back, text) != 0)
		fail("read back");
	close(fd);
	found("ext4: %s\n", back);
}

static void check_cgroup(void)
{
	char line[128] = "";
	FILE *file;

	mkdir("/sys/fs", 0755);
	mkdir("/sys/fs/cgroup", 0755);
	if (mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL) < 0 || mkdir("/sys/fs/cgroup/server", 0755) < 0)
		fail("cgroup");
	file = fopen("/sys/fs/cgroup/server/cgroup.procs", "w");
	if (file == NULL || fputs("1\n", file) < 0 || fclose(file) != 0)
		fail("cgroup.procs");
	file = fopen("/proc/1/cgroup", "r");
	if (file == NULL || fgets(line, sizeof(line), file) == NULL || strstr(line, "/server") == NULL)
		fail("/proc/1/cgroup");
	fclose(file);
	found("cgroup: %s", line);
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

static unsigned short checksum(const unsigned char *data, size_t size)
{
	unsigned long sum = 0;

	for (size_t i = 0; i + 1 < size; i += 2)
		sum += (unsigned long)data[i] << 8 | data[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((unsigned short)~sum);
}

static void ping_gateway(void)
{
	unsigned char packet[PING_SIZE] = {0}, answer[256];
	struct icmphdr *icmp = (struct icmphdr *)packet;
	struct sockaddr_in gateway = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);

	if (fd < 0)
		fail("raw socket");
	inet_pton(AF_INET, GATEWAY, &gateway.sin_addr);
	icmp->type = ICMP_ECHO;
	icmp->un.echo.id = htons(1);
	icmp->checksum = checksum(packet, sizeof(packet));
	if (sendto(fd, packet, sizeof(packet), 0, (struct sockaddr *)&gateway, sizeof(gateway)) < 0)
		fail("ping");
	for (;;) {
		ssize_t size = recv(fd, answer, sizeof(answer), 0);
		size_t header = (size_t)(answer[0] & 0xf) * 4;

		if (size < 0)
			fail("ping: no answer");
		if ((size_t)size >= header + sizeof(*icmp) && answer[header] == ICMP_ECHOREPLY)
			break;
	}
	close(fd);
	found("ping: " GATEWAY " answered\n");
}

static void serve(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, (struct sockaddr *)&here, sizeof(here)) < 0 || listen(fd, 16) < 0)
		fail("listen");
	printf("bootlab: check ok\n");
	for (;;) {
		char request[1024], head[128];
		int client = accept(fd, NULL, NULL);

		if (client < 0)
			continue;
		if (read(client, request, sizeof(request)) > 0) {
			snprintf(head, sizeof(head), "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n",
				 strlen(page));
			if (write(client, head, strlen(head)) < 0 || write(client, page, strlen(page)) < 0)
				printf("a client left\n");
		}
		close(client);
	}
}

int main(void)
{
	struct utsname name;

	setvbuf(stdout, NULL, _IOLBF, 0);
	mark("ready");
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) < 0)
		fail("proc");
	/* Without sysfs in the kernel /sys is a folder like any other; the kernel may have mounted /dev already. */
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	uname(&name);
	found("Linux %s\n", name.release);
	check_disk();
	check_cgroup();
	start_network();
	ping_gateway();
	serve();
}
