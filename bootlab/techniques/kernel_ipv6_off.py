"""Build without IPv6."""

from bootlab.techniques.build_options import VENTURA_2024, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_ipv6_off",
    options=off("IPV6"),
    summary="builds a kernel without IPv6",
    mechanism=(
        "inet6_init() registers protocols, sockets, sysctls and routing tables for each network "
        "namespace; all that looks at IPv6 headers elsewhere goes with it."
    ),
    cost="no IPv6; programs that open an IPv6 socket fail, and many listen on one",
    risk=Risk.FUNCTION,
    sources=(Source(NONE_PUBLISHED, f"{VENTURA_2024}, kernels had it off; no isolated figure"),),
    shows=initcalls_gone("inet6_init"),
    removes=Removes("IPv6", functions=("inet6_init", "addrconf_init")),
)
