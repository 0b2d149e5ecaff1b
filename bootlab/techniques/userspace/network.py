"""What waits for a network: units that wait until it is up, and addresses that may not be used yet."""

import re
from typing import Final

from bootlab.system import System
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.changes.root_files import root_files_words, writes_files
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import if_shown, never_runs
from bootlab.techniques.model.published import Published, none_published
from bootlab.techniques.model.technique import Risk, Technique, Text

_MANAGERS: Final = {
    "systemd-networkd": "for Network to be Configured",
    "NetworkManager": "Wait Online",
    "ifupdown": "configured by ifupdown",
}
"""Whose unit waits, and how the unit's description ends."""
_WAITERS: Final = tuple(f"{name}-wait-online.service" for name in _MANAGERS)
# systemd shortens what it says to 80 columns, in the middle: of a unit's name "wait-on" may be left or not.
_WAITS: Final = re.compile(
    r"(?:Starting|Finished|Failed to start) (?:\x1b\[[\d;]*m)*"
    + "(?:"
    + "|".join(rf"({name})-(?:wait-on|[^\r\n]*{end})" for name, end in _MANAGERS.items())
    + ")"
)
_ONLINE: Final = re.compile(r"Reached target (?:\x1b\[[\d;]*m)*network-online\.target")
# A link would be a mask, too; systemd takes an empty file as one.
UNAWAITED: Final = {f"/etc/systemd/system/{name}": "" for name in _WAITERS}
NO_DAD: Final = {"/etc/sysctl.d/90-bootlab-ipv6.conf": "net.ipv6.conf.*.accept_dad = 0\n"}
_FREEBSD: Final = "C. Percival, FreeBSD 14, commits 81075203a057 and e29711da2352, by wiki.freebsd.org/BootTime"
_SYSCTL: Final = "systemd-sysctl.service"


def _masks(measured: Measured) -> dict[str, str]:
    found = (name for names in _WAITS.findall(measured.console) for name in names if name)
    waited = {f"/etc/systemd/system/{name}-wait-online.service" for name in found}
    return {path: text for path, text in UNAWAITED.items() if path in waited}


def _is_awaited(system: System, measured: Measured) -> str | None:
    if not _masks(measured):
        return f"the console of the baseline boot tells of none of {', '.join(_WAITERS)}"
    return None


def _waits_no_more(after: Evidence, before: Evidence) -> Effect:
    if _WAITS.search(after.console):
        return Effect.NONE
    # What is ordered behind the network is started all the same.
    return Effect.PROVEN if _WAITS.search(before.console) and _ONLINE.search(after.console) else Effect.NOT_SHOWN


def _has_addresses(system: System, measured: Measured) -> str | None:
    if known(system, measured) and not is_on(system, measured, "IPV6"):
        return "IPV6 is off in this kernel"
    return None if _SYSCTL in measured.console else f"the console of the baseline boot tells of no {_SYSCTL}"


TECHNIQUES = (
    Technique(
        name="userspace_online_unawaited",
        text=Text(
            summary="masks the units that wait until the network is up, so that what is behind them starts at once",
            mechanism=(
                "network-online.target wants one unit whose program waits until a link is configured: DHCP's answers, "
                "IPv6's addresses, a router. Who is ordered behind that target waits as well, also where it only "
                "listens on every address and needs no network to begin."
            ),
            cost=(
                "what is ordered behind network-online.target and connects to somebody when it starts fails or tries "
                "again; mounts over the network (_netdev) are tried before there is one"
            ),
            risk=Risk.FUNCTION,
            published=(none_published("systemd's documentation, NETWORK_ONLINE: what to do about the target"),),
        ),
        change=writes_files(_masks, _is_awaited, knob=f"{root_files_words(UNAWAITED)}, empty: those of them that ran"),
        proof=Proof(_waits_no_more),
    ),
    Technique(
        name="userspace_ipv6_dad_none",
        text=Text(
            summary="lets IPv6's addresses be used at once, without asking whether anybody else has them",
            mechanism=(
                "A new address is tentative: the kernel waits up to a second at random (router_solicitation_delay), "
                "asks whether anybody has it, and waits a second for an answer (dad_transmits times retrans_timer). "
                "Routers are asked for behind that, and who waits for the network waits for both."
            ),
            cost="two machines that have one address by mistake do not notice, and take each other's packets",
            risk=Risk.FUNCTION,
            published=(
                Published("2000 ms in EC2, without duplicate address detection", _FREEBSD),
                Published("500 ms on average, without the random delay before a router solicitation", _FREEBSD),
            ),
        ),
        change=writes_files(NO_DAD, _has_addresses),
        # A neighbour is asked for by the same function, so that its running says nothing.
        proof=if_shown(never_runs("ndisc_send_ns")),
    ),
)
