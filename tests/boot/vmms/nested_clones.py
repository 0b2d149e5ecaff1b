"""What the tests of machines that real VMMs keep share: the systems, what is asked, and what clones must show."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bootlab.build import boot_files
from bootlab.build.workshop import Workshop
from bootlab.measure.record import BootRecord, Outcome
from bootlab.report.parts.figures import count, ms
from bootlab.report.parts.markdown import markdown_table, prose
from bootlab.system import read_system
from tests.boot.machines.nested_kvm.host_tree import ROOT, HostTree
from tests.boot.verbs.test_snapshots import INIT
from tests.boot.vmms.nested_vmms import (
    BOOTED,
    BOOTS,
    DISK,
    debian,
    files_of,
    put_files,
    spread_words,
    told_document,
    write_systems,
)
from tests.handed_over import Table

# Its memory is read and hashed by each verb, in emulation.
MEMORY_MIB = 48
STEPS = ("VMM start", "API", "snapshot load")
MANY = ("--from", "last", "--clones", str(BOOTS))
_SMALL = f"[machine]\nmemory_mib = {MEMORY_MIB}\n"
_TOLD = "[snapshot]\nwoken_at = 2027-01-15\n"


def add_kept_systems(
    tree: HostTree, shop: Workshop, folder: Path, target: str, own: Mapping[str, str], *, bus: str, words: str = ""
) -> None:
    """Put the systems that are kept inside into the tree, with a cache that has all that is made of them.

    `target`: the table [target]. `own`: of systems that differ from `warm` by its keys, name -> what is added to it.
    `bus`: the disk's; `words`: more of the stock kernel's command line.
    """
    kind = target.partition('kind = "')[2].partition('"')[0]
    warm = boot_files.prepare(shop, read_system(ROOT / "examples" / kind / "snapshot.toml"))
    kept = debian(shop, INIT, folder, bus=bus, agent=True)
    put_files(tree, {"warm": warm, "kept": kept})
    tree.at("/systems/other-disk").write_bytes(kept.disks[0].read_bytes()[:-1] + b"x")
    small = _SMALL + files_of("warm")
    stock = target + files_of("kept", f"console=ttyS0 panic=-1{words} cryptomgr.notests quiet")
    write_systems(
        tree,
        {
            "warm": target + small + _TOLD + BOOTED,
            "untold": target + small + BOOTED,
            **{name: target + keys + small + _TOLD + BOOTED for name, keys in own.items()},
            "kept": stock + DISK.format("disk") + _TOLD + BOOTED,
            "other": stock + DISK.format("other-disk") + _TOLD + BOOTED,
        },
    )


def verbs_of_clones(own: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return what bootlab is asked inside, by name. `own`: of one VMM alone, while `warm` is the last machine kept."""
    return {
        "cold": ["boot", "/systems/warm.toml"],
        "keep": ["snapshot", "/systems/warm.toml"],
        "clone": ["boot", "/systems/warm.toml", "--from", "last", "--clone", "7"],
        "clones": ["boot", "/systems/warm.toml", *MANY],
        "beside": ["boot", "/systems/warm.toml", "--from", "last", "--clones", "4", "--parallel", "4"],
        **{name: list(words) for name, words in own.items()},
        "untold_keep": ["snapshot", "/systems/untold.toml", "--at", "snapshot"],
        "untold_clone": ["boot", "/systems/untold.toml", "--from", "last"],
        "disk_keep": ["snapshot", "/systems/kept.toml"],
        "disk_clones": ["boot", "/systems/kept.toml", "--from", "last", "--clones", "2"],
        "other_disk": ["boot", "/systems/other.toml", "--from", "last"],
        "other_machine": ["boot", "/systems/warm.toml", "--from", "last"],
    }


def expect_kept(told: Mapping[str, Any], files: set[str]) -> None:
    """Expect a machine that was kept where its agent waits, as these files, and one with a disk with that besides."""
    kept = told_document(told, "keep")
    assert kept["told"] and kept["instructions"] is None and set(kept["bytes"]) == files
    assert kept["bytes"]["ram"] == MEMORY_MIB << 20 and 0 < kept["bytes_on_disk"] < MEMORY_MIB << 20
    assert 0 < kept["kept_ns"] < BootRecord.model_validate(told_document(told, "cold")).marks["ready"] * 10
    print(f"kept at {kept['kept_ns'] / 1e6:.1f} ms, {kept['late_ns'] / 1e6:.1f} behind; {kept['bytes_on_disk']} bytes")
    assert set(told_document(told, "disk_keep")["bytes"]) == {*files, "disk0"}


