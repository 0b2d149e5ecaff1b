"""Build with a periodic tick."""

from bootlab.techniques.build_options import VENTURA_2024, choice, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Risk, Source

TECHNIQUE = option_technique(
    name="kernel_hz_periodic",
    options=choice("HZ_PERIODIC", ("HZ_PERIODIC", "NO_HZ_IDLE", "NO_HZ_FULL")),
    gates=off("NO_HZ"),
    summary="builds with a tick that never stops",
    mechanism=(
        "Going idle and waking up need not stop and restart the tick, which is done at every short wait of a boot."
    ),
    cost="an idle guest wakes up HZ times a second, which costs host CPU and power",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernel with HZ_PERIODIC; no isolated figure"),),
)
