"""What cannot be kept is named by its key, and what the plugin is told of a machine that goes on."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import BootFailed, InputError
from bootlab.snapshot.asked import Beginning, KeepRequest
from bootlab.snapshot.refusals import RAM, MemoryForm
from bootlab.system import BootFiles, System
from bootlab.targets.qemu.argv import qemu_argv
from bootlab.targets.qemu.snapshots import (
    SnapshotWiring,
    expect_keepable,
    expect_mark_of_guest,
    past_lines,
    restored_config,
)
from bootlab.targets.qemu.wiring import Wiring

GIVEN: dict[str, Any] = {
    "name": "s",
    "machine": {"type": "q35", "memory_mib": 16},
    "kernel": {"package": "linux-image-cloud-amd64"},
    "booted": {"mark": "ready"},
}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"clock": {"kind": "wall"}}, "clock.kind: "),
        ({"clock": {"charges": {"a": 5}}}, "clock.charges: "),
        ({"clock": {"tick_us": 4000}}, "clock.tick_us: "),
        ({"machine": {"type": "q35", "page_size": "4K"}}, "machine.page_size: "),
        ({"machine": {"type": "q35", "hypervisor": "kvm"}}, "machine.hypervisor: "),
        ({"network": {"peer": "bootlab"}}, "network.peer: "),
        ({"disks": [{"size_mib": 16, "model": "ssd"}]}, "disk0: a disk with a model"),
    ],
)
def test_what_a_snapshot_would_lack_is_named(more: dict[str, Any], said: str) -> None:
    expect_keepable(System.model_validate(GIVEN))
    with pytest.raises(InputError, match=said):
        expect_keepable(System.model_validate({**GIVEN, **more}))


def test_every_mistake_is_told_at_once() -> None:
    more = {"network": {"peer": "bootlab"}, "disks": [{"size_mib": 16, "model": "ssd"}]}
    with pytest.raises(InputError) as refused:
        expect_keepable(System.model_validate({**GIVEN, **more}))
    assert len(refused.value.message.splitlines()) == 2


def test_a_machine_that_goes_on_has_no_marks_of_its_boot() -> None:
    config = (
        "arch x86_64\nimage image_entry 10200 eb\nmark a 1 00\nuser u a\nguestmarks\nuart 3f8\nstop ready\nexactdisks\n"
    )
    assert restored_config(config) == "arch x86_64\nguestmarks\nuart 3f8\nstop ready\nexactdisks\n"


def test_a_snapshot_that_does_not_fit_is_refused_before_the_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = System.model_validate({**GIVEN, "machine": {"type": "q35", "memory_mib": 1 << 20}})
    monkeypatch.setattr("os.posix_fallocate", lambda *words: pytest.fail("it was begun"))
    wiring = SnapshotWiring(system, KeepRequest("ready", tmp_path), None, tmp_path)
    with pytest.raises(BootFailed, match=r"no room for a snapshot: 1048640 MiB are needed, \d+ are free"):
        wiring.files(BootFiles(kernel=tmp_path))
    assert not (tmp_path / RAM).exists()


def test_a_boot_that_goes_on_is_told_what_it_has_behind_it(tmp_path: Path) -> None:
    trace = "bootlab-trace 1\nclock virtual 0\nslide 1f000\nmark kernel_entry 5 5\nguest early 7 7\nguest late 9 9\n"
    beginning = Beginning(tmp_path, MemoryForm.FILE, "late", 9, trace, b"", tmp_path, 1.0)
    assert past_lines(beginning) == "slide 1f000\npast kernel_entry\npast early\npast late\n"
    without = trace.replace("slide 1f000\n", "")
    assert past_lines(replace(beginning, trace=without)) == "past kernel_entry\npast early\npast late\n"


def test_a_screen_goes_on_with_its_own_boot_from_a_mark_of_the_guest() -> None:
    screen = {"marks": {"window": {"kind": "painted"}}, "typed": {"name": {"after": "window", "text": "guest"}}}
    machine = {"type": "q35", "memory_mib": 16, "devices": ["VGA"]}
    system = System.model_validate({**GIVEN, "machine": machine, "screen": screen})
    with pytest.raises(InputError, match="screen: what is typed and seen on it is not in a snapshot"):
        expect_keepable(system)
    expect_keepable(system, goes_on=True)
    expect_mark_of_guest(system, "late")
    for name in ("window", "name"):
        with pytest.raises(InputError, match=f"{name}: a mark of the screen"):
            expect_mark_of_guest(system, name)


def test_a_disk_with_a_model_goes_on_with_its_own_boot_and_in_no_clone() -> None:
    system = System.model_validate({**GIVEN, "disks": [{"size_mib": 16, "model": "ssd"}]})
    with pytest.raises(InputError, match="disk0: a disk with a model"):
        expect_keepable(system)
    expect_keepable(system, goes_on=True)


def test_a_device_of_random_numbers_does_not_go_on_with_its_own_boot() -> None:
    system = System.model_validate({**GIVEN, "machine": {"type": "q35", "devices": ["virtio-rng-pci"]}})
    expect_keepable(system)
    with pytest.raises(InputError, match="virtio-rng"):
        expect_keepable(system, goes_on=True)


def test_what_is_read_is_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(1 << 16))
    system = System.model_validate({**GIVEN, "disks": [{"size_mib": 16}]})
    files = BootFiles(kernel=tmp_path / "kernel", disks=(disk,))
    for reads, cluster in ((False, 65536), (True, 4096)):
        folder = tmp_path / str(reads)
        folder.mkdir()
        kept = SnapshotWiring(system, KeepRequest("late", folder, reads=reads), None, tmp_path).files(files)
        assert kept is not None and kept.reads is reads and not kept.incoming
        words = qemu_argv(system, files, Wiring(tmp_path / "qmp", snapshot=kept))
        drive = next(word for word in words if "id=disk0" in word and word.startswith("if=none"))
        assert ("copy-on-read=on" in drive) is reads and "snapshot=off" in drive
        told = subprocess.run(
            ["qemu-img", "info", "--output=json", folder / "disk0.qcow2"], check=True, capture_output=True
        ).stdout
        assert json.loads(told)["cluster-size"] == cluster
