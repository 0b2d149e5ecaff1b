"""bootlab-preload in a real guest: it learns what sessions open, reads it before the next one, and gives way."""

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

SOURCES = Path(__file__).parent / "session_root"
SIZES = {"wm": 768 << 10, "editor": 512 << 10}


def test_what_sessions_open_is_read_before_the_next_one(shop: Workshop, tmp_path: Path) -> None:
    folder = tmp_path / "system"
    shutil.copytree(SOURCES, folder)
    shutil.copy(guest.compile_preload(platform.machine(), shop.cache)[guest.PRELOAD], folder / "bootlab-preload")
    (folder / "bootlab-preload").chmod(0o755)
    for name, size in SIZES.items():
        (folder / name).write_bytes(bytes(range(256)) * (size // 256))
    (tmp_path / "boot").mkdir()
    record = boot(prepare(shop, read_system(folder / "root.toml")), tmp_path / "boot")
    console = (tmp_path / "boot/console.log").read_text()
    assert record.outcome.value == "ready" and "check ok" in console, f"{record.detail}\n{console}"

    wm, editor = (SIZES[name] // 512 for name in ("wm", "editor"))
    names = ("first", "again", "kept", "given-up", "memory-short", "busy", "damaged")
    sectors = {name: int(record.facts[name]) for name in names}
    assert sectors["first"] >= wm + editor
    assert sectors["again"] == 0
    assert sectors["kept"] == 0 and sectors["given-up"] >= editor
    assert sectors["memory-short"] >= wm and sectors["damaged"] >= wm
    assert sectors["busy"] >= wm
    assert "until memory is short" in console
    assert "nothing is read: a session began before the disk was at rest" in console
    assert "ignored: it is damaged" in console
    # Four sessions, of which the first opened both.
    assert "after one: expected by sessions of ann, of a thousand:" in console
    assert "after one: 1000  /data/editor" in console
    assert "after four: 1000  /data/wm" in console and "bob" not in console
    assert "after forgetting: 1000  /data/editor" in console and "after forgetting: 1000  /data/wm" not in console
    assert "nothing is learned of this session: Read-only file system" in console
    assert record.facts["read-only"] == "0" and record.facts["whole"] == "yes" and record.facts["traces"] == "none"
    assert console.count("bootlab: fact preload.missed") == 1 and record.facts["preload.missed"] == "ann"
