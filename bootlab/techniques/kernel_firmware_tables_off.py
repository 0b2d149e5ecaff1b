"""Build without the firmware's memory map and disks in sysfs."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_firmware_tables_off",
    options=off("FIRMWARE_MEMMAP", "EDD", "ISCSI_IBFT_FIND", "ISCSI_IBFT", "DMI_SYSFS"),
    gates={"EXPERT": "y"},
    arch=("x86_64",),
    summary="builds without what the firmware says of memory and disks, as files for user space",
    mechanism=(
        "Each entry of the memory map becomes a directory with three files; asking the BIOS for its "
        "disks takes real-mode calls before the kernel starts."
    ),
    cost="kexec of another kernel may lack the original memory map",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel without it; no isolated figure"),),
    shows=initcalls_gone("firmware_memmap_init"),
    removes=Removes("memory map in sysfs", functions=("firmware_memmap_init", "firmware_map_add_early", "edd_init")),
)
