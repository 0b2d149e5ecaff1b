"""Run the program itself as init, without a shell script around it."""

from bootlab.system import System
from bootlab.techniques.cmdline import has_words
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique

DIRECT_INIT = "/sbin/init-direct"
"""Where a system file offers its program: `"/sbin/init-direct" = "my-program"` in [initramfs.files]."""

_WORDS = f"rdinit={DIRECT_INIT}"


def _applies(system: System, measured: Measured) -> str | None:
    if has_words(system, _WORDS):
        return f"the command line has {_WORDS} already"
    if system.initramfs is None or system.initramfs.file_at(DIRECT_INIT) is None:
        return f"the system file offers no program as {DIRECT_INIT} in initramfs.files"
    return None


TECHNIQUE = Technique(
    name="initramfs_direct_init",
    layer=Layer.INITRAMFS,
    summary="runs the system's own static program as init instead of a shell script",
    mechanism=(
        "A shell script forks and executes a program for every line, and each one maps, relocates and tears down an "
        "address space. A static program that makes the same system calls itself does so in microseconds."
    ),
    knob=f'rdinit={DIRECT_INIT} on the command line, with "{DIRECT_INIT}" = PROGRAM in initramfs.files',
    cost="what only the script did is gone: mounts, modules, reaping of orphans, a shell for repairs",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "systemd+rootfs >1 s of boot, replaced by the application as PID 1",
            "FCC: firecracker-containerd issue 410; Firecracker's own example: 79 ms kernel + 231 ms userspace",
        ),
        Source(
            "one startup script with built-ins and no forks: -87 ms (200 MHz ARM9)",
            "BL: Bootlin boot-time training slides",
        ),
    ),
    apply=lambda system, measured: system.with_cmdline(_WORDS),
    prove=line_appears(f"Run {DIRECT_INIT} as init process"),
    applies=_applies,
)
