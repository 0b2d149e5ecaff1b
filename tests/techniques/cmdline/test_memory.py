"""How memory is laid out: tables that are large enough to be made small, and nodes on every architecture."""

from dataclasses import replace

from bootlab.system import MachineType, System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Effect, Evidence, Measured

ALL = {technique.name: technique for technique in load_catalogue()}


def log(*lines: str) -> dict[str, str]:
    return {f"dmesg.{number}": f"[    0.000000] {line}" for number, line in enumerate(("Linux version 6.12", *lines))}


def test_small_tables_are_left_as_they_are(system: System) -> None:
    applies = ALL["cmdline_hash_entries"].change.applies
    small, large = (
        Measured(log(f"Dentry cache hash table entries: {count} (order: 3)"), {}, {}, "") for count in (4096, 32768)
    )
    assert applies(system, small) == "memory is small, and so are the tables: 4096 dentries"
    assert applies(system, large) is None
    assert applies(system, Measured({}, {}, {}, "")) is None


def test_nodes_are_not_looked_for_on_any_architecture_that_has_them(system: System, camera: System) -> None:
    technique = ALL["cmdline_numa_off"]
    nothing = Measured({}, {}, {}, "")
    arm = system.with_part("machine", type=MachineType.VIRT)
    assert technique.change.applies(system, nothing) is technique.change.applies(arm, nothing) is None
    assert technique.change.applies(camera, nothing) == "Linux knows no NUMA nodes on armv7"
    without = replace(nothing, kernel_config={"SMP": "y"})
    assert technique.change.applies(system, without) == "NUMA is off in this kernel"
    for said in ("NUMA turned off", "NUMA: NUMA disabled"):
        one, other = (Evidence(log(*lines), {}, {}, "", None) for lines in ((said,), ()))
        assert technique.proof.prove(one, other) is Effect.PROVEN
