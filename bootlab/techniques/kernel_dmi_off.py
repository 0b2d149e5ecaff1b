"""Build without DMI."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import any_of, initcalls_gone, line_vanishes
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_dmi_off",
    options=off("DMI"),
    gates={"EXPERT": "y"},
    arch=("x86_64",),
    summary="builds without the firmware's table of the machine's maker and model",
    mechanism=(
        "64 KiB of firmware memory are mapped and searched, the table is walked several times, hashed "
        "into the random pool, and matched against every driver's list of quirks."
    ),
    cost="quirks for known boards are not applied",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel without it; no isolated figure"),),
    shows=any_of(initcalls_gone("dmi_init"), line_vanishes("^DMI: ")),
    removes=Removes("DMI table", functions=("dmi_setup", "dmi_init", "dmi_id_init", "dmi_sysfs_init")),
)
