"""Boots that begin at a mark where another's machine was kept are the boots from power-on, to the instruction.

A stock kernel on q35 with an ext4 root on a virtio disk, whose application reads files of its own behind the mark.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.experiments.from_mark import FromMark, beginning_at, differences
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.measure.place import Here
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import read_record
from bootlab.report.parts.figures import mib, ms, percent
from bootlab.report.parts.markdown import markdown_table, plain, prose
from bootlab.snapshot.blocks import ChangedDisk, compare_disks
from bootlab.system import System, read_system
from bootlab.targets.target import Prepared
from tests.handed_over import Table

pytestmark = [pytest.mark.boot, pytest.mark.network]

INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t tmpfs tmpfs /tmp
read -r turns </etc/early
echo -n "half a line "
bootlab-mark late
read -r turns </app/turns
while [ $turns -gt 0 ]; do turns=$((turns-1)); done
cat /app/table >/tmp/table
echo "and its end"
bootlab-mark ready
echo "bootlab: fact table $(wc -c </tmp/table)"
echo "bootlab: check ok"
sleep 1000
"""
SYSTEM = """
name = "late"
extensions = ["extension"]
[machine]
type = "q35"
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
entry = "pvh"
cmdline = "console=ttyS0 panic=-1 edd=off cryptomgr.notests no_timer_check quiet root=/dev/vda init=/init"
[initramfs]
mount_root = true
compression = "none"
modules = ["ext4", "virtio_pci", "virtio_blk"]
[rootfs]
init = "init"
late = ["/app"]
late_mib = 3
[rootfs.texts]
"/app/turns" = "300\\n"
"/app/table" = "a table\\n"
"/etc/early" = "1\\n"
[booted]
mark = "ready"
[check]
console = "bootlab: check ok"
"""
TECHNIQUE = '''"""Fewer turns of an application."""

from bootlab.system import System
from bootlab.techniques.changes.root_files import with_root_files
from bootlab.techniques.model.evidence import Effect, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text, everywhere


def _apply(system: System, measured: Measured) -> System:
    return with_root_files(system, {"/app/turns": "10\\n"})


TECHNIQUES = (
    Technique(
        name="application_fewer_turns",
        text=Text(
            summary="lets the application go round less often",
            mechanism="It does less of what it does. What it went round for is nothing, so nobody misses it.",
            cost="nothing: the rounds do nothing",
            risk=Risk.NONE,
            published=(none_published("an application that was made for this"),),
        ),
        change=Change(Layer.APPLICATION, "/app/turns in the root", _apply, everywhere),
        proof=Proof(lambda after, before: Effect.NOT_SHOWN),
    ),
)
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("late")
    (folder / "init").write_text(INIT)
    (folder / "init").chmod(0o755)
    (folder / "extension/techniques/application").mkdir(parents=True)
    (folder / "extension/techniques/application/turns.py").write_text(TECHNIQUE)
    (folder / "late.toml").write_text(SYSTEM)
    return folder / "late.toml"


@pytest.fixture(scope="module")
def system(file: Path) -> System:
    return read_system(file)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Store(tmp_path).start(RunKind.TRY, "late", {})


@pytest.fixture
def beginnings(run: Run) -> Iterator[FromMark]:
    with beginning_at(run, "late", lambda line: None) as found:
        assert found is not None
        yield found


def made(system: System, **texts: str) -> Prepared:
    assert system.rootfs is not None
    known = {name.replace("__", "/"): text for name, text in texts.items()}
    changed = system.with_part("rootfs", texts={**system.rootfs.texts, **known})
    return prepare(Workshop(Cache.default()), changed).with_seed(1)


def booted(beginnings: FromMark, prepared: Prepared, label: str, *, keeps: bool = False) -> BootRecord:
    return beginnings.boot(Here(1), prepared, label, lambda: False, keeps=keeps)


def test_a_boot_from_the_mark_is_the_boot_from_power_on(system: System, run: Run, beginnings: FromMark) -> None:
    base = booted(beginnings, made(system), "base", keeps=True)
    assert base.outcome is Outcome.READY and base.began is not None
    assert base.began.mark == "late" and base.marks["late"] == base.began.t_ns
    whole = Here(1).boot(made(system), run.boot_directory("whole"), lambda: False)
    assert whole.began is None and whole.key == base.key and differences(base, whole) == []
    # How far a machine comes that is ended from outside is not to be repeated.
    traces = [(run.path / f"boots/{label}/trace.txt").read_text().partition("\nend ")[0] for label in ("base", "whole")]
    assert "guest ready" in traces[0] and traces[0] == traces[1]
    # Another application: more files, another length, less work.
    other = made(system, __app__turns="2\n", __app__table="longer\n" * 40_000, __app__more="another file\n")
    changed = booted(beginnings, other, "changed")
    assert changed.began is not None and changed.ready_ns is not None and base.ready_ns is not None
    assert changed.marks["late"] == base.marks["late"] and changed.ready_ns < base.ready_ns
    assert changed.facts["table"] == "280000"
    both = read_record(run.path / "boots/both-ways-changed")
    assert both.began is None and differences(changed, both) == []
    assert (result := beginnings.result()).checked == "equal" and result.began == 2 and result.kept == 1


def test_what_differs_before_the_mark_is_powered_on_and_counted(system: System, beginnings: FromMark) -> None:
    booted(beginnings, made(system), "base", keeps=True)
    early = booted(beginnings, made(system, __etc__early="2\n"), "early")
    words = made(system.with_cmdline("bootlab.null=1"))
    assert early.began is None and booted(beginnings, words, "words").began is None
    assert beginnings.result().powered_on == {
        "rootfs: changed where it was read before late": 1,
        "another kernel.cmdline": 1,
    }


def test_where_the_rule_is_wrong_the_boot_run_both_ways_says_so(system: System, beginnings: FromMark) -> None:
    booted(beginnings, made(system), "base", keeps=True)
    (kept,) = beginnings._kept.values()
    assert kept is not None
    # As if nothing had been read: the file that was is taken for the same.
    kept.known = [[]]
    changed = booted(beginnings, made(system, __etc__early="12345\n", __app__turns="5\n"), "wrong")
    result = beginnings.result()
    assert changed.began is None, "what counts is the boot from power-on"
    assert "from the mark" in result.checked and result.given_up.startswith("wrong, run both ways, differs: ")
    assert result.began == 1 and "; 1 boots that began there are in the figures" in result.given_up
    assert booted(beginnings, made(system), "later").began is None
    assert "no more of them" in next(iter(beginnings.result().powered_on))


def test_a_mark_that_never_comes_is_asked_for_once(system: System, run: Run) -> None:
    with beginning_at(run, "never", lambda line: None) as beginnings:
        assert beginnings is not None
        for label in ("first", "second"):
            assert booted(beginnings, made(system), label, keeps=True).outcome is Outcome.READY
        result = beginnings.result()
        assert result.began == result.kept == 0 and "mark never: not reached" in result.given_up


def test_random_numbers_of_the_processor_are_those_of_the_boot_from_power_on(
    file: Path, tmp_path: Path, run: Run, beginnings: FromMark
) -> None:
    """The kernel mixes in new ones of the processor's after a second, and QEMU's row of them begins anew."""
    drawn = 'echo "bootlab: fact drawn $(cat /proc/sys/kernel/random/uuid)"'
    init = INIT.replace('echo "and its end"', f"sleep 3\n{drawn}")
    (tmp_path / "init").write_text(init)
    (tmp_path / "init").chmod(0o755)
    system = read_system(file).with_part("rootfs", init=tmp_path / "init")
    base = booted(beginnings, made(system), "base", keeps=True)
    whole = Here(1).boot(made(system), run.boot_directory("whole"), lambda: False)
    assert base.began is not None and differences(base, whole) == [] and "drawn" in base.facts
    (kept,) = beginnings._kept.values()
    assert kept is not None
    # Without its place in the row the boot that goes on says so, and what counts is the one from power-on.
    state = kept.beginning.folder / "random-state"
    assert int(state.read_text()) > 0
    state.unlink()
    other = booted(beginnings, made(system, __app__table="another\n"), "other")
    assert other.began is None and other.outcome is Outcome.READY
    assert "random numbers" in (result := beginnings.result()).given_up and result.began == 1
    traced = (run.path / "boots/other.unfinished-1/trace.txt").read_text()
    assert "\nrefused random " in traced


def test_a_state_of_a_disk_that_cannot_be_taken_up_ends_the_boot(
    system: System, run: Run, beginnings: FromMark
) -> None:
    """A guest whose disk's ring is not what it says would do harm."""
    modelled = system.with_part("rootfs", model="hdd")
    base = booted(beginnings, made(modelled), "base", keeps=True)
    whole = Here(1).boot(made(modelled), run.boot_directory("whole"), lambda: False)
    assert base.began is not None and differences(base, whole) == [] and base.disks[0].reads > 0
    (kept,) = beginnings._kept.values()
    assert kept is not None
    state = kept.beginning.folder / "disks-state"
    state.write_bytes(state.read_bytes()[:-1])
    other = booted(beginnings, made(modelled, __app__turns="2\n"), "other")
    assert other.began is None and other.outcome is Outcome.READY
    assert "disks-state: Invalid argument" in (run.path / "boots/other.unfinished-1/qemu.stderr").read_text()


def test_a_machine_that_cannot_be_kept_is_powered_on(system: System, beginnings: FromMark) -> None:
    prepared = made(system)
    wall = replace(prepared, system=prepared.system.with_part("machine", page_size="4K"))
    assert booted(beginnings, wall, "pages", keeps=True).outcome is Outcome.READY
    assert "machine.page_size" in beginnings.result().given_up


CHANGES = {
    "other content of the same length": {"__app__table": "b" * 5000},
    "one byte longer, as many blocks": {"__app__table": "a" * 5001},
    "5,000 to 9,000 bytes": {"__app__table": "a" * 9000},
    "5,000 to 90 bytes": {"__app__table": "a" * 90},
    "one file more": {"__app__more": "another file\n"},
}
"""Changes of an application whose file has 5,000 bytes."""


def test_a_late_part_leaves_alone_what_was_read_before_the_mark(system: System, tmp_path: Path, table: Table) -> None:
    """Of a root as usual nearly every change of a file is one of what had been read as well."""
    found: dict[str, dict[str, ChangedDisk]] = {}
    boots, read = [], []
    for name, late in (("as usual", ()), ('`late = ["/app"]`', ("/app",))):
        base = system.with_part("rootfs", late=late, size_mib=10)
        run = Store(tmp_path).start(RunKind.TRY, "late", {})
        with beginning_at(run, "late", lambda line: None) as beginnings:
            assert beginnings is not None
            boots.append((name, [booted(beginnings, made(base, __app__table="a" * 5000), "base", keeps=True)]))
            (kept,) = beginnings._kept.values()
            assert kept is not None
            ((disk,), (known,)) = kept.prepared.files.disks, kept.known
            read.append(f"{mib(sum(end - begin for begin, end in known))} MiB {name}")
            found[name] = {
                what: compare_disks(disk, made(base, **{"__app__table": "a" * 5000, **texts}).files.disks[0], known)
                for what, texts in CHANGES.items()
            }
    usual, apart = found.values()
    assert not any(one.known for one in apart.values()) and all(one.changed for one in apart.values())
    assert [what for what, one in usual.items() if not one.known] == ["other content of the same length"]
    titles = ["a file of the application", *(f"{name}: changed, known>" for name in found)]
    rows = [[what, *(f"{one[what].changed}, {one[what].known}" for one in found.values())] for what in CHANGES]
    table(f"{markdown_table(titles, rows)}\n\nRead before the mark: {', '.join(read)}.", boots=boots)


def _hand_over_trials(table: Table, through: dict[str, Any], without: dict[str, Any]) -> None:
    """Hand over what two trials of the same took on this host, and what their boots had in common."""
    costs = [one["cost"] for one in (through, without)]
    took = {
        "whole trial": "elapsed_s",
        "in which boots ran": "booting_s",
        "of each boot from start to end, added up, but for those that machines were kept in": "qemu_s",
    }
    rows = [[what, *(f"{cost[key]:.1f}" for cost in costs)] for what, key in took.items()]
    told, baseline = through["from_mark"], [read_record(Path(one["baseline_run"])) for one in (through, without)]
    why = ", ".join(f"{number} for {plain(reason)}" for reason, number in told["powered_on"].items())
    saved = next(one["saved_ns"] for one in through["alone"] if one["technique"] == "application_fewer_turns")
    ready_ns = through["baseline"]["ready_ns"]
    said = (
        f"Boots: {costs[0]['boots']} and {costs[1]['boots']}, {costs[0]['parallel']} at once. Through the mark "
        f"{told['began']} boots began there, and others were powered on: {why}; {told['kept']} machines were kept. "
        f"In both the baseline is ready at {ms(ready_ns)} ms, the mark is at "
        f"{percent(baseline[0].marks['late'], ready_ns)} % of it, and the technique saves {ms(saved)} ms."
    )
    titles = ["host seconds", "from the mark>", "without>"]
    table(f"{markdown_table(titles, rows)}\n\n{prose(said)}", boots=[("baseline", baseline)], host=True)


def test_a_trial_from_a_mark_has_the_figures_of_one_without(file: Path, tmp_path: Path, table: Table) -> None:
    results = []
    for more in (["--from-mark", "late"], []):
        words = ["try", file, "application_fewer_turns", "cmdline_rcu_expedited", "--no-stack", "--nulls", "3"]
        argv = [sys.executable, "-m", "bootlab", *words, *more, "--runs", tmp_path, "--json"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=3600)
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout))
    through, without = results
    _hand_over_trials(table, through, without)
    told = through.pop("from_mark")
    assert told["checked"] == "equal" and told["began"] >= 4 and "another kernel.cmdline" in told["powered_on"]
    assert "from_mark" not in without
    of_the_host = ("cost", "host", "run", "baseline_run")
    for result in results:
        for key in of_the_host:
            result.pop(key)
    assert _without_runs(through) == _without_runs(without)


def test_a_comparison_from_a_mark_has_the_figures_of_one_without(file: Path, tmp_path: Path) -> None:
    """The disks of both sides take the time of a real one."""
    text = file.read_text().replace('late = ["/app"]', 'late = ["/app"]\nmodel = "hdd"')
    sides = []
    for turns in ("300", "9"):
        sides.append(file.with_name(f"turns-{turns}.toml"))
        sides[-1].write_text(text.replace('"300\\n"', f'"{turns}\\n"'))
    results = []
    for more in (["--from-mark", "late"], []):
        argv = [sys.executable, "-m", "bootlab", "compare", *sides, "-n", "3", *more, "--runs", tmp_path, "--json"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=3600)
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout))
    through, without = results
    told = through.pop("from_mark")
    assert told["checked"] == "equal" and told["began"] >= 6 and "another kernel.cmdline" in told["powered_on"]
    assert "from_mark" not in without and through["verdict"] == "shorter"
    for result in results:
        for key in [key for key in result if key.endswith("_runs")]:
            result.pop(key)
    assert through == without


def _without_runs(value: object) -> object:
    """Return a result without the folders of its boots."""
    if isinstance(value, dict):
        return {key: _without_runs(inner) for key, inner in value.items() if key != "run"}
    return [_without_runs(inner) for inner in value] if isinstance(value, list) else value
