"""Register no IPv6."""

from bootlab.techniques.cmdline import NONE_PUBLISHED, kernel_words
from bootlab.techniques.evidence import any_of, line_appears, never_runs
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = kernel_words(
    name="cmdline_ipv6_disable",
    words="ipv6.disable=1",
    summary="registers IPv6 without addresses, routes and sockets",
    mechanism=(
        "inet6_init() returns after the module parameter says so: no routing tables, no neighbour discovery, "
        "no per-protocol sockets and sysctls."
    ),
    cost="no IPv6; programs that open an IPv6 socket fail",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, "DV: David Ventura's kernels had IPV6=n; no isolated figure read"),),
    prove=any_of(line_appears("IPv6: Loaded, but administratively disabled"), never_runs("ip6_route_init")),
    watch=("ip6_route_init",),
    removes=Removes("IPv6", functions=("inet6_init",)),
)
