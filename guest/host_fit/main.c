/* SPDX-License-Identifier: MIT */
/*
 * Times what a guest of KVM leaves for its host, in the guest: round trips of each class of exit, the first touch of pages,
 * and instructions that never leave. Every sample goes to the debug console (port 0x402) as a number of the time stamp
 * counter's ticks for one batch; the first lines say how such ticks become ns. bootlab/measure/host_fit reads it.
 *
 *     clock MULTIPLIER SHIFT FLAGS       KVM's own: ns = (ticks << SHIFT) * MULTIPLIER >> 32
 *     NAME COUNT ticks ticks ...         COUNT: how many of them a batch has
 *     lacks NAME                         it is not there: an exception came
 *     end
 */
#include <stdbool.h>
#include <stdint.h>

enum {
	DEBUG_CONSOLE = 0x402, DEBUG_EXIT = 0x501, SERIAL_STATUS = 0x3fd, PIC_MASK = 0x21, POST = 0x80,
	ROUNDS = 100, BATCH = 16,
	MSR_CLOCK = 0x4b564d01, MSR_MISC_ENABLE = 0x1a0,
	CR4_MCE = 1 << 6, CR4_PGE = 1 << 7, CR4_OSXSAVE = 1 << 18,
	PAGE = 4096, CHUNK = 2 << 20, PAGES_A_BATCH = 16, CHUNKS = 32,
	SLEEP_NS = 1000000, SLEEPS = 30,
	BYTES = 4096, BRANCHES = 4096, WORDS = 512,
};

#define LAPIC ((volatile uint32_t *)0xfee00000)
#define IOAPIC ((volatile uint32_t *)0xfec00000)
#define HPET ((volatile uint32_t *)0xfed00000)
#define SMALL ((volatile uint8_t *)(16 << 20)) /* pages that nobody has touched */
#define HUGE ((volatile uint8_t *)(64 << 20))

/* struct pvclock_vcpu_time_info of Linux, arch/x86/include/asm/pvclock-abi.h */
struct kvm_clock {
	uint32_t version, pad;
	uint64_t tsc, ns;
	uint32_t multiplier;
	int8_t shift;
	uint8_t flags, pad2[2];
};

extern uint64_t recover;
extern volatile uint32_t faults;

static volatile struct kvm_clock clock_page __attribute__((aligned(32)));
static uint32_t samples[ROUNDS];
static uint32_t crc_table[256];
static uint8_t bytes[BYTES];
static bool is_amd;

