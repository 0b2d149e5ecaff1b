"""`--cluster ADDRESS`: which cluster is meant, and whether it may be used.

    local:4                          four workers on this host, for this command only
    tls://farm.example:8786          a scheduler that is running; so is tcp://127.0.0.1:8786
    scheduler-file:/shared/farm.json the file that `dask scheduler --scheduler-file` writes

A Dask scheduler runs the code of everybody who reaches it. So whatever is not on this host's loopback has to be TLS.
"""

import ipaddress
import json
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.errors import InputError
from bootlab.kept_file import UNREADABLE, read_kept, why_damaged

MOST_LOCAL: Final = 256
OPTION: Final = "--cluster"
FORMS: Final = "local:2, tls://HOST:PORT, tcp://127.0.0.1:PORT or scheduler-file:FILE"
CERTIFICATE_HINT: Final = (
    "openssl req -x509 -newkey rsa:3072 -nodes -days 365 -subj /CN=bootlab -keyout key.pem -out cert.pem "
    "makes one certificate for all; dask scheduler and dask worker take it as --tls-ca-file cert.pem --tls-cert "
    "cert.pem --tls-key key.pem, and then the address is tls://HOST:PORT (docs/cluster.md)"
)
_URL = re.compile(r"(?P<scheme>tcp|tls)://(?P<host>\[[0-9a-fA-F:.]+\]|[^\[\]:/\s]+):(?P<port>[0-9]{1,5})/?")


@dataclass(frozen=True, slots=True)
class LocalWorkers:
    """So many workers on this host, one boot at a time each."""

    number: int


@dataclass(frozen=True, slots=True)
class RunningScheduler:
    """A scheduler that somebody has started."""

    url: str

    @property
    def encrypted(self) -> bool:
        return self.url.startswith("tls://")


def parse_cluster(text: str) -> LocalWorkers | RunningScheduler:
    """Return what `--cluster` names. Raises InputError for what it cannot be, and for what would not be safe."""
    kind, _, rest = text.partition(":")
    if kind == "local":
        if not re.fullmatch("[0-9]{1,4}", rest) or not 1 <= int(rest) <= MOST_LOCAL:
            raise InputError(
                f"{OPTION} {text}: expected a number of workers, 1 to {MOST_LOCAL}", hint=f"{OPTION} local:2"
            )
        return LocalWorkers(int(rest))
    if kind == "scheduler-file":
        return RunningScheduler(_safe(_address_in(Path(rest), text), text))
    return RunningScheduler(_safe(text, text))


def is_loopback(url: str) -> bool:
    """Return whether an address `tcp://HOST:PORT` can be reached from this host only; False where nobody knows it."""
    found = _URL.fullmatch(url)
    return found is not None and all(one.is_loopback for one in _resolved(found["host"]) or [_ANYWHERE])


_ANYWHERE: Final = ipaddress.ip_address("0.0.0.0")


def _safe(url: str, given: str) -> str:
    found = _URL.fullmatch(url)
    if found is None or not 0 < int(found["port"]) < 1 << 16:
        said = "" if url == given else f" says {url!r}, and that"
        raise InputError(f"{OPTION} {given}:{said} is not the address of a cluster", hint=f"{OPTION} {FORMS}")
    if found["scheme"] == "tls":
        return url.rstrip("/")
    if not _resolved(found["host"]):
        raise InputError(f"{OPTION} {given}: there is no host {found['host']}", hint=f"{OPTION} {FORMS}")
    if not is_loopback(url):
        raise InputError(
            f"{OPTION} {given}: a Dask scheduler runs the code of everybody who reaches it, so beyond this host it has "
            "to be TLS",
            hint=CERTIFICATE_HINT,
        )
    return url.rstrip("/")


def _resolved(host: str) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    try:
        found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [ipaddress.ip_address(str(where[0]).partition("%")[0]) for *_, where in found]


def _address_in(path: Path, given: str) -> str:
    hint = "dask scheduler --scheduler-file FILE writes it once it runs"
    try:
        said = json.loads(read_kept(path))
    except UNREADABLE as error:
        raise InputError(f"{OPTION} {given}: {why_damaged(error)}", hint=hint) from error
    address = said.get("address") if isinstance(said, dict) else None
    if not isinstance(address, str):
        raise InputError(f"{OPTION} {given}: has no address of a scheduler", hint=hint)
    return address
