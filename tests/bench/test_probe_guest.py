"""A guest in a network namespace, asked 20 times: when its address answers and its port opens, against its own kernel.

Its kernel says by probes of its functions (inet_rtm_newaddr, inet_csk_listen_start) when that was, on its own clock.
That clock is laid over this host's by lines that go either way over its serial port: a line cannot come before it left.
An emulated guest answers when this host lets it: a busy host makes it tens of milliseconds late.
"""

import re
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.build import boot_files
from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.probing.asker import Asker
from bootlab.probing.questions import OutsideAnswer, Questions, find_place
from bootlab.system import read_system
from tests.namespaces import NamespaceMachine, ip, require_namespaces

pytestmark = [pytest.mark.bench, pytest.mark.boot, pytest.mark.network]

ROUNDS = 20
WITHIN_NS = 2_000_000
_TRACED = re.compile(r"\s(\d+)\.(\d{6}): (address|listens):")
_NOW = re.compile(r"guest: now (\d+)")


class Guest:
    """The guest's serial port. Bounds of its clock's offset from ours: `least_ns`, `most_ns`."""

    def __init__(self, argv: list[str]) -> None:
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.least_ns, self.most_ns = -(1 << 62), 1 << 62
        self.traced: dict[str, int] = {}
        self._told_ns: int | None = None

    def wait_for(self, words: str) -> None:
        """Read up to a line with these words."""
        assert self._process.stdout is not None
        seen = []
        for line in self._process.stdout:
            t_ns, text = time.monotonic_ns(), line.decode(errors="replace")
            seen.append(text)
            if (now := _NOW.search(text)) is not None:
                self.most_ns = min(self.most_ns, t_ns - int(now[1]))
                if self._told_ns is not None:
                    self.least_ns = max(self.least_ns, self._told_ns - int(now[1]))
                    self._told_ns = None
            if (found := _TRACED.search(text)) is not None:
                self.traced.setdefault(found[3], int(found[1]) * 10**9 + int(found[2]) * 1000)
            if words in text:
                return
        raise AssertionError("".join(seen[-20:]))

    def go_on(self) -> None:
        """Let it do one round."""
        assert self._process.stdin is not None
        self.traced = {}
        self._told_ns = time.monotonic_ns()
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def guest() -> Iterator[Guest]:
    require_namespaces()
    files = boot_files.prepare(
        Workshop(Cache.default()), read_system(Path(__file__).parent / "asked_guest/system.toml")
    )
    with NamespaceMachine() as machine:
        for words in (
            ["link", "add", "wire", "type", "bridge"],
            ["tuntap", "add", "tap0", "mode", "tap"],
            ["link", "set", "tap0", "master", "wire"],
            ["link", "set", machine.card, "master", "wire"],
            *(["link", "set", name, "up"] for name in ("tap0", machine.card, "wire")),
        ):
            ip("-n", machine.name, *words)
        argv = ["ip", "netns", "exec", machine.name, "qemu-system-x86_64", "-nodefaults", "-display", "none"]
        argv += ["-machine", "q35", "-accel", "tcg", "-cpu", "max", "-m", "256", "-serial", "stdio"]
        argv += ["-kernel", str(files.kernel), "-initrd", str(files.initramfs)]
        argv += ["-append", "console=ttyS0 panic=-1 cryptomgr.notests quiet"]
        argv += ["-netdev", "tap,id=net,ifname=tap0,script=no,downscript=no", "-device", "virtio-net-pci,netdev=net"]
        made = Guest(argv)
        try:
            made.wait_for("guest: waits")
            yield made
        finally:
            made.close()


def ask_once(guest: Guest) -> dict[str, OutsideAnswer]:
    heard: dict[str, OutsideAnswer] = {}
    ending = threading.Event()

    def say(one: OutsideAnswer) -> None:
        heard[one.name] = one

    asker = Asker(Questions(find_place(NamespaceMachine.IPV4), (22,), every_ns=2_000_000), "raw", say)
    asking = threading.Thread(target=asker.run, args=(ending.is_set,))
    asking.start()
    guest.go_on()
    guest.wait_for("guest: round over")
    ending.set()
    asking.join()
    return heard


def test_closed_and_open_are_as_the_guests_kernel_has_them(guest: Guest) -> None:
    rounds = []
    for _ in range(ROUNDS):
        heard = ask_once(guest)
        rounds.append((heard, guest.traced))
    assert guest.least_ns <= guest.most_ns
    offset_ns, doubt_ns = (guest.least_ns + guest.most_ns) // 2, (guest.most_ns - guest.least_ns) // 2
    print(f"the guest's clock is known to {doubt_ns / 1e6:.3f} ms")
    for mark, function in (("port_22_closed", "address"), ("port_22_open", "listens")):
        late = sorted(heard[mark].t_ns - (traced[function] + offset_ns) for heard, traced in rounds)
        middle = statistics.median(late)
        print(f"{mark}: median {middle / 1e6:.3f} ms behind {function}, {late[0] / 1e6:.3f} to {late[-1] / 1e6:.3f}")
        assert abs(middle) <= WITHIN_NS + doubt_ns, late
