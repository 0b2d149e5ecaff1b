/* SPDX-License-Identifier: MIT */
/* Loads kernel modules with several threads at once, each module after those that it needs. */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/clock.h"

/* Most of a module's init is processor time or the wait for its own device; more threads than this gain nothing. */
enum { MAX_THREADS = 16, THREADS_PER_CPU = 4 };

/* ABSENT: it is for a device or a CPU that is not here, as it found out itself. Nothing is wrong. */
enum state { TO_DO, RUNNING, LOADED, ABSENT, FAILED };

struct loading {
	const struct plan *plan;
	const struct load_options *options;
	uint8_t *states;
	size_t left; /* to do */
	size_t first_left; /* of those that the boot waits for, not done */
	unsigned failed, first_failed;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t threads[MAX_THREADS];
	unsigned n_threads;
};

/* 0 or -errno. One that is loaded already, or built in, is as good. */
static int load(const struct module *module)
{
	int fd = open(module->path, O_RDONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, module->parameters, 0) && errno != EEXIST)
		r = -errno;
	close(fd);
	return r;
}

static void tell(const struct loading *loading, const struct module *module, const char *words)
{
	fprintf(stderr, "coldplug: %s:%u: %s: %s\n", loading->options->plan_name, module->line, module->path, words);
}

/* LOADED when all that it needs is, ABSENT or FAILED when one of them cannot be, TO_DO when it has to wait. */
static enum state needed(const struct loading *loading, const struct module *module)
{
	enum state all = LOADED;

	for (uint32_t i = 0; i < module->n_after; i++) {
		enum state one = loading->states[module->after[i]];

		if (one == FAILED || one == ABSENT)
			return one;
		if (one != LOADED)
			all = TO_DO;
	}
	return all;
}

static void end_one(struct loading *loading, size_t at, enum state state)
{
	loading->states[at] = (uint8_t)state;
	loading->failed += state == FAILED;
	if (at < loading->plan->n_first) {
		loading->first_left--;
		loading->first_failed += state == FAILED;
	}
	pthread_cond_broadcast(&loading->changed);
}

/*
 * The first in the plan's order that nothing holds up any more; n_modules when all of the rest wait, those of the background for
 * all the others.
 */
static size_t take(struct loading *loading)
{
	size_t end = loading->first_left ? loading->plan->n_first : loading->plan->n_modules;

	for (size_t at = 0; at < end; at++) {
		const struct module *module = &loading->plan->modules[at];
		enum state ready;

		if (loading->states[at] != TO_DO)
			continue;
		ready = module->path ? needed(loading, module) : FAILED;
		if (ready == TO_DO)
			continue;
		loading->left--;
		if (ready == LOADED) {
			loading->states[at] = RUNNING;
			return at;
		}
		if (module->path && (ready == FAILED || loading->options->verbose))
			tell(loading, module, "not loaded: what it needs is not");
		end_one(loading, at, ready);
	}
	return loading->plan->n_modules;
}

static void *work(void *argument)
{
	struct loading *loading = argument;
	bool calm = false;

	pthread_mutex_lock(&loading->lock);
	while (loading->left) {
		size_t at = take(loading);
		const struct module *module = &loading->plan->modules[at];
		int64_t began_ns;
		int r;

		if (at == loading->plan->n_modules) {
			/* Numbers are of earlier modules, so something runs as long as something waits. */
			if (loading->left)
				pthread_cond_wait(&loading->changed, &loading->lock);
			continue;
		}
		pthread_mutex_unlock(&loading->lock);
		if (at >= loading->plan->n_first && !calm) {
			/* Of this thread alone, as Linux has it: its module's init runs in it. */
			setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
			calm = true;
		}
		began_ns = clock_now_ns();
		r = load(module);
		if (r && (r != -ENODEV || loading->options->verbose))
			tell(loading, module, strerror(-r));
		else if (!r && loading->options->verbose)
			fprintf(stderr, "coldplug: %s: %.3f ms\n", module->path, (double)(clock_now_ns() - began_ns) / 1e6);
		pthread_mutex_lock(&loading->lock);
		end_one(loading, at, r == -ENODEV ? ABSENT : r ? FAILED : LOADED);
	}
	pthread_mutex_unlock(&loading->lock);
	return NULL;
}

static unsigned wanted_threads(const struct plan *plan, const struct load_options *options)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = options->threads ? options->threads : (unsigned)(cpus > 0 ? cpus : 1) * THREADS_PER_CPU;

	if (plan->serial)
		n = 1;
	if (n > plan->n_modules)
		n = (unsigned)plan->n_modules;
	return n > MAX_THREADS ? MAX_THREADS : n;
}

struct loading *load_begin(const struct plan *plan, const struct load_options *options)
{
	struct loading *loading = calloc(1, sizeof *loading + plan->n_modules);
	unsigned threads = wanted_threads(plan, options);

	if (!loading)
		return NULL;
	*loading = (struct loading){
		.plan = plan,
		.options = options,
		.states = (uint8_t *)(loading + 1),
		.left = plan->n_modules,
		.first_left = plan->n_first,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	while (loading->n_threads < threads &&
	       !pthread_create(&loading->threads[loading->n_threads], NULL, work, loading))
		loading->n_threads++;
	if (!loading->n_threads)
		work(loading);
	return loading;
}

unsigned load_await_first(struct loading *loading)
{
	unsigned failed;

	pthread_mutex_lock(&loading->lock);
	while (loading->first_left)
		pthread_cond_wait(&loading->changed, &loading->lock);
	failed = loading->first_failed;
	pthread_mutex_unlock(&loading->lock);
	return failed;
}

unsigned load_end(struct loading *loading)
{
	unsigned failed;

	for (unsigned i = 0; i < loading->n_threads; i++)
		pthread_join(loading->threads[i], NULL);
	failed = loading->failed;
	free(loading);
	return failed;
}
