"""One script as init instead of an init system with many."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import has_words
from bootlab.techniques.changes.init_program import runs_as_init
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.published import BOOTLIN_2019, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

ONE_INIT = "/sbin/init-one"
"""Where a system file offers its script: `"/sbin/init-one" = "my-script"` in [initramfs.files]."""
_WORDS = f"rdinit={ONE_INIT}"


def _offers_a_script(system: System, measured: Measured) -> str | None:
    if any(word.startswith("rdinit=") for word in system.kernel.cmdline.split()) or has_words(system, _WORDS):
        return "the command line has rdinit= already"
    if system.initramfs is None or system.initramfs.file_at(ONE_INIT) is None:
        return f"the system file offers no script as {ONE_INIT} in initramfs.files"
    return None


TECHNIQUES = (
    Technique(
        name="userspace_one_script",
        text=Text(
            summary="starts one short script as init instead of an init system with a script for every service",
            mechanism=(
                "Each script is a shell to start, and each of its lines a program; what the application "
                "does not wait for (loggers, network, names) need not run before it, or at all."
            ),
            cost="services that the script does not start are gone: system log, network, a shell on the console",
            risk=Risk.FUNCTION,
            published=(Published("all init scripts replaced by one: hardly noticeable", BOOTLIN_2019),),
        ),
        change=Change(
            Layer.USERSPACE,
            f'rdinit={ONE_INIT} on the command line, with "{ONE_INIT}" = SCRIPT in initramfs.files',
            lambda system, measured: system.with_cmdline(_WORDS),
            _offers_a_script,
        ),
        proof=runs_as_init(ONE_INIT),
    ),
)
