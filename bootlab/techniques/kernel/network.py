"""Network protocols, packet filters, and the addresses that the kernel gives its cards."""

from dataclasses import replace

from bootlab.sources import PATCHES
from bootlab.system import System
from bootlab.techniques.changes.command_line import word_value
from bootlab.techniques.changes.kernel_options import (
    WantedOptions,
    if_above,
    kernel_change,
    kernel_proof,
    off,
    rebuilt_kernel,
)
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import initcalls_gone, line_changes, never_runs
from bootlab.techniques.model.published import LINUX_612, VENTURA_2024, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.subjects import IPV6
from bootlab.techniques.model.technique import Risk, Technique, Text

PATCH = PATCHES / "linux" / "ipconfig-no-wait.patch"

_PERTURB_ORDER = 8


def _configured_elsewhere(system: System, measured: Measured) -> str | None:
    if word_value(system, "ip") is not None:
        return "the command line configures the network (ip=), and nothing else would"
    return None


def _kernel_configures(system: System, measured: Measured) -> str | None:
    if word_value(system, "ip") in (None, "off", "none"):
        return "the command line does not configure the network (ip=), so the kernel does not wait for it"
    return None


_NO_SETTLING = WantedOptions({"IP_PNP_SETTLE_MS": "0"}, needs=("IP_PNP",), applies=_kernel_configures)
_UNPATCHED = kernel_change(_NO_SETTLING)


def _patched(system: System, measured: Measured) -> System:
    changed = _UNPATCHED.apply(system, measured)
    build = changed.kernel.build
    assert build is not None
    patches = build.patches if PATCH in build.patches else (*build.patches, PATCH)
    return changed.with_part("kernel", build={**dict(build), "patches": patches})


TECHNIQUES = (
    rebuilt_kernel(
        "kernel_ip_pnp_off",
        Text(
            summary="builds without the kernel's own configuration of network addresses",
            mechanism=(
                "ip_auto_config() opens all cards, waits for a carrier and then sleeps for at least 10 ms; "
                "it runs before init. Init can set an address by netlink in microseconds, when it has time "
                "for it."
            ),
            cost="ip= and a root file system on NFS do nothing; init must configure the network",
            risk=Risk.FUNCTION,
            published=(Published("ip= costs 20 ms: 35.2 -> 55.6 ms (6.7.3)", VENTURA_2024),),
        ),
        WantedOptions(off("IP_PNP"), gates=off("ROOT_NFS"), needs=("INET",), applies=_configured_elsewhere),
        shows=initcalls_gone("ip_auto_config"),
        removes=Removes("network configuration by the kernel", functions=("ip_auto_config",)),
    ),
    Technique(
        name="kernel_ipconfig_no_wait",
        text=Text(
            summary="patches the kernel not to sleep between opening its network cards and configuring them",
            mechanism=(
                "ip_auto_config() opens the cards, waits until one has a carrier, and then sleeps for 10 ms, "
                "rounded up to ticks, for old hardware to settle. A virtual card is ready with its carrier."
            ),
            cost="a card that needs the time may lose its first packets; a patched kernel to maintain",
            risk=Risk.FUNCTION,
            published=(
                Published("-20 ms: 55.6 -> 35.3 ms with ip= (6.7.3), by a patch of the same purpose", VENTURA_2024),
            ),
        ),
        change=replace(
            _UNPATCHED, knob=f"kernel.build.patches: patches/linux/{PATCH.name}; {_UNPATCHED.knob}", apply=_patched
        ),
        proof=kernel_proof(_NO_SETTLING),
    ),
    rebuilt_kernel(
        "kernel_ipv6_off",
        Text(
            summary="builds a kernel without IPv6",
            mechanism=(
                "inet6_init() registers protocols, sockets, sysctls and routing tables for each network "
                "namespace; all that looks at IPv6 headers elsewhere goes with it."
            ),
            cost=(
                "no IPv6; programs that open an IPv6 socket fail, and many listen on one; nftables refuses a rule set "
                "of the family inet, and with it the firewall for IPv4"
            ),
            risk=Risk.SECURITY,
            published=(none_published(f"{VENTURA_2024}, kernels had it off; no isolated figure"),),
        ),
        WantedOptions(off("IPV6")),
        shows=initcalls_gone("inet6_init"),
        removes=IPV6.also("addrconf_init"),
    ),
    rebuilt_kernel(
        "kernel_source_ports_small",
        Text(
            summary="builds with 1 KiB in the place of 256 for the source ports of TCP connections",
            mechanism=(
                "inet_hashinfo2_init() clears a table of 2^16 numbers, whatever the memory, and the first connection "
                "that the system opens fills it with random ones (RFC 6056, algorithm 4)."
            ),
            cost="who watches the ports of some connections can more easily tell the next ones of the others",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, net/ipv4/Kconfig"),),
        ),
        WantedOptions(
            {"INET_TABLE_PERTURB_ORDER": str(_PERTURB_ORDER)},
            gates={"EXPERT": "y"},
            needs=("INET",),
            applies=if_above("INET_TABLE_PERTURB_ORDER", _PERTURB_ORDER),
        ),
        shows=line_changes(r"Table-perturb hash table entries: (\d+)"),
    ),
    rebuilt_kernel(
        "kernel_netfilter_off",
        Text(
            summary="builds without netfilter: no firewall, no address translation",
            mechanism=(
                "Connection tracking sizes and clears its hash table by the amount of memory, and dozens "
                "of matches and targets register."
            ),
            cost="no firewall in the guest",
            risk=Risk.SECURITY,
            published=(none_published(f"{LINUX_612}, net/Kconfig"),),
        ),
        WantedOptions(off("NETFILTER")),
        shows=never_runs("netfilter_init"),
        removes=Removes(
            "packet filters",
            functions=(
                "netfilter_init",
                "netfilter_log_init",
                "nf_conntrack_standalone_init",
                "nfnetlink_init",
                "xt_init",
                "nf_nat_init",
            ),
        ),
    ),
)
