/* SPDX-License-Identifier: MIT */
/*
 * The pictures of the car's screen: one program, and its name says which.
 *
 *   opening-picture   paints the opening picture, unless one is there already
 *   init-picture      the same as the first process of an initramfs: loads the modules up to the display's, paints beside
 *                     all that follows, and hands over to /init
 *   home-screen       paints the home screen as soon as the phone, Bluetooth and the network's names answer on D-Bus
 *
 * It writes to the kernel's frame buffer: what is written is on the screen at once, and what is stored through a mapping only
 * when the kernel next looks for changes, up to 50 ms later.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fb.h>
#include <linux/kd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MODULES "/etc/bootlab/modules"
#define BUS "/run/dbus/system_bus_socket"

enum { WIDTH_MAX = 1920, BAND = 8, NAMES = 3, TRIES = 6000, PAUSE_MS = 5, BUFFER = 4096 };

static const char *const WAITED_FOR[NAMES] = { "org.ofono", "org.bluez", "org.freedesktop.Avahi" };
static const uint32_t TILES[8] = { 0x2060a0, 0x208060, 0xa06020, 0x802050, 0x6040a0, 0x909020, 0x208090, 0x705040 };

/* What a pixel of each picture is, so that neither has to be kept anywhere. */
typedef uint32_t (*painter)(unsigned x, unsigned y, unsigned width, unsigned height);

/* A disc in front of a sky that grows lighter downwards; the lowest sixth stays black. */
static uint32_t opening(unsigned x, unsigned y, unsigned width, unsigned height)
{
	int dx = (int)x - (int)(width / 2), dy = (int)y - (int)(height * 5 / 12), radius = (int)height / 4;

	if (y >= height * 5 / 6)
		return 0;
	if (dx * dx + dy * dy < radius * radius)
		return 0xc08020 + ((uint32_t)(dy + radius) * 48 / (uint32_t)radius);
	return 0x000020 + (y * 96 / height) + ((y * 48 / height) << 8);
}

/* Two rows of four tiles, and below them a bar with one field each. */
static uint32_t home(unsigned x, unsigned y, unsigned width, unsigned height)
{
	unsigned column = x * 4 / width, row = y * 12 / (height * 5), in_x = x % (width / 4), in_y = y % (height * 5 / 12);

	if (y >= height * 5 / 6)
		return x * 8 % width < 16 ? 0x101010 : TILES[x * 8 / width % 8];
	if (in_x < 12 || in_y < 12 || in_x >= width / 4 - 12 || in_y >= height * 5 / 12 - 12)
		return 0x181820;
	return TILES[(row * 4 + column) % 8] + (in_y * 32 / height) * 0x010101;
}

