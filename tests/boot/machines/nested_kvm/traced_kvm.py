"""A boot of KVM whose exits are recorded: a case in, what KVM's tracepoints saw of it out.

An emulated machine with AMD's SVM (QEMU, TCG) runs Debian's kernel with kvm_amd and this host's QEMU (traced_host). The
same case on the virtual clock is its prediction.
"""

import json
import re
import signal
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bootlab.build import boot_files
from bootlab.build.workshop import Workshop
from bootlab.findings.analysis import read_recorded
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.price.memory import huge_spans
from bootlab.price.rules import RuleSet
from bootlab.process import ProgramFailed, require_program, run
from bootlab.profile.asked.request import ProfileRequest
from bootlab.system import Accelerator, BootFiles, Firecracker, System
from bootlab.targets.firecracker.configuration import MachinePlaces, configuration_file, configuring_calls
from bootlab.targets.qemu.argv import RTC_BASE, qemu_argv
from bootlab.targets.qemu.wiring import Wiring
from tests.boot.machines.nested_kvm.exits import (
    Counted,
    KernelFunctions,
    count_predicted,
    count_traced,
    in_chunks,
)
from tests.boot.machines.nested_kvm.host_tree import FILES, HostTree
from tests.boot.machines.nested_kvm.ring_buffer import Format, read_events

DISK_MIB, RESULTS_MIB = 512, 512
# Of clocks that do not notice a busy host.
DEADLINE_S, PATIENCE = 3600, 30
SEVERAL_CPU_S, SEVERAL_TRIES = 150, 6
"""Of processor time that the machine may take with several CPUs, and how often it is begun anew: see `_run_host`."""
KERNEL: dict[str, object] = {"package": "linux-image-cloud-amd64", "suite": "bookworm"}
CMDLINE = "console=ttyS0 panic=-1 cryptomgr.notests nokaslr reboot=t"
EXACT_CPU = "EPYC,tcg-cpuid=off,svm=off,monitor=off,x2apic=on,ssbd=off"
"""TCG's, with the flags that KVM's EPYC shows its guest (docs/price.md)."""


@dataclass(frozen=True, slots=True)
class Case:
    """One guest. `system`: on the virtual clock; `kvm_cpu`: its CPU under KVM. `huge`: huge pages back its memory.

    `firecracker`: its program, which boots the guest under KVM in the place of QEMU. Huge pages are transparent ones
    under QEMU, and reserved ones under Firecracker. `prefault`: QEMU touches all memory before the guest runs.
    """

    name: str
    system: System
    kvm_cpu: str = "EPYC"
    huge: bool = False
    firecracker: Path | None = None
    prefault: bool = False

    @property
    def title(self) -> str:
        """Return what its table is called: its name, memory, and the pages that back that."""
        return f"{self.name}, {self.system.machine.memory_mib} MiB, pages of {'2 MiB' if self.huge else '4 KiB'}"


@dataclass(frozen=True, slots=True)
class Traced:
    """What KVM's tracepoints recorded of one case, and the guest's console. `minor_faults`: of the VMM, to its end."""

    formats: tuple[Format, ...]
    buffers: tuple[bytes, ...]
    console: str
    minor_faults: int


@dataclass(frozen=True, slots=True)
class Compared:
    """One case: as it was under KVM, and as predicted, with the record of that boot."""

    case: Case
    real: Counted
    predicted: Counted
    console: str
    record: BootRecord


def compare_case(shop: Workshop, case: Case, folder: Path, rules: RuleSet) -> Compared:
    """Boot a case under KVM, and on the virtual clock, each up to ready; `folder` has room for both."""
    traced = trace_case(shop, case, folder)
    predicted = folder / "predicted"
    predicted.mkdir()
    prepared = prepare(shop, case.system, profile=ProfileRequest(traps=True))
    record = boot(prepared, predicted, patience=PATIENCE)
    assert record.outcome is Outcome.READY, record.detail
    return count_case(case, traced, record, predicted, rules)


