"""`scripts/price-tables`: boot known kernels under host models, and print one table of what that comes to, in Markdown.

Each boot is charged by its model, so that ticks and polls are as many as on that host. A boot is kept under --boots by
its key: an interrupted run goes on. `scripts/publish` writes the tables into docs/cases/price.md.
"""

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

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
from scripts.publishing.boots_table import made_of

ROOT = Path(__file__).parents[1]
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
_PUBLISHED_GHZ: Final = 4.9
"""What the laptop of PUBLISHED_MS goes up to."""
MODELS: Final = "models"


def main(argv: Sequence[str]) -> int:
    """Run the script and return its exit code."""
    parser = argparse.ArgumentParser(prog="scripts/price-tables")
    parser.add_argument("table", choices=[MODELS, "limit", "published"], help="the table to print")
    parser.add_argument("--boots", type=Path, default=None, help="where boots are kept [default: thrown away]")
    parser.add_argument(
        "--leave-out", action="append", default=[], metavar="FILE", help=f"of {MODELS}: a system not to boot"
    )
    wanted = parser.parse_args(argv)
    if wanted.leave_out and wanted.table != MODELS:
        print(f"price-tables: error: --leave-out is for {MODELS}, and not for {wanted.table}", file=sys.stderr)
        return 2
    unknown = [file for file in wanted.leave_out if file not in [row.file for row in ROWS]]
    if unknown:
        files = ", ".join(row.file for row in ROWS)
        print(f"price-tables: error: --leave-out {unknown[0]}: no row of the table: {files}", file=sys.stderr)
        return 2
    rows = [row for row in ROWS if row.file not in wanted.leave_out]
    if not rows:
        print("price-tables: error: --leave-out: no row of the table is left", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="price-tables-") as folder:
        boots = Boots(wanted.boots or Path(folder))
        try:
            if wanted.table == MODELS:
                print(models_tables(boots, rows))
            else:
                print(limit_tables(boots) if wanted.table == "limit" else published_tables(boots))
        except BootlabError as error:
            print(f"price-tables: error: {error.message}" + (f"; {error.hint}" if error.hint else ""), file=sys.stderr)
            return 1
    return 0


