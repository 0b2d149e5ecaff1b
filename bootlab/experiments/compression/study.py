"""`bootlab study compression`: which compression of kernel and initramfs is best for which storage.

Each one is built and booted on the virtual clock, with the same seeds. What loading costs is not measured but follows
from the size and the storage's speed, so one boot gives the time at every speed.
"""

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed, BootlabError, InputError, Interrupted, StoreError
from bootlab.experiments.compression.result import CompressionResult, Option, Table, What, make_table
from bootlab.experiments.engine import Engine, Job
from bootlab.experiments.making import Making
from bootlab.experiments.sweep.result import Figure, figure_of
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.system import ClockKind, Compression, System
from bootlab.targets.target import Prepared
from bootlab.timeline import marks as m

NONE: Final = "none"
KERNEL_TOOLS: Final = {
    "gzip": ("gzip", "gzip"),
    "bzip2": ("bzip2", "bzip2"),
    "lzma": ("lzma", "xz-utils"),
    "xz": ("xz", "xz-utils"),
    "lzo": ("lzop", "lzop"),
    "lz4": ("lz4", "lz4"),
    "zstd": ("zstd", "zstd"),
}
"""Algorithm of an x86-64 kernel image (arch/x86/Kconfig) -> the program that packs it, and its Debian package."""


class CompressionStudy:
    """One study. `speeds_mb_s`: of the storage; `what`: None for all that the system lets study."""

    def __init__(
        self,
        shop: Workshop,
        system: System,
        speeds_mb_s: Sequence[float],
        seeds: Sequence[int],
        *,
        what: Sequence[What] | None = None,
    ) -> None:
        if system.clock.kind is not ClockKind.VIRTUAL:
            raise InputError(
                "clock.kind: the study counts what unpacking executes, which the wall clock does not show",
                hint='clock.kind = "virtual"; clock.shift sets the ns of an instruction',
            )
        if system.board is not None:
            raise InputError(
                "machine.type: a board's bootloader loads kernel and initramfs while the clock runs; the study "
                "adds that time by a model",
                hint="bootlab try SYSTEM kernel_image_lz4 kernel_image_xz measures each on the board",
            )
        reasons = {"kernel": _why_not_kernel(system), "initramfs": _why_not_initramfs(system)}
        for one in what or ():
            if reason := reasons[one]:
                raise InputError(f"--what {one}: {reason}")
        wanted: tuple[What, ...] = tuple(what) if what else ("kernel", "initramfs")
        self.what: list[What] = [one for one in wanted if not reasons[one]]
        self.left_out = [f"{one}: {reasons[one]}" for one in wanted if reasons[one]]
        if not self.what:
            raise InputError("nothing to compress: " + "; ".join(self.left_out))
        self.system = system
        self.speeds_mb_s = list(speeds_mb_s)
        self.seeds = list(seeds)
        self.latency_us = system.storage.latency_us if system.storage is not None else 0.0
        self._shop = shop

    def run(self, engine: Engine) -> CompressionResult:
        """Build and boot every option. Raises BootFailed when none of them booted."""
        tables, first = [], None
        for what in self.what:
            table, record = self._table(engine, what)
            tables.append(table)
            first = first or record
        if first is None:
            why = tables[0].options[0]
            raise BootFailed(
                f"{self.system.name}: no way to compress it booted; {why.name}: {why.outcome}: {why.detail}",
                hint="bootlab boot SYSTEM shows what is wrong with the system itself",
            )
        return CompressionResult(
            system=self.system.name,
            clock=first.clock,
            accelerator=first.accelerator,
            ns_per_instruction=first.ns_per_instruction,
            cpu=first.cpu,
            seeds=self.seeds,
            speeds_mb_s=self.speeds_mb_s,
            latency_us=self.latency_us,
            tables=tables,
            left_out=self.left_out,
            hashes={name: digest for name, digest in first.hashes.items() if name not in self.what},
            host=first.host,
            run=str(engine.run.path),
        )

    def _table(self, engine: Engine, what: What) -> tuple[Table, BootRecord | None]:
        making = Making(engine.furnish(self._shop))
        systems = kernels(self.system) if what == "kernel" else initramfses(self.system)

        def make(name: str) -> Prepared | Option:
            with making.turn():
                self._shop.tell(f"{what}: {name}")
                try:
                    return prepare(making.shop, systems[name]())
                except (Interrupted, StoreError):
                    raise
                except BootlabError as error:
                    # One compressor that is not there, or not offered, must not cost the others.
                    return Option(name=name, outcome="not built", detail=explain(what, name, error))

        made = dict(zip(systems, making.each([partial(make, name) for name in systems]), strict=True))
        prepared = {name: one for name, one in made.items() if isinstance(one, Prepared)}
        options = {name: one for name, one in made.items() if isinstance(one, Option)}
        jobs = [
            Job(f"{what}-{name}-s{seed}", one.with_seed(seed)) for name, one in prepared.items() for seed in self.seeds
        ]
        records = engine.boot_all(jobs)
        families = {
            name: records[index * len(self.seeds) : (index + 1) * len(self.seeds)]
            for index, name in enumerate(prepared)
        }
        plain = families.get(NONE)
        for name, family in families.items():
            options[name] = _option(what, name, prepared[name], family, plain)
        first = next((family[0] for name, family in families.items() if options[name].boot is not None), None)
        table = make_table(what, [options[name] for name in systems], self.speeds_mb_s, self.latency_us)
        return table, first


