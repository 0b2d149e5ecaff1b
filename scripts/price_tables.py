"""`scripts/price-tables`: boot known kernels under every host model, and write what that comes to as a page of docs/.

Each boot is charged by its model, so that ticks and polls are as many as on that host. A boot is kept under --boots by
its key: an interrupted run goes on. Once they are measured, `scripts/publish --gathered` records the page's tables.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import BootlabError
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.record_files import read_record
from bootlab.price.classes import CLASSES, FAULT_2M, FAULT_4K
from bootlab.price.host_model import NAMED
from bootlab.report.parts.figures import COUNTED, count, ms, short_hash
from bootlab.report.parts.markdown import markdown_table, prose
from bootlab.sources import PATCHES
from bootlab.system import PageSize, System, read_system

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "cases" / "price.md"
_CPU = "EPYC,tcg-cpuid=off,svm=off,monitor=off,x2apic=on,ssbd=off"


@dataclass(frozen=True, slots=True)
class Row:
    """A system of the table.

    `shape`: on a machine near Firecracker's; `without`: options that its kernel is built without; `words`: put before
    its command line.
    """

    what: str
    file: str
    shape: bool = False
    without: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step from ours to its limit: what it changes, and what it takes from whom, "" for nothing."""

    what: str
    gives_up: str
    words: str = ""
    patch: str = ""
    option: str = ""

    def taken(self, system: System) -> System:
        """Return the system with this step."""
        assert system.kernel.build is not None
        build = dict(system.kernel.build)
        if self.patch:
            build["patches"] = (*system.kernel.build.patches, PATCHES / "linux" / self.patch)
        if self.option:
            build["options"] = {**system.kernel.build.options, self.option: True}
        cmdline = f"{self.words} {system.kernel.cmdline}" if self.words else system.kernel.cmdline
        return system.with_part("kernel", build=build, cmdline=cmdline)


LIMIT = "examples/microvm/limit.toml"
STEPS = (
    Step(
        "`noapic`: interrupts by the old controller",
        "an interrupt takes more exits while the system runs; one CPU only",
        words="noapic",
    ),
    Step("`pvh-without-xen.patch`", "on Xen it ends without a word", patch="pvh-without-xen.patch"),
    Step("`cpuid-once.patch`", "", patch="cpuid-once.patch"),
    Step("`direct-map-unset.patch`", "", patch="direct-map-unset.patch"),
    Step("`alternatives-undecoded.patch`", "", patch="alternatives-undecoded.patch"),
    Step(
        "`printk-forget-quiet.patch`",
        "in dmesg, what is less than a warning",
        patch="printk-forget-quiet.patch",
        option="PRINTK_FORGET_QUIET",
    ),
    Step(
        "`serial-known-16550a.patch`",
        "serial ports that are not there are not noticed",
        patch="serial-known-16550a.patch",
        option="SERIAL_8250_KNOWN_16550A",
    ),
    Step(
        "`initmem-kept.patch`",
        "memory that only the kernel's start needs is not given back",
        patch="initmem-kept.patch",
        option="KEEP_INITMEM",
    ),
    Step("`ioapic-unasked.patch`", "", patch="ioapic-unasked.patch"),
    Step(
        "`lapic-fresh.patch`",
        "after kexec, interrupts that were pending before arrive",
        patch="lapic-fresh.patch",
    ),
    Step("`cacheinfo-unseen.patch`", "", patch="cacheinfo-unseen.patch"),
    Step("`bss-unpadded.patch`", "", patch="bss-unpadded.patch"),
    Step(
        "`ip-idents-unfilled.patch`",
        "two CPUs at a bucket's first packet: the second may have an identifier near 0",
        patch="ip-idents-unfilled.patch",
    ),
    Step(
        "`i8259-emulated.patch`",
        "a hypervisor that hands a real 8259A to its guest",
        patch="i8259-emulated.patch",
    ),
)
"""From examples/microvm.toml to LIMIT, each on top of those before."""
STEP_MODEL = "lean"
ASKED = {"instructions": 6_000_000, "exits": 300, "pages of 4 KiB": 1_000, "or chunks of 2 MiB": 12}
"""Of LIMIT, up to the first instruction of its program."""

