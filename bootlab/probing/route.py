"""How this host reaches an address: by which network card, from which address, and whether a router lies between."""

import json
import socket
from dataclasses import dataclass
from pathlib import Path

from bootlab.errors import BootlabError
from bootlab.probing.questions import NetworkPlace
from bootlab.process import run


@dataclass(frozen=True, slots=True)
class Route:
    """`on_link`: no router lies between, so that the link's own protocol finds the machine. `card`: None: unknown."""

    card: str | None = None
    source: str = ""
    on_link: bool = False
    is_here: bool = False
    """It is an address of this very host."""


def find_route(place: NetworkPlace) -> Route:
    """Return the way to an address, as `ip route get` says it; of an unknown one nothing is known."""
    of = ["dev", socket.if_indextoname(place.scope)] if place.scope else []
    try:
        told = json.loads(run(["ip", "-json", "route", "get", place.address, *of], deadline_s=10).text or "[]")
    except (BootlabError, ValueError):
        return Route()
    if not told or not isinstance(told[0], dict):
        return Route()
    one = told[0]
    card = one.get("dev")
    here = one.get("type") == "local" or card == "lo"
    return Route(card, str(one.get("prefsrc", "")), "gateway" not in one and "via" not in one and not here, here)


def has_link_addresses(card: str) -> bool:
    """Return whether a network card finds its neighbours by Ethernet's addresses; a tunnel has none."""
    try:
        return Path(f"/sys/class/net/{card}/type").read_text().strip() == "1"
    except OSError:
        return False