def expect_clone(told: Mapping[str, Any], name: str, number: int) -> BootRecord:
    """Expect a clone that goes on and is who it was told to be, sooner than the machine is up from power-on."""
    cold, clone = (BootRecord.model_validate(told_document(told, one)) for one in ("cold", name))
    assert clone.restored is not None and clone.restored.clone == number
    said, _, host = clone.facts["clone"].split()
    assert said == str(number) and host.endswith(f"-{number}")
    assert 0 < clone.marks["woke"] < clone.marks["ready_clone"] < cold.marks["ready"]
    print(f"cold: ready {cold.marks['ready'] / 1e6:.1f} ms; {name}: {clone.marks['ready_clone'] / 1e6:.1f} ms")
    assert clone.vmm is not None and [step.name for step in clone.vmm.launch] == list(STEPS)
    return clone


def expect_clones(told: Mapping[str, Any], name: str) -> list[BootRecord]:
    """Expect clones that are ready and all different; returns their records."""
    found = told_document(told, name)
    assert found["alike"] == [] and found["again"] is None
    records = [BootRecord.model_validate(one) for one in found["boots"]]
    assert all(record.outcome is Outcome.READY for record in records)
    return records


def hand_over_clones(told: Mapping[str, Any], columns: Mapping[str, str], table: Table) -> None:
    """Hand over what each part of these clones took, by what they are called, and where their machine was kept."""
    kinds = {title: expect_clones(told, name) for title, name in columns.items()}
    rows = [
        [step, *(spread_words(_step_ns(records, at)) for records in kinds.values())] for at, step in enumerate(STEPS)
    ]
    for mark in ("woke", "ready_clone"):
        times = ([record.marks[mark] for record in records] for records in kinds.values())
        rows.append([f"restored to `{mark}`", *(spread_words(one) for one in times)])
    kept = told_document(told, "keep")
    said = (
        f"ms, median of {BOOTS} clones each, one after the other, least to most. The cold boot stood still "
        f"{ms(kept['kept_ns'])} ms from power-on, {ms(kept['late_ns'])} behind its mark at most; the snapshot took "
        f"{count(kept['bytes_on_disk'])} bytes on disk."
    )
    text = markdown_table(["", *(f"{title}>" for title in kinds)], rows)
    table(f"{text}\n\n{prose(said)}", boots=[*kinds.items()], host=True)


def _step_ns(records: Sequence[BootRecord], at: int) -> list[int]:
    return [record.vmm.launch[at].duration_ns for record in records if record.vmm is not None]


def expect_disks_taken_up(told: Mapping[str, Any]) -> None:
    """Expect a mounted disk in each clone as it was kept, which can be written to."""
    records = told_document(told, "disk_clones")["boots"]
    assert len(records) == 2
    for number, record in enumerate(records, 1):
        host, machine, year = record["facts"]["told"].split()
        assert host.endswith(f"-{number}") and len(machine) == 32 and year == "2027"
        assert record["facts"]["wrote"] == "11"


def expect_others_refused(told: Mapping[str, Any]) -> None:
    """Expect a changed disk and another machine refused."""
    assert told["other_disk"]["code"] == 2 and "disk0: has changed" in told["other_disk"]["error"]
    assert told["other_machine"]["code"] == 2 and "kept of another machine" in told["other_machine"]["error"]
    assert "another kernel" in told["other_machine"]["error"]


def expect_untold_goes_on(told: Mapping[str, Any]) -> None:
    """Expect a machine that is told nothing to go on as if it had never been kept."""
    assert not told_document(told, "untold_keep")["told"]
    clone = BootRecord.model_validate(told_document(told, "untold_clone"))
    assert clone.outcome is Outcome.READY and clone.restored is not None and clone.restored.clone is None
