"""Another program as init: where a system file offers it, how it is started, and the kernel's line that proves it."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import word_value
from bootlab.techniques.model.evidence import Measured, Proof
from bootlab.techniques.model.proofs import line_appears
from bootlab.techniques.model.technique import Change, Layer

DIRECT_INIT = "/sbin/init-direct"
"""Where a system file offers its program: `"/sbin/init-direct" = "my-program"` in [initramfs.files]."""


def starts_offered(layer: Layer, program: str, what: str) -> Change:
    """Start what the system file offers as `program` in the initramfs as init, where nothing else is asked for as init.

    `what`: what is offered, a word for messages ("script").
    """

    def offers(system: System, measured: Measured) -> str | None:
        if word_value(system, "rdinit") is not None:
            return "the command line has rdinit= already"
        if system.initramfs is None or system.initramfs.file_at(program) is None:
            return f"the system file offers no {what} as {program} in initramfs.files"
        return None

    return Change(
        layer,
        f'rdinit={program} on the command line, with "{program}" = {what.upper()} in initramfs.files',
        lambda system, measured: system.with_cmdline(f"rdinit={program}"),
        offers,
    )


def runs_as_init(program: str) -> Proof:
    """The kernel says that it starts `program` as init."""
    return line_appears(f"Run {program} as init process")
