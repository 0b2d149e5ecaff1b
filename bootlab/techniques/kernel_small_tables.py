"""Build with small tables."""

from bootlab.techniques.build_options import LINUX_612, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_small_tables",
    options={"BASE_SMALL": "y"},
    gates={"EXPERT": "y"},
    summary="builds the core with smaller tables for processes, wait queues and users",
    mechanism=(
        "Hash tables of fixed size and other structures of the core are made for few processes; there is "
        "less to clear at boot."
    ),
    cost="slower with many processes; the limit of process ids is 4096",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, init/Kconfig"),),
)
