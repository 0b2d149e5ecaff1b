"""Build without EFI."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_efi_off",
    options=off("EFI"),
    summary="builds without EFI: no stub, no runtime services",
    mechanism=(
        "The stub makes the image larger, and initcalls look for tables and services that a kernel "
        "started without EFI does not have."
    ),
    cost="does not boot from EFI firmware by itself",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, arch/x86/Kconfig"),),
    shows=initcalls_gone("efisubsys_init"),
    removes=Removes(
        "EFI",
        functions=(
            "efi_init",
            "efisubsys_init",
            "efi_enter_virtual_mode",
            "efi_shutdown_init",
            "register_update_efi_random_seed",
        ),
    ),
)