def kernels(system: System) -> dict[str, Callable[[], System]]:
    """Return the system with its kernel compressed in each way that its architecture has, and not at all (PVH)."""
    found: dict[str, Callable[[], System]] = {name: partial(_packed, system, name) for name in KERNEL_TOOLS}
    found[NONE] = partial(system.with_part, "kernel", entry="pvh")
    return found


def initramfses(system: System) -> dict[str, Callable[[], System]]:
    """Return the system with its initramfs compressed in each way."""
    return {kind.value: partial(system.with_part, "initramfs", compression=kind) for kind in Compression}


def _packed(system: System, algorithm: str) -> System:
    # The choice is one of several options: the others are named, in case the system's own settings have one.
    options = {f"KERNEL_{other.upper()}": "y" if other == algorithm else "n" for other in KERNEL_TOOLS}
    return system.with_options(**options).with_part("kernel", entry="image")


def _why_not_kernel(system: System) -> str:
    if system.machine.arch != "x86_64":
        return (
            "an arm64 or riscv64 kernel does not unpack itself, its boot loader does, and QEMU as one does it unseen "
            "on the host, or not at all"
        )
    return "" if system.kernel.build is not None else "only a kernel that is built ([kernel.build]) is compressed anew"


def _why_not_initramfs(system: System) -> str:
    if system.initramfs is None:
        return "the system has none"
    if system.initramfs.path is not None:
        return "initramfs.path is a finished archive; only a recipe is packed anew"
    return "it is embedded, and compressed with the kernel" if system.initramfs.embedded else ""


def explain(what: What, name: str, error: BootlabError) -> str:
    """Return in a line why one way to compress could not be built: its program, when that is what is missing."""
    if what == "kernel" and name in KERNEL_TOOLS:
        program, package = KERNEL_TOOLS[name]
        if shutil.which(program) is None:
            return f"{program} is not installed (Debian package {package})"
    return error.message.splitlines()[0]


def _option(
    what: What, name: str, prepared: Prepared, family: Sequence[BootRecord], plain: Sequence[BootRecord] | None
) -> Option:
    runs = [record.run for record in family]
    failed = next((record for record in family if record.outcome is not Outcome.READY), None)
    size = prepared.sizes[what]
    if failed is not None:
        return Option(name=name, outcome=failed.outcome.value, detail=failed.detail, size=size, runs=runs)
    loaded = [bytes_ for input_, bytes_ in prepared.sizes.items() if input_ in ("kernel", "initramfs")]
    boots_ns = [_boot_ns(record) for record in family]
    return Option(
        name=name,
        outcome=Outcome.READY.value,
        size=size,
        loaded=sum(loaded),
        files=len(loaded),
        unpack=_decompressor(name, family) if what == "kernel" else _beyond_plain(boots_ns, plain),
        boot=figure_of("boot", boots_ns, wall=False),
        boots_ns=boots_ns,
        runs=runs,
    )


def _boot_ns(record: BootRecord) -> int:
    user_space = record.user_space_ns
    return user_space if user_space is not None else record.marks[m.READY]


def _decompressor(name: str, family: Sequence[BootRecord]) -> Figure | None:
    # Firmware enters the image, which unpacks itself and enters the kernel; through PVH both are one moment.
    if name == NONE:
        return Figure(name="unpack")
    if any(not {m.IMAGE_ENTRY, m.KERNEL_ENTRY} <= record.marks.keys() for record in family):
        return None
    spent = [record.marks[m.KERNEL_ENTRY] - record.marks[m.IMAGE_ENTRY] for record in family]
    return figure_of("unpack", spent, wall=False)


def _beyond_plain(boots_ns: Sequence[int], plain: Sequence[BootRecord] | None) -> Figure | None:
    if plain is None or any(record.outcome is not Outcome.READY for record in plain):
        return None
    beyond = [boot - _boot_ns(record) for boot, record in zip(boots_ns, plain, strict=True)]
    return figure_of("unpack", beyond, wall=False)
