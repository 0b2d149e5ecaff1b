"""A gate on systems that are really booted: what does nothing passes, twice the smallest change is stopped and named.

`pytest -s -m bench tests/bench/test_gate_boots.py` prints what docs/ci.md says. Each side is booted once, with three
seeds, five null changes and the fresh boots that answers near the limit want, and stands in every pair with the others.
The runs are in build/bench, and another call goes on with them.
"""

import hashlib
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.findings.analysis import analyse
from bootlab.ledger.gate.grown_files import compare_files
from bootlab.ledger.gate.grown_work import BootWork, grown_work, work_of
from bootlab.ledger.gate.judging import GateVerdict, Limit
from bootlab.ledger.gate.result import GrownKind
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.profile.asked.request import ProfileRequest
from bootlab.system import NULL_WORD, System, read_system
from tests.bench.gates.sides import Change, Pool, Sides, counted, measured, named, null_pool

pytestmark = [pytest.mark.bench, pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

ROOT = Path(__file__).parents[2]
GATES = Path(__file__).parent / "gates"
CHANGED = ROOT / "build" / "bench" / "changed"
"""Where changed sources are written: at the same paths in every call, so that boots on record are found again."""
READY_CALL = 'mark("ready");'
SIZES = (0, 1, 2, 3, 4, 5)
"""Bytes of files that are new."""


@pytest.fixture(scope="module")
def shop() -> Workshop:
    """A workshop with this user's cache, which says what takes long."""
    return Workshop(Cache.default(), tell=print)


def written(name: str, data: bytes) -> Path:
    """Return a file with this content, named by it."""
    path = CHANGED / f"{hashlib.sha256(data).hexdigest()[:12]}-{name}"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(data)
        path.chmod(0o755)
    return path


def with_file(system: System, data: bytes, name: str = "/data") -> System:
    assert system.initramfs is not None
    return system.with_part("initramfs", files={**system.initramfs.files, name: written("data", data)})


def more_initramfs(system: System, size: int) -> System:
    """Return a system with so many bytes more in its initramfs, which no compression makes less."""
    return with_file(system, np.random.default_rng(26).bytes(size))


def before_ready(system: System, call: str, words: str) -> System:
    """Return a system whose init does something more before it is ready. `call`: what says that it is."""
    assert system.initramfs is not None and system.initramfs.init is not None
    init = system.initramfs.init
    text = init.read_text()
    assert text.count(call) == 1
    return system.with_part("initramfs", init=written(init.name, text.replace(call, f"{words}\n{call}").encode()))


def patched(system: System, turns: int) -> System:
    """Return a system whose kernel has an initcall with a loop of so many turns."""
    assert system.kernel.build is not None
    system = system.with_part("kernel", build={**dict(system.kernel.build), "patches": (GATES / "longer.patch",)})
    return system.with_cmdline(f"longer_turns={turns}")


def c_loop(system: System, turns: int) -> System:
    return before_ready(system, READY_CALL, f"for (volatile long turn = {turns}; turn > 0; turn--) ;")


def c_sleep(system: System, ns: int) -> System:
    said = f"{{ struct timespec time = {{ {ns // 10**9}, {ns % 10**9} }}; nanosleep(&time, NULL); }}"
    system = before_ready(system, READY_CALL, said)
    return before_ready(system, "#include <errno.h>", "#include <time.h>")


def shell_loop(system: System, turns: int) -> System:
    return before_ready(system, "bootlab-mark ready", f"turn=0; while [ $turn -lt {turns} ]; do turn=$((turn+1)); done")


def shell_sleep(system: System, ns: int) -> System:
    return before_ready(system, "bootlab-mark ready", f"usleep {-(-ns // 1000)}")


def example(name: str) -> System:
    """Return an example without what comes after it is ready, which no gate looks at."""
    return read_system(ROOT / "examples" / f"{name}.toml").model_copy(update={"check": None})


def show_null_pairs(sides: Sides, pool: Pool) -> None:
    """Hold every side against every other, and print what that gave."""
    judged = [sides.hold(after, before) for before, after in pool.pairs]
    smallest = sorted(one.smallest_ns / 1e6 for one in judged)
    most = max(abs(one.longer_ns) for one in judged) / 1e6
    print(
        f"\n{len(judged)} pairs of {len(pool.sides)} sides that differ in nothing: {counted(judged)}; at most "
        f"{most:.3f} ms apart; seen from {smallest[0]:.3f} to {smallest[-1]:.3f} ms; {len(sides.engine.run.records())} "
        "boots"
    )
    assert counted(judged).keys() <= {"unchanged", "shorter"}


def show_changes(sides: Sides, pool: Pool, changes: list[Change], number: int) -> None:
    """Change a side by twice what is seen on it, and refuse limits below that; print what that gave."""
    stopped = []
    refused = []
    for change, before in zip(islice(cycle(changes), number), cycle(pool.sides), strict=False):
        smallest_ns = sides.hold(before, before).smallest_ns
        refused.append(sides.hold(before, before, Limit(ns=max(1, smallest_ns * 9 // 10))))
        after = named(change.of(before, 2 * smallest_ns), f"{before.name}-{change.name}")
        judged = sides.hold(after, before)
        stopped.append(judged)
        print(
            f"{change.name} on {before.name}: {judged.longer_ns / 1e6:+.3f} ms, seen from {smallest_ns / 1e6:.3f} ms: "
            f"{judged.verdict.value}",
            flush=True,
        )
    print(f"twice the smallest: {counted(stopped)}; limits below it: {counted(refused)}")
    assert counted(stopped) == {GateVerdict.LONGER.value: number}
    assert counted(refused) == {GateVerdict.CANNOT_SAY.value: number}


class Works:
    """What systems do up to ready, by profiles of theirs."""

    def __init__(self, shop: Workshop, folder: Path) -> None:
        self._shop = shop
        self._folder = folder
        self._count = 0

    def of(self, system: System) -> BootWork:
        self._count += 1
        (folder := self._folder / f"profile-{self._count}").mkdir()
        record = boot(prepare(self._shop, system, profile=ProfileRequest()), folder, patience=8)
        assert record.ready_ns is not None, record.detail
        return work_of(analyse(system, record, folder))

    def named(self, before: BootWork, after: System, word: str) -> bool:
        """Return whether a function that has a word in its name is said to be new or to have grown."""
        grown = grown_work(before, self.of(after), self.of(after.with_cmdline(f"{NULL_WORD}=1")))
        found = [one for one in grown if one.kind is GrownKind.FUNCTION and word in one.name]
        print(f"{word}: {', '.join(f'{one.name} {one.before} -> {one.after} ns' for one in found)}", flush=True)
        return bool(found)


def files_named(shop: Workshop, system: System) -> int:
    """Return how many of some small files are named when they are new."""
    found = 0
    for size in SIZES:
        grown = compare_files(shop, system, with_file(system, b"x" * size, "/new"), apart={})
        found += [(one.kind, one.name) for one in grown] == [(GrownKind.FILE, "/new")]
    return found


def test_a_microvm(shop: Workshop) -> None:
    system = example("microvm")
    sides = Sides(ROOT / "build" / "bench" / "gate-microvm", shop)
    pool = null_pool(system, seeds=6, words=6, builds=3)
    assert len(pool.pairs) >= 200
    show_null_pairs(sides, pool)
    changes = [
        measured(sides, system, Change("initcall", patched, 0), 100_000, 1_100_000),
        measured(sides, system, Change("init", c_loop, 0), 10_000, 110_000),
        Change("sleep", c_sleep, 0),
        measured(sides, system, Change("initramfs", more_initramfs, 0), 1 << 20, 3 << 20),
    ]
    show_changes(sides, pool, changes, 20)


CALLS = {
    "getppid();": "getppid",
    "umask(0);": "umask",
    "sched_yield();": "sched_yield",
    "nice(1);": "setpriority",
    "setsid();": "setsid",
    "sethostname(\"x\", 1);": "sethostname",
    "chmod(\"/\", 0755);": "chmod",
}  # fmt: skip
"""What init does once more before it is ready -> a word in the name of a kernel function that nothing else calls."""


def test_of_twenty_changes_of_a_microvm_however_small_each_is_named(shop: Workshop, tmp_path: Path) -> None:
    """Seven loops of an initcall that are a turn longer, seven system calls, six files."""
    system, works = example("microvm"), Works(shop, tmp_path)
    found = files_named(shop, system)
    before = works.of(system)
    headers = before_ready(system, "#include <errno.h>", "#include <sched.h>")
    for call, word in CALLS.items():
        found += works.named(before, before_ready(headers, READY_CALL, call), word)
    before = works.of(patched(system, 1))
    for turns in range(2, 9):
        found += works.named(before, patched(system, turns), "longer_init")
    print(f"named: {found} of 20")
    assert found == 20


def test_a_debian_cloud_kernel(shop: Workshop) -> None:
    """Its kernel is a package's, and is not built anew. A boot takes some ten seconds of a processor."""
    system = example("debian-cloud")
    sides = Sides(ROOT / "build" / "bench" / "gate-debian-cloud", shop)
    pool = null_pool(system, seeds=8, words=7)
    assert len(pool.pairs) >= 200
    show_null_pairs(sides, pool)
    changes = [
        measured(sides, system, Change("init", shell_loop, 0), 1_000, 11_000),
        Change("sleep", shell_sleep, 0),
        measured(sides, system, Change("initramfs", more_initramfs, 0), 1 << 20, 3 << 20),
    ]
    show_changes(sides, pool, changes, 20)


COMMANDS = {
    "umask 22": "umask",
    "chmod 755 /": "chmod",
    "chown 0 /": "chown",
    "mkfifo /new": "mknod",
    "mkdir /new": "mkdir",
    "ln -s proc /new": "symlink",
    "ln /init /new": "link",
    "truncate -s 0 /new": "truncate",
    "hostname new": "sethostname",
    "renice -n 0 1": "setpriority",
    "setsid true": "setsid",
    "kill -0 1": "kill",
    "usleep 1": "nanosleep",
    "sync": "sync",
}
"""A line that init has once more before it is ready -> a word in the name of a kernel function that it calls."""


def test_of_twenty_changes_of_a_debian_cloud_kernel_however_small_each_is_named(shop: Workshop, tmp_path: Path) -> None:
    """Fourteen commands, six files."""
    system, works = example("debian-cloud"), Works(shop, tmp_path)
    found = files_named(shop, system)
    before = works.of(system)
    for command, word in COMMANDS.items():
        found += works.named(before, before_ready(system, "bootlab-mark ready", command), word)
    print(f"named: {found} of 20")
    assert found == 20


UNIT = "/etc/systemd/system/new.service"
WANTED = "/etc/systemd/system/multi-user.target.wants/new.service"


def with_unit(system: System) -> System:
    """Return a system with one more service, which does next to nothing."""
    words = b"[Unit]\nDescription=Something new\n[Service]\nType=oneshot\nExecStart=/bin/mknod /run/new p\n"
    assert system.rootfs is not None
    unit = written("new.service", words)
    return system.with_part("rootfs", files={**system.rootfs.files, UNIT: unit, WANTED: unit})


def test_a_new_unit_of_a_service_debian_is_named(shop: Workshop) -> None:
    """By its files, whether it runs ahead of ready or not."""
    system = example("distribution")
    after = with_unit(system)
    grown = compare_files(shop, system, after, apart={"initramfs": False})
    print(f"\n{[(one.kind.value, one.name) for one in grown]}")
    assert {(one.kind, one.name) for one in grown} == {(GrownKind.UNIT, UNIT), (GrownKind.UNIT, WANTED)}
