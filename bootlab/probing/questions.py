"""What a machine is asked from outside and what it answers, as values; and how HOST[:PORT...] is read.

192.0.2.7:22:80    [2001:db8::7]:22    board.example
"""

import ipaddress
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bootlab.errors import BootFailed, InputError
from bootlab.timeline.marks import ADDRESS_UP, LINK_UP, PING

MOST_PORTS: Final = 16
MOST_A_SECOND: Final = 4000
"""No more packets a second are sent, whatever is asked: a probe is no flood."""
LINK: Final = LINK_UP
"""Its network card answers to its address: ARP, or IPv6's neighbour discovery."""
ADDRESS: Final = ADDRESS_UP
"""The first answer of any TCP port: a closed one refuses, so the address is there."""
ANSWERED: Final = "answered"
"""All that was asked for has its answer."""
_EXAMPLE = "for example 192.0.2.7:22:80, or [2001:db8::7]:22"


@dataclass(frozen=True, slots=True)
class NetworkPlace:
    """An address that is asked. `scope`: the network card of a link-local IPv6 address, 0 for others."""

    address: str
    family: socket.AddressFamily
    scope: int = 0

    @property
    def is_ipv6(self) -> bool:
        return self.family == socket.AF_INET6

    def to(self, port: int) -> tuple[str, int] | tuple[str, int, int, int]:
        """Return the address of a port, as sockets take it."""
        return (self.address, port, 0, self.scope) if self.is_ipv6 else (self.address, port)


@dataclass(frozen=True, slots=True)
class Questions:
    """All that one machine is asked, again and again, each question until it has its answer."""

    place: NetworkPlace
    ports: tuple[int, ...] = ()
    """Each is asked until it is open; on the way a mark says when it first refused."""
    banners: tuple[int, ...] = ()
    """Those of them that say something by themselves, as SSH does."""
    pages: Mapping[int, str] = field(default_factory=dict)
    """Those that are asked for a page over HTTP: port -> path."""
    name: str = ""
    """The host as HTTP is to hear it; the address where there is none."""
    ping: bool = True
    every_ns: int = 10_000_000

    @property
    def wanted(self) -> tuple[str, ...]:
        """Return the marks that all must have come for `ANSWERED`; a ping counts where no port is asked."""
        named = [opened(port) for port in self.ports]
        named += [banner(port) for port in self.banners] + [page(port) for port in self.pages]
        return tuple(named) or (PING,)


@dataclass(frozen=True, slots=True)
class OutsideAnswer:
    """A mark: `t_ns` is when the answer came (CLOCK_MONOTONIC), `since_ns` when the question before it was asked.

    What is asked for began to be between the two, where no packet was lost; `since_ns` is None where the very first
    question was answered, so that it may have been there before.
    """

    name: str
    t_ns: int
    since_ns: int | None
    words: str


def closed(port: int) -> str:
    """Return the mark of a port that refuses."""
    return f"port_{port}_closed"


def opened(port: int) -> str:
    """Return the mark of a port that takes a connection."""
    return f"port_{port}_open"


def banner(port: int) -> str:
    """Return the mark of a port that has said something."""
    return f"port_{port}_banner"


def page(port: int) -> str:
    """Return the mark of a port that has answered over HTTP as it should."""
    return f"port_{port}_http"


def split_host(text: str) -> tuple[str, tuple[int, ...]]:
    """Return host and ports of HOST[:PORT...]. Raises InputError."""
    found = re.fullmatch(r"\[(?P<six>[^\]]+)\](?P<behind>(:[^:]*)*)|(?P<host>[^:\[\]]+)(?P<ports>(:[^:]*)*)", text)
    if ":" in text and is_address(text):
        # Without brackets: what is a port of it nobody can tell.
        raise InputError(f"{text}: an IPv6 address is put in brackets", hint=f"[{text}]:22")
    if found is None or any(ord(character) < 33 for character in text):
        raise InputError(f"{text!r}: is no host with ports", hint=_EXAMPLE)
    ports = []
    for word in (found["behind"] or found["ports"] or "").split(":")[1:]:
        if not re.fullmatch(r"[0-9]{1,5}", word) or not 1 <= int(word) <= 65535:
            raise InputError(f"{text}: {word!r} is no port, 1 to 65535", hint=_EXAMPLE)
        if int(word) not in ports:
            ports.append(int(word))
    if len(ports) > MOST_PORTS:
        raise InputError(
            f"{text}: {len(ports)} ports, and {MOST_PORTS} are asked at most", hint="name those that matter"
        )
    return found["six"] or found["host"], tuple(ports)


def is_address(text: str) -> bool:
    """Return whether this is an address in figures, as against a name."""
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def find_place(host: str, family: str = "any") -> NetworkPlace:
    """Return the first address that a host has, of `ipv4`, `ipv6` or `any`. Raises BootFailed for one without."""
    families = {"any": socket.AF_UNSPEC, "ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}
    try:
        found = socket.getaddrinfo(host, None, families[family], socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        which = "" if family == "any" else f" of {family}"
        why = getattr(error, "strerror", None) or error
        raise BootFailed(
            f"{host}: no address{which}: {why}", hint="give an address in figures, or another family"
        ) from error
    kind, _, _, _, address = found[0]
    scope = int(address[3]) if kind == socket.AF_INET6 and len(address) > 3 else 0
    return NetworkPlace(str(address[0]).partition("%")[0], socket.AddressFamily(kind), scope)


def pace_ns(questions: Questions) -> int:
    """Return the shortest time between two rounds of all questions that keeps to MOST_A_SECOND."""
    packets = len(questions.ports) + len(questions.banners) + len(questions.pages) + 2
    return packets * 1_000_000_000 // MOST_A_SECOND
