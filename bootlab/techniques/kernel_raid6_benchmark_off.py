"""Build without the RAID 6 benchmark."""

from bootlab.techniques.build_options import off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import line_vanishes
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_raid6_benchmark_off",
    options=off("RAID6_PQ_BENCHMARK"),
    needs=("RAID6_PQ",),
    summary="takes the first RAID 6 function that works instead of timing all of them",
    mechanism="Each candidate for generating and recovering parity is run for sixteen ticks and counted.",
    cost="RAID 6 may use a function that is not the fastest",
    risk=Risk.NONE,
    sources=(
        Source(
            NONE_PUBLISHED,
            ("RAID: lists.ubuntu.com kernel-team 2019-January/098018 made it a boot fix; no figure in the excerpt"),
        ),
    ),
    shows=line_vanishes(r"raid6: .* gen\\(\\) .* MB/s"),
    removes=Removes("timing of RAID 6 functions", functions=("raid6_select_algo",)),
)
