"""A second opinion: another plugin counts each translated block, and what each function executed must be the same.

It knows no calls, stacks or tasks (plugin/tests/block_counts.c), so it shares none of the profile's ways to be wrong.
Two runs of one system are the same boot, so all that can differ is the counting.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.prepare import prepare
from bootlab.process import run
from bootlab.profile.asked.profiling import FUNCTIONS, read_functions
from bootlab.profile.recorded.record_types import Integers
from bootlab.system import read_system
from bootlab.targets.machine_process import make_socket_folder
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.session import QemuSession
from bootlab.targets.qemu.wiring import PluginFiles, Wiring
from bootlab.targets.target import Ended, EndReason
from tests.boot.conftest import ROOT, ProfileBoot, Profiled

pytestmark = [pytest.mark.boot, pytest.mark.network]

WORD = 1 << 64
THUNKS = {"thunk", "return", "trampoline"}
"""Their few instructions are part of whatever goes through them, in the profile."""


@dataclass(frozen=True)
class Compared:
    """Per kernel function (line of the functions file): both plugins' instructions, and how often it was entered."""

    names: list[str]
    thunk: np.ndarray
    profiled: Integers
    counted: Integers
    calls: Integers
    entries: Integers


@pytest.fixture(scope="session")
def counting_plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The other plugin, compiled."""
    out = tmp_path_factory.mktemp("plugin") / "block-counts.so"
    flags = "-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -O2 -shared -fPIC -fvisibility=hidden".split()
    run(["cc", *flags, f"-I{ROOT}/plugin", "-o", out, ROOT / "plugin/tests/block_counts.c"], package="gcc")
    return out


async def count_blocks(system: Path, cache: Cache, plugin: Path, folder: Path) -> Path:
    prepared = prepare(Workshop(cache), read_system(system))
    assert prepared.plugin is not None and prepared.plugin_config is not None
    (folder / "plugin.conf").write_text(prepared.plugin_config)
    # Ours beside it ends the boot at the very instruction where the profile ends.
    marks = PluginFiles(prepared.plugin, folder / "plugin.conf", folder / "trace.txt")
    with make_socket_folder() as sockets:
        wiring = Wiring(sockets / "qmp", plugin=marks)
        argv = [*qemu_argv(prepared.system, prepared.files, wiring), "-plugin", f"{plugin},out={folder}/counts"]
        async with QemuSession(argv, wiring.qmp_socket, stderr=folder / "stderr") as session:
            await session.power_on()
            ends = [event async for event in session.events() if isinstance(event, Ended)]
    assert [end.reason for end in ends] == [EndReason.STOPPED]
    return folder / "counts"


def link_addresses(blocks: list[list[int]], slide: int, freed: int) -> list[int]:
    """Return each block's link address; blocks that are not the kernel's come out wherever.

    Code that first ran where memory is mapped one to one, early in the boot or on another vCPU's way up, is translated
    once for both mappings; where it lies in QEMU's memory tells it. Later the memory of the kernel's init functions,
    freed, holds user code, which may not be taken for them: nothing translated after `freed` is.
    """
    high = [(address - slide) % WORD if address >> 63 else None for address, *_ in blocks]
    pairs = zip(high, blocks, strict=True)
    base = Counter((block[1] - link) % WORD for link, block in pairs if link is not None).most_common(1)[0][0]
    until = high.index(freed)
    return [
        link if link is not None else (block[1] - base) % WORD if number < until and block[1] else 0
        for number, (link, block) in enumerate(zip(high, blocks, strict=True))
    ]


def compare(profiled: Profiled, counts: Path) -> Compared:
    functions = read_functions(profiled.directory / FUNCTIONS)
    names, count, profile = [name for _, _, name in functions], len(functions), profiled.profile
    blocks = [
        [int(address, 16), int(host, 16), int(size) * int(times), int(times)]
        for address, host, size, times in map(str.split, counts.read_text().splitlines())
    ]
    assert profiled.trace.slide is not None
    freed = functions[names.index("free_initmem")][0]
    links = np.array(link_addresses(blocks, profiled.trace.slide, freed), dtype=np.uint64)
    starts = np.array([address for address, _, _ in functions], dtype=np.uint64)
    place = np.searchsorted(starts, links, side="right").astype(np.int64) - 1
    inside = (place >= 0) & (place < count - 1)
    entry = inside & (starts[place] == links)
    executed, times = np.array(blocks, dtype=np.uint64)[:, 2:].astype(np.int64).T
    weights = np.concatenate([piece.weights for piece in profile.slices])
    function = profile.nodes["function"][weights["node"]]
    kernel = function < count

    def sums(where: Integers, what: Integers) -> Integers:
        out = np.zeros(count, dtype=np.int64)
        np.add.at(out, where, what)
        return out

    return Compared(
        names=names,
        thunk=np.array([role in THUNKS for _, role, _ in functions]),
        profiled=sums(function[kernel], weights["instructions"][kernel]),
        counted=sums(place[inside], executed[inside]),
        calls=sums(function[kernel], weights["calls"][kernel].astype(np.int64)),
        entries=sums(place[entry], times[entry]),
    )


@pytest.fixture(scope="session", params=["microvm-6.1", "arm64-6.1", "riscv64-6.12"])
def compared(request: pytest.FixtureRequest, variant_file: Callable[[str], Path], profile_boot: ProfileBoot,
             counting_plugin: Path, cache: Cache, tmp_path_factory: pytest.TempPathFactory) -> Compared:  # fmt: skip
    """Three architectures; arm64 and riscv64 have no thunks, so there all must be equal."""
    system = variant_file(request.param)
    folder = tmp_path_factory.mktemp("counts")
    return compare(profile_boot(system), asyncio.run(count_blocks(system, cache, counting_plugin, folder)))


def test_the_kernel_s_instructions_agree(compared: Compared) -> None:
    """All of them; only blocks that an exception or a device access ends early make the other count too high."""
    profiled, counted = int(compared.profiled.sum()), int(compared.counted.sum())
    print(f"profile {profiled}, counted {counted}, difference {profiled - counted}")
    assert profiled > 500_000_000
    assert abs(profiled - counted) < 0.0005 * profiled


def test_each_function_s_instructions_agree(compared: Compared) -> None:
    difference = (compared.profiled - compared.counted)[~compared.thunk]
    executed = compared.counted[~compared.thunk] > 0
    through_thunks = int(compared.counted[compared.thunk].sum())
    equal = int((difference[executed] == 0).sum()) / int(executed.sum())
    order = np.argsort(-abs(compared.profiled - compared.counted))[:8]
    print(f"{equal:.2%} of {int(executed.sum())} functions equal, {through_thunks} instructions in thunks")
    print([(compared.names[k], int(compared.profiled[k]), int(compared.counted[k])) for k in order])
    total = int(compared.profiled.sum())
    assert abs(int(difference.sum()) - through_thunks) < 0.0005 * total
    assert int(-difference[difference < 0].sum()) < 0.0005 * total
    if not through_thunks:
        assert equal > 0.99


def test_each_function_s_calls_agree(compared: Compared) -> None:
    """A function is entered as often as the block at its start runs, unless that block is in a loop."""
    plain = ~compared.thunk & (compared.entries > 0)
    equal = compared.calls[plain] == compared.entries[plain]
    order = np.argsort(-abs(compared.calls - compared.entries) * ~compared.thunk)[:12]
    print(f"{int(equal.sum())} of {len(equal)} functions equal")
    print([(compared.names[k], int(compared.calls[k]), int(compared.entries[k])) for k in order])
    assert equal.mean() > 0.99