def count_case(case: Case, traced: Traced, record: BootRecord, predicted: Path, rules: RuleSet) -> Compared:
    """Return both counts of a case that was booted; `predicted`: the directory of its boot on the virtual clock."""
    machine = case.system.machine
    rules = rules.on(machine.type.value, machine.shape)
    profile, functions = read_recorded(record, predicted)
    slices = profile.up_to("ready")
    if case.firecracker is not None:
        # Firecracker has no firmware: what the shape's does is no part of the prediction.
        entry = profile.slice_index("image_entry")
        assert entry is not None
        slices = range(entry + 1, slices.stop)
    expected = count_predicted(profile, slices, rules)
    real = count_traced(read_events(traced.buffers, traced.formats), KernelFunctions(functions), rules)
    if case.huge:
        spans = huge_spans(machine.type.value, machine.memory_mib, machine.shape)
        for one in (expected, real):
            one.pages = in_chunks(one.pages, spans)
    return Compared(case, real, expected, traced.console, record)


def trace_case(shop: Workshop, case: Case, folder: Path) -> Traced:
    """Boot a case under KVM, and return what was recorded."""
    return trace_cases(shop, [case], folder)[0]


def trace_cases(shop: Workshop, cases: Sequence[Case], folder: Path) -> list[Traced]:
    """Boot cases of as many CPUs each, one after the other, in one machine with KVM; returns what was recorded."""
    tree = HostTree(folder / "tree")
    tree.add_qemu()
    tree.put(Path("/etc/ld.so.cache"), "/etc/ld.so.cache")
    for case in cases:
        _add_case(tree, shop, case)
    tree.to_disk(folder / "disk", DISK_MIB)
    results, console = folder / "results", folder / "host-console"
    with results.open("wb") as file:
        file.truncate(RESULTS_MIB << 20)
    _run_host(shop, cases[0].system.machine.vcpus, folder / "disk", results, console)
    said = console.read_text(errors="replace")
    assert "all cases kept" in said, said[-3000:]
    with tarfile.open(results) as archive:
        archive.extractall(folder / "traced", filter="data")
    for path in (results, folder / "disk"):
        path.unlink()
    return [read_traced(folder / "traced" / case.name) for case in cases]


def _add_case(tree: HostTree, shop: Workshop, case: Case) -> None:
    files = boot_files.prepare(shop, case.system)
    place = Path("/cases", case.name)
    assert files.initramfs is not None
    tree.put(files.kernel, place / "kernel")
    tree.put(files.initramfs, place / "initramfs")
    inside = files.model_copy(update={"kernel": place / "kernel", "initramfs": place / "initramfs"})
    transparent = case.huge and case.firecracker is None
    tree.at(place / "huge_pages").write_text("always\n" if transparent else "never\n")
    reserved = case.system.machine.memory_mib // 2 if case.huge and not transparent else 0
    tree.at(place / "reserved_pages").write_text(f"{reserved}\n")
    if case.firecracker is not None:
        _write_argv(tree, place, _firecracker_argv(tree, place, inside, case))
        return
    machine = {**case.system.machine.model_dump(exclude={"hypervisor"}), "cpu": case.kvm_cpu}
    system = System.model_validate({**dict(case.system), "machine": machine, "clock": {"kind": "wall"}})
    argv = qemu_argv(system, inside, Wiring(Path("/qmp"), Accelerator.KVM))
    argv[0] = require_program(argv[0])
    # Nobody is there to say "cont".
    argv.remove("-S")
    at = argv.index("-qmp")
    del argv[at : at + 2]
    argv += ["-mem-prealloc"] if case.prefault else []
    _write_argv(tree, place, argv)


def _write_argv(tree: HostTree, place: Path, argv: list[str]) -> None:
    tree.at(place / "argv").write_text("".join(f"{word}\n" for word in argv))


def _firecracker_argv(tree: HostTree, place: Path, files: BootFiles, case: Case) -> list[str]:
    """Put Firecracker and the file that configures it into the tree; returns its command line."""
    assert case.firecracker is not None
    tree.put(case.firecracker, "/firecracker")
    system = System.model_validate(
        {
            "name": case.name,
            "target": {
                "kind": "firecracker",
                "binary": "/firecracker",
                "api": False,
                "boot_timer": False,
                "huge_pages": "2M" if case.huge else "None",
            },
            "machine": {"memory_mib": case.system.machine.memory_mib},
            "kernel": {"image": str(files.kernel), "cmdline": case.system.kernel.cmdline},
            "booted": {"mark": "ready"},
        }
    )
    assert isinstance(system.target, Firecracker)
    config = place / "config.json"
    places = MachinePlaces(place, place / "log", place / "metrics", None, config, ())
    calls = configuring_calls(system, system.target, files, places)
    tree.at(config).write_text(json.dumps(configuration_file(calls)))
    for path in (places.log, places.metrics):
        tree.at(path).touch()
    return ["/firecracker", "--id", "counted", "--no-api", "--config-file", str(config), "--level", "Error"]


