/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests what x86-64 and arm64 instructions do to the flow of calls. */
#include "code/instructions.h"

#include "check.h"

static const struct {
	uint8_t code[8];
	size_t size;
	enum flow flow;
	int64_t offset; /* of a known target, else -1 */
} x86[] = {
	{ { 0xe8, 0x10, 0, 0, 0 }, 5, FLOW_CALL, 0x10 },
	{ { 0xe8, 0xf0, 0xff, 0xff, 0xff }, 5, FLOW_CALL, -16 },
	{ { 0xe8, 0x00, 0x02 }, 3, FLOW_CALL, 0x200 },		  /* 16-bit code */
	{ { 0x2e, 0xe8, 0x10, 0, 0, 0 }, 6, FLOW_CALL, 0x10 },	  /* an alternative's prefix */
	{ { 0xe8, 0, 0, 0, 0 }, 5, FLOW_NONE, 0 },		  /* where am I */
	{ { 0xe8, 1, 0, 0, 0 }, 5, FLOW_NONE, 1 },		  /* fills the return stack buffer */
	{ { 0xff, 0xd0 }, 2, FLOW_CALL, -1 },			  /* call *%rax */
	{ { 0x41, 0xff, 0xd3 }, 3, FLOW_CALL, -1 },		  /* call *%r11 */
	{ { 0xff, 0x15, 1, 2, 3, 4 }, 6, FLOW_CALL, -1 },	  /* call *x(%rip) */
	{ { 0xff, 0x1e, 1, 2 }, 4, FLOW_CALL, -1 },		  /* far */
	{ { 0xff, 0xe0 }, 2, FLOW_NONE, -1 },			  /* jmp *%rax */
	{ { 0xff, 0x30 }, 2, FLOW_NONE, -1 },			  /* push (%rax) */
	{ { 0x9a, 1, 2, 3, 4 }, 5, FLOW_CALL, -1 },
	{ { 0xe9, 0x10, 0, 0, 0 }, 5, FLOW_JUMP, 0x10 },
	{ { 0xeb, 0xfe }, 2, FLOW_JUMP, -2 },
	{ { 0xc3 }, 1, FLOW_RETURN, -1 },
	{ { 0xf3, 0xc3 }, 2, FLOW_RETURN, -1 },			  /* rep ret */
	{ { 0xc2, 8, 0 }, 3, FLOW_RETURN, -1 },
	{ { 0xcb }, 1, FLOW_RETURN, -1 },
	{ { 0x48, 0xcb }, 2, FLOW_RETURN, -1 },			  /* lretq */
	{ { 0x48, 0xcf }, 2, FLOW_EXCEPTION_RETURN, -1 },	  /* iretq */
	{ { 0x48, 0x0f, 0x07 }, 3, FLOW_EXCEPTION_RETURN, -1 },	  /* sysretq */
	{ { 0x0f, 0x35 }, 2, FLOW_EXCEPTION_RETURN, -1 },
	{ { 0x0f, 0x05 }, 2, FLOW_NONE, -1 },			  /* syscall: its entry tells */
	{ { 0xcd, 0x15 }, 2, FLOW_INTERRUPT, -1 },
	{ { 0xf4 }, 1, FLOW_HALT, -1 },
	{ { 0x0f, 0x01, 0xc9 }, 3, FLOW_HALT, -1 },		  /* mwait */
	{ { 0x0f, 0x1f, 0x00 }, 3, FLOW_NONE, -1 },
	{ { 0x40 }, 1, FLOW_NONE, -1 },				  /* inc %ax, in 16-bit code */
	{ { 0x90 }, 1, FLOW_NONE, -1 },
};

static const struct {
	uint32_t word;
	enum flow flow;
	int64_t offset;
} aarch64[] = {
	{ 0x94000004, FLOW_CALL, 12 },	/* bl .+16: 12 behind the next */
	{ 0x97ffffff, FLOW_CALL, -8 },	/* bl .-4 */
	{ 0xd63f0100, FLOW_CALL, -1 },	/* blr x8 */
	{ 0xd73f0901, FLOW_CALL, -1 },	/* blraa x8, x1 */
	{ 0xd63f081f, FLOW_CALL, -1 },	/* blraaz x0 */
	{ 0xd65f03c0, FLOW_RETURN, -1 },
	{ 0xd65f0bff, FLOW_RETURN, -1 }, /* retaa */
	{ 0xd69f03e0, FLOW_EXCEPTION_RETURN, -1 },
	{ 0xd503207f, FLOW_HALT, -1 },	 /* wfi */
	{ 0xd5031023, FLOW_HALT, -1 },	 /* wfit x3 */
	{ 0xd61f0200, FLOW_NONE, -1 },	 /* br x16 */
	{ 0x14000004, FLOW_NONE, -1 },	 /* b */
	{ 0xd503201f, FLOW_NONE, -1 },	 /* nop */
	{ 0xd503205f, FLOW_NONE, -1 },	 /* wfe */
};

