"""Build without suspend and hibernation."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_sleep_off",
    options=off("SUSPEND", "HIBERNATION"),
    gates=off("XEN_DOM0"),
    summary="builds without sleeping states of the whole machine",
    mechanism=(
        "Devices register what they do on the way to sleep, and late in boot a disk is searched for a saved image."
    ),
    cost="no suspend, no hibernation",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, kernel/power/Kconfig"),),
    shows=initcalls_gone("software_resume_initcall"),
    removes=Removes(
        "sleeping states",
        functions=("software_resume_initcall", "pm_disk_init", "acpi_sleep_init", "snapshot_device_init"),
    ),
)