_PUBLISHED = "published microVM configuration"
_OURS = Row("ours", "examples/microvm.toml", shape=True)
ROWS = (
    Row("Debian 12, stock cloud kernel", "examples/debian-cloud.toml"),
    Row("Debian 13, stock cloud kernel", "examples/debian-13-cloud.toml"),
    # Its clock for PTP asks KVM by a hypercall as the kernel starts, an instruction that TCG's CPU has not got.
    Row(
        "Firecracker's recommended configuration",
        "examples/microvm/firecracker/0-recommended.toml",
        without=("PTP_1588_CLOCK_KVM",),
        words="nolapic_timer",
    ),
    Row(_PUBLISHED, "examples/microvm/peer-pit.toml", shape=True),
    _OURS,
    Row("ours at its limit", LIMIT, shape=True),
)
PUBLISHED_MS = {
    (128, "4K"): 8.8, (128, "2M"): 5.95, (1024, "4K"): 16.9, (1024, "2M"): 7.95, (2048, "4K"): 25.1, (2048, "2M"): 11.1,
}  # fmt: skip
"""D. Ventura, "Minimizing Linux boot times" (2024): MiB and pages -> ms from the start of the kernel to PID 1."""
_PEER = "examples/microvm/peer-pit.toml"


def main(argv: Sequence[str]) -> int:
    """Run the script and return its exit code."""
    parser = argparse.ArgumentParser(prog="scripts/price-tables")
    parser.add_argument("--output", type=Path, default=PAGE, help="the page to write [default: docs/cases/price.md]")
    parser.add_argument("--boots", type=Path, default=None, help="where boots are kept [default: thrown away]")
    parser.add_argument(
        "--leave-out", action="append", default=[], metavar="FILE", help="a system not to boot, as the page then says"
    )
    wanted = parser.parse_args(argv)
    unknown = [file for file in wanted.leave_out if file not in [row.file for row in ROWS]]
    if unknown:
        files = ", ".join(row.file for row in ROWS)
        print(f"price-tables: error: --leave-out {unknown[0]}: no row of the table: {files}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="price-tables-") as folder:
        boots = Boots(wanted.boots or Path(folder))
        try:
            text = page(boots, [row for row in ROWS if row.file not in wanted.leave_out])
        except BootlabError as error:
            print(f"price-tables: error: {error.message}" + (f"; {error.hint}" if error.hint else ""), file=sys.stderr)
            return 1
    try:
        wanted.output.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"price-tables: error: --output {wanted.output}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


class Boots:
    """Boots systems once, each into a folder that is called after its key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shop = Workshop(Cache.default(), tell=lambda words: print(f"  {words}", file=sys.stderr))
        self.records: list[BootRecord] = []

    def boot(self, system: System, what: str) -> BootRecord:
        """Return the record of a boot up to ready. Raises BootlabError where it was not ready."""
        prepared = prepare(self._shop, system.model_copy(update={"check": None}))
        folder = self._folder / prepared.key[:20]
        if (folder / "record.json").exists():
            record = read_record(folder)
        else:
            print(f"booting {what}", file=sys.stderr)
            folder.mkdir(parents=True, exist_ok=True)
            record = boot(prepared, folder, patience=20)
        if record.outcome is not Outcome.READY or record.price is None:
            raise BootlabError(f"{what}: {record.outcome}: {record.detail} ({folder})")
        self.records.append(record)
        return record


def seen_by_kvm(row: Row) -> System:
    """Return the system of a row as a guest of KVM sees its machine."""
    system = read_system(ROOT / row.file)
    if row.without:
        assert system.kernel.build is not None
        options = {**system.kernel.build.options, **dict.fromkeys(row.without, False)}
        system = system.with_part("kernel", build={**dict(system.kernel.build), "options": options})
    if row.words:
        system = system.with_part("kernel", cmdline=f"{row.words} {system.kernel.cmdline}")
    if not row.shape:
        return system.with_part("machine", hypervisor="kvm", cpu=_CPU)
    options = {key: value for key, value in system.machine.options.items() if key != "acpi"}
    given = {"shape": "firecracker", "memory_mib": system.machine.memory_mib, "options": options}
    return System.model_validate({**dict(system), "machine": given})


def kernel_ns(record: BootRecord) -> int:
    """Return the price from the kernel's first instruction to that of PID 1: what was published."""
    without = ("firmware", "user space")
    return sum(one.price_ns or 0 for one in record.phases if one.name not in without)


def page(boots: Boots, rows: Sequence[Row]) -> str:
    """Return the page, with these of ROWS."""
    published, huge = published_table(boots)
    least, most = min(huge), max(huge)
    prices = prices_table(boots, rows)
    left_out = [row.what for row in ROWS if row not in rows]
    hashes = {name: digest for record in boots.records for name, digest in record.hashes.items() if name != "disk0"}
    inputs = ", ".join(f"{name} {short_hash(hashes[name])}" for name in ("qemu", "plugin"))
    parts = [
        "<!-- Written by scripts/price-tables. Do not edit. -->\n\n# Case: what known kernels cost under KVM",
        "    scripts/price-tables",
        prose(
            "Each boot is charged by its model, up to ready; virtual clock, seed 1, one vCPU that sees KVM "
            f"({_CPU}). A price is one under a stated model of a host, and no measurement "
            f"([price.md](../price.md)). {inputs}."
        ),
        "## Under three models",
        gathered("price-models", prices),
        prose(
            "The last three are on the machine shape `firecracker`; exits in all and prices are corrected for what "
            "Firecracker has not got, the rows by class are not. The "
            "published configuration and Firecracker's have `nolapic_timer`: QEMU's CPU has no TSC deadline timer, so "
            "their kernels would calibrate the local APIC for more than a hundred million instructions, which a guest "
            "of KVM does not."
        ),
        *[
            prose(
                f"{row.what}: for Linux 6.1 by its name, built from 6.12 as the others, and without "
                f"`{'`, `'.join(row.without)}`, which makes a hypercall that TCG's CPU has not got."
            )
            for row in rows
            if row.without
        ],
        *([prose(f"Left out: {', '.join(left_out)}.")] if left_out else []),
        "## Ours, step by step to its limit",
        gathered("price-limit", f"{limit_table(boots)}\n\n{asked_table(boots)}"),
        "## Published beside predicted",
        gathered("price-published", published),
        prose(
            'Published: D. Ventura, "Minimizing Linux boot times" (2024), Ryzen 5 7640U, Linux 6.7.3, kernel\'s start '
            "to PID 1. Predicted: his configuration on Linux 6.12, machine shape `firecracker`, model `lean`, from the "
            "kernel's first instruction to that of PID 1. The figure for a fault of 4 KiB in `lean` comes from his own "
            "data (its source says so), so the slope of the first column by memory is in part circular; no other "
            "figure is from it."
        ),
        prose(
            "Why it is off, by class: instructions alone are more than the shortest published times, so their rate is "
            "what is off most. The last column has the rate at which the two would meet, everything else left as it "
            f"is: with huge pages {least:.2f} to {most:.2f} ns an instruction by all sizes of memory, which at the "
            f"4.9 GHz that this laptop goes up to is {1 / (4.9 * most):.1f} to {1 / (4.9 * least):.1f} instructions a "
            "cycle, where `lean` assumes one at 3 GHz. With pages of 4 KiB it is less again: there a fault took less "
            "than in `lean`, too. Beside that: another kernel version and compiler, an initramfs for his ext4 root, "
            "more chunks than the 11 that he saw at 128 MiB, the exits of his device models. No figure of a model was "
            "changed for this table."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def gathered(name: str, tables: str) -> str:
    """Return tables between the comments by which docs/gathered.json knows the files that decide their figures."""
    return f"<!-- gathered: {name} -->\n{tables.strip()}\n<!-- end: {name} -->"


def prices_table(boots: Boots, wanted: Sequence[Row]) -> str:
    """Return what each system executes, exits for and costs under each model, and its ratio to the published one."""
    found = {
        row.what: [boots.boot(_charged(seen_by_kvm(row), model), f"{row.what}, {model}") for model in NAMED]
        for row in wanted
    }
    titles = ["", *(f"{row.what}>" for row in wanted)]
    lean = [records[0] for records in found.values()]
    rows = [
        [f"{COUNTED} ms", *(ms(one.counted_ns) for one in lean)],
        ["instructions", *(count(one.instructions) for one in lean)],
        *[
            [f"`{name}`", *(_times(one, name) for one in lean)]
            for name in CLASSES
            if any(name in r.charges for r in lean)
        ],
        ["exits in all, corrected", *(count(exits_of(one)) for one in lean)],
        ["pages of 4 KiB", *(_times(one, FAULT_4K) for one in lean)],
        *[
            [f"**price under `{model}`, ms**", *(_price(records[index]) for records in found.values())]
            for index, model in enumerate(NAMED)
        ],
    ]
    peer = found.get(_PUBLISHED)
    if peer is None:
        return markdown_table(titles, rows)
    rows += [
        [f"times the published one, `{model}`", *(_ratio(records[index], peer[index]) for records in found.values())]
        for index, model in enumerate(NAMED)
    ]
    return markdown_table(titles, rows)


def limit_table(boots: Boots) -> str:
    """Return what each step from ours to its limit saves, under `lean`; the last row is LIMIT as it is."""
    system = _charged(seen_by_kvm(_OURS), STEP_MODEL)
    records = [boots.boot(system, "ours, the first of the steps")]
    rows = [["examples/microvm.toml", "", *_step_figures(records[0]), "", ""]]
    for step in STEPS:
        system = step.taken(system)
        records.append(boots.boot(system, step.what))
        before, after = (record.price.total_ns for record in records[-2:] if record.price is not None)
        rows.append([step.what, step.gives_up or "nothing", *_step_figures(records[-1]), ms(after), ms(before - after)])
    rows[0][-2] = _price(records[0])
    titles = [
        "step, each on top of those above",
        "gives up",
        "instructions>",
        "exits>",
        "pages>",
        "price ms>",
        "saved>",
    ]
    return markdown_table(titles, rows)


def asked_table(boots: Boots) -> str:
    """Return what was asked of LIMIT up to its first user instruction, and what it reaches."""
    system = _charged(read_system(ROOT / LIMIT), STEP_MODEL)
    small = boots.boot(system, "ours at its limit")
    huge = boots.boot(system.with_part("machine", page_size=PageSize.HUGE), "ours at its limit, 2 MiB")
    reached = {
        "instructions": small.instructions or 0,
        "exits": exits_of(small),
        "pages of 4 KiB": small.charges[FAULT_4K].count,
        "or chunks of 2 MiB": huge.charges[FAULT_2M].count,
    }
    rows = [
        [what, f"at most {count(most)}", count(reached[what]), "yes" if reached[what] <= most else "no"]
        for what, most in ASKED.items()
    ]
    return markdown_table(["", "asked>", "reached>", ""], rows)


def _step_figures(record: BootRecord) -> list[str]:
    return [count(record.instructions), count(exits_of(record)), _times(record, FAULT_4K)]


def exits_of(record: BootRecord) -> int:
    """Return how many exits a boot had, its pages not among them, without those that its shape has taken off."""
    corrected = 0 if record.price is None else record.price.corrected_exits
    return sum(charge.count for name, charge in record.charges.items() if name in CLASSES) - corrected


def published_table(boots: Boots) -> tuple[str, list[float]]:
    """Return published and predicted times by memory and pages, with what the prediction is made of.

    Beside it the ns an instruction at which the two would meet, where huge pages back the memory.
    """
    rows, huge = [], []
    peer = seen_by_kvm(Row("", _PEER, shape=True))
    for (memory_mib, pages), published in PUBLISHED_MS.items():
        system = peer.with_part("machine", memory_mib=memory_mib, page_size=PageSize(pages))
        record = boots.boot(_charged(system, "lean"), f"published configuration, {memory_mib} MiB, {pages}")
        predicted = kernel_ns(record) / 1e6
        assert record.price is not None  # the boot was charged
        huge += [meets_at(record, published)] if pages == "2M" else []
        faults = sum(one.ns for name, one in record.charges.items() if name in (FAULT_4K, FAULT_2M))
        exits = sum(one.ns for name, one in record.charges.items() if name in CLASSES)
        rows.append([
            f"{memory_mib} MiB, {pages}", f"{published:.2f}", f"{predicted:.2f}",
            f"{100 * (predicted / published - 1):+.0f}", ms(record.price.instructions_ns), ms(exits), ms(faults),
            _times(record, FAULT_4K), _times(record, FAULT_2M), f"{meets_at(record, published):.2f}",
        ])  # fmt: skip
    titles = [
        "memory, pages", "published ms>", "predicted ms>", "off by %>", "of it instructions ms>", "exits ms>",
        "faults ms>", "4 KiB>", "2 MiB>", "meet at ns an instruction>",
    ]  # fmt: skip
    return markdown_table(titles, rows), huge


def meets_at(record: BootRecord, published_ms: float) -> float:
    """Return what an instruction would have to take for the two to meet: how far the instructions' rate may be off."""
    assert record.price is not None  # the boot was charged
    others_ms = (kernel_ns(record) - record.price.instructions_ns) / 1e6
    return (published_ms - others_ms) * 1e6 / (record.instructions or 1)


def _charged(system: System, model: str) -> System:
    return system.with_part("clock", host_model=model)


def _times(record: BootRecord, name: str) -> str:
    return count(record.charges[name].count) if name in record.charges else "0"


def _price(record: BootRecord) -> str:
    return ms(record.price.total_ns) if record.price is not None else ""


def _ratio(record: BootRecord, peer: BootRecord) -> str:
    if record.price is None or peer.price is None:
        return ""
    return f"{record.price.total_ns / peer.price.total_ns:.2f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
