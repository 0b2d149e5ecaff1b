"""Do not sleep before the kernel configures its network."""

from dataclasses import replace
from pathlib import Path

from bootlab.system import System
from bootlab.techniques.build_options import VENTURA_2024, option_technique
from bootlab.techniques.cmdline import option
from bootlab.techniques.technique import Measured, Risk, Source

PATCH = Path(__file__).resolve().parents[2] / "patches" / "linux" / "ipconfig-no-wait.patch"


def _configures(system: System, measured: Measured) -> str | None:
    if option(system, "ip") in (None, "off", "none"):
        return "the command line does not configure the network (ip=), so the kernel does not wait for it"
    return None


_OPTION = option_technique(
    name="kernel_ipconfig_no_wait",
    options={"IP_PNP_SETTLE_MS": "0"},
    summary="patches the kernel not to sleep between opening its network cards and configuring them",
    mechanism=(
        "ip_auto_config() opens the cards, waits until one has a carrier, and then sleeps for 10 ms, rounded up to "
        "ticks, for old hardware to settle. A virtual card is ready with its carrier."
    ),
    cost="a card that needs the time may lose its first packets; a patched kernel to maintain",
    risk=Risk.FUNCTION,
    sources=(Source("-20 ms: 55.6 -> 35.3 ms with ip= (6.7.3), by a patch of the same purpose", VENTURA_2024),),
    needs=("IP_PNP",),
    applies=_configures,
)


def _patched(system: System, measured: Measured) -> System:
    changed = _OPTION.apply(system, measured)
    build = changed.kernel.build
    assert build is not None
    patches = build.patches if PATCH in build.patches else (*build.patches, PATCH)
    return changed.with_part("kernel", build={**dict(build), "patches": patches})


TECHNIQUE = replace(_OPTION, apply=_patched, knob=f"kernel.build.patches: patches/linux/{PATCH.name}; {_OPTION.knob}")
