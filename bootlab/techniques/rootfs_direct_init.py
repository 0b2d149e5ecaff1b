"""Run the program itself as init of the root file system, without a shell script or a service manager around it."""

from bootlab.system import System
from bootlab.techniques.cmdline import has_words
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.initramfs_direct_init import DIRECT_INIT
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique

_WORDS = f"init={DIRECT_INIT}"


def _applies(system: System, measured: Measured) -> str | None:
    if system.rootfs is None:
        return "the system has no root file system"
    if has_words(system, _WORDS):
        return f"the command line has {_WORDS} already"
    if system.initramfs is not None:
        return "an initramfs decides which init this root is started with"
    if system.rootfs.file_at(DIRECT_INIT) is None:
        return f"the system file offers no program as {DIRECT_INIT} in rootfs.files"
    return None


TECHNIQUE = Technique(
    name="rootfs_direct_init",
    layer=Layer.ROOTFS,
    summary="runs the system's own program as init of its root file system",
    mechanism=(
        "A service manager reads units, sorts and starts them, and a shell script forks for every line. The program "
        "alone needs only the system calls that it makes itself."
    ),
    knob=f'{_WORDS} on the command line, with "{DIRECT_INIT}" = PROGRAM in rootfs.files',
    cost="nothing is mounted, supervised or reaped but by the program itself",
    risk=Risk.FUNCTION,
    sources=(
        Source(
            "systemd+rootfs >1 s of boot, replaced by the application as PID 1",
            "FCC: firecracker-containerd issue 410; Firecracker's own example: 79 ms kernel + 231 ms userspace",
        ),
    ),
    apply=lambda system, measured: system.with_cmdline(_WORDS),
    prove=line_appears(f"Run {DIRECT_INIT} as init process"),
    applies=_applies,
)
