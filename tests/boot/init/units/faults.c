/* SPDX-License-Identifier: MIT */
/*
 * faults PID COUNT EVERY SEED: makes COUNT system calls of a running process fail, one of about EVERY that can, with an error
 * that the kernel may well give. The call is not made. Prints how many of each failed; the process goes on as before.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

static const struct {
	const char *name;
	long number;
	int errors[4];
} CALLS[] = {
	{ "open", SYS_open, { EMFILE, ENFILE, ENOMEM, EIO } },
	{ "openat", SYS_openat, { EMFILE, ENFILE, ENOMEM, EIO } },
	{ "read", SYS_read, { EIO, EINTR, EAGAIN, ENOMEM } },
	{ "write", SYS_write, { EIO, ENOSPC, EINTR, EAGAIN } },
	{ "writev", SYS_writev, { EIO, ENOSPC, EINTR, EAGAIN } },
	{ "fork", SYS_fork, { EAGAIN, ENOMEM } },
	{ "clone", SYS_clone, { EAGAIN, ENOMEM } },
	{ "pipe2", SYS_pipe2, { EMFILE, ENFILE } },
	{ "socket", SYS_socket, { EMFILE, ENFILE, ENOMEM, ENOBUFS } },
	{ "bind", SYS_bind, { EADDRINUSE, ENOMEM } },
	{ "accept4", SYS_accept4, { EMFILE, ENFILE, ENOMEM, ECONNABORTED } },
	{ "recvmsg", SYS_recvmsg, { EAGAIN, EINTR, ENOMEM, ENOBUFS } },
	{ "sendto", SYS_sendto, { EAGAIN, EPIPE, ENOBUFS, ENOMEM } },
	{ "epoll_ctl", SYS_epoll_ctl, { ENOMEM, ENOSPC } },
	{ "epoll_pwait", SYS_epoll_pwait, { EINTR } },
	{ "ppoll", SYS_ppoll, { EINTR, ENOMEM } },
	{ "fcntl", SYS_fcntl, { EMFILE, EINTR } },
	{ "dup2", SYS_dup2, { EMFILE, EINTR } },
	{ "mkdir", SYS_mkdir, { ENOSPC, EIO, EROFS } },
	{ "rename", SYS_rename, { ENOSPC, EIO, EROFS } },
	{ "stat", SYS_newfstatat, { ENOMEM, EIO } },
	{ "getdents64", SYS_getdents64, { EIO } },
};
enum { N_CALLS = sizeof CALLS / sizeof CALLS[0] };

static uint64_t state;

static unsigned below(unsigned limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % limit);
}

static int call_of(long number)
{
	for (int i = 0; i < N_CALLS; i++)
		if (CALLS[i].number == number)
			return i;
	return -1;
}

static int error_of(int call)
{
	int n = 0;

	while (n < 4 && CALLS[call].errors[n])
		n++;
	return CALLS[call].errors[below((unsigned)n)];
}

/* Let it run to the next system call's beginning or end; signals go through. False: it is gone. */
static int to_next_stop(pid_t pid)
{
	int status, signal = 0;

	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, 0, signal) || waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			return 0;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 1;
		/* An event stop has its number above the signal's; those have nothing to deliver. */
		signal = status >> 16 ? 0 : WSTOPSIG(status);
	}
}

int main(int argc, char **argv)
{
	unsigned failed[N_CALLS] = { 0 }, left, every;
	int status;
	pid_t pid;

	if (argc != 5)
		return 2;
	pid = (pid_t)atoi(argv[1]);
	left = (unsigned)atoi(argv[2]);
	every = (unsigned)atoi(argv[3]);
	state = 88172645463325252u ^ (uint64_t)atoll(argv[4]) << 20;
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD) || ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
	    waitpid(pid, &status, __WALL) != pid)
		return perror("faults"), 1;
	while (left > 0) {
		struct user_regs_struct registers;
		int call, error;

		if (!to_next_stop(pid) || ptrace(PTRACE_GETREGS, pid, 0, &registers))
			return fprintf(stderr, "faults: process %d is gone\n", (int)pid), 3;
		/* Its beginning has -ENOSYS as its result; the stop above may have come in the middle of one. */
		if ((long)registers.rax != -ENOSYS)
			continue;
		call = call_of((long)registers.orig_rax);
		error = call >= 0 && below(every) == 0 ? error_of(call) : 0;
		if (error) {
			registers.orig_rax = (unsigned long)-1;
			ptrace(PTRACE_SETREGS, pid, 0, &registers);
		}
		if (!to_next_stop(pid))
			return fprintf(stderr, "faults: process %d is gone\n", (int)pid), 3;
		if (error && !ptrace(PTRACE_GETREGS, pid, 0, &registers)) {
			registers.rax = (unsigned long)-error;
			ptrace(PTRACE_SETREGS, pid, 0, &registers);
			failed[call]++;
			left--;
		}
	}
	ptrace(PTRACE_DETACH, pid, 0, 0);
	for (int i = 0; i < N_CALLS; i++)
		if (failed[i])
			printf("%s %u\n", CALLS[i].name, failed[i]);
	return 0;
}
