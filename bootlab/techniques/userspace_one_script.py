"""One script for init instead of an init system with many."""

from bootlab.system import System
from bootlab.techniques.build_options import BOOTLIN_2019
from bootlab.techniques.cmdline import has_words
from bootlab.techniques.evidence import line_appears
from bootlab.techniques.technique import Layer, Measured, Risk, Source, Technique

ONE_INIT = "/sbin/init-one"
"""Where a system file offers its script: `"/sbin/init-one" = "my-script"` in [initramfs.files]."""

_WORDS = f"rdinit={ONE_INIT}"


def _applies(system: System, measured: Measured) -> str | None:
    if any(word.startswith("rdinit=") for word in system.kernel.cmdline.split()) or has_words(system, _WORDS):
        return "the command line has rdinit= already"
    if system.initramfs is None or system.initramfs.file_at(ONE_INIT) is None:
        return f"the system file offers no script as {ONE_INIT} in initramfs.files"
    return None


TECHNIQUE = Technique(
    name="userspace_one_script",
    layer=Layer.USERSPACE,
    summary="starts one short script as init instead of an init system with a script for every service",
    mechanism=(
        "Each script is a shell to start, and each of its lines a program; what the application does not wait for "
        "(loggers, network, names) need not run before it, or at all."
    ),
    knob=f'rdinit={ONE_INIT} on the command line, with "{ONE_INIT}" = SCRIPT in initramfs.files',
    cost="services that the script does not start are gone: system log, network, a shell on the console",
    risk=Risk.FUNCTION,
    sources=(Source("all init scripts replaced by one: hardly noticeable", BOOTLIN_2019),),
    apply=lambda system, measured: system.with_cmdline(_WORDS),
    prove=line_appears(f"Run {ONE_INIT} as init process"),
    applies=_applies,
)
