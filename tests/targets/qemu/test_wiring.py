"""What was written to a machine's disks: of this boot, of a snapshot that it goes on from, or of nothing."""

from pathlib import Path

from bootlab.targets.qemu.wiring import Overlays, SnapshotFiles, Wiring

DISKS = (Path("disk0.qcow2"),)


def test_what_was_written_is_of_the_snapshot_where_there_is_one() -> None:
    of_boot = Overlays((Path("before.qcow2"),), kept=True)
    assert Wiring(Path("qmp")).written is None
    assert Wiring(Path("qmp"), overlays=of_boot).written == of_boot
    kept = SnapshotFiles(Path("ram"), DISKS, incoming=False, reads=True)
    assert Wiring(Path("qmp"), snapshot=kept, overlays=of_boot).written == Overlays(DISKS, kept=True, reads=True)


def test_what_a_clone_writes_is_thrown_away() -> None:
    restored = SnapshotFiles(Path("ram"), DISKS, incoming=True)
    assert Wiring(Path("qmp"), snapshot=restored).written == Overlays(DISKS, kept=False, reads=False)
