"""Programs that cannot be started as process 1: their format, their interpreter, their calls."""

from tests.measure.causes.guests import REFUSED, USUAL, Case, elf, guest, without


def test_a_32_bit_init_needs_the_emulation(case: Case) -> None:
    cause = case.cause(REFUSED.format(-8), USUAL, guest(elf(3, bits=32)))
    assert "/init failed with ENOEXEC: /init is a 32-bit program" in cause
    assert "CONFIG_IA32_EMULATION and CONFIG_COMPAT_32BIT_TIME are off" in cause
    # The seed's own words: Linux 6.7, the root on a disk that cannot be looked into.
    said = "Kernel panic - not syncing: Requested init /goinit failed (error ENOEXEC).\n"
    cause = case.cause(said, None, cmdline="console=ttyS0 root=/dev/vda init=/goinit", rootfs={"path": "root.img"})
    assert "a 32-bit one CONFIG_IA32_EMULATION" in cause


def test_what_kind_of_program_decides_the_option(case: Case) -> None:
    script = guest(b"#!/bin/busybox sh\n")
    assert "CONFIG_BINFMT_SCRIPT is off" in case.cause(REFUSED.format(-8), without("BINFMT_SCRIPT"), script)
    # The script is fine, and its interpreter is not.
    assert "/bin/busybox is a 64-bit program, and CONFIG_BINFMT_ELF is off" in case.cause(
        REFUSED.format(-8), without("BINFMT_ELF"), script
    )
    assert "CONFIG_BINFMT_ELF" in case.cause(REFUSED.format(-8), None, guest(elf()))
    assert "for aarch64, and this machine is x86_64" in case.cause(REFUSED.format(-8), USUAL, guest(elf(183)))
    assert 'begins with "echo hello"' in case.cause(REFUSED.format(-8), USUAL, guest(b"echo hello\n"))
    assert "CONFIG_X86_X32_ABI" in case.cause(REFUSED.format(-8), USUAL, guest(elf(62, bits=32)))


def test_a_file_that_is_there_and_yet_not_found(case: Case) -> None:
    cause = case.cause(REFUSED.format(-2), USUAL, guest(b"#!/usr/bin/python3\n"))
    assert "its interpreter, /usr/bin/python3, is not in the archive" in cause
    linked = elf(interpreter="/lib64/ld-linux-x86-64.so.2")
    cause = case.cause(REFUSED.format(-2), USUAL, guest(linked))
    assert "the dynamic linker it was linked with, /lib64/ld-linux-x86-64.so.2" in cause
    said = "/init: line 3: /bin/answer: not found\n"
    assert "the dynamic linker" in case.cause(said, USUAL, guest(b"#!/bin/busybox sh\n", bin_answer=linked))
    assert case.cause("/init: line 3: /bin/nothing: not found\n", USUAL, guest(b"#!/bin/busybox sh\n")) == ""
    assert "is not an executable file" in case.cause(REFUSED.format(-13), USUAL, guest(elf(), mode=0o100644))


def test_futex_that_the_kernel_does_not_have(case: Case) -> None:
    said = "The futex facility returned an unexpected error code.\n"
    assert "CONFIG_FUTEX is off" in case.cause(said, without("FUTEX"), guest(elf()))
    assert "CONFIG_FUTEX or, for a 32-bit program, without CONFIG_COMPAT_32BIT_TIME" in case.cause(
        said, None, guest(elf())
    )
    go = "futexwakeup addr=0x815ba50 returned -38\nSIGSEGV: segmentation violation\n"
    cause = case.cause(go, (*USUAL, "IA32_EMULATION"), guest(elf(3, bits=32)))
    assert "CONFIG_COMPAT_32BIT_TIME is off" in cause
    strace = "futex(0x815ba50, FUTEX_WAIT_PRIVATE, 0, NULL) = -1 ENOSYS (Function not implemented)\n"
    assert "CONFIG_COMPAT_32BIT_TIME is off" in case.cause(strace, (*USUAL, "IA32_EMULATION"), guest(elf(3, bits=32)))


def test_other_calls_and_file_systems(case: Case) -> None:
    assert "CONFIG_EPOLL is off" in case.cause("epoll_create1: Function not implemented\n", USUAL, guest(elf()))
    mount = "mount: mounting proc on /proc failed: No such device\n"
    assert "proc cannot be mounted on /proc: CONFIG_PROC_FS is off" in case.cause(mount, USUAL, guest(elf()))
    assert case.cause(mount, (*USUAL, "PROC_FS"), guest(elf())) == ""
