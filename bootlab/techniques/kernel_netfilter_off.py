"""Build without packet filters."""

from bootlab.techniques.build_options import LINUX_612, off, option_technique
from bootlab.techniques.cmdline import NONE_PUBLISHED
from bootlab.techniques.evidence import initcalls_gone
from bootlab.techniques.technique import Removes, Risk, Source

TECHNIQUE = option_technique(
    name="kernel_netfilter_off",
    options=off("NETFILTER"),
    summary="builds without netfilter: no firewall, no address translation",
    mechanism=(
        "Connection tracking sizes and clears its hash table by the amount of memory, and dozens of "
        "matches and targets register."
    ),
    cost="no firewall in the guest",
    risk=Risk.SECURITY,
    sources=(Source(NONE_PUBLISHED, f"{LINUX_612}, net/Kconfig"),),
    shows=initcalls_gone("netfilter_log_init", "nf_conntrack_standalone_init"),
    removes=Removes(
        "packet filters",
        functions=("netfilter_log_init", "nf_conntrack_standalone_init", "nfnetlink_init", "xt_init", "nf_nat_init"),
    ),
)
