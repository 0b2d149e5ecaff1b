"""Build without network configuration by the kernel."""

from bootlab.system import System
from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import option
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Measured, Removes, Risk, Source


def _configured_elsewhere(system: System, measured: Measured) -> str | None:
    if option(system, "ip") is not None:
        return "the command line configures the network (ip=), and nothing else would"
    return None


TECHNIQUE = option_technique(
    name="kernel_ip_pnp_off",
    options=off("IP_PNP"),
    gates=off("ROOT_NFS"),
    needs=("INET",),
    summary="builds without the kernel's own configuration of network addresses",
    mechanism=(
        "ip_auto_config() opens all cards, waits for a carrier and then sleeps for at least 10 ms; it "
        "runs before init. Init can set an address by netlink in microseconds, when it has time for it."
    ),
    cost="ip= and a root file system on NFS do nothing; init must configure the network",
    risk=Risk.FUNCTION,
    sources=(Source("ip= costs 20 ms: 35.2 -> 55.6 ms (6.7.3)", VENTURA_2024),),
    applies=_configured_elsewhere,
    shows=initcalls_gone("ip_auto_config"),
    removes=Removes("network configuration by the kernel", functions=("ip_auto_config",)),
)