static inline void out(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint8_t in(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static inline void cpuid(uint32_t leaf, uint32_t registers[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(registers[0]), "=b"(registers[1]), "=c"(registers[2]), "=d"(registers[3])
			 : "a"(leaf), "c"(0));
}

static void say(const char *text)
{
	while (*text)
		out(DEBUG_CONSOLE, (uint8_t)*text++);
}

static void say_digits(uint64_t number)
{
	char text[21];
	int at = sizeof text;

	text[--at] = '\0';
	do
		text[--at] = (char)('0' + number % 10);
	while (number /= 10);
	say(text + at);
}

static void say_number(uint64_t number)
{
	say(" ");
	say_digits(number);
}

static void tell(const char *name, uint64_t count, unsigned rounds)
{
	say(name);
	say_number(count);
	for (unsigned i = 0; i < rounds; i++)
		say_number(samples[i]);
	say("\n");
}

static void do_pio_vmm(void) { in(SERIAL_STATUS); }
static void do_pio_kvm(void) { in(PIC_MASK); }

static void do_pio_string(void)
{
	const uint8_t *from = bytes;
	uint64_t count = 1;

	__asm__ volatile("rep outsb" : "+S"(from), "+c"(count) : "d"((uint16_t)POST) : "memory");
}

static void do_mmio_vmm(void) { (void)HPET[0]; }
static void do_mmio_lapic(void) { (void)LAPIC[0x30 / 4]; }
static void do_mmio_ioapic(void) { (void)IOAPIC[0]; }

static void do_cpuid(void)
{
	uint32_t registers[4];

	cpuid(0, registers);
}

static uint64_t read_msr(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

static void write_msr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static uint64_t misc_enable;

static void do_rdmsr(void) { misc_enable = read_msr(MSR_MISC_ENABLE); }
static void do_wrmsr(void) { write_msr(MSR_MISC_ENABLE, misc_enable); }

/* What a kernel does to flush its TLB on AMD's; Intel's lets a guest have that bit to itself, and not this one. */
static void do_cr(void)
{
	uint64_t cr4;

	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	cr4 ^= is_amd ? CR4_PGE : CR4_MCE;
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4) : "memory");
}

static void do_xsetbv(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	__asm__ volatile("xsetbv" : : "a"(low), "d"(high), "c"(0));
}

static void do_wbinvd(void) { __asm__ volatile("wbinvd" : : : "memory"); }

/* KVM_HC_VAPIC_POLL_IRQ, which does nothing. */
static void do_hypercall(void)
{
	uint64_t result = 1;

	if (is_amd)
		__asm__ volatile("vmmcall" : "+a"(result) : : "memory");
	else
		__asm__ volatile("vmcall" : "+a"(result) : : "memory");
}

/* Once, to see whether it is there; r10, r11: of the handler. */
static bool is_there(void (*action)(void))
{
	uint64_t to = (uint64_t)(uintptr_t)action;

	faults = 0;
	__asm__ volatile("mov %%rsp, %%r12\n\t"
			 "lea 1f(%%rip), %%r11\n\t"
			 "mov %%r11, recover(%%rip)\n\t"
			 "call *%0\n"
			 "1:\n\t"
			 "mov %%r12, %%rsp\n\t"
			 "movq $0, recover(%%rip)"
			 : "+r"(to)
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "rbx", "r8", "r9", "r10", "r11", "r12", "memory", "cc");
	return !faults;
}

static void time_action(const char *name, void (*action)(void))
{
	if (!is_there(action)) {
		say("lacks ");
		say(name);
		say("\n");
		return;
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t began = ticks();

		for (unsigned j = 0; j < BATCH; j++)
			action();
		samples[i] = (uint32_t)(ticks() - began);
	}
	tell(name, BATCH, ROUNDS);
}

/*
 * A timer, and a sleep until it: how much later than that the guest goes on. The local APIC of KVM counts ns. What its
 * registers take is in it.
 */
static void time_sleep(void)
{
	LAPIC[0xf0 / 4] = 0x1ff;
	LAPIC[0x3e0 / 4] = 0xb; /* divided by one */
	LAPIC[0x320 / 4] = 32;
	for (unsigned i = 0; i < SLEEPS; i++) {
		uint64_t began = ticks();

		LAPIC[0x380 / 4] = SLEEP_NS;
		__asm__ volatile("sti\n\thlt\n\tcli" : : : "memory");
		samples[i] = (uint32_t)(ticks() - began);
	}
	say("sleep_ns");
	say_number(SLEEP_NS);
	say("\n");
	tell("sleep", 1, SLEEPS);
}

/* Eight instructions a byte, each of which waits for the one before. */
static uint64_t run_table(void)
{
	const uint8_t *at = bytes, *end = bytes + BYTES;
	uint32_t crc = 0;

	__asm__ volatile("1:\n\t"
			 "movzbl (%[at]), %%eax\n\t"
			 "xorb %b[crc], %%al\n\t"
			 "movzbl %%al, %%eax\n\t"
			 "shrl $8, %[crc]\n\t"
			 "xorl (%[table],%%rax,4), %[crc]\n\t"
			 "incq %[at]\n\t"
			 "cmpq %[at], %[end]\n\t"
			 "jne 1b"
			 : [at] "+r"(at), [crc] "+q"(crc)
			 : [end] "r"(end), [table] "r"(crc_table)
			 : "rax", "memory", "cc");
	return UINT64_C(8) * BYTES;
}

/* Branches that nobody can foresee, a random one in 13 instructions; one more where it is not taken. */
static uint64_t run_branches(void)
{
	static uint32_t state = 2463534242u;
	uint64_t odd = 0, left = BRANCHES;

	__asm__ volatile("1:\n\t"
			 "movl %[state], %%eax\n\t"
			 "shll $13, %%eax\n\t"
			 "xorl %%eax, %[state]\n\t"
			 "movl %[state], %%eax\n\t"
			 "shrl $17, %%eax\n\t"
			 "xorl %%eax, %[state]\n\t"
			 "movl %[state], %%eax\n\t"
			 "shll $5, %%eax\n\t"
			 "xorl %%eax, %[state]\n\t"
			 "testl $1, %[state]\n\t"
			 "jz 2f\n\t"
			 "incq %[odd]\n"
			 "2:\n\t"
			 "decq %[left]\n\t"
			 "jnz 1b"
			 : [state] "+r"(state), [odd] "+r"(odd), [left] "+r"(left)
			 :
			 : "rax", "cc");
	return UINT64_C(13) * BRANCHES + odd;
}

/* A page is cleared: each word counts as an instruction, as it does on bootlab's virtual clock. */
static uint64_t run_clearing(void)
{
	for (unsigned i = 0; i < 16; i++) {
		void *to = bytes;
		uint64_t count = WORDS;

		__asm__ volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(0) : "memory");
	}
	return UINT64_C(16) * WORDS;
}