class Boots:
    """Boots systems once, each into a folder that is called after its key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shop = Workshop(Cache.default(), tell=lambda words: print(f"  {words}", file=sys.stderr))

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


def models_tables(boots: Boots, rows: Sequence[Row]) -> str:
    """Return the table of these rows under each model, and below it which are left out and what all were booted on."""
    found = {
        row.what: {model: boots.boot(_charged(seen_by_kvm(row), model), f"{row.what}, {model}") for model in NAMED}
        for row in rows
    }
    left_out = [row.what for row in ROWS if row not in rows]
    said = [prose(f"Left out: {', '.join(left_out)}.")] if left_out else []
    booted = [booted_on({what: under[NAMED[0]] for what, under in found.items()}), _other_models(found)]
    return "\n\n".join([prices_table(found), *said, *booted])


def _other_models(found: Mapping[str, Mapping[str, BootRecord]]) -> str:
    under = next(iter(found.values()))
    others = [f"{model}: host_model {short_hash(under[model].hashes['host_model'])}" for model in NAMED[1:]]
    return prose(
        f"Those are the boots under {NAMED[0]}; under the others the model alone differs: {', '.join(others)}."
    )


def prices_table(found: Mapping[str, Mapping[str, BootRecord]]) -> str:
    """Return what each system executes, exits for and costs under each model, and its ratio to the published one.

    `found`: what the system is -> model -> boot.
    """
    titles = ["", *(f"{what}>" for what in found)]
    lean = [under[NAMED[0]] for under in found.values()]
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
            [f"**price under `{model}`, ms**", *(ms(_price_ns(one[model])) for one in found.values())]
            for model in NAMED
        ],
    ]
    peer = found.get(_PUBLISHED)
    if peer is None:
        return markdown_table(titles, rows)
    rows += [
        [
            f"times the published one, `{model}`",
            *(f"{_price_ns(under[model]) / _price_ns(peer[model]):.2f}" for under in found.values()),
        ]
        for model in NAMED
    ]
    return markdown_table(titles, rows)


def limit_tables(boots: Boots) -> str:
    """Return what each step from ours to its limit saves, what was asked of LIMIT, and what all were booted on."""
    stepped = boots_of_steps(boots)
    asked, huge = asked_table(boots)
    return "\n\n".join([limit_table(stepped), asked, booted_on({**stepped, "2 MiB": huge})])


def boots_of_steps(boots: Boots) -> dict[str, BootRecord]:
    """Return the boot of ours, and of each step from there, by its words; the last one is of LIMIT as it is."""
    system = _charged(seen_by_kvm(_OURS), STEP_MODEL)
    found = {_OURS.file: boots.boot(system, "ours, the first of the steps")}
    for step in STEPS:
        system = step.taken(system)
        found[step.what] = boots.boot(system, step.what)
    return found


def limit_table(stepped: Mapping[str, BootRecord]) -> str:
    """Return what each step saves, under `lean`."""
    records = list(stepped.values())
    rows = [[_OURS.file, "", *_step_figures(records[0]), ms(_price_ns(records[0])), ""]]
    for step, pair in zip(STEPS, pairwise(records), strict=True):
        before, after = map(_price_ns, pair)
        rows.append([step.what, step.gives_up or "nothing", *_step_figures(pair[1]), ms(after), ms(before - after)])
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


def asked_table(boots: Boots) -> tuple[str, BootRecord]:
    """Return what was asked of LIMIT up to its first user instruction, and what it reaches; and its boot in chunks."""
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
    return markdown_table(["", "asked>", "reached>", ""], rows), huge


def _step_figures(record: BootRecord) -> list[str]:
    return [count(record.instructions), count(exits_of(record)), _times(record, FAULT_4K)]


def exits_of(record: BootRecord) -> int:
    """Return how many exits a boot had, its pages not among them, without those that its shape has taken off."""
    corrected = 0 if record.price is None else record.price.corrected_exits
    return sum(charge.count for name, charge in record.charges.items() if name in CLASSES) - corrected


def published_tables(boots: Boots) -> str:
    """Return the published times beside the predicted ones, what an instruction would take, and what was booted."""
    peer = seen_by_kvm(Row("", _PEER, shape=True))
    found = {}
    for memory_mib, pages in PUBLISHED_MS:
        system = peer.with_part("machine", memory_mib=memory_mib, page_size=PageSize(pages))
        what = f"published configuration, {memory_mib} MiB, {pages}"
        found[memory_mib, pages] = boots.boot(_charged(system, "lean"), what)
    named = {f"{memory_mib} MiB, {pages}": one for (memory_mib, pages), one in found.items()}
    return "\n\n".join([published_table(found), rate_words(found), booted_on(named)])


def published_table(found: Mapping[tuple[int, str], BootRecord]) -> str:
    """Return published and predicted times by memory and pages, with what the prediction is made of."""
    rows = []
    for (memory_mib, pages), record in found.items():
        published, predicted = PUBLISHED_MS[memory_mib, pages], kernel_ns(record) / 1e6
        assert record.price is not None  # the boot was charged
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
    return markdown_table(titles, rows)


def rate_words(found: Mapping[tuple[int, str], BootRecord]) -> str:
    """Return what an instruction would have to take for the two to meet where huge pages back the memory."""
    huge = [meets_at(record, PUBLISHED_MS[size]) for size, record in found.items() if size[1] == "2M"]
    least, most = min(huge), max(huge)
    most_a_cycle, least_a_cycle = 1 / (_PUBLISHED_GHZ * least), 1 / (_PUBLISHED_GHZ * most)
    return prose(
        f"With huge pages the two would meet at {least:.2f} to {most:.2f} ns an instruction by all sizes of memory, "
        f"which at {_PUBLISHED_GHZ} GHz is {least_a_cycle:.1f} to {most_a_cycle:.1f} instructions a cycle."
    )


def meets_at(record: BootRecord, published_ms: float) -> float:
    """Return what an instruction would have to take for the two to meet: how far the instructions' rate may be off."""
    assert record.price is not None  # the boot was charged
    others_ms = (kernel_ns(record) - record.price.instructions_ns) / 1e6
    return (published_ms - others_ms) * 1e6 / (record.instructions or 1)


def _charged(system: System, model: str) -> System:
    return system.with_part("clock", host_model=model)


def booted_on(found: Mapping[str, BootRecord]) -> str:
    """Return what the boots of each name were booted on, and which of them in huge pages."""
    huge = [what for what, one in found.items() if one.price is not None and one.price.memory == PageSize.HUGE]
    said = [prose(f"In pages of {PageSize.HUGE}: {'; '.join(huge)}.")] if huge else []
    return "\n\n".join([made_of([(what, [record]) for what, record in found.items()]), *said])


def _times(record: BootRecord, name: str) -> str:
    return count(record.charges[name].count) if name in record.charges else "0"


def _price_ns(record: BootRecord) -> int:
    assert record.price is not None  # the boot was charged
    return record.price.total_ns


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
