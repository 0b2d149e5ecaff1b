/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which line fits a trap and a first touch, and what the trace is told of them. */
#include "records/prices.h"

#include <string.h>
#include <unistd.h>

#include "check.h"

static char path[] = "/tmp/bootlab-prices-XXXXXX";

static uint64_t take(struct prices *prices, enum profile_trap_kind kind, uint64_t number, uint32_t changes, uint16_t state)
{
	const struct trap trap = { .kind = kind, .number = number, .changes = changes, .state = state };

	return prices_add_trap(prices, &trap);
}

int main(void)
{
	struct price lines[] = {
		{ "pio_kvm", TRAP_IN, 0x40, 0x43, 0, 0, 900 },
		{ "pio_vmm", TRAP_IN, 0, UINT64_MAX, 0, 0, 2500 },
		{ "none", TRAP_WRMSR, 0xc0000081, 0xc0000084, 0, 0, 0 },
		{ "wrmsr", TRAP_WRMSR, 0, UINT64_MAX, 0, 0, 800 },
		{ "cr", TRAP_CR_WRITE, 0, 0, 0, TRAP_CACHES_OFF, 810 },
		{ "cr", TRAP_CR_WRITE, 0, 0, 0xfffffff5, 0, 820 },
	};
	struct touch_price touches[] = { { "fault_2M", 0x200000, 0x8000000, 21, 60000 }, { "fault_4K", 0, UINT64_MAX, 12, 1460 } };
	struct config config = { .prices = lines, .n_prices = 6, .touch_prices = touches, .n_touch_prices = 2 };
	struct prices prices;
	struct writer writer;
	char text[512];
	FILE *file;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	CHECK(config_prices(&config) && config_charges(&config) && !config_prices(&(struct config){ 0 }));
	CHECK(prices_init(&config, &prices) == 0);
	CHECK(writer_open(path, 0, true, &writer) == 0);
	CHECK(take(&prices, TRAP_IN, 0x40, 0, 0) == 900 && take(&prices, TRAP_IN, 0x44, 0, 0) == 2500);
	CHECK(take(&prices, TRAP_OUT, 0x40, 0, 0) == 0); /* no line fits */
	CHECK(take(&prices, TRAP_WRMSR, 0xc0000082, 0, 0) == 0 && take(&prices, TRAP_WRMSR, 0xc0000080, 0, 0) == 800);
	CHECK(take(&prices, TRAP_CR_WRITE, 0, 8, 0) == 0 && take(&prices, TRAP_CR_WRITE, 0, 8, TRAP_CACHES_OFF) == 810);
	CHECK(take(&prices, TRAP_CR_WRITE, 0, 1, 0) == 820 && take(&prices, TRAP_CR_WRITE, 4, 1, 0) == 0);
	/* A chunk that huge pages back faults once, all else by pages. */
	CHECK(prices_add_touch(&prices, 0x200000, TOUCHED_CHUNK_FIRST) == 60000);
	CHECK(prices_add_touch(&prices, 0x201000, TOUCHED_PAGE_FIRST) == 0);
	CHECK(prices_add_touch(&prices, 0x1000, TOUCHED_CHUNK_FIRST) == 1460);
	CHECK(prices_add_touch(&prices, 0x2000, TOUCHED_PAGE_FIRST) == 1460 && prices_add_touch(&prices, 0x2000, TOUCHED_BEFORE) == 0);
	prices_report(&prices, &writer);
	CHECK(take(&prices, TRAP_WRMSR, 0xc0000082, 0, 0) == 0);
	prices_report(&prices, &writer); /* nothing that costs */
	CHECK(writer_close(&writer) == 0);
	file = fopen(path, "r");
	CHECK(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	CHECK(!strcmp(text, "bootlab-trace 1\nclock virtual 0 charged\ncharged pio_kvm 1 900\ncharged pio_vmm 1 2500\n"
			    "charged wrmsr 1 800\ncharged cr 2 1630\ncharged fault_2M 1 60000\ncharged fault_4K 2 2920\n"));
	prices_deinit(&prices);
	puts("test_prices: ok");
	return 0;
}