/* How many instructions a batch has is not the same each time, so each sample is of as many as if it had had 100,000. */
static void time_instructions(const char *name, uint64_t (*run)(void))
{
	run();
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t began = ticks(), count = run();

		samples[i] = (uint32_t)((ticks() - began) * 100000 / count);
	}
	tell(name, 100000, ROUNDS);
}

static void time_pages(void)
{
	volatile uint8_t *at = SMALL;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t began = ticks();

		for (unsigned j = 0; j < PAGES_A_BATCH; j++, at += PAGE)
			*at = 1;
		samples[i] = (uint32_t)(ticks() - began);
	}
	tell("pages", PAGES_A_BATCH, ROUNDS);
}

/* The first byte of each chunk, and then all of its other pages: where one page of the host backs it, those take nothing. */
static void time_chunks(void)
{
	static uint32_t rest[CHUNKS];
	volatile uint8_t *chunk = HUGE;

	for (unsigned i = 0; i < CHUNKS; i++, chunk += CHUNK) {
		uint64_t began = ticks(), first;

		*chunk = 1;
		first = ticks();
		for (unsigned at = PAGE; at < CHUNK; at += PAGE)
			chunk[at] = 1;
		rest[i] = (uint32_t)(ticks() - first);
		samples[i] = (uint32_t)(first - began);
	}
	tell("chunks", 1, CHUNKS);
	for (unsigned i = 0; i < CHUNKS; i++)
		samples[i] = rest[i];
	tell("rest_of_chunk", CHUNK / PAGE - 1, CHUNKS);
}

static void fill_crc_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		crc_table[i] = crc;
	}
}

static bool has_xsave(void)
{
	uint32_t registers[4];

	cpuid(1, registers);
	return registers[2] >> 26 & 1;
}

static void start_clock(void)
{
	write_msr(MSR_CLOCK, (uint64_t)(uintptr_t)&clock_page | 1);
	say("clock");
	say_number(clock_page.multiplier);
	say(clock_page.shift < 0 ? " -" : " ");
	say_digits((uint64_t)(clock_page.shift < 0 ? -clock_page.shift : clock_page.shift));
	say_number(clock_page.flags);
	say("\n");
}

/* Pages first: whoever times them last has touched them. */
void main(void)
{
	uint32_t registers[4];

	cpuid(0, registers);
	is_amd = registers[2] == 0x444d4163;
	say("bootlab-host-fit 1\n");
	say(is_amd ? "rules svm\n" : "rules vmx\n");
	start_clock();
	time_pages();
	time_chunks();
	time_action("pio_vmm", do_pio_vmm);
	time_action("pio_kvm", do_pio_kvm);
	time_action("pio_string", do_pio_string);
	time_action("mmio_vmm", do_mmio_vmm);
	time_action("mmio_lapic", do_mmio_lapic);
	time_action("mmio_ioapic", do_mmio_ioapic);
	time_action("cpuid", do_cpuid);
	time_action("rdmsr", do_rdmsr);
	time_action("wrmsr", do_wrmsr);
	time_action("cr", do_cr);
	if (has_xsave())
		__asm__ volatile("mov %%cr4, %%rax\n\tor %0, %%rax\n\tmov %%rax, %%cr4" : : "i"(CR4_OSXSAVE) : "rax");
	time_action("xsetbv", do_xsetbv);
	time_action("wbinvd", do_wbinvd);
	time_action("hypercall", do_hypercall);
	time_sleep();
	fill_crc_table();
	time_instructions("table", run_table);
	time_instructions("branches", run_branches);
	time_instructions("clearing", run_clearing);
	say("end\n");
	out(DEBUG_EXIT, 0);
}
