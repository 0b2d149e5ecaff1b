"""What the firmware tells of the machine: ACPI, DMI, EFI, the MP table, the memory map."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import has_words
from bootlab.techniques.changes.kernel_options import WantedOptions, off, rebuilt_kernel
from bootlab.techniques.changes.machine import has_mmio_devices
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, fact_is, initcalls_gone, line_vanishes, never_runs
from bootlab.techniques.model.published import LINUX_612, VENTURA_2024, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import ACPI
from bootlab.techniques.model.technique import Risk, Text


def _needs_no_acpi(system: System, measured: Measured) -> str | None:
    if system.machine.options.get("acpi") == "off" or has_words(system, "acpi=off"):
        return None
    if system.machine.arch != "x86_64":
        return "the firmware of this machine is asked for devices through a device tree or ACPI alike"
    if has_mmio_devices(system):
        return 'the disks and network of microvm are found through ACPI: machine.options acpi = "off" comes first'
    return None


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_acpi_off",
        Text(
            summary="builds without ACPI: no tables, no interpreter, no devices through AML",
            mechanism=(
                "The interpreter loads the DSDT, walks its name space and evaluates methods of every "
                "device. Without it x86 falls back to the MP table: where a board has one and an I/O APIC, "
                "the kernel tests that timer by waiting for ticks."
            ),
            cost=(
                "no soft power-off and hotplug; devices are found through the MP table, the command line "
                "and old ports only; EFI, IOMMUs and encrypted memory (AMD) go with it"
            ),
            risk=Risk.SECURITY,
            published=(none_published(f"{VENTURA_2024}, a part of 35.5 -> 9.1 ms"),),
        ),
        WantedOptions(off("ACPI"), gates={"X86_MPPARSE": "y"}, arch=("x86_64",), applies=_needs_no_acpi),
        shows=any_of(initcalls_gone("acpi_init"), fact_is("acpi", "^no")),
        removes=ACPI.also("acpi_event_init", "acpi_pci_init", "acpi_bus_register_driver"),
    ),
    rebuilt_kernel(
        "kernel_dmi_off",
        Text(
            summary="builds without the firmware's table of the machine's maker and model",
            mechanism=(
                "64 KiB of firmware memory are mapped and searched, the table is walked several times, "
                "hashed into the random pool, and matched against every driver's list of quirks."
            ),
            cost="quirks for known boards are not applied",
            risk=Risk.FUNCTION,
            published=(none_published(f"{VENTURA_2024}, kernel without it; no isolated figure"),),
        ),
        WantedOptions(off("DMI"), gates={"EXPERT": "y"}, arch=("x86_64",)),
        shows=any_of(initcalls_gone("dmi_init"), line_vanishes("^DMI: ")),
        removes=Removes("DMI table", functions=("dmi_setup", "dmi_init", "dmi_id_init", "dmi_sysfs_init")),
    ),
    rebuilt_kernel(
        "kernel_efi_off",
        Text(
            summary="builds without EFI: no stub, no runtime services",
            mechanism=(
                "The stub makes the image larger, and initcalls look for tables and services that a kernel "
                "started without EFI does not have."
            ),
            cost=(
                "does not boot from EFI firmware by itself; lockdown by secure boot, clearing of memory after a reset "
                "and encrypted memory (AMD) go with it"
            ),
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, arch/x86/Kconfig"),),
        ),
        # A riscv64 kernel has it on unless it is for one machine only (NONPORTABLE).
        WantedOptions(off("EFI"), arch=("x86_64", "aarch64", "armv7")),
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
    ),
    rebuilt_kernel(
        "kernel_firmware_tables_off",
        Text(
            summary="builds without what the firmware says of memory and disks, as files for user space",
            mechanism=(
                "Each entry of the memory map becomes a directory with three files; asking the BIOS for "
                "its disks takes real-mode calls before the kernel starts."
            ),
            cost="kexec of another kernel may lack the original memory map",
            risk=Risk.FUNCTION,
            published=(none_published(f"{VENTURA_2024}, kernel without it; no isolated figure"),),
        ),
        WantedOptions(
            off("FIRMWARE_MEMMAP", "EDD", "ISCSI_IBFT_FIND", "ISCSI_IBFT", "DMI_SYSFS"),
            gates={"EXPERT": "y"},
            arch=("x86_64",),
        ),
        shows=initcalls_gone("firmware_memmap_init"),
        removes=Removes(
            "memory map in sysfs", functions=("firmware_memmap_init", "firmware_map_add_early", "edd_init")
        ),
    ),
    rebuilt_kernel(
        "kernel_mpparse_off",
        Text(
            summary="builds without the search for the table by which old PCs describe their CPUs",
            mechanism=(
                "The first KiB, the last one of the base memory and 64 KiB of the BIOS are searched for a "
                "signature in steps of 16 bytes; with ACPI nothing in the table is wanted."
            ),
            cost="the kernel does not boot with several CPUs or an I/O APIC where there is no ACPI",
            risk=Risk.FUNCTION,
            published=(none_published(f"{LINUX_612}, arch/x86/Kconfig"),),
        ),
        WantedOptions(off("X86_MPPARSE"), needs=("ACPI",), arch=("x86_64",)),
        # The second name is that of kernels before 6.9.
        shows=never_runs("mpparse_find_mptable", "default_find_smp_config"),
        removes=Removes(
            "search for the MP table",
            functions=(
                "mpparse_find_mptable",
                "default_find_smp_config",
                "smp_scan_config",
                "mpparse_get_smp_config",
                "mpparse_parse_smp_config",
                "mpparse_parse_early_smp_config",
            ),
        ),
    ),
)