static const struct {
	uint32_t word;
	size_t size;
	enum flow flow;
	int64_t offset;
} riscv[] = {
	{ 0x010000ef, 4, FLOW_CALL, 12 },	  /* jal ra, .+16: 12 behind the next */
	{ 0xffdff0ef, 4, FLOW_CALL, -8 },	  /* jal ra, .-4 */
	{ 0x001002ef, 4, FLOW_CALL, 0x7fc },	  /* jal t0, .+2048 */
	{ 0x800000ef, 4, FLOW_CALL, -0x100004 },  /* jal ra, as far back as it goes */
	{ 0x0d60106f, 4, FLOW_NONE, -1 },	  /* j */
	{ 0x7a8080e7, 4, FLOW_CALL_PAIR, -1 },	  /* jalr ra, 1960(ra): the second half of `call` */
	{ 0x000282e7, 4, FLOW_CALL_PAIR, -1 },	  /* jalr t0, t0 */
	{ 0x000780e7, 4, FLOW_CALL, -1 },	  /* jalr ra, a5 */
	{ 0x00008067, 4, FLOW_RETURN, -1 },	  /* ret */
	{ 0x00028067, 4, FLOW_RETURN, -1 },	  /* jr t0 */
	{ 0x00030067, 4, FLOW_NONE, -1 },	  /* jr t1: `tail` */
	{ 0x9302, 2, FLOW_CALL, -1 },		  /* c.jalr t1 */
	{ 0x9002, 2, FLOW_NONE, -1 },		  /* c.ebreak */
	{ 0x8082, 2, FLOW_RETURN, -1 },		  /* c.jr ra */
	{ 0x8282, 2, FLOW_RETURN, -1 },		  /* c.jr t0 */
	{ 0x8782, 2, FLOW_NONE, -1 },		  /* c.jr a5 */
	{ 0x852e, 2, FLOW_NONE, -1 },		  /* c.mv a0, a1 */
	{ 0x9702, 2, FLOW_CALL, -1 },		  /* c.jalr a4 */
	{ 0x972a, 2, FLOW_NONE, -1 },		  /* c.add a4, a0 */
	{ 0xa03d, 2, FLOW_NONE, -1 },		  /* c.j */
	{ 0x10200073, 4, FLOW_EXCEPTION_RETURN, -1 }, /* sret */
	{ 0x30200073, 4, FLOW_EXCEPTION_RETURN, -1 }, /* mret */
	{ 0x10500073, 4, FLOW_HALT, -1 },	  /* wfi */
	{ 0x00000073, 4, FLOW_NONE, -1 },	  /* ecall: its entry tells */
	{ 0xb0702013, 4, FLOW_NONE, -1 },	  /* a guest mark */
};

static void test_what_stores_to_no_device(void)
{
	CHECK(x86_stores_memory((const uint8_t[]){ 0xe8, 1, 0, 0, 0 }, 5) && x86_stores_memory((const uint8_t[]){ 0xff, 0xd0 }, 2));
	CHECK(x86_stores_memory((const uint8_t[]){ 0xf3, 0x48, 0xab }, 3) && x86_stores_memory((const uint8_t[]){ 0xf3, 0xa4 }, 2));
	CHECK(x86_stores_memory((const uint8_t[]){ 0xf2, 0x66, 0xa5 }, 3));
	/* Once is no row; and what repeats and only compares, or asks a port, stores nothing here. */
	CHECK(!x86_stores_memory((const uint8_t[]){ 0x48, 0xab }, 2) && !x86_stores_memory((const uint8_t[]){ 0xf3, 0xa6 }, 2));
	CHECK(!x86_stores_memory((const uint8_t[]){ 0xf3, 0x6d }, 2) && !x86_stores_memory((const uint8_t[]){ 0xf3 }, 1));
	CHECK(!x86_stores_memory((const uint8_t[]){ 0x66, 0x89, 0x08 }, 3)); /* how Linux rings */
}

#define MAY_SHADOW(...) x86_may_shadow((const uint8_t[]){ __VA_ARGS__ }, sizeof(const uint8_t[]){ __VA_ARGS__ })

