"""A serial line by name, opened: a tty, a pty, a pipe, a socket, or what one of pyserial's url handlers opens.

What matters for time is known of each: how long one byte takes on the line behind it, where that is known at all.
"""

import errno
import fcntl
import os
import re
import socket
import stat
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import serial
from serial.tools import list_ports

from bootlab.errors import InputError, MissingTool

_NS_PER_S = 1_000_000_000
_FORMAT = re.compile(r"(?P<bits>[5-8])(?P<parity>[NEOMS])(?P<stop>1\.5|[12])")
# Slaves of Unix98 pseudo terminals (Documentation/admin-guide/devices.txt).
_PTY_MAJORS = range(136, 144)
# struct termios2: four flags, line discipline, 19 control characters, input and output speed.
_TCGETS2, _TERMIOS2 = 0x802C542A, struct.Struct("4IB19s2I")
# A receiver tells bits apart while its clock is off by less than half a bit in ten.
_RATE_TOLERANCE = 0.03
_CONNECT_S = 10.0
READ_SIZE = 65536
"""Most bytes of one read: of fewer there were no more."""


@dataclass(frozen=True, slots=True)
class LineSettings:
    """How the line is driven. `baud` is None where the user gave none: 115200 where there is a line to set."""

    baud: int | None = None
    format: str = "8N1"
    """Data bits, parity (N, E, O, M, S) and stop bits."""
    flow: str = "none"
    """`none`, `xonxoff` or `rtscts`."""

    DEFAULT_BAUD = 115200

    def byte_ns(self) -> int:
        """Return how long one byte takes on the line, start, parity and stop bits included."""
        found = self._parsed()
        bits = 1 + int(found["bits"]) + (found["parity"] != "N") + float(found["stop"])
        return round(bits * _NS_PER_S / (self.baud or self.DEFAULT_BAUD))

    def pyserial(self) -> dict[str, Any]:
        """Return the settings as pyserial's keyword arguments. Raises InputError for a format that is none."""
        found = self._parsed()
        return {
            "baudrate": self.baud or self.DEFAULT_BAUD,
            "bytesize": int(found["bits"]),
            "parity": found["parity"],
            "stopbits": float(found["stop"]) if "." in found["stop"] else int(found["stop"]),
            "xonxoff": self.flow == "xonxoff",
            "rtscts": self.flow == "rtscts",
        }

    def _parsed(self) -> re.Match[str]:
        found = _FORMAT.fullmatch(self.format)
        if found is None:
            raise InputError(f"format {self.format!r}: expected data bits, parity and stop bits, as in 8N1 or 7E2")
        return found


class ByteSource(Protocol):
    """Where bytes come from. With a `descriptor` they are read there; without, through `read`."""

    descriptor: int | None

    def read(self) -> bytes:
        """Return what has come, waiting a tenth of a second at most. Raises OSError when the line is gone."""
        ...

    def write(self, data: bytes) -> None:
        """Send bytes to the board. Raises OSError."""
        ...

    def close(self) -> None:
        """Give the line up."""
        ...


@dataclass(frozen=True, slots=True)
class SerialPort:
    """An open line. `byte_ns` is 0 where no line rate is known (a pty, a pipe, a socket without a stated baud)."""

    name: str
    source: ByteSource
    kind: str
    """`tty`, `pty`, `pipe`, `socket` or the scheme of the url."""
    baud: int | None
    byte_ns: int
    doubts: tuple[str, ...] = ()
    """What may spoil the bytes or their times, for the user to read."""


