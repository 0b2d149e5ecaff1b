"""What cannot be kept is named by its key, and what the plugin is told of a machine that goes on."""

from pathlib import Path
from typing import Any

import pytest

from bootlab.errors import BootFailed, InputError
from bootlab.snapshot.asked import KeepRequest
from bootlab.snapshot.refusals import RAM
from bootlab.system import BootFiles, System
from bootlab.targets.qemu.snapshots import SnapshotWiring, expect_keepable, restored_config

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