def _run_host(shop: Workshop, cpus: int, disk: Path, results: Path, console: Path) -> None:
    """Run the machine with SVM until it has kept all cases.

    It has a CPU for each of the guest's: two vCPUs that take turns on one wait for each other for ever (QEMU 10.0's
    SVM). With two CPUs that happens by chance, in two of five runs: both spin in queued_spin_lock_slowpath for the
    run queue of one of them, with interrupts off. A run that ends takes 30 to 60 s of processor time.
    """
    host = System.model_validate(
        {
            "name": "machine-with-svm",
            "machine": {"type": "q35"},
            "kernel": {**KERNEL, "entry": "pvh"},
            "initramfs": {
                "init": FILES / "traced_host",
                "modules": ["virtio_pci", "virtio_blk", "ext4", "kvm_amd"],
                "compression": "none",
            },
            "booted": {"mark": "ready"},
        }
    )
    files = boot_files.prepare(shop, host)
    assert files.initramfs is not None
    argv: list[str | Path] = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    argv += ["-machine", "q35", "-cpu", "max", "-m", "2048", "-smp", str(cpus)]
    # On the virtual clock it does not notice how busy its own host is, and the same cases give the same traces.
    argv += ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-seed", "1"]
    argv += ["-rtc", f"base={RTC_BASE},clock=vm"]
    argv += ["-serial", f"file:{console}"]
    argv += ["-kernel", files.kernel, "-initrd", files.initramfs]
    argv += ["-append", "console=ttyS0 panic=-1 cryptomgr.notests no_timer_check mitigations=off loglevel=4"]
    for name, path in (("disk", disk), ("results", results)):
        argv += ["-drive", f"if=none,id={name},format=raw,file={path}", "-device", f"virtio-blk-pci,drive={name}"]
    if cpus == 1:
        run(argv, deadline_s=DEADLINE_S)
        return
    for number in range(1, SEVERAL_TRIES + 1):
        try:
            # The soft limit alone: at the hard one the kernel kills, and who was killed is not known by its status.
            run(["prlimit", f"--cpu={SEVERAL_CPU_S}:", *argv], deadline_s=DEADLINE_S)
            return
        except ProgramFailed as error:
            if number == SEVERAL_TRIES or error.exit_status != -signal.SIGXCPU:
                raise
            print(f"run {number}: the emulated machine did not end in {SEVERAL_CPU_S} s of processor time: begun anew")


def read_traced(folder: Path) -> Traced:
    """Return what was recorded of a case. Raises AssertionError where the trace lost an event."""
    for path in folder.glob("*.lost"):
        lost = [line for line in path.read_text().splitlines() if not line.endswith(": 0")]
        assert not lost, f"{path.name}: {lost}"
    return Traced(
        tuple(Format.parse(path.read_text()) for path in sorted(folder.glob("*.format"))),
        tuple(path.read_bytes() for path in sorted(folder.glob("*.pages"))),
        (folder / "console").read_text(errors="replace"),
        read_minor_faults((folder / "usage").read_text()),
    )


def read_minor_faults(usage: str) -> int:
    """Return the faults of a program that found their page, or one to clear, in memory, as `time -v` tells them."""
    found = re.search(r"Minor \(reclaiming a frame\) page faults: (\d+)", usage)
    assert found is not None, usage
    return int(found[1])


def traced_system(name: str, machine: dict[str, object], kernel: dict[str, object]) -> System:
    """Return the system of a case: a guest that does a little work, on a clock that is charged for a nested host."""
    return System.model_validate(
        {
            "name": name,
            "machine": {"cpu": EXACT_CPU, "memory_mib": 128, "hypervisor": "kvm", **machine},
            "clock": {"host_model": "nested"},
            "kernel": {"entry": "pvh", "cmdline": CMDLINE, **kernel},
            "initramfs": {"init": FILES / "traced_guest.c", "busybox": False, "compression": "none"},
            "booted": {"mark": "ready", "deadline_s": 120},
        }
    )
