"""What is new or grew, named by a gate on real boots: a program, a unit, a file and functions of the kernel."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.workshop import Workshop
from bootlab.findings.analysis import analyse
from bootlab.ledger.gate.grown_files import compare_files
from bootlab.ledger.gate.grown_work import BootWork, grown_work, work_of
from bootlab.ledger.gate.result import Grown, GrownKind
from bootlab.measure import boot as one_boot
from bootlab.measure.prepare import prepare
from bootlab.profile.asked.request import ProfileRequest
from bootlab.system import NULL_WORD, System, read_system

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

ROOT = Path(__file__).parents[3]
TINY = ROOT / "tests/boot/tiny_kernel"
UNIT = "/etc/systemd/system/new.service"
TOOL = "/bin/new-tool"


def bootlab(*words: str, runs: Path, codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
    command = [sys.executable, "-m", "bootlab", *words, "--json", "--runs", str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=900)
    assert done.returncode in codes, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, str]:
    """The tiny system, and one whose init has a program of its own make a folder before it is ready."""
    for name in ("before", "after"):
        shutil.copytree(TINY, tmp_path / name)
    after = tmp_path / "after"
    (after / "tool").write_text("#!/bin/busybox sh\n/bin/busybox mkdir /made\n")
    (after / "tool").chmod(0o755)
    (after / "unit").write_text("[Service]\nExecStart=/bin/new-tool\n")
    init = (after / "init").read_text()
    (after / "init").write_text(init.replace("/sbin/bootlab-mark", f"{TOOL}\n/sbin/bootlab-mark"))
    text = (after / "tiny.toml").read_text()
    files = f'files = {{ "{TOOL}" = "tool", "{UNIT}" = "unit" }}\n'
    (after / "tiny.toml").write_text(text.replace('init = "init"\n', f'init = "init"\n{files}'))
    return str(tmp_path / "before/tiny.toml"), str(after / "tiny.toml")


def named(found: dict[str, Any], *, new: bool) -> set[tuple[str, str]]:
    return {(one["kind"], one["name"]) for one in found["grown"] if (one["before"] is None) is new}


def test_what_is_new_or_grew_is_named_and_nothing_of_a_system_that_did_not_change(
    sides: tuple[str, str], tmp_path: Path
) -> None:
    before, after = sides
    runs = tmp_path / "runs"
    same = bootlab("gate", before, "--against", before, "--explain", "--nulls", "3", runs=runs)
    assert (same["verdict"], same["grown"], same["not_looked_at"]) == ("unchanged", [], [])
    found = bootlab("gate", after, "--against", before, "--nulls", "3", runs=runs, codes=(1,))
    assert {("unit", UNIT), ("file", TOOL), ("process", TOOL)} <= named(found, new=True)
    assert ("function", "do_mkdirat") in named(found, new=True)
    assert ("file", "/init") in named(found, new=False)
    assert found["not_looked_at"] == []
    assert {label.name for label in Path(found["profile"]).glob("boots/*")} == {"1", "against", "null"}


def test_a_side_on_record_is_known_by_its_profile(sides: tuple[str, str], tmp_path: Path) -> None:
    before, after = sides
    runs = tmp_path / "runs"
    bootlab("boot", before, runs=runs)
    bootlab("profile", before, runs=runs)
    found = bootlab("gate", after, "--against", "1", "--explain", "--nulls", "3", runs=runs, codes=(2,))
    assert found["verdict"] == "cannot say", "of one boot nobody knows how far it moves"
    assert ("process", TOOL) in named(found, new=True)
    assert found["not_looked_at"] == ["files: what it is held against is on record, without them"]


APPLETS = {
    "mkdir /d": "mkdirat",
    "rmdir /root": "rmdir",
    "ln /init /l": "linkat",
    "ln -s init /s": "symlinkat",
    "mv /init /i": "rename",
    "chmod 700 /init": "fchmodat",
    "mkfifo /f": "mknodat",
    "sync": "sync",
    "hostname x": "sethostname",
    "kill -0 1": "sys_kill",
}
"""Of busybox, each with a word in the name of a kernel function that nothing else in this boot calls."""


def test_of_twenty_changes_however_small_each_is_named(tmp_path: Path, shop: Workshop) -> None:
    """Ten files or units, the smallest of no byte; ten calls of one system call, before init is ready."""
    plain = read_system(TINY / "tiny.toml")
    assert plain.initramfs is not None and plain.initramfs.init is not None
    init = plain.initramfs.init.read_text()

    def with_files(label: str, files: dict[str, str]) -> System:
        (folder := tmp_path / label).mkdir()
        made = {}
        for name, text in files.items():
            made[name] = folder / name.replace("/", "-")
            made[name].write_text(text)
        return plain.with_part("initramfs", files=made)

    base = with_files("base", {"/etc/a": "a", "/etc/b": "bb", "/etc/systemd/system/a.service": "[Unit]\n"})
    assert base.initramfs is not None
    had = {name: path.read_text() for name, path in base.initramfs.files.items()}
    changes = [{f"/etc/new{size}": "x" * size} for size in range(3)]
    changes += [{"/etc/a": "a" + "x" * size} for size in (1, 2, 3)]
    changes += [{f"/etc/systemd/system/b{size}.timer": "x" * size} for size in range(3)]
    changes += [{"/etc/systemd/system/a.service": "[Exec]\n"}]
    named = 0
    for number, more in enumerate(changes):
        found = compare_files(shop, base, with_files(str(number), {**had, **more}), apart={})
        (name,) = more
        kind = GrownKind.UNIT if "systemd" in name else GrownKind.FILE
        assert [(one.kind, one.name) for one in found] == [(kind, name)]
        named += 1

    def work(label: str, system: System) -> BootWork:
        (folder := tmp_path / f"boot-{label}").mkdir()
        record = one_boot.boot(prepare(shop, system, profile=ProfileRequest()), folder, patience=4)
        assert record.ready_ns is not None, record.detail
        return work_of(analyse(system, record, Path(record.run)))

    before = work("base", plain)
    for number, (applet, word) in enumerate(APPLETS.items()):
        changed = tmp_path / f"init{number}"
        changed.write_text(init.replace("/sbin/bootlab-mark", f"/bin/busybox {applet}\n/sbin/bootlab-mark"))
        changed.chmod(0o755)
        after = plain.with_part("initramfs", init=changed)
        again = after.with_cmdline(f"{NULL_WORD}=1")
        grown: list[Grown] = grown_work(before, work(f"{number}", after), work(f"{number}-null", again))
        new = [one for one in grown if one.kind is GrownKind.FUNCTION and one.before is None]
        assert any(word in one.name for one in new), (applet, [one.name for one in new])
        named += 1
        print(f"{applet}: {', '.join(f'{one.name} {one.after} ns' for one in new if word in one.name)}")
    assert named == 20
