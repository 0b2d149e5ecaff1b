"""Build with a small log buffer."""

from bootlab.system import System
from bootlab.techniques.build_options import LINUX_612, option_technique, option_value
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.technique import Measured, Risk, Source

_SHIFT = 15


def _larger(system: System, measured: Measured) -> str | None:
    built = option_value(system, measured, "LOG_BUF_SHIFT")
    smaller = built is not None and built.isdigit() and int(built) <= _SHIFT
    return f"LOG_BUF_SHIFT is {built} already" if smaller else None


TECHNIQUE = option_technique(
    name="kernel_log_buffer_small",
    options={"LOG_BUF_SHIFT": "15"},
    needs=("PRINTK",),
    summary="builds with a log buffer of 32 KiB",
    mechanism=(
        "The buffer and the records that describe it lie in memory that is cleared before the kernel "
        "starts; distributions take 128 KiB to 2 MiB."
    ),
    cost="older messages are overwritten sooner",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, init/Kconfig"),),
    applies=_larger,
)
