"""Recorded boots that answer again: as they were, moved, ending otherwise, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import read_record
from bootlab.profile.asked.request import ProfileRequest
from bootlab.profile.recorded.about import ABOUT, PROFILE
from bootlab.report.parts.figures import clock_of
from bootlab.system import System, read_system
from bootlab.targets.boot_key import boot_key
from tests.replayed import NOISE, READY_NS, answer, own_kernel, replayed
from tests.targets.replay.record_boots import DATA, OF_THIS_HOST, SMALL, systems

OTHERWISE = {*OF_THIS_HOST, "key", "accelerator"}


def boot_once(folder: Path, system: System) -> BootRecord:
    """Boot into a new directory; a cache that is no folder shows that nothing is fetched or built."""
    prepared = prepare(Workshop(Cache(Path("/dev/null"))), system)
    directory = folder / f"boot-{len(list(folder.iterdir()))}"
    directory.mkdir()
    record = boot(prepared, directory)
    assert record == read_record(directory)
    assert record.key == prepared.key
    return record


def at(system: System, boots: Path) -> System:
    return System.model_validate({**dict(system), "target": {"kind": "replay", "boots": boots}})


@pytest.mark.parametrize("name", ["virtual/ready-s1", "wall/ready-s1", "wall/panicked-s1"])
def test_a_boot_on_record_is_found_by_its_key_and_is_what_it_was(name: str, tmp_path: Path) -> None:
    recorded = json.loads((DATA / name / "record.json").read_text())
    record = boot_once(tmp_path, at(systems()[name], (DATA / name).parent))
    again = record.model_dump(mode="json", by_alias=True)
    # Why it panicked is looked for anew, without the files that it booted from.
    assert recorded["detail"].startswith(again["detail"])
    for left_out in OTHERWISE | {"detail"}:
        del again[left_out], recorded[left_out]
    assert again == recorded
    assert record.accelerator == "replay"


def test_a_moved_boot_differs_in_nothing_before_the_move(tmp_path: Path) -> None:
    plain = boot_once(tmp_path, replayed(tmp_path / "plain"))
    fast = boot_once(tmp_path, replayed(tmp_path / "fast", answer({}, later_ns=-1_000_000)))
    slow = boot_once(tmp_path, replayed(tmp_path / "slow", answer({}, later_ns=7)))
    assert (plain.ready_ns, fast.ready_ns, slow.ready_ns) == (READY_NS, READY_NS - 1_000_000, READY_NS + 7)
    assert plain.instructions is not None and slow.instructions == plain.instructions + 7
    assert slow.idle_ns == plain.idle_ns
    assert slow.initcalls == plain.initcalls
    assert [phase.duration_ns for phase in slow.phases[:-1]] == [phase.duration_ns for phase in plain.phases[:-1]]
    assert fast.marks["init_exec"] <= READY_NS - 1_000_000


def test_on_the_wall_clock_the_console_comes_when_it_is_to(tmp_path: Path) -> None:
    system = replayed(tmp_path, answer({"seed": "4"}, later_ns=2_000_000), clock="wall")
    before, after = (boot_once(tmp_path, system.with_seed(seed)) for seed in (1, 4))
    assert before.ready_ns is not None and after.ready_ns == before.ready_ns + 2_000_000


@pytest.mark.parametrize("clock", ["virtual", "wall"])
@pytest.mark.parametrize(
    ("end", "outcome", "detail"),
    [
        ("panicked", Outcome.PANICKED, "kernel panic: as its script says"),
        ("hung", Outcome.HUNG, "not ready after 120 s on the host's clock"),
        ("not ready", Outcome.NOT_READY, "guest shutdown before ready"),
        ("check failed", Outcome.CHECK_FAILED, "bootlab: check failed: as its script says"),
        ("not started", Outcome.NOT_STARTED, "as its script says"),
        ("target died", Outcome.TARGET_DIED, "as its script says"),
    ],
)
def test_a_boot_ends_as_its_script_says(end: str, outcome: Outcome, detail: str, clock: str, tmp_path: Path) -> None:
    record = boot_once(tmp_path, replayed(tmp_path, answer({}, end=end), clock=clock))
    assert record.outcome is outcome
    assert detail in record.detail
    assert (record.ready_ns is None) and ("ready" in record.marks) is (outcome is Outcome.CHECK_FAILED)


def test_answers_hold_together_and_the_last_word_counts(tmp_path: Path) -> None:
    system = replayed(
        tmp_path,
        answer("one", later_ns=1_000, end="panicked"),
        answer({"machine.memory_mib": "^512$"}, later_ns=500, sizes={"kernel": 77}),
        answer({"kernel.cmdline": "one", "seed": "^2$"}, end="hung"),
    )
    assert boot_once(tmp_path, system.with_cmdline("one")).outcome is Outcome.PANICKED
    assert boot_once(tmp_path, system.with_cmdline("one").with_seed(2)).outcome is Outcome.HUNG
    larger = boot_once(tmp_path, system.with_part("machine", memory_mib=512))
    assert (larger.ready_ns, larger.sizes["kernel"]) == (READY_NS + 500, 77)


def test_one_script_answers_for_different_kernels_as_for_different_boots(tmp_path: Path) -> None:
    """How a kernel is made is no part of the key of a boot, but its hash is, also where nobody made one."""
    smaller = {"kernel.build": r'"SMP": "n"'}
    package = replayed(tmp_path, answer(smaller, later_ns=-1_000))
    built = own_kernel(package)
    systems = [package, built, built.with_options(SMP="n"), built.with_cmdline("idle")]
    records = [boot_once(tmp_path, system) for system in systems]
    assert [record.ready_ns for record in records] == [READY_NS, READY_NS, READY_NS - 1_000, READY_NS]
    assert len({record.key for record in records}) == 4
    # A word on the command line makes no other file.
    assert len({record.hashes["kernel"] for record in records}) == 3
    assert len({record.hashes["initramfs"] for record in records}) == 1


def test_what_is_not_on_record_is_refused(tmp_path: Path) -> None:
    on_record = at(systems()["virtual/ready-s1"], DATA / "virtual")
    with pytest.raises(InputError, match=r"target.boots: no boot of this system is on record in "):
        boot_once(tmp_path, on_record.with_cmdline("other"))
    other_seed = boot_once(tmp_path, on_record.with_seed(2))
    assert (other_seed.outcome, other_seed.detail) == (
        Outcome.NOT_STARTED,
        "no boot of this system is on record with seed 2",
    )
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no boots on record there"):
        boot_once(tmp_path, at(on_record, tmp_path / "empty"))
    with pytest.raises(InputError, match="is not the boot of a profile"):
        prepare(Workshop(Cache(tmp_path)), on_record, profile=ProfileRequest())


def test_boots_of_two_kernels_cannot_be_told_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for file in (DATA / "virtual/ready-s1").iterdir():
            (tmp_path / name / file.name).write_bytes(file.read_bytes())
    document = json.loads((tmp_path / "b/record.json").read_text())
    document["hashes"]["kernel"] = "0" * 64
    system = at(systems()["virtual/ready-s1"], tmp_path)
    (tmp_path / "b/record.json").write_text(json.dumps(document))
    assert boot_once(tmp_path, system).outcome is Outcome.READY, "a record whose key is not its own is nobody's"
    there = system.model_copy(update={"target": None})
    document["key"] = boot_key(there, document["hashes"], (tmp_path / "b/plugin.conf").read_text())
    (tmp_path / "b/record.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="differ in kernel, and a replay cannot know which"):
        boot_once(tmp_path, system)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"end": "sleepy"}, "replay.toml:answer.{}.end: Input should be"),
        ({"ends": "hung"}, "replay.toml:answer.{}.ends: Extra inputs"),
        ({"boot": "none"}, "boot: 'none' is none of the boots on record: ready-s1"),
        ({"later_ns": -READY_NS}, "would be before power-on"),
        ({"when": {"seed": "("}}, "not a regular expression"),
    ],
)
def test_a_script_that_cannot_be_played(said: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    one = answer(said.pop("when", {}), **said)
    with pytest.raises(InputError) as caught:
        boot_once(tmp_path, replayed(tmp_path, one))
    assert complaint.format(len(NOISE)) in caught.value.message


def test_a_system_file_names_its_folder(tmp_path: Path) -> None:
    """Relative to the file, as every path in it; and nothing of the system is looked for."""
    (tmp_path / "boots").symlink_to(DATA / "virtual")
    (tmp_path / "init").write_text("")
    path = tmp_path / "small.toml"
    path.write_text(f'{SMALL.read_text()}\n[target]\nkind = "replay"\nboots = "boots"\n')
    record = boot_once(tmp_path, read_system(path))
    assert (record.ready_ns, record.accelerator) == (READY_NS, "replay")
    assert "no machine ran" in clock_of([record])
    path.write_text(path.read_text().replace('"boots"', '"none"'))
    with pytest.raises(InputError, match="small.toml:target.boots: no such folder: "):
        read_system(path)


def test_what_a_profile_left_is_there_again(tmp_path: Path) -> None:
    """Every file of a profiled boot comes with it where a profile is asked for; on the plain boot none does."""
    profiled = tmp_path / "boots" / "ready-s1"
    profiled.mkdir(parents=True)
    for file in (DATA / "virtual/ready-s1").iterdir():
        (profiled / file.name).write_bytes(file.read_bytes())
    left = {f"{PROFILE}.zst": b"packed", ABOUT: b"{}", "functions.txt.zst": b"names"}
    for name, data in left.items():
        (profiled / name).write_bytes(data)
    with (profiled / "plugin.conf").open("a") as config:
        config.write("functions /somewhere/functions.txt\nspan 7\n")
    system = at(systems()["virtual/ready-s1"], profiled.parent)
    for request in (None, ProfileRequest()):
        directory = tmp_path / f"boot-{request is not None}"
        directory.mkdir()
        assert boot(prepare(Workshop(Cache(tmp_path)), system, profile=request), directory).outcome is Outcome.READY
        found = {path.name: path.read_bytes() for path in directory.iterdir() if path.name in left}
        assert found == (left if request is not None else {})
