"""Boots in a jail: what is put there, who may read it, and that nothing of it is left, however a boot ends.

The jailer is fake_jailer.py, whose jail is real, so only root can run these; tests/boot/vmms/test_jailer_here.py has
the real one.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bootlab.cli.app import run
from bootlab.errors import BootFailed, InputError, MissingTool
from bootlab.measure.record import Outcome
from bootlab.system import Firecracker, read_system
from bootlab.targets.firecracker import jail as jails
from bootlab.targets.firecracker.jail import Jail, make_jail
from tests.targets.firecracker.test_snapshots import KEPT, WOKEN
from tests.targets.firecracker.test_target import prepared_of
from tests.targets.vmm.made import CONSOLE, ROOT, Made

UID = 54321
ONLY_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a jail")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    found = Made(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "sockets"))
    say(monkeypatch)
    program = shlex.join([sys.executable, "-m", "tests.targets.firecracker.fake_jailer"])
    jailer = tmp_path / "jailer"
    jailer.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {program} "$@"\n')
    jailer.chmod(0o755)
    # The path of a socket in it has to be short.
    with tempfile.TemporaryDirectory(prefix="jails-", dir="/tmp") as jails_folder:
        (tmp_path / "jails").symlink_to(jails_folder)
        yield found
        assert not found.left() and not left(tmp_path)


def say(monkeypatch: pytest.MonkeyPatch, **asked: object) -> None:
    monkeypatch.setenv("FAKE_FIRECRACKER", json.dumps({"console": CONSOLE, "woken": WOKEN, **asked}))


def jailed(made: Made, *more: str) -> str:
    words = [f'jailer = "{made.folder}/jailer"', f"uid = {UID}", f"gid = {UID}", f'chroot_base = "{made.folder}/jails"']
    return "\n".join([*words, *more])


def target_of(made: Made, *more: str) -> Firecracker:
    target = read_system(made.system(jailed(made, *more))).target
    assert isinstance(target, Firecracker)
    return target


def left(folder: Path) -> list[str]:
    """Return what is left of jails: files, and processes that were started in one."""
    found = [str(path) for path in (folder / "jails").iterdir()]
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if os.fsencode((folder / "jails").resolve()) in path.read_bytes():
                found.append(path.parent.name)
    return found


def test_only_root_may_ask_for_a_jail(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InputError, match=r"target\.jailer: only root may run the jailer") as caught:
        made.boot(jailed(made))
    assert "leave target.jailer out" in (caught.value.hint or "")


@ONLY_ROOT
@pytest.mark.parametrize("more", ["", "api = false"])
def test_a_boot_in_a_jail_has_the_jailers_time_of_its_own(made: Made, more: str) -> None:
    record = made.boot(jailed(made, more), "[[disks]]\nsize_mib = 1")
    assert record.outcome is Outcome.READY, record.detail
    assert record.vmm is not None
    start = "VMM start" if not more else "VMM start and configuration"
    assert [step.name for step in record.vmm.launch][:2] == ["jailer", start]
    assert record.vmm.launch[0].duration_ns > 0
    # What it writes down at the end is brought out of the jail.
    assert more or record.vmm.own["process_startup_time"] > 0
    assert record.argv[record.argv.index("--uid") + 1] == str(UID) and len(record.hashes["jailer"]) == 64
    told = json.loads((Path(record.run) / "firecracker.json").read_text())
    assert told["boot-source"]["kernel_image_path"] == "/vmlinux" and told["drives"][0]["path_on_host"] == "disk0"


@ONLY_ROOT
def test_where_its_log_does_not_tell_when_it_ran_the_jailers_time_is_in_the_next(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, late=True)
    record = made.boot(jailed(made))
    assert record.outcome is Outcome.READY and record.vmm is not None
    assert record.vmm.launch[0].name == "VMM start"
    assert "does not say when it ran: jailer is in VMM start" in record.detail


@ONLY_ROOT
def test_a_machine_is_kept_and_taken_up_in_jails(
    made: Made, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, console=KEPT)
    path = made.system(jailed(made), "[snapshot]\n[[disks]]\nsize_mib = 1")

    def ask(*words: str) -> dict[str, Any]:
        capsys.readouterr()
        run([words[0], str(path), *words[1:], "--runs", str(made.folder / "runs"), "--json"])
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    kept = Path(ask("snapshot")["snapshot"])
    assert (kept / "ram").stat().st_uid == (kept / "state").stat().st_uid == 0, "no jail's user can change it"
    clones = ask("boot", "--from", "last", "--clones", "2")
    assert [step["name"] for step in clones["boots"][0]["vmm"]["launch"]][0] == "jailer"
    assert [one["facts"]["told"] for one in clones["boots"]] == ["number 1", "number 2"]


@ONLY_ROOT
def test_what_is_only_read_is_a_link_and_what_could_be_written_a_copy(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    jail = Jail(root, UID, UID, ())
    for mode, owner, links in ((0o644, 0, 2), (0o600, 0, 1), (0o644, UID, 1), (0o646, 0, 1), (0o440, UID, 1)):
        source = tmp_path / f"{mode:o}-{owner}"
        source.write_text("x")
        source.chmod(mode)
        os.chown(source, owner, 0)
        place = jail.put(source, source.name)
        assert place.stat().st_nlink == links, source.name
        assert links == 2 or place.stat().st_uid == UID
    assert (tmp_path / "600-0").stat().st_uid == 0, "a copy is handed over, not what it is of"
    assert (tmp_path / "440-54321").stat().st_ino != (root / "440-54321").stat().st_ino, "its owner may chmod it"
    assert Jail(root, 0, 0, ()).put(tmp_path / "644-0", "root's").stat().st_nlink == 1
    assert jail.seen(root / "a") == "/a" and jail.seen(Path("disk0")) == "disk0"


@ONLY_ROOT
def test_what_the_jailer_cannot_do_is_told_in_its_words(made: Made) -> None:
    record = made.boot(jailed(made, "cgroup_version = 2", 'cgroups = ["nowhere.max=1"]'))
    assert record.outcome is Outcome.NOT_STARTED
    assert "jailer: Firecracker did not start: exit code 1; it says: Controller nowhere" in record.detail


@ONLY_ROOT
def test_where_no_jail_can_be_is_told_before_anything_runs(made: Made, tmp_path: Path) -> None:
    base = (made.folder / "jails").resolve()
    # A byte more than there may be.
    long = base / ("x" * (107 - len(f"{base}//firecracker/a/root/pages") + 1))
    long.mkdir()
    (tmp_path / "other").write_text('#!/bin/sh\necho "Jailer v1.14.0"\n')
    (tmp_path / "other").chmod(0o755)
    for words, error, said in (
        ('chroot_base = "nowhere"', InputError, "no such folder"),
        ('netns = "/run/netns/nowhere"', InputError, "no such network namespace"),
        (f'chroot_base = "{long}"\njail_id = "a"', InputError, "at most 107 bytes, and .* has 108"),
        ('jailer = "./nowhere"', MissingTool, r"target\.jailer: .*nowhere: not found"),
        ('jailer = "./other"', MissingTool, "is 1.14.0, and Firecracker 1.15.1"),
    ):
        given = [line for line in jailed(made).splitlines() if line.split()[0] != words.split()[0]]
        with pytest.raises(error, match=said):
            made.boot("\n".join([*given, words]))
    long.rmdir()


@ONLY_ROOT
def test_a_jail_that_is_there_already_stays_as_it_is(made: Made) -> None:
    there = (made.folder / "jails").resolve() / "firecracker" / "mine"
    there.mkdir(parents=True)
    (there / "file").write_text("somebody's")
    record = made.boot(jailed(made, 'jail_id = "mine"'))
    assert record.outcome is Outcome.NOT_STARTED and f"target.jail_id: {there}: is there already" in record.detail
    assert (there / "file").read_text() == "somebody's"
    (there / "file").unlink()
    there.rmdir()
    there.parent.rmdir()
    prepared = prepared_of(made, jailed(made, 'jail_id = "mine"'))
    assert prepared.alone is not None and prepared.alone.startswith("target.jail_id: each machine")
    with pytest.raises(InputError, match="cannot be traced"):
        prepared.tracing_vmm()


@ONLY_ROOT
def test_cgroups_are_removed_and_those_around_them_that_were_there_stay(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hierarchy = tmp_path / "hierarchy"
    (hierarchy / "mine").mkdir(parents=True)
    (tmp_path / "mounts").write_text(f"cgroup2 {hierarchy} cgroup2 rw 0 0\ncgroup /nowhere cgroup rw,cpu 0 0\n")
    monkeypatch.setattr(jails, "_MOUNTS", tmp_path / "mounts")
    for parent in ("mine", "mine/new"):
        target = target_of(made, "cgroup_version = 2", 'cgroups = ["cpu.weight=100"]', f'parent_cgroup = "{parent}"')
        with make_jail(target, made.binary) as jail:
            # As the jailer does.
            (hierarchy / parent / jail.id).mkdir(parents=True)
        assert [str(path.relative_to(hierarchy)) for path in hierarchy.rglob("*")] == ["mine"]
    (hierarchy / "mine").rmdir()


@ONLY_ROOT
def test_a_cgroup_that_was_there_is_not_removed_and_one_that_is_not_is_told(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hierarchy = tmp_path / "hierarchy"
    (hierarchy / "mine" / "one").mkdir(parents=True)
    (tmp_path / "mounts").write_text(f"cgroup2 {hierarchy} cgroup2 rw 0 0\n")
    monkeypatch.setattr(jails, "_MOUNTS", tmp_path / "mounts")
    words = ("cgroup_version = 2", 'parent_cgroup = "mine"', 'jail_id = "one"', 'cgroups = ["cpu.weight=100"]')
    with make_jail(target_of(made, *words), made.binary):
        pass
    assert (hierarchy / "mine" / "one").is_dir()
    with pytest.raises(InputError, match=r"target\.parent_cgroup: yours: no such cgroup"):
        made.boot(jailed(made, "cgroup_version = 2", 'parent_cgroup = "yours"'))


@ONLY_ROOT
def test_who_is_not_root_has_no_say_where_root_writes(made: Made, tmp_path: Path) -> None:
    target = target_of(made)
    base = (made.folder / "jails").resolve()
    for place, mode, owner in ((base, 0o777, 0), (base, 0o770, 0), (base, 0o755, UID)):
        place.chmod(mode)
        os.chown(place, owner, 0)
        with pytest.raises(InputError, match=f"target.chroot_base: {base}: others than root may change {place}"):
            made.boot(jailed(made))
    os.chown(base, 0, 0)
    # As in /tmp, anybody may have been there first.
    base.chmod(0o1777)
    secret = tmp_path / "somebody's"
    secret.mkdir()
    (base / "firecracker").symlink_to(secret)
    with pytest.raises(BootFailed, match="is no folder of root's alone"), make_jail(target, made.binary):
        pass
    assert list(secret.iterdir()) == []
    (base / "firecracker").unlink()
    (base / "firecracker").mkdir()
    os.chown(base / "firecracker", UID, UID)
    with pytest.raises(BootFailed, match="is no folder of root's alone"), make_jail(target, made.binary):
        pass
    (base / "firecracker").rmdir()
    with make_jail(target, made.binary) as jail:
        assert jail.home.parent.stat().st_mode & 0o777 == 0o755


@ONLY_ROOT
def test_links_that_are_planted_in_a_jail_lead_nobody_out_of_it(tmp_path: Path) -> None:
    root, kept, secret = tmp_path / "root", tmp_path / "kept", tmp_path / "secret"
    for folder in (root, kept):
        folder.mkdir()
    secret.write_text("root's alone")
    os.chown(secret, 0, 4)
    jail = Jail(root, UID, UID)
    (root / "state").symlink_to(secret)
    with pytest.raises(BootFailed, match="state: what lies in the jail is not the file"):
        jail.take_out("state", kept / "state")
    os.link(secret, root / "ram")
    with pytest.raises(BootFailed, match="ram: what lies in the jail is not the file"):
        jail.take_out("ram", kept / "ram")
    assert secret.stat().st_gid == 4, "its owner is as it was"
    (root / "metrics").symlink_to(secret)
    assert "metrics: cannot be read behind the VMM" in jail.copy_out("metrics", kept / "metrics", 100)
    (root / "metrics").unlink()
    os.mkfifo(root / "metrics")
    assert "is no file any more" in jail.copy_out("metrics", kept / "metrics", 100)
    assert "No such file" in jail.copy_out("none", kept / "metrics", 100)
    assert not (kept / "metrics").exists()
    (root / "long").write_bytes(bytes(200))
    assert jail.copy_out("long", kept / "long", 100) == "long: 100 bytes more were not kept"
    assert jail.copy_out("long", kept / "long", 200) == "" and (kept / "long").stat().st_size == 200


@ONLY_ROOT
def test_a_full_disk_is_told_and_leaves_nothing(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    full = made.folder / "bin"
    full.mkdir()
    (full / "cp").write_text("#!/bin/sh\necho 'cp: No space left on device' >&2\nexit 1\n")
    (full / "cp").chmod(0o755)
    monkeypatch.setenv("PATH", f"{full}:{os.environ['PATH']}")
    record = made.boot(jailed(made), "[[disks]]\nsize_mib = 1")
    assert record.outcome is Outcome.NOT_STARTED
    assert "target.chroot_base: disk0: cannot be copied" in record.detail
    with make_jail(target_of(made), made.binary) as jail:
        (made.folder / "secret").touch(mode=0o600)
        with pytest.raises(BootFailed, match="target.chroot_base: vmlinux cannot be copied into the jail"):
            jail.put(made.folder / "secret", "vmlinux")


def processes_in(folder: Path) -> list[int]:
    return [int(one) for one in left(folder) if one.isdigit()]


@ONLY_ROOT
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_where_bootlab_is_ended(
    made: Made, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    say(monkeypatch, console="Linux version 6.1.0\n")
    words = [sys.executable, "-m", "bootlab", "boot", str(made.system(jailed(made)))]
    environment = {**os.environ, "TMPDIR": str(made.folder / "sockets"), "PYTHONPATH": str(ROOT)}
    booting = subprocess.Popen(
        [*words, "--runs", str(made.folder / "runs")], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        until = time.monotonic() + 60
        # Its user is another one by then, and the kernel's own signal is lost.
        while not any(_user_of(pid) == UID for pid in processes_in(made.folder)):
            assert booting.poll() is None and time.monotonic() < until
            time.sleep(0.02)
        time.sleep(0.3)
        booting.send_signal(number)
        assert booting.wait(30) == (130 if number is signal.SIGINT else -9)
    finally:
        booting.kill()
        booting.communicate()
    until = time.monotonic() + 20
    while left(made.folder):
        assert time.monotonic() < until, left(made.folder)
        time.sleep(0.02)


def _user_of(pid: int) -> int:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}").stat().st_uid
    return -1


@ONLY_ROOT
def test_a_jail_that_is_not_cleared_away_is_told(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jails, "clear", lambda home, *cgroups: [f"{home}: Device or resource busy"])
    with (
        pytest.raises(BootFailed, match="cannot be cleared away: .*busy"),
        make_jail(target_of(made), made.binary) as jail,
    ):
        pass
    monkeypatch.undo()
    assert jails.clear(jail.home, []) == []
