"""A finished run of each kind, written as its verb writes it, and without a boot."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel

from bootlab.experiments.comparing import Comparison, compare_series
from bootlab.experiments.compression.result import CompressionResult
from bootlab.experiments.family import Family
from bootlab.experiments.importing import Imported, ImportedFile, ImportResult, import_document
from bootlab.experiments.lives.result import lives_result
from bootlab.experiments.packages.result import PackagesProof, PackagesResult
from bootlab.experiments.series import series_of
from bootlab.experiments.snapshot.result import clones_result, kept_result
from bootlab.experiments.store import Run, RunKind, Store
from bootlab.experiments.storm.result import storm_result
from bootlab.experiments.sweep.result import SweepResult
from bootlab.experiments.tailor.grown_code import GrownCode
from bootlab.experiments.tailor.reasons import Followed, Needed
from bootlab.experiments.tailor.result import Dropped, TailorResult, Tried
from bootlab.experiments.tailor.tailored import TailorStep
from bootlab.experiments.tailor.unused_options import Kept
from bootlab.experiments.tailor.values import TriedValue
from bootlab.experiments.trial.result import TryResult
from bootlab.findings.audit.finding import Audit, Finding, Item
from bootlab.findings.coldplug_result import ColdplugResult, Module
from bootlab.findings.device_modules import Device
from bootlab.findings.packages.owner import OwnerKind
from bootlab.findings.packages.package_costs import PackageCost, PackageCosts
from bootlab.findings.unused_result import File, UnusedPart, UnusedResult
from bootlab.importers.importer import Options
from bootlab.importers.reading.source import open_source
from bootlab.importers.registry import read_recording
from bootlab.ledger.bisect.result import BisectResult, BisectStep, GrownFunction, MeasuredState, SkippedState
from bootlab.ledger.bisect.state import BisectState
from bootlab.ledger.gate.boots import Held
from bootlab.ledger.gate.figures import GateBaseline, times_of
from bootlab.ledger.gate.judging import GateVerdict, judge_exact
from bootlab.ledger.gate.making import make_result
from bootlab.measure.host.process_use import ProcessUse
from bootlab.measure.record import BootRecord, Outcome, RestoredRecord
from bootlab.measure.record_files import write_json
from bootlab.measure.storm import Storm, StormMachine
from bootlab.snapshot.refusals import KeptFile, MemoryForm, SnapshotManifest
from bootlab.techniques.model.verdict import Verdict
from tests.cli.conftest import write_profile_run

REPORT = Path(__file__).parents[1] / "data" / "report"
LOG = Path(__file__).parents[1] / "data" / "importers" / "serial-initcall_debug.log"

AUDIT = Audit(
    system="made-up",
    total_ns=10_000_000,
    findings=[
        Finding(
            kind="sleeps in scripts",
            what="10 times a script slept",
            cost_ns=2_500_000,
            executed_ns=500_000,
            idle_ns=2_000_000,
            items=[
                Item(what=f"sleep 0.{number}, run by late", cost_ns=250_000, lasted_ns=300_000, detail="/sbin/init")
                for number in range(10)
            ],
            technique="cmdline_units_masked",
            by_hand="wait for what the script sleeps for",
        )
    ],
    nothing=["legacy ptys"],
    not_looked={"uevents": "no worker of udev was seen to open a uevent file"},
    facts={"audit_needless_units": "cron ssh"},
    goal="goal",
    run="/runs/0001",
)
"""What an audit may say."""


def boots(name: str) -> list[BootRecord]:
    """Return the boots of a fixture."""
    return [BootRecord.model_validate(item) for item in json.loads((REPORT / name).read_text())]


def written_boots(run: Run, records: list[BootRecord], prefix: str = "") -> list[BootRecord]:
    """Write boots into a run as finished ones, and return them with where they are now."""
    found = []
    for number, record in enumerate(records, 1):
        directory = run.boot_directory(f"{prefix}{number:03d}-s{record.seed}")
        moved = record.model_copy(update={"run": str(directory)})
        (directory / "record.json").write_text(moved.model_dump_json(by_alias=True))
        shutil.copyfile(REPORT / "console-6.1-microvm.log", directory / "console.log")
        found.append(moved)
    return found


def keep(run: Run, result: BaseModel) -> Run:
    """Write the result of a run."""
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return run


def boot_run(store: Store) -> Run:
    run = store.start(RunKind.BOOT, "made-up", {})
    return keep(run, written_boots(run, boots("series-before.json")[:1])[0])


def measure_run(store: Store) -> Run:
    run = store.start(RunKind.MEASURE, "made-up", {})
    return keep(run, series_of(run, written_boots(run, boots("series-before.json"))))


def try_run(store: Store) -> Run:
    result = TryResult.model_validate_json((REPORT / "try.json").read_text())
    return keep(store.start(RunKind.TRY, result.system, {}), result)


def compare_run(store: Store) -> Run:
    run = store.start(RunKind.COMPARE, "one-vs-other", {"systems": ["one.toml", "other.toml"]})
    before = written_boots(run, boots("series-before.json"), "a-")
    after = written_boots(run, boots("series-after.json"), "b-")
    return keep(run, compare_series(Family(tuple(before), tuple(before)), Family(tuple(after), fresh=tuple(after))))


def profile_run(store: Store) -> Run:
    return write_profile_run(store.root)


def audit_run(store: Store) -> Run:
    run = store.start(RunKind.AUDIT, "made-up", {"system": "made-up.toml", "paths": True})
    write_json(run.audit, AUDIT.model_dump(mode="json", by_alias=True))
    return run


def import_run(store: Store) -> Run:
    with open_source(str(LOG)) as source:
        recording = read_recording(source, Options(), None)
        source.drain()
        file = ImportedFile(source.name, recording.format, source.size, source.sha256)
    run = store.start(RunKind.IMPORT, LOG.name, {"files": [str(LOG)]})
    write_json(run.result, import_document(ImportResult((Imported(LOG.name, (file,), recording),)), str(run.path)))
    return run


def sweep_run(store: Store) -> Run:
    result = SweepResult.model_validate_json((REPORT / "sweep.json").read_text())
    return keep(store.start(RunKind.SWEEP, result.system, {}), result)


def study_run(store: Store) -> Run:
    result = CompressionResult.model_validate_json((REPORT / "compression.json").read_text())
    return keep(store.start(RunKind.STUDY, result.system, {}), result)


def comparison() -> Comparison:
    before, after = boots("series-before.json"), boots("series-after.json")
    return compare_series(Family(tuple(before), tuple(before)), Family(tuple(after), fresh=tuple(after)))


def tailor_run(store: Store) -> Run:
    run = store.start(RunKind.TAILOR, "made-up", {})
    result = TailorResult(
        system="made-up", keep=["EXT4_FS"], give_up=["mitigations"], options_before=900, options_after=650,
        gained=["NO_TESTS"], builds=2,
        steps=[
            TailorStep("as it is", 0, 900, True, "", 12_000_000, 30_000_000, 61.5, True),
            TailorStep("cut 1", 250, 0, False, "check failed: no page", None, 0, 55.0, False),
        ],
        dropped=[
            Dropped(
                option=f"DRIVER_{number}", value="n", why="never ran", bytes=1000 * number, instructions=0,
                objects=["drivers/a.o"], with_it=["HELPER"], gained=[],
            )
            for number in range(25)
        ],
        followed=[Followed("CRC64", "all that selected it went: DM")],
        kept=[Kept("EXT4_FS", "executed: ext4_mount", "used"), Kept("NET", "without it: no page", "check")],
        trials=[
            Tried(
                option="KALLSYMS", value="n", at_once=False, instructions=120_000, by_name=2, by_pointer=1,
                example="kallsyms_init",
            )
        ],
        needed=[Needed("NET", "check failed: no page")], untried=["SWAP"],
        grown=[GrownCode("cut 1", "mm/mm_init.o", "init_page", 784_225, 1_470_361, ("MAP",), "MAP", "MAP: saved")],
        values=[TriedValue("LOG_BUF_SHIFT", "12", "17", "stays", 200_000, "+0.200 ms saved")], comparison=comparison(),
        config=str(run.path / "tailored.config"), reasons=str(run.path / "reasons.txt"), kernel="/cache/bzImage",
        run=str(run.path),
    )  # fmt: skip
    return keep(run, result)


def unused_run(store: Store, *, outcome: Outcome | None = Outcome.READY) -> Run:
    run = store.start(RunKind.UNUSED, "made-up", {"system": "made-up.toml"})
    part = UnusedPart(
        files=40, bytes=5_000_000, unused_files=2, unused_bytes=1_200_000,
        # A file name need not be text.
        unused=[File(path="/usr/lib/\udcff.so", bytes=1_000_000), File(path="/usr/share/doc/a", bytes=200_000)],
        without=["/usr/lib/\udcff.so", "/usr/share/doc"], size=2_000_000, size_without=1_500_000,
    )  # fmt: skip
    result = UnusedResult(
        system="made-up", checked=True, parts={"initramfs": part}, ready_ns=12_000_000,
        ready_without_ns=11_000_000 if outcome is Outcome.READY else None, outcome_without=outcome,
        detail_without="nothing for 5 s" if outcome is Outcome.HUNG else "",
        written=str(run.path / "without.toml"), run=str(run.path),
    )  # fmt: skip
    return keep(run, result)


def packages_run(store: Store, *, verdict: Verdict = Verdict.SHORTER) -> Run:
    run = store.start(RunKind.PACKAGES, "made-up", {"paths": True})
    before = Family(tuple(boots("series-before.json")), tuple(boots("series-before.json")))
    after = Family(tuple(boots("series-after.json")))
    rows = [
        PackageCost(
            kind=OwnerKind.PACKAGE, name="late", version="1", cost_ns=2_000_000, executed_ns=1_000_000,
            idle_ns=1_000_000, gone_ns=3_000_000, gone_idle_ns=1_000_000, along=["late-plugins"], processes=2,
            programs=["/etc/init.d/late"], units=["late"], modules=["floppy"], modules_ns=500_000, initramfs_files=1,
            initramfs_bytes=10, unpacking_ns=100_000, files_read=3, read_bytes=1_234,
        ),
        PackageCost(
            kind=OwnerKind.PACKAGE, name="systemd", cost_ns=5_000_000, executed_ns=5_000_000, idle_ns=0,
            kept="it is the first process", units=[f"unit-{number}" for number in range(5)],
        ),
        PackageCost(kind=OwnerKind.PACKAGE, name="bash", cost_ns=100, executed_ns=100, idle_ns=0, kept="essential"),
        PackageCost(kind=OwnerKind.KERNEL, name="", cost_ns=2_999_000, executed_ns=2_999_000, idle_ns=0),
        PackageCost(kind=OwnerKind.UNPACKAGED, name="opt/\x1b[31m|x", cost_ns=900, executed_ns=900, idle_ns=0),
    ]  # fmt: skip
    costs = PackageCosts(
        system="made-up", total_ns=10_000_000, goal="goal", installed=7, rows=rows, silent=["idle"],
        doubts=["1 packages have no list of their files in /var/lib/dpkg/info: odd"], cpu="max", ns_per_instruction=1,
        hashes={"kernel": "1" * 64},
    )  # fmt: skip
    proof = PackagesProof(
        removed=["late"], along=["late-plugins", "libnoise"], came=["libquiet"], predicted_ns=3_000_000,
        comparison=compare_series(before, after), verdict=verdict,
    )  # fmt: skip
    return keep(run, PackagesResult(costs=costs, proof=proof, profile=str(run.path / "boots/1"), run=str(run.path)))


def coldplug_run(store: Store) -> Run:
    run = store.start(RunKind.COLDPLUG, "made-up", {"system": "made-up.toml"})
    result = ColdplugResult(
        system="made-up", kernel="6.12.1-cloud", outcome=Outcome.READY,
        devices=[
            Device("pci0000:00/0000:00:01.0", "pci:v00001AF4d00001001sv0sd0bc01sc00i00", "virtio-pci", "virtio_pci"),
            Device("platform/serial8250", "platform:serial8250", None, None),
        ],
        wanted=[Module(name=f"virtio_{number}", bytes=10_000 + number) for number in range(15)],
        at_work=["virtio_pci"], image=30, idle=[Module(name="dummy", bytes=None)],
        written=str(run.path / "devices"), run=str(run.path),
    )  # fmt: skip
    return keep(run, result)


def gate_run(store: Store) -> Run:
    run = store.start(RunKind.GATE, "made-up", {"against": "before.toml"})
    boots = [BootRecord.model_validate(item) for item in json.loads((REPORT / "series-before.json").read_text())]
    before = Family(tuple(boots), tuple(boots))
    judged = judge_exact(times_of(before, "ready"), times_of(before, "ready"), None, fresh_before=True)
    return keep(run, make_result(Held(GateBaseline("before.toml", before), before, {"ready": judged}), str(run.path)))


def bisect_run(store: Store) -> Run:
    run = store.start(RunKind.BISECT, "made-up", {"good": "a" * 40, "bad": "c" * 40})
    good, culprit, bad = (
        BisectState(name=one * 40, subject=f"Change {one}", author="Ada", date="2026-01-02") for one in "abc"
    )
    step = BisectStep(
        before=good, after=culprit, kind="commit", longer_ns=1_000_000, share=1.0, verdict=GateVerdict.LONGER,
        spread_ns=10_000, phases={"initcalls": 1_000_000}, changed=["kernel"],
        functions=[GrownFunction(name="slow_init", before_ns=0, after_ns=9, total_before_ns=0, total_after_ns=9)],
    )  # fmt: skip
    result = BisectResult(
        system="made-up", repository="/repository", good=good, bad=bad, figure="ready", clock="virtual",
        ns_per_instruction=1, cpu="max", accelerator="tcg", seeds=[1, 2, 3], verdict=GateVerdict.LONGER,
        good_ns=10_000_000, bad_ns=11_000_000, longer_ns=1_000_000, limit_ns=40_000, smallest_ns=40_000,
        spread_ns=10_000, steps=[step], unexplained_ns=0, states=5, thorough=False, not_looked_into=1,
        measured=[MeasuredState(state=good, position=0, time_ns=10_000_000, boots=8)],
        skipped=[SkippedState(state=culprit, reason="does not build")], builds=3, build_s=12.0, boots=20,
        hashes={"kernel": "0" * 64}, run=str(run.path),
    )  # fmt: skip
    return keep(run, result)


def snapshot_run(store: Store) -> Run:
    """A machine that was kept."""
    run = store.start(RunKind.SNAPSHOT, "made-up", {})
    manifest = SnapshotManifest(
        system="made-up",
        at="snapshot",
        t_ns=29_208_029,
        instructions=29_208_029,
        seed=1,
        form=MemoryForm.FILE,
        told=True,
        values={},
        hashes={},
        files={"ram": KeptFile(bytes=1 << 20, sha256="0" * 64)},
    )
    result = kept_result(manifest, 4096, 1.5, "/runs/0001/snapshot", str(run.path))
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return run


def clones_run(store: Store) -> Run:
    """Two clones of it, of which the first was restored once more."""
    run = store.start(RunKind.CLONES, "made-up", {})
    made = []
    for number, record in enumerate(written_boots(run, boots("series-before.json")[:2]), 1):
        restored = RestoredRecord(snapshot="/runs/0001/snapshot", clone=number, kept_ns=5)
        facts = {"clone": f"{number} {number:032x} made-up-{number}"}
        made.append(record.model_copy(update={"restored": restored, "facts": facts}))
    result = clones_result(made, made[0], "/runs/0001/snapshot", str(run.path))
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return run


def lives_run(store: Store) -> Run:
    """Two lives of a disk image, whose boots left no console."""
    run = store.start(RunKind.LIVES, "made-up", {})
    first, later = written_boots(run, boots("series-before.json")[:2])
    result = lives_result({1: [first], 2: [later]}, 60, str(run.path))
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return run


def storm_run(store: Store) -> Run:
    """A storm of ten machines that waited for CPUs."""
    run = store.start(RunKind.STORM, "made-up", {})
    records = written_boots(run, boots("series-before.json")[:1] * 10)
    use = ProcessUse(10_000_000, 50_000_000, 5, 1)
    machines = [StormMachine(number, 0, 0, 90_000_000, use, 900, record=one) for number, one in enumerate(records, 1)]
    result = storm_result(Storm(machines, looks=3, took_ns=90_000_000), "made-up", None, 2, str(run.path))
    write_json(run.result, result.model_dump(mode="json", by_alias=True))
    return run


RUNS: dict[RunKind, Callable[[Store], Run]] = {
    RunKind.BOOT: boot_run,
    RunKind.MEASURE: measure_run,
    RunKind.TRY: try_run,
    RunKind.COMPARE: compare_run,
    RunKind.PROFILE: profile_run,
    RunKind.AUDIT: audit_run,
    RunKind.IMPORT: import_run,
    RunKind.SWEEP: sweep_run,
    RunKind.STUDY: study_run,
    RunKind.TAILOR: tailor_run,
    RunKind.UNUSED: unused_run,
    RunKind.COLDPLUG: coldplug_run,
    RunKind.GATE: gate_run,
    RunKind.BISECT: bisect_run,
    RunKind.SNAPSHOT: snapshot_run,
    RunKind.CLONES: clones_run,
    RunKind.LIVES: lives_run,
    RunKind.STORM: storm_run,
    RunKind.PACKAGES: packages_run,
}
"""Kind -> what writes a run of it into a store."""
