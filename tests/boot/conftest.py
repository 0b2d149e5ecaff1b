"""What real boots share: a cache that outlives the tests, systems to boot, and profiles of them."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.profile.asked.profiling import FUNCTIONS, function_names, read_functions
from bootlab.profile.recorded.reader import Profile, read_profile
from bootlab.profile.recorded.record_types import Integers
from bootlab.profile.recorded.trace import PluginTrace, read_trace
from bootlab.system import System, read_system
from bootlab.targets.qemu.wiring import PluginFiles
from bootlab.targets.target import Prepared

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

MICROVM = ('type = "q35"', 'type = "microvm"')
GENERIC = ("linux-image-cloud-amd64", "linux-image-amd64")
NO_TESTS = ("panic=-1", "panic=-1 cryptomgr.notests")
VARIANTS = {
    # The kernel's own crypto tests are most of a boot: the stock boot is here once a kernel, other machines go without.
    "example-6.1": ("debian-cloud",),
    "q35-6.12": ("debian-13-cloud",),
    "microvm-6.1": ("debian-cloud", NO_TESTS, MICROVM),
    "microvm-6.12": ("debian-13-cloud", NO_TESTS, MICROVM),
    "generic-6.1": ("debian-cloud", NO_TESTS, GENERIC),
    "generic-6.12": ("debian-13-cloud", NO_TESTS, GENERIC),
    "arm64-6.1": ("debian-arm64",),
    "riscv64-6.12": ("debian-riscv64", NO_TESTS),
}
"""Kernels and machines whose profiles several tests look at: name -> example, and what is changed in it.

`example-` is booted with its check: drivers, a disk, the network, and an end that QEMU is told from outside.
"""

Boot = Callable[[System], BootRecord]
WriteSystem = Callable[..., Path]
ProfileBoot = Callable[..., "Profiled"]
CheckUnnoticed = Callable[..., None]
UpToReady = Callable[[Prepared, PluginFiles | None], tuple[bytes, float]]


@pytest.fixture(scope="session")
def cache() -> Cache:
    """The user's cache: packages are fetched and programs compiled once a machine."""
    return Cache.default()


@pytest.fixture(scope="session")
def shop(cache: Cache) -> Workshop:
    """A workshop that tells nobody."""
    return Workshop(cache)


@pytest.fixture
def run_boot(shop: Workshop, tmp_path: Path) -> Boot:
    """Boot a system into a directory of this test."""
    count = iter(range(100))

    def run(system: System) -> BootRecord:
        directory = tmp_path / f"boot-{next(count)}"
        directory.mkdir()
        return boot(prepare(shop, system), directory)

    return run


@pytest.fixture
def fast_system() -> System:
    """The Debian 12 example without the kernel's self-tests: a real boot, at a third of the cost."""
    return read_system(EXAMPLES / "debian-cloud.toml").with_cmdline("cryptomgr.notests")


@dataclass(frozen=True)
class Profiled:
    """One boot that was profiled: the document that the verb printed, the system file and the boot's directory."""

    system: Path
    document: dict[str, Any]
    directory: Path

    @cached_property
    def trace(self) -> PluginTrace:
        """What the plugin recorded beside the profile."""
        return read_trace(self.directory / "trace.txt")

    @cached_property
    def profile(self) -> Profile:
        """The profile itself, as the plugin wrote it."""
        names = function_names(read_functions(self.directory / FUNCTIONS))
        assert self.trace.shift is not None
        return read_profile(self.directory / "profile.bin", names, self.trace.shift)


@pytest.fixture(scope="session")
def write_system(tmp_path_factory: pytest.TempPathFactory) -> WriteSystem:
    """Write a variant of an example as a system file: without what comes after ready, and with changed text."""

    def write(example: str, name: str, *changes: tuple[str, str], check: bool = False) -> Path:
        text = (EXAMPLES / f"{example}.toml").read_text().replace('"cloud/', f'"{EXAMPLES}/cloud/')
        changes = ((f'name = "{example}"', f'name = "{name}"'), *changes)
        for old, new in changes:
            assert old in text, (example, old)
            text = text.replace(old, new)
        if not check:
            sections = re.split(r"(?m)^(?=\[)", text)
            text = "".join(part for part in sections if not part.startswith(("[check]", "[[disks]]", "[network]")))
        path = tmp_path_factory.mktemp(name) / f"{name}.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="session")
def variant_file(write_system: WriteSystem) -> Callable[[str], Path]:
    """Write a variant's system file, once."""
    written: dict[str, Path] = {}

    def find(name: str) -> Path:
        example, *changes = VARIANTS[name]
        if name not in written:
            written[name] = write_system(example, name, *changes, check=name.startswith("example-"))
        return written[name]

    return find


@pytest.fixture(scope="session")
def profile_boot(tmp_path_factory: pytest.TempPathFactory) -> ProfileBoot:
    """Run `bootlab profile` on a system file; the same file with the same words is profiled once a session."""
    done: dict[tuple[Path, tuple[str, ...]], Profiled] = {}

    def profile(system: Path, *words: str, again: bool = False) -> Profiled:
        if again or (system, words) not in done:
            done[system, words] = run_profile(system, tmp_path_factory.mktemp(f"profile-{system.stem}"), *words)
        return done[system, words]

    return profile


def node_totals(profile: Profile) -> Integers:
    """Each node's instructions, with all below it."""
    own = np.zeros(len(profile.nodes), np.int64)
    for piece in profile.slices:
        np.add.at(own, piece.weights["node"], piece.weights["instructions"].astype(np.int64))
    return profile.shape.totals(own)


def run_profile(system: Path, runs: Path, *words: str) -> Profiled:
    """Run the verb to its good end."""
    argv = [sys.executable, "-m", "bootlab", "profile", str(system), "--json", "--runs", str(runs), *words]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return Profiled(system, document, Path(document["boot"]))


@pytest.fixture
def check_unnoticed(up_to_ready: UpToReady, shop: Workshop, tmp_path: Path) -> CheckUnnoticed:
    """Boot a system without the plugin and with marks: its console must be that of its profile, byte by byte."""

    def check(file: Path, profiled: Profiled, vcpus: int = 1) -> None:
        prepared = prepare(shop, read_system(file).with_part("machine", vcpus=vcpus))
        alone = up_to_ready(prepared, None)[0]
        record = boot(prepared, tmp_path)
        assert len(alone) > 5000
        # Without a check a boot with the plugin ends at the mark, just before the console says so.
        assert (tmp_path / "console.log").read_bytes() == alone
        assert (profiled.directory / "console.log").read_bytes() == alone
        trace = read_trace(tmp_path / "trace.txt")
        assert (trace.marks, trace.guest_marks) == (profiled.trace.marks, profiled.trace.guest_marks)
        assert record.instructions == profiled.profile.end_instructions

    return check
