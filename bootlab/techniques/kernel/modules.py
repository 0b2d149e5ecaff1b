"""Whether the kernel loads modules."""

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.published import BOOTLIN_2019, Published
from bootlab.techniques.model.subjects import MODULE_LOADING
from bootlab.techniques.model.technique import Risk, Text


def _no_modules(system: System, measured: Measured) -> str | None:
    for name, part in (("initramfs", system.initramfs), ("rootfs", system.rootfs)):
        if part is not None and part.modules:
            return f"{name}.modules lists modules that the system loads: build them in first"
    return None


def _what_is_modular(system: System, measured: Measured) -> dict[str, str]:
    # With MODULES off, kconfig would build every module in.
    return {option: "n" for option, value in measured.kernel_config.items() if value == "m"}


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
            cost="what was built as a module is gone; each further driver needs a new kernel",
            risk=Risk.FUNCTION,
            published=(Published("-20 ms of total boot time, -82 KB of compressed kernel", BOOTLIN_2019),),
        ),
        WantedOptions(off("MODULES"), applies=_no_modules, more=_what_is_modular),
        removes=MODULE_LOADING,
    ),
)
