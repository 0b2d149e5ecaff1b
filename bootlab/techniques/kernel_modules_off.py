"""Build without loadable modules."""

from bootlab.system import System
from bootlab.techniques.build_options import BOOTLIN_2019, off, option_technique
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _no_modules(system: System, measured: Measured) -> str | None:
    for name, part in (("initramfs", system.initramfs), ("rootfs", system.rootfs)):
        if part is not None and part.modules:
            return f"{name}.modules lists modules that the system loads: build them in first"
    return None


def _modules(system: System, measured: Measured) -> dict[str, str]:
    # With MODULES off, kconfig would build every module in.
    return {option: "n" for option, value in measured.kernel_config.items() if value == "m"}


TECHNIQUE = option_technique(
    name="kernel_modules_off",
    options=off("MODULES"),
    summary="builds a kernel that cannot load modules, with everything it needs inside",
    mechanism=(
        "No symbol tables for modules, no loader, no relocation and signature checks; deferred probes "
        "are given up after initcalls instead of ten seconds later, since no module can bring a driver "
        "any more."
    ),
    cost="what was built as a module is gone; each further driver needs a new kernel",
    risk=Risk.FUNCTION,
    sources=(Source("-20 ms of total boot time, -82 KB of compressed kernel", BOOTLIN_2019),),
    applies=_no_modules,
    more=_modules,
    removes=Removes("loading of modules", functions=("load_module",), keeps=("do_init_module",)),
)