static void test_what_may_pause_and_what_may_shadow(void)
{
	CHECK(x86_may_pause((const uint8_t[]){ 0xf3, 0x90 }, 2) && x86_may_pause((const uint8_t[]){ 0x66, 0xf3, 0x90 }, 3));
	CHECK(!x86_may_pause((const uint8_t[]){ 0x90 }, 1) && !x86_may_pause((const uint8_t[]){ 0x66, 0x90 }, 2)); /* nop */
	CHECK(!x86_may_pause((const uint8_t[]){ 0xf3 }, 1) && !x86_may_pause(NULL, 0));
	CHECK(MAY_SHADOW(0xfb) && MAY_SHADOW(0x66, 0xfb)); /* sti */
	CHECK(MAY_SHADOW(0x8e, 0xd0) && !MAY_SHADOW(0x8e, 0xd8) && !MAY_SHADOW(0x8e)); /* mov ss, eax; mov ds, eax */
	CHECK(MAY_SHADOW(0x17) && MAY_SHADOW(0x0f, 0xb2, 0x26)); /* pop ss; lss */
	CHECK(MAY_SHADOW(0xcf) && MAY_SHADOW(0x48, 0xcf) && MAY_SHADOW(0x0f, 0xaa)); /* iret, iretq, rsm */
	CHECK(MAY_SHADOW(0x0f, 0x01, 0xd8) && !MAY_SHADOW(0x0f, 0x01, 0xd9) && !MAY_SHADOW(0x0f, 0x01)); /* vmrun, vmmcall */
	CHECK(!MAY_SHADOW(0xfa) && !MAY_SHADOW(0x0f, 0x05) && !x86_may_shadow(NULL, 0)); /* cli, syscall */
}

static bool draws(bool (*of)(const uint8_t *, size_t), uint32_t word)
{
	return of((const uint8_t *)&word, sizeof word);
}

static void test_what_draws_random_numbers(void)
{
	CHECK(x86_draws_random((const uint8_t[]){ 0x0f, 0xc7, 0xf0 }, 3)); /* rdrand eax */
	CHECK(x86_draws_random((const uint8_t[]){ 0x48, 0x0f, 0xc7, 0xf2 }, 4)); /* rdrand rdx */
	CHECK(x86_draws_random((const uint8_t[]){ 0x66, 0x0f, 0xc7, 0xf8 }, 4)); /* rdseed ax */
	CHECK(!x86_draws_random((const uint8_t[]){ 0xf3, 0x0f, 0xc7, 0xf8 }, 4)); /* rdpid rax */
	CHECK(!x86_draws_random((const uint8_t[]){ 0xf0, 0x48, 0x0f, 0xc7, 0x0f }, 5)); /* cmpxchg16b */
	CHECK(!x86_draws_random((const uint8_t[]){ 0x0f, 0xc7 }, 2) && !x86_draws_random(NULL, 0));
	CHECK(draws(aarch64_draws_random, 0xd53b2400) && draws(aarch64_draws_random, 0xd53b243f)); /* x0, RNDR; xzr, RNDRRS */
	CHECK(!draws(aarch64_draws_random, 0xd53b4200) && !aarch64_draws_random(NULL, 0)); /* NZCV */
	CHECK(draws(riscv_draws_random, 0x01501573)); /* csrrw a0, seed, zero */
	CHECK(!draws(riscv_draws_random, 0x00000073) && !draws(riscv_draws_random, 0xc0102573)); /* ecall; rdtime */
}

int main(void)
{
	struct flow_target target;

	test_what_may_pause_and_what_may_shadow();
	test_what_draws_random_numbers();

	test_what_stores_to_no_device();
	for (size_t i = 0; i < sizeof x86 / sizeof *x86; i++) {
		enum flow flow = x86_flow(x86[i].code, x86[i].size, &target);

		if (flow != x86[i].flow)
			fprintf(stderr, "x86 %zu: %d\n", i, flow);
		CHECK(flow == x86[i].flow && target.known == (x86[i].offset != -1));
		CHECK(!target.known || target.offset == x86[i].offset);
	}
	for (size_t i = 0; i < sizeof aarch64 / sizeof *aarch64; i++) {
		enum flow flow = aarch64_flow((const uint8_t *)&aarch64[i].word, 4, &target);

		if (flow != aarch64[i].flow)
			fprintf(stderr, "aarch64 %zu: %d\n", i, flow);
		CHECK(flow == aarch64[i].flow && target.known == (aarch64[i].offset != -1));
		CHECK(!target.known || target.offset == aarch64[i].offset);
	}
	for (size_t i = 0; i < sizeof riscv / sizeof *riscv; i++) {
		enum flow flow = riscv_flow((const uint8_t *)&riscv[i].word, riscv[i].size, &target);

		if (flow != riscv[i].flow)
			fprintf(stderr, "riscv %zu: %d\n", i, flow);
		CHECK(flow == riscv[i].flow && target.known == (riscv[i].offset != -1));
		CHECK(!target.known || target.offset == riscv[i].offset);
	}
	CHECK(riscv_flow(NULL, 0, &target) == FLOW_NONE);
	CHECK(x86_flow(NULL, 0, &target) == FLOW_NONE && aarch64_flow(NULL, 0, &target) == FLOW_NONE);
	/* Prefixes and nothing behind them. */
	CHECK(x86_flow((const uint8_t *)"\x66\x2e", 2, &target) == FLOW_NONE);
	CHECK(x86_flow((const uint8_t *)"\xff", 1, &target) == FLOW_NONE && x86_flow((const uint8_t *)"\xe8", 1, &target) == FLOW_NONE);
	puts("test_instructions: ok");
	return 0;
}
