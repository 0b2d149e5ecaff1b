"""bootlab-readahead in a real guest: it learns what a boot reads and little else, reads it ahead, does no harm."""

import platform
import shutil
from pathlib import Path

import pytest

from bootlab.build.programs import guest
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.system import read_system

pytestmark = [pytest.mark.boot, pytest.mark.network]

SOURCES = Path(__file__).parent / "readahead_root"
PAGE = 4096
READ = 16 * PAGE + 6 * PAGE
"""What the guest's `boot_reads` asks for."""


def test_what_a_boot_reads_is_read_ahead_and_no_fault_does_harm(shop: Workshop, tmp_path: Path) -> None:
    folder = tmp_path / "system"
    shutil.copytree(SOURCES, folder)
    shutil.copy(guest.compile_readahead(platform.machine(), shop.cache)[guest.READAHEAD], folder / "bootlab-readahead")
    (folder / "bootlab-readahead").chmod(0o755)
    for name, size in {"library": 1 << 20, "program": 400 << 10}.items():
        (folder / name).write_bytes(bytes(range(256)) * (size // 256))
    (tmp_path / "boot").mkdir()
    record = boot(prepare(shop, read_system(folder / "root.toml")), tmp_path / "boot")
    console = (tmp_path / "boot/console.log").read_text()
    assert record.outcome.value == "ready" and "check ok" in console, f"{record.detail}\n{console}"
    facts = record.facts

    # A page here and a page there are one page each in a pack, and the kernel's own way is back afterwards.
    assert int(facts["cold"]) * 512 > 2 * READ
    assert (facts["narrow"], facts["wide"]) == ("16", "128")
    pieces = [line.split()[2:] for line in console.splitlines() if line.startswith("learned: d ")]
    assert READ <= sum(int(piece[2]) for piece in pieces) < 2 * READ
    assert (facts["block"], facts["need"]) == ("0", "0")
    assert "left over:" not in console
    assert (facts["still"], facts["again"]) == ("16", "128")

    assert facts["broken"] == "0" and int(facts["without"]) > 0
    assert facts["full"] == "kept" and "not written: No space left on device" in console
    assert facts["read-only-pack"] == "kept" and "not written: Read-only file system" in console
    assert int(facts["damaged"]) > 0 and "ignored: it is damaged" in console
    assert "this kernel does not tell what is read (" in console
    assert "from memory, without their order" in console and facts["untold"] == "0"
    assert [line for line in console.splitlines() if line.startswith("in its folder:")] == ["in its folder: pack"]
