"""Whether the kernel loads modules."""

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import initcalls_gone
from bootlab.techniques.model.published import BOOTLIN_2019, Published
from bootlab.techniques.model.subjects import MODULE_LOADING
from bootlab.techniques.model.technique import Risk, Text

_NOT_ASKED_FOR = {"SCSI_MOD"}
"""Without a prompt, and on wherever SCSI is no module (drivers/scsi/Kconfig)."""


def _no_modules(system: System, measured: Measured) -> str | None:
    for name, part in (("initramfs", system.initramfs), ("rootfs", system.rootfs)):
        if part is not None and part.modules:
            return f"{name}.modules lists modules that the system loads: build them in first"
    return None


def _what_is_modular(system: System, measured: Measured) -> dict[str, str]:
    # With MODULES off, kconfig would build every module in.
    modular = {option for option, value in measured.kernel_config.items() if value == "m"}
    return {option: "n" for option in measured.kernel_config if option in modular - _NOT_ASKED_FOR}


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_modules_off",
        Text(
            summary="builds a kernel that cannot load modules, with everything it needs inside",
            mechanism=(
                "No symbol tables for modules, no loader, no relocation and signature checks; deferred "
                "probes are given up after initcalls instead of ten seconds later, since no module can "
                "bring a driver any more."
            ),
            cost=(
                "what was built as a module is gone, packet filters and disk encryption with it where they were; each "
                "further driver needs a new kernel"
            ),
            risk=Risk.SECURITY,
            published=(Published("-20 ms of total boot time, -82 KB of compressed kernel", BOOTLIN_2019),),
        ),
        WantedOptions(off("MODULES"), applies=_no_modules, more=_what_is_modular),
        shows=initcalls_gone("proc_modules_init"),
        removes=MODULE_LOADING,
    ),
)
