/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the config's words about screen and keyboard: a whole one, and each way to be wrong. */
#include "config/read.h"

#include <errno.h>
#include <string.h>

#include "check.h"

static const char WHOLE[] = "arch x86_64\n"
			    "guestmarks\n"
			    "screen 16667000 500000000\n"
			    "painted window begun 200000000 3\n"
			    "region window 10 20 300 400\n"
			    "typed name window\n"
			    "key name 100000000 shift down\n"
			    "key name 100000000 a down\n"
			    "key name 150000000 a up\n"
			    "answers answered name\n"
			    "pictured desk -\n"
			    "region desk 0 0 2 1\n"
			    "picture desk /a path with/very many/words in it and/one more/of them.pixels\n"
			    "idle rest desk 300000000 100\n"
			    "stop rest\n";

static int read_text(const char *text, char message[256], struct config *ret)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int r;

	CHECK(file);
	message[0] = '\0';
	r = config_read(file, "boot.conf", message, 256, ret);
	fclose(file);
	return r;
}

static void test_whole(void)
{
	struct config config;
	char message[256];

	CHECK(read_text(WHOLE, message, &config) == 0);
	CHECK(config.screen_every_ns == 16667000 && config.screen_film_ns == 500000000);
	CHECK(config.n_screen_marks == 4 && config.n_screen_typings == 1);
	CHECK(config.screen_marks[0].kind == SCREEN_PAINTED && !strcmp(config.screen_marks[0].after, "begun"));
	CHECK(config.screen_marks[0].stays_ns == 200000000 && config.screen_marks[0].colours == 3);
	CHECK(config.screen_marks[0].region.x == 10 && config.screen_marks[0].region.height == 400);
	CHECK(config.screen_marks[1].kind == SCREEN_ANSWERS && config.screen_marks[1].region.width == 0);
	CHECK(config.screen_marks[2].kind == SCREEN_PICTURED && !config.screen_marks[2].after[0]);
	CHECK(!strcmp(config.screen_marks[2].picture, "/a path with/very many/words in it and/one more/of them.pixels"));
	CHECK(config.screen_marks[3].kind == SCREEN_IDLE && config.screen_marks[3].busy_per_mille == 100);
	CHECK(config.screen_typings[0].n_keys == 3 && !strcmp(config.screen_typings[0].keys[0].name, "shift"));
	CHECK(config.screen_typings[0].keys[1].down && !config.screen_typings[0].keys[2].down);
	config_deinit(&config);
}

static void check_wrong(const char *lines, const char *wanted)
{
	char text[1024], message[256];
	struct config config;

	snprintf(text, sizeof text, "arch x86_64\n%s\n", lines);
	CHECK(read_text(text, message, &config) == -EINVAL);
	if (!strstr(message, wanted))
		fprintf(stderr, "got: %s\nwanted: %s\n", message, wanted);
	CHECK(strstr(message, wanted));
}

#define SCREEN "screen 16667000 0\n"

int main(void)
{
	test_whole();
	check_wrong("screen 16667000", "2: expected: screen EVERY_NS FILM_NS");
	check_wrong("screen 0 0", "2: screen: 0 ns is not 100000 to 3600000000000");
	check_wrong(SCREEN "screen 16667000 0", "3: a second screen line");
	check_wrong("idle rest - 1 1", "2: idle: there is no screen line before it");
	check_wrong(SCREEN "painted a - 1", "3: expected: painted NAME AFTER STAYS_NS COLOURS");
	check_wrong(SCREEN "painted a - 1 257", "3: painted a: 257 is not 1 to 256");
	check_wrong(SCREEN "painted a - x 2", "3: 'x' must be a decimal number");
	check_wrong(SCREEN "painted a b 1 2", "a after b: there is no mark b, and no guestmarks line");
	check_wrong(SCREEN "painted a - 1 2\nanswers a -", "4: a second mark a of the screen");
	check_wrong(SCREEN "painted a - 1 2\nregion a 0 0 0 1", "4: region a: 0 is not 1 to 32767");
	check_wrong(SCREEN "painted a - 1 2\nregion a 40000 0 1 1", "4: region a: 40000 is not 0 to 32767");
	check_wrong(SCREEN "painted a - 1 2\npicture a /p", "4: picture a: the mark is not a pictured one");
	check_wrong(SCREEN "region b 0 0 1 1", "3: region b: there is no mark of the screen of this name before it");
	check_wrong(SCREEN "pictured a -\nregion a 0 0 1 1", "pictured a: there is no picture line");
	check_wrong(SCREEN "pictured a -\npicture a /p", "pictured a: there is no region line");
	check_wrong(SCREEN "pictured a -\npicture a /p\npicture a /q", "5: picture a: a second one");
	check_wrong(SCREEN "idle a - 0 1", "3: idle: 0 ns is not 1 to 3600000000000");
	check_wrong(SCREEN "idle a - 1 1001", "3: idle a: 1001 is not 0 to 1000");
	check_wrong(SCREEN "typed a -", "typed a: there is no key line");
	check_wrong(SCREEN "key a 1 x down", "3: key a: there is no typed line of this name before it");
	check_wrong(SCREEN "typed a -\nkey a 1 x", "4: expected: key NAME NS KEY down|up");
	check_wrong(SCREEN "typed a -\nkey a 2 x down\nkey a 1 x up", "5: key a 1: before the key before it");
	check_wrong(SCREEN "typed a b\nkey a 2 x down", "a after b: there is no mark b");
	puts("test_screen_lines: ok");
	return 0;
}
