"""The guest's network: who answers on it, and what it is asked from there."""

from enum import StrEnum
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from bootlab.system.part import MARK, TEXT, Part, expect_pattern, matching

_HOUR_US = 3600 * 10**6
_HOST_NAME = matching(r"[A-Za-z0-9]([A-Za-z0-9-]{0,62}(?<!-))?", "is no host name: 1 to 63 letters, digits and -")


def _later(default: Any, **constraints: Any) -> Any:
    """Return a field that came after boots that are on record: documents leave it out where nobody gave it."""
    return Field(default=default, exclude_if=lambda value: value == default, **constraints)


def _expect_address(text: str) -> str:
    return str(IPv4Address(text))


class NetworkPeer(StrEnum):
    """Who answers the guest."""

    HOST = "host"
    """QEMU's user-mode network: the guest reaches what the host reaches, and answers come when the host has them."""
    BOOTLAB = "bootlab"
    """A small network of bootlab's own that reaches nothing else, and whose answers come at stated times."""


class NetworkProbe(Part):
    """What the guest is asked from outside until it answers; the answer is a mark of the probe's name."""

    tcp: int | None = Field(default=None, ge=1, le=65535)
    """A port: answered when it is open, or with `expect` when it has said that."""
    ping: bool = False
    refused: bool = _later(False)
    """Answered also by a port that refuses: the address is up then, whatever listens."""
    send: str | None = None
    """Said to the port as it is open."""
    expect: Annotated[str, AfterValidator(expect_pattern)] | None = None
    """Regular expression for what the port says."""
    after: Annotated[str, MARK] | None = None
    """The mark behind which it begins; without, at power-on."""
    from_us: int = Field(default=0, ge=0, le=_HOUR_US)
    """How long after that mark it begins."""
    every_us: int = Field(default=10_000, ge=100, le=_HOUR_US)
    """How long until it asks again."""

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        if self.ping == (self.tcp is not None):
            raise ValueError("give exactly one of tcp (a port) and ping = true")
        if self.ping and (self.send is not None or self.expect is not None):
            raise ValueError("send and expect are of a TCP port, not of ping")
        if self.refused and (self.tcp is None or self.expect is not None):
            raise ValueError("refused is of a TCP port that has to say nothing: without ping, send and expect")
        if self.send is not None and self.expect is None:
            raise ValueError("send needs expect: what the port says to it")
        return self


class Network(Part):
    """A virtio network card (guest 10.0.2.15, router and host 10.0.2.2, names 10.0.2.3), and who is behind it."""

    guest_port: int | None = Field(default=None, ge=1, le=65535)
    """TCP port in the guest that the host must reach; the host's port is chosen free."""
    option_rom: bool = _later(True)
    """Whether the card has its ROM, iPXE, by which firmware can boot over it. False: the firmware finds none."""
    peer: Annotated[NetworkPeer, TEXT] = _later(NetworkPeer.HOST)
    # All that follows is of peer = "bootlab".
    delay_us: int = _later(0, ge=0, le=_HOUR_US)
    """How long each answer takes."""
    ipv6: Literal["answered", "silent"] = _later("answered")
    """Whether a router answers for IPv6, with a prefix of its own."""
    hostname: Annotated[str, _HOST_NAME] | Literal[""] = _later("")
    """What DHCP calls the guest; empty: nothing."""
    names: dict[str, Annotated[str, AfterValidator(_expect_address)]] = _later({})
    """Name -> IPv4 address, as DNS gives it; there is no other name."""
    metadata: Path | None = _later(None, strict=False)
    """A folder of files, served over HTTP on 169.254.169.254 and 10.0.2.2, as EC2 and cloud-init's NoCloud ask."""
    probes: dict[Annotated[str, MARK], NetworkProbe] = _later({})

    @model_validator(mode="after")
    def _peer_has_it(self) -> Self:
        if self.peer is not NetworkPeer.BOOTLAB:
            given = [name for name in type(self).model_fields if name not in ("guest_port", "option_rom", "peer")]
            for name in given:
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise ValueError(f'{name} is of peer = "bootlab"; QEMU\'s user-mode network has no such choice')
        for name, probe in self.probes.items():
            if probe.after == name:
                raise ValueError(f"probes.{name}.after: a probe cannot begin behind its own answer")
        return self
