"""Every kind of line opened for real and read to its end: pty, pipe, sockets, RFC 2217; and all that is refused."""

import fcntl
import os
import socket
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import serial
from serial.rfc2217 import PortManager

from bootlab.errors import BootlabError, InputError, MissingTool
from bootlab.targets.serial.port import LineSettings, SerialPort, open_port
from bootlab.targets.serial.reader import Chunk, Gone, SerialReader

LINE = LineSettings()


@pytest.fixture
def pty() -> Iterator[tuple[int, str]]:
    """The board's end of a pty, and the name of the other."""
    master, slave = os.openpty()
    tty.setraw(slave)
    name = os.ttyname(slave)
    os.close(slave)
    yield master, name
    with suppress(OSError):
        os.close(master)


def read_all(port: SerialPort, expected: int, *, gone: bool = True) -> tuple[bytes, Gone | None]:
    """Return what comes over a line, up to `expected` bytes or to its end."""
    data, until = b"", time.monotonic() + 20
    with SerialReader([port]) as reader:
        while time.monotonic() < until:
            one = reader.next(0.5)
            if isinstance(one, Gone):
                return data, one
            if isinstance(one, Chunk):
                assert one.t_ns <= time.monotonic_ns()
                data += one.data
            if not gone and len(data) >= expected:
                return data, None
    raise AssertionError(f"{len(data)} of {expected} bytes, and not gone, after 20 s")


def test_a_pty_that_hangs_up_loses_nothing_and_says_so(pty: tuple[int, str]) -> None:
    master, name = pty
    port = open_port(name, LINE)
    assert (port.kind, port.byte_ns) == ("pty", 0)
    os.write(master, bytes(range(256)))
    # Linux throws away what nobody has read when a pty's other end closes (pty_close() hangs it up).
    threading.Timer(0.3, os.close, (master,)).start()
    data, gone = read_all(port, 256)
    assert data == bytes(range(256))
    assert gone is not None
    assert gone.unplugged


def test_a_stated_rate_holds_for_what_is_behind_a_pty(pty: tuple[int, str]) -> None:
    port = open_port(pty[1], LineSettings(baud=3_000_000))
    assert port.byte_ns == 3333
    port.source.close()
    assert LineSettings(115200).byte_ns() == 86806
    assert LineSettings(9600, "7E2").byte_ns() == 1_145_833


def test_any_rate_can_be_set(pty: tuple[int, str]) -> None:
    open_port(pty[1], LineSettings(baud=1_234_567)).source.close()


def test_a_line_can_be_written_to(pty: tuple[int, str]) -> None:
    port = open_port(pty[1], LINE)
    port.source.write(b"reboot\r")
    assert os.read(pty[0], 100) == b"reboot\r"
    port.source.close()


def test_a_pipe_may_wait_for_its_writer(tmp_path: Path) -> None:
    pipe = tmp_path / "console.fifo"
    os.mkfifo(pipe)
    port = open_port(str(pipe), LINE)
    data = os.urandom(300_000)
    threading.Timer(0.2, lambda: pipe.write_bytes(data)).start()
    got, gone = read_all(port, len(data))
    assert got == data
    assert gone is not None
    assert not gone.unplugged, "a pipe whose writer has finished was not torn out"


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_UNIX])
def test_a_socket_gives_all_even_what_came_at_once(tmp_path: Path, family: socket.AddressFamily) -> None:
    data = os.urandom(200_000)
    with socket.socket(family) as server:
        server.bind(("127.0.0.1", 0) if family == socket.AF_INET else str(tmp_path / "line"))
        server.listen()
        name = f"socket://127.0.0.1:{server.getsockname()[1]}" if family == socket.AF_INET else str(tmp_path / "line")

        def serve() -> None:
            line, _ = server.accept()
            with line:
                line.sendall(data)

        thread = threading.Thread(target=serve)
        thread.start()
        port = open_port(name, LINE)
        assert (port.kind, port.byte_ns) == ("socket", 0)
        got, gone = read_all(port, len(data))
        thread.join()
    assert got == data
    assert gone is not None
    assert gone.reason == "the other end closed it"


@pytest.mark.filterwarnings("ignore:set:DeprecationWarning")
def test_rfc_2217_sets_the_rate_of_the_line_over_there(pty: tuple[int, str]) -> None:
    master, name = pty
    data = bytes(range(256)) * 20
    with socket.socket() as server, Line(name, 9600, timeout=0.05) as there:
        server.bind(("127.0.0.1", 0))
        server.listen()
        done = threading.Event()
        thread = threading.Thread(target=serve_rfc2217, args=(server, there, done))
        thread.start()
        try:
            address = f"rfc2217://127.0.0.1:{server.getsockname()[1]}"
            port = open_port(address, LineSettings(baud=57600))
            assert (port.kind, port.byte_ns, there.baudrate) == ("rfc2217", 173_611, 57600)
            threading.Timer(0.2, os.write, (master, data)).start()
            got, _ = read_all(port, len(data), gone=False)
        finally:
            done.set()
            thread.join()
    assert got == data


class Line(serial.Serial):
    """A pty has no modem lines; this one says that nothing is connected to them."""

    cts = dsr = ri = cd = False

    def _update_dtr_state(self) -> None:
        return

    _update_rts_state = _update_break_state = _update_dtr_state


def serve_rfc2217(server: socket.socket, there: serial.Serial, done: threading.Event) -> None:
    """Serve one line by RFC 2217 with pyserial's own protocol engine, as its example server does."""
    line, _ = server.accept()

    class Writer:
        def write(self, data: bytes) -> None:
            line.sendall(data)

    manager = PortManager(there, Writer())
    line.settimeout(0.02)
    with line:
        while not done.is_set():
            with suppress(TimeoutError):
                there.write(b"".join(manager.filter(line.recv(1024))))
            if there.in_waiting:
                line.sendall(b"".join(manager.escape(there.read(there.in_waiting))))


def test_a_port_that_another_has_locked_is_busy(pty: tuple[int, str]) -> None:
    with open(pty[1], "rb", buffering=0) as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="busy"):
            open_port(pty[1], LINE)


def test_a_port_that_is_forbidden_says_which_group_may(pty: tuple[int, str]) -> None:
    os.chmod(pty[1], 0)
    if os.getuid():
        refused = pytest.raises(InputError, open_port, pty[1], LINE)
    else:
        os.seteuid(65534)
        try:
            refused = pytest.raises(InputError, open_port, pty[1], LINE)
        finally:
            os.seteuid(0)
    assert "permission denied" in refused.value.message
    assert f"adduser $USER {Path(pty[1]).group()}" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("name", "kind", "what"),
    [
        ("/dev/ttyUSB99", InputError, "no such port"),
        ("/tmp", InputError, "is a folder"),
        (__file__, InputError, "is a file, and not a recording"),
        ("/dev/null", InputError, "cannot be opened|Inappropriate ioctl"),
        ("foo://board", MissingTool, "no such url"),
        ("socket://board", InputError, "no host and port"),
        ("socket://127.0.0.1:1", InputError, "Connection refused"),
        ("socket://127.0.0.1:99999999", InputError, "range|Port"),
        ("rfc2217://127.0.0.1:1", InputError, "Connection refused"),
        ("hwgrep://there is no such adapter", InputError, "no ports found"),
    ],
)
def test_what_is_no_line_is_refused(name: str, kind: type[BootlabError], what: str) -> None:
    with pytest.raises(kind, match=what) as refused:
        open_port(name, LINE)
    assert name in refused.value.message
    assert refused.value.hint


def test_a_format_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="9Q7"):
        open_port("/dev/null", LineSettings(format="9Q7"))