/* bootlab's mark (guest/README.md): an instruction that does nothing, stamped exactly, then a line for other clocks. */
static void mark(const char *name)
{
	long size = (long)strlen(name);
	int console = open("/dev/console", O_WRONLY | O_NOCTTY);
#if defined(__aarch64__)
	register const char *x0 __asm__("x0") = name;
	register long x1 __asm__("x1") = size;
	__asm__ volatile("b 1f\n1:\n\t.inst 0xd2a160ff" : : "r"(x0), "r"(x1) : "memory");
#elif defined(__x86_64__)
	__asm__ volatile("jmp 1f\n1:\n\t.byte 0x0f, 0x1f, 0x84, 0x00, 0xb0, 0x07, 0x1a, 0xb5" : : "D"(name), "S"(size) : "memory");
#endif
	if (console >= 0) {
		dprintf(console, "bootlab: mark %s\n", name);
		close(console);
	}
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

__attribute__((noreturn)) static void fail(const char *what)
{
	int console = open("/dev/console", O_WRONLY | O_NOCTTY);

	dprintf(console >= 0 ? console : STDERR_FILENO, "bootlab: check failed: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Whether a program has the screen already, and not the text console. */
static bool has_picture(int terminal)
{
	int mode = KD_TEXT;

	return terminal >= 0 && !ioctl(terminal, KDGETMODE, &mode) && mode == KD_GRAPHICS;
}

/*
 * In bands: of a write of exactly one line Linux 6.1 takes nothing for changed, and it stays unseen until somebody writes more
 * (drm_fb_helper_memory_range_to_clip(): its end is column 0).
 */
static void paint(int screen, int terminal, painter pixel)
{
	static uint32_t band[BAND * WIDTH_MAX];
	struct fb_var_screeninfo shape;
	struct fb_fix_screeninfo lines;

	if (ioctl(screen, FBIOGET_VSCREENINFO, &shape) || ioctl(screen, FBIOGET_FSCREENINFO, &lines))
		fail("/dev/fb0");
	if (shape.bits_per_pixel != 32 || lines.line_length > WIDTH_MAX * sizeof *band || shape.yres % BAND) {
		errno = EINVAL;
		fail("/dev/fb0 has other pixels than 32 bits, too many in a line, or an odd number of lines");
	}
	/* The text console keeps its hands, and its cursor, off the screen. */
	if (terminal >= 0)
		ioctl(terminal, KDSETMODE, KD_GRAPHICS);
	for (unsigned top = 0; top < shape.yres; top += BAND) {
		for (unsigned y = 0; y < BAND; y++)
			for (unsigned x = 0; x < shape.xres; x++)
				band[y * lines.line_length / sizeof *band + x] = pixel(x, top + y, shape.xres, shape.yres);
		if (pwrite(screen, band, (size_t)BAND * lines.line_length, (off_t)top * lines.line_length) < 0)
			fail("write to /dev/fb0");
	}
}

/* One message to the bus, which answers it: a call of `member` with no argument, or with a name as its only one. */
struct message {
	unsigned char bytes[512];
	size_t size;
};

static void pad(struct message *message, size_t to)
{
	while (message->size % to)
		message->bytes[message->size++] = 0;
}

static void put_number(struct message *message, uint32_t number)
{
	memcpy(message->bytes + message->size, &number, sizeof number);
	message->size += sizeof number;
}

static void put_text(struct message *message, const char *text)
{
	put_number(message, (uint32_t)strlen(text));
	memcpy(message->bytes + message->size, text, strlen(text) + 1);
	message->size += strlen(text) + 1;
}

static void put_field(struct message *message, unsigned char code, char type, const char *text)
{
	const unsigned char begin[] = { code, 1, (unsigned char)type, 0 };

	pad(message, 8);
	memcpy(message->bytes + message->size, begin, sizeof begin);
	message->size += sizeof begin;
	if (type == 'g') {
		message->bytes[message->size++] = (unsigned char)strlen(text);
		memcpy(message->bytes + message->size, text, strlen(text) + 1);
		message->size += strlen(text) + 1;
	} else {
		put_text(message, text);
	}
}

static void read_whole(int bus, void *into, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = read(bus, (char *)into + done, size - done);

		if (got <= 0)
			fail("read from " BUS);
		done += (size_t)got;
	}
}

/* Return the first number of the answer. Signals that come between are passed over. */
static uint32_t call(int bus, const char *member, const char *name)
{
	static uint32_t serial;
	static unsigned char body[BUFFER];
	struct message message = { .bytes = { 'l', 1, 0, 1 }, .size = 4 };
	uint32_t fields, head[4], size;

	put_number(&message, name ? (uint32_t)strlen(name) + 5 : 0);
	put_number(&message, ++serial);
	put_number(&message, 0);
	put_field(&message, 1, 'o', "/org/freedesktop/DBus");
	put_field(&message, 6, 's', "org.freedesktop.DBus");
	put_field(&message, 2, 's', "org.freedesktop.DBus");
	put_field(&message, 3, 's', member);
	if (name)
		put_field(&message, 8, 'g', "s");
	fields = (uint32_t)message.size - 16;
	memcpy(message.bytes + 12, &fields, sizeof fields);
	pad(&message, 8);
	if (name)
		put_text(&message, name);
	if (write(bus, message.bytes, message.size) != (ssize_t)message.size)
		fail("write to " BUS);
	for (;;) {
		read_whole(bus, head, sizeof head);
		size = (head[3] + 7) / 8 * 8;
		if (size > sizeof body || head[1] > sizeof body)
			fail("a long answer from " BUS);
		read_whole(bus, body, size);
		read_whole(bus, body, head[1]);
		/* The kinds of a message: 2 is an answer, 3 an error, 4 a signal. */
		if ((head[0] >> 8 & 0xff) == 3)
			fail(member);
		if ((head[0] >> 8 & 0xff) == 2) {
			memcpy(&size, body, sizeof size);
			return size;
		}
	}
}

static int open_bus(void)
{
	static const char HELLO[] = "\0AUTH EXTERNAL 30\r\n", BEGIN[] = "BEGIN\r\n";
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = BUS };
	char answer = 0;
	int bus = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	for (int tries = 0; connect(bus, (struct sockaddr *)&address, sizeof address); tries++) {
		if (tries == TRIES)
			fail("connect to " BUS);
		pause_ms(PAUSE_MS);
	}
	if (write(bus, HELLO, sizeof HELLO - 1) < 0)
		fail("write to " BUS);
	while (answer != '\n')
		read_whole(bus, &answer, 1);
	if (write(bus, BEGIN, sizeof BEGIN - 1) < 0)
		fail("write to " BUS);
	call(bus, "Hello", NULL);
	return bus;
}

static int show_home(void)
{
	int screen, bus = open_bus();

	for (int i = 0, tries = 0; i < NAMES;) {
		if (call(bus, "NameHasOwner", WAITED_FOR[i])) {
			i++;
		} else if (tries++ == TRIES) {
			errno = ETIMEDOUT;
			fail(WAITED_FOR[i]);
		} else {
			pause_ms(PAUSE_MS);
		}
	}
	mark("services_up");
	screen = open("/dev/fb0", O_RDWR | O_CLOEXEC);
	if (screen < 0)
		fail("/dev/fb0");
	paint(screen, open("/dev/tty0", O_RDWR | O_CLOEXEC | O_NOCTTY), home);
	mark("home_painted");
	return 0;
}

static int show_opening(void)
{
	int terminal = open("/dev/tty0", O_RDWR | O_CLOEXEC | O_NOCTTY), screen;

	if (has_picture(terminal))
		return 0;
	screen = open("/dev/fb0", O_RDWR | O_CLOEXEC);
	if (screen < 0)
		fail("/dev/fb0");
	paint(screen, terminal, opening);
	mark("opening_painted");
	return 0;
}

/* Load the modules of the list until there is a screen; what is left of the list is for /init. Returns the screen, or -1. */
static int load_display(void)
{
	static char list[BUFFER];
	int file = open(MODULES, O_RDONLY | O_CLOEXEC), screen = -1;
	ssize_t size = file >= 0 ? read(file, list, sizeof list - 1) : 0;
	char *rest = list, *end;

	if (file >= 0)
		close(file);
	if (size == sizeof list - 1)
		return -1;
	while (screen < 0 && (end = strchr(rest, '\n'))) {
		*end = '\0';
		file = open(rest, O_RDONLY | O_CLOEXEC);
		if (file < 0 || syscall(SYS_finit_module, file, "", 0))
			dprintf(STDERR_FILENO, "init-picture: %s: %s\n", rest, strerror(errno));
		if (file >= 0)
			close(file);
		rest = end + 1;
		screen = open("/dev/fb0", O_RDWR | O_CLOEXEC);
	}
	file = open(MODULES, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (file < 0 || write(file, rest, strlen(rest)) < 0)
		dprintf(STDERR_FILENO, "init-picture: %s: %s\n", MODULES, strerror(errno));
	if (file >= 0)
		close(file);
	return screen;
}

static int start_with_picture(char **words)
{
	int screen, terminal;

	if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL))
		fail("/dev");
	screen = load_display();
	terminal = open("/dev/tty0", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (screen >= 0 && !fork()) {
		paint(screen, terminal, opening);
		mark("opening_painted");
		_exit(0);
	}
	/* /init mounts its own; the painter has opened what it needs. */
	umount2("/dev", MNT_DETACH);
	words[0] = (char[]){ "/init" };
	execv(words[0], words);
	fail("/init");
}

int main(int count, char **words)
{
	const char *name = count > 0 ? strrchr(words[0], '/') : NULL;

	name = name ? name + 1 : count > 0 ? words[0] : "";
	if (!strcmp(name, "opening-picture"))
		return show_opening();
	if (!strcmp(name, "home-screen"))
		return show_home();
	if (!strcmp(name, "init-picture"))
		return start_with_picture(words);
	fprintf(stderr, "%s: called as neither opening-picture, home-screen nor init-picture\n", name);
	return 2;
}
