// SPDX-License-Identifier: MIT OR GPL-2.0-or-later
/*
 * Work and sleep of known size in a module's init function and in a kernel thread: what a profile of this boot must show.
 *
 * Every stretch is bracketed by readings of the time stamp counter, which under QEMU's instruction-counting clock is the
 * virtual time in ns, so the guest itself says how long each really took. The lines are `ground truth: NAME BEGIN END`.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <asm/msr.h>

/* spin_x86_64.S: twice `rounds` instructions and a return. Two names, so that each has a place of its own in a profile. */
void ground_truth_spin_in_init(u64 rounds);
void ground_truth_spin_in_thread(u64 rounds);

static unsigned long rounds;
module_param(rounds, ulong, 0);
static unsigned int sleep_ms;
module_param(sleep_ms, uint, 0);

enum stretch { INIT_SPINS, INIT_WAITS, THREAD_SPINS, THREAD_SLEEPS, THREAD_SLEEPS_EXACTLY, STRETCHES };

static const char *const names[STRETCHES] = {
	"init_spins", "init_waits", "thread_spins", "thread_sleeps", "thread_sleeps_exactly",
};
static struct {
	u64 begin, end;
} stretches[STRETCHES];
static DECLARE_COMPLETION(done);

/* By jiffies: the sleep itself is up to two of them longer than asked for. Without the barrier, it would be a jump. */
static noinline void ground_truth_sleep(void)
{
	msleep(sleep_ms);
	barrier();
}

static noinline void ground_truth_sleep_exactly(void)
{
	ktime_t time = ms_to_ktime(sleep_ms);

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&time, HRTIMER_MODE_REL);
}

static noinline void ground_truth_wait(void)
{
	wait_for_completion(&done);
	barrier();
}

static int ground_truth_thread(void *unused)
{
	stretches[THREAD_SPINS].begin = rdtsc_ordered();
	ground_truth_spin_in_thread(rounds);
	stretches[THREAD_SPINS].end = rdtsc_ordered();

	stretches[THREAD_SLEEPS].begin = rdtsc_ordered();
	ground_truth_sleep();
	stretches[THREAD_SLEEPS].end = rdtsc_ordered();

	stretches[THREAD_SLEEPS_EXACTLY].begin = rdtsc_ordered();
	ground_truth_sleep_exactly();
	stretches[THREAD_SLEEPS_EXACTLY].end = rdtsc_ordered();

	complete(&done);
	return 0;
}

static int __init ground_truth_init(void)
{
	struct task_struct *task;

	stretches[INIT_SPINS].begin = rdtsc_ordered();
	ground_truth_spin_in_init(rounds);
	stretches[INIT_SPINS].end = rdtsc_ordered();

	stretches[INIT_WAITS].begin = rdtsc_ordered();
	task = kthread_run(ground_truth_thread, NULL, "truth-thread");
	if (IS_ERR(task))
		return PTR_ERR(task);
	ground_truth_wait();
	stretches[INIT_WAITS].end = rdtsc_ordered();

	for (enum stretch i = 0; i < STRETCHES; i++)
		pr_info("ground truth: %s %llu %llu\n", names[i], stretches[i].begin, stretches[i].end);
	return 0;
}
module_init(ground_truth_init);

/* So that it can be unloaded; the thread has ended by then. */
static void __exit ground_truth_exit(void)
{
}
module_exit(ground_truth_exit);

MODULE_DESCRIPTION("work and sleep of known size");
MODULE_LICENSE("Dual MIT/GPL");
