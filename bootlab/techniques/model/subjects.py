"""What techniques of different layers take away or say alike: one value a subject, to which one may add its own.

A subject that only one technique removes, or that two remove with nothing in common, stands with the technique.
"""

from bootlab.techniques.model.published import CROZAT_2008, Published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Text

ONE_STREAM_IN_BRIEF = "on the virtual clock all vCPUs are one stream, which adds up what they do at the same time"
ONE_STREAM = (
    "On the virtual clock all CPUs are one stream of instructions: what the others do at the same time, waiting "
    "included, is added up, so that each costs far more there than on real ones."
)
"""What a reader must know who sets our figures about CPUs beside published ones."""

ACPI = Removes(
    "ACPI: tables, interpreter, devices found through it",
    functions=(
        "acpi_boot_table_init",
        "acpi_reserve_initial_tables",
        "early_acpi_boot_init",
        "acpi_boot_init",
        "acpi_early_init",
        "acpi_subsystem_init",
        "acpi_init",
        "acpi_processor_driver_init",
        "init_acpi_pm_clocksource",
        "pnpacpi_init",
    ),
)
APIC_TIMER = Removes("calibration of the local APIC's timer", functions=("setup_boot_APIC_clock", "setup_APIC_timer"))
APPARMOR = Removes("AppArmor", functions=("apparmor_init", "aa_create_aafs", "apparmor_nf_ip_init"))
CRYPTO_TESTS = Removes("self-tests of the crypto API", functions=("alg_test",))
FURTHER_CPUS = Removes("bringing up of further CPUs", functions=("bringup_nonboot_cpus", "cpuhp_bringup_mask"))
IPV6 = Removes("IPv6", functions=("inet6_init",))
LOCKUP_DETECTORS = Removes("lockup detectors", functions=("lockup_detector_init", "lockup_detector_setup"))
MODULE_LOADING = Removes("loading of modules", functions=("load_module",), keeps=("do_init_module",))
PCI_SEARCH = Removes(
    "the search for PCI buses and devices",
    functions=(
        "pci_arch_init",
        "pci_subsys_init",
        "pcibios_assign_resources",
        "pci_apply_final_quirks",
        "acpi_pci_root_add",
    ),
)
NO_USB_DELAY = Text(
    summary="lets the driver of disks on USB look at a new disk at once",
    mechanism=(
        "usb-storage waits delay_use seconds, one by default, between the moment a disk is enumerated and the first "
        "command to it (drivers/usb/storage/usb.c), so that its firmware has time to start. A root on USB, or whoever "
        "waits for the disk, waits with it."
    ),
    cost=(
        "a disk whose firmware is not ready then is reset, which takes longer, or is not found: try each model that is "
        "used, after power-on and after a reboot"
    ),
    risk=Risk.FUNCTION,
    published=(
        Published('5 s settle delay; "my USB stick needs a settle delay of 15s"', f"{CROZAT_2008}, with a comment"),
    ),
)