def open_port(name: str, settings: LineSettings) -> SerialPort:
    """Open the line `name`: `-`, a path, or a url of pyserial's (`rfc2217://`, `socket://`, `hwgrep://`, ...).

    Raises InputError for a port that is missing, busy, forbidden or no port, MissingTool for an unknown url.
    """
    options = settings.pyserial()
    byte_ns = settings.byte_ns() if settings.baud is not None else 0
    if name == "-":
        return SerialPort("stdin", _Descriptor(os.dup(0)), "pipe", settings.baud, byte_ns)
    if "://" in name:
        return _open_url(name, settings, options)
    try:
        kind = Path(name).stat()
    except OSError as error:
        raise _refused(name, error) from error
    if stat.S_ISFIFO(kind.st_mode):
        return SerialPort(name, _Descriptor(_open_path(name)), "pipe", settings.baud, byte_ns)
    if stat.S_ISSOCK(kind.st_mode):
        return SerialPort(name, _connected(name, socket.AF_UNIX, name), "socket", settings.baud, byte_ns)
    if not stat.S_ISCHR(kind.st_mode):
        what = "a folder" if stat.S_ISDIR(kind.st_mode) else "a file, and not a recording of bootlab watch"
        raise InputError(f"{name}: is {what}", hint=_ports_hint())
    holders = _holders(name)
    opened = _open_serial(name, options)
    doubts = [f"{holders} has it open too, and may take bytes away"] if holders else []
    if os.major(kind.st_rdev) in _PTY_MAJORS:
        return SerialPort(name, _Descriptor.of(opened), "pty", settings.baud, byte_ns, tuple(doubts))
    with suppress(OSError, ValueError, NotImplementedError, AttributeError):
        # Else the kernel's serial core may hold bytes back until a buffer is flipped.
        opened.set_low_latency_mode(True)
    doubts += _line_doubts(name, opened.fileno(), options["baudrate"])
    return SerialPort(name, _Descriptor.of(opened), "tty", options["baudrate"], settings.byte_ns(), tuple(doubts))


def find_ports() -> list[str]:
    """Return this machine's serial ports that have a device behind them, as `/dev/ttyUSB0 (what it is)`."""
    return [f"{port.device} ({port.description})" for port in sorted(list_ports.comports())]


def _open_url(name: str, settings: LineSettings, options: dict[str, Any]) -> SerialPort:
    parts = urlsplit(name)
    if parts.scheme == "socket":
        # pyserial's own throws away what comes between connecting and its first read.
        try:
            address = (parts.hostname or "", parts.port)
        except ValueError as error:
            raise InputError(f"{name}: {error}", hint="expected socket://HOST:PORT") from error
        if not address[0] or address[1] is None:
            raise InputError(f"{name}: no host and port", hint="expected socket://HOST:PORT")
        source = _connected(name, socket.AF_INET, address)
        return SerialPort(name, source, "socket", settings.baud, settings.byte_ns() if settings.baud else 0)
    opened = _open_serial(name, options)
    source_here: ByteSource = _Descriptor.of(opened) if _has_descriptor(opened) else _Handler(opened)
    return SerialPort(name, source_here, parts.scheme, options["baudrate"], settings.byte_ns())


def _open_serial(name: str, options: dict[str, Any]) -> Any:
    url = "://" in name
    # Only of a device can be told whether somebody has locked it.
    lock: dict[str, Any] = {} if url else {"exclusive": True}
    try:
        return serial.serial_for_url(name, timeout=0.1, **options, **lock)
    except serial.SerialException as error:
        raise _refused(name, error) from error
    except OSError as error:
        raise _refused(name, error) from error
    except ValueError as error:
        # An unknown scheme, a rate that the driver refuses, an option that a handler does not know.
        if url and "protocol" in str(error):
            raise MissingTool(
                f"{name}: pyserial opens no such url", hint="rfc2217://, socket://, hwgrep:// and spy:// are known"
            ) from error
        raise InputError(f"{name}: {error}") from error


def _refused(name: str, error: OSError) -> InputError:
    number = error.errno
    if number is None and isinstance(error, serial.SerialException):
        # Where pyserial swallows the cause: a device file without a device, or an RFC 2217 server that says no.
        text = re.sub(r"^Could not (open|configure) port:? *", "", str(error), flags=re.IGNORECASE)
        return InputError(f"{name}: cannot be opened: {text}", hint=_ports_hint())
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EIO):
        what = "no such port" if number == errno.ENOENT else "there is no device behind it"
        return InputError(f"{name}: {what}", hint=_ports_hint())
    if number in (errno.EACCES, errno.EPERM):
        return InputError(f"{name}: permission denied", hint=_permission_hint(name))
    if number in (errno.EBUSY, errno.EAGAIN):
        holders = _holders(name)
        return InputError(
            f"{name}: busy{f': {holders} has it' if holders else ''}", hint="end the other program: it would take bytes"
        )
    return InputError(f"{name}: {error.strerror or error}", hint=_ports_hint())


