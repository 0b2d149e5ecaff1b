"""What a machine without a console is asked from outside, as a [target] says it: ports, pages, hardware lines."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from bootlab.system.part import MARK, TEXT, Part, expect_pattern, matching

_PORT = Field(ge=1, le=65535)
_MOST_PORTS = 16
_PATH = matching(r"/[!-~]{0,1023}", "is no path of a page: it begins with / and has no blanks")
_PORT_NAME = matching(r"[1-9][0-9]{0,4}", "is no port, 1 to 65535")


class SignalLine(Part):
    """A line from the machine's hardware to this host, with what its mark waits for: text, or an edge."""

    port: str | None = Field(default=None, min_length=1)
    """A tty, pty, pipe or socket, as `bootlab watch` takes them; its mark is the first line with `pattern`."""
    baud: int | None = Field(default=None, ge=50)
    pattern: str = ""
    """Regular expression; without one any line will do."""
    gpio: (
        Annotated[str, matching(r"[^\s:]+:[0-9]{1,4}", "is no line of a GPIO chip, as in /dev/gpiochip0:17")] | None
    ) = None
    edge: Literal["rising", "falling", "both"] = "rising"

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        return expect_pattern(value)

    @model_validator(mode="after")
    def _one_line(self) -> Self:
        if (self.port is None) == (self.gpio is None):
            raise ValueError("give exactly one of port (a serial line) and gpio (a line of a GPIO chip)")
        if self.gpio is not None and (self.pattern or self.baud is not None):
            raise ValueError("pattern and baud are of a serial line; a GPIO line has an edge")
        return self


class AskedMachine(Part):
    """A machine that only answers: what it is asked, how often, and by which means."""

    is_real: ClassVar[bool] = True
    delivers: ClassVar[bool] = False

    ports: tuple[Annotated[int, _PORT], ...] = Field(default=(), strict=False, max_length=_MOST_PORTS)
    """TCP ports; each gives the marks `port_N_closed` and `port_N_open`."""
    banners: tuple[Annotated[int, _PORT], ...] = Field(default=(), strict=False, max_length=_MOST_PORTS)
    """Those that say something by themselves: `port_N_banner`."""
    http: dict[Annotated[str, _PORT_NAME], Annotated[str, _PATH]] = Field(default={}, max_length=_MOST_PORTS)
    """Port -> path of a page: `port_N_http`, as it is answered with a status from 200 to 399."""
    ping: bool = True
    family: Literal["any", "ipv4", "ipv6"] = "any"
    by: Literal["auto", "raw", "connect"] = "auto"
    """Raw sockets where this user may open them, else connections."""
    every_ms: Annotated[float, TEXT] = Field(default=10.0, ge=1, le=60_000)
    """How long until it is asked again; a mark is good to as much."""
    lines: dict[Annotated[str, MARK], SignalLine] = {}
    """Mark -> the line that its hardware gives it by."""

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if any(not 1 <= int(port) <= 65535 for port in self.http):
            raise ValueError("http: a port is 1 to 65535")
        for key, ports in (("ports", self.ports), ("banners", self.banners)):
            if len(set(ports)) != len(ports):
                raise ValueError(f"{key}: a port stands there twice")
        if len(self.asked_ports) > _MOST_PORTS:
            raise ValueError(f"{len(self.asked_ports)} ports, and {_MOST_PORTS} are asked at most")
        if not self.asked_ports and not self.ping and not self.lines:
            raise ValueError("nothing is asked: give ports, banners, http, ping = true or lines")
        return self

    @property
    def asked_ports(self) -> tuple[int, ...]:
        """Return every port that is asked for anything, in the order in which they stand there."""
        return tuple(dict.fromkeys([*self.ports, *self.banners, *(int(port) for port in self.http)]))


def asked_defaults(given: dict[str, Any]) -> dict[str, Any]:
    """Return what a system file need not say of such a machine: no architecture is known, booted is every answer."""
    return {
        **given,
        "machine": {"type": "unknown-board", "cpu": "unknown", **(given.get("machine") or {})},
        "booted": given.get("booted") or {"mark": "answered"},
        "clock": given.get("clock") or {"kind": "outside"},
        "kernel": given.get("kernel") or {"installed": True},
    }
