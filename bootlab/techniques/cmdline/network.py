"""Network protocols that the kernel need not register."""

from bootlab.system import System
from bootlab.techniques.changes.command_line import kernel_words
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import any_of, line_appears, never_runs
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.subjects import IPV6
from bootlab.techniques.model.technique import Risk, Technique, Text


def _has_ipv6(system: System, measured: Measured) -> str | None:
    if known(system, measured) and not is_on(system, measured, "IPV6"):
        return "IPV6 is off in this kernel"
    return None


TECHNIQUES = (
    Technique(
        name="cmdline_ipv6_disable",
        text=Text(
            summary="registers IPv6 without addresses, routes and sockets",
            mechanism=(
                "inet6_init() returns after the module parameter says so: no routing tables, no neighbour "
                "discovery, no per-protocol sockets and sysctls."
            ),
            cost="no IPv6; programs that open an IPv6 socket fail",
            risk=Risk.FUNCTION,
            published=(none_published("DV: David Ventura's kernels had IPV6=n; no isolated figure read"),),
        ),
        change=kernel_words("ipv6.disable=1", _has_ipv6),
        proof=any_of(line_appears("IPv6: Loaded, but administratively disabled"), never_runs("ip6_route_init")),
        removes=IPV6,
    ),
)