def _ports_hint() -> str:
    found = find_ports()
    return f"ports here: {', '.join(found)}" if found else "this machine has no serial port; is the adapter plugged in?"


def _permission_hint(name: str) -> str:
    group = "dialout"
    with suppress(OSError, KeyError):
        group = Path(name).group()
    return f"sudo adduser $USER {group}, then log in again"


def _holders(name: str) -> str:
    """Return who else has the device open, as `picocom (pid 123)`; only processes of this user can be seen."""
    real, found = os.path.realpath(name), []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(folder.name) == os.getpid():
                continue
            if any(os.readlink(entry.path) == real for entry in os.scandir(folder / "fd")):
                found.append(f"{(folder / 'comm').read_text().strip()} (pid {folder.name})")
    return ", ".join(found[:3])


def _line_doubts(name: str, descriptor: int, baud: int) -> list[str]:
    doubts = []
    with suppress(OSError):
        *_, speed = _TERMIOS2.unpack(fcntl.ioctl(descriptor, _TCGETS2, bytes(_TERMIOS2.size)))
        if speed and abs(speed - baud) > _RATE_TOLERANCE * baud:
            doubts.append(f"this adapter cannot do {baud} baud and took {speed}")
    device = Path("/sys/class/tty") / Path(os.path.realpath(name)).name / "device" / "latency_timer"
    with suppress(OSError, ValueError):
        held_ms = int(device.read_text())
        if held_ms > 1:
            doubts.append(f"this adapter holds bytes back for up to {held_ms} ms: echo 1 > {device}")
    return doubts


def _open_path(name: str) -> int:
    try:
        # Else opening a pipe waits for whoever writes to it.
        return os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(name, error) from error


def _connected(name: str, family: int, address: Any) -> "_Descriptor":
    try:
        if family == socket.AF_UNIX:
            line = socket.socket(socket.AF_UNIX)
            line.connect(address)
        else:
            line = socket.create_connection(address, timeout=_CONNECT_S)
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        raise InputError(
            f"{name}: {error.strerror or error}", hint="is the server running, and is nobody else connected to it?"
        ) from error
    line.setblocking(True)
    return _Descriptor(line.detach())


def _has_descriptor(opened: Any) -> bool:
    try:
        return isinstance(opened.fileno(), int)
    except (OSError, AttributeError, NotImplementedError):
        return False


class _Descriptor:
    """A line with a file descriptor; `keep` is what must live as long as it does."""

    def __init__(self, descriptor: int, keep: Any = None) -> None:
        self.descriptor: int | None = descriptor
        self._keep = keep

    @classmethod
    def of(cls, opened: Any) -> "_Descriptor":
        return cls(opened.fileno(), opened)

    def read(self) -> bytes:
        assert self.descriptor is not None
        return os.read(self.descriptor, READ_SIZE)

    def write(self, data: bytes) -> None:
        assert self.descriptor is not None
        while data:
            with suppress(BlockingIOError):
                data = data[os.write(self.descriptor, data) :]

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, None
        if self._keep is not None:
            with suppress(OSError):
                self._keep.close()
        elif descriptor is not None:
            os.close(descriptor)


class _Handler:
    """A line that only pyserial can read, such as RFC 2217."""

    descriptor: int | None = None

    def __init__(self, opened: Any) -> None:
        self._opened = opened

    def read(self) -> bytes:
        # One byte to wait for, then all that came with it.
        first: bytes = self._opened.read(1)
        waiting = self._opened.in_waiting if first else 0
        return first + self._opened.read(waiting) if waiting else first

    def write(self, data: bytes) -> None:
        self._opened.write(data)

    def close(self) -> None:
        with suppress(OSError):
            self._opened.close()
