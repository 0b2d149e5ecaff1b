"""Tries kernels for a tailoring, one at a time: builds, boots with the profile on and the check, and compares."""

from collections.abc import Sequence
from typing import Final

from bootlab.build.kernel.build import BuiltKernel
from bootlab.build.kernel.objects import MAP_OPTION
from bootlab.build.source.option_dependencies import KconfigTree
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.experiments.comparing import Comparison, compare_series
from bootlab.experiments.engine import find_finished_boot
from bootlab.experiments.family import Family, expect_none_killed, expect_not_killed
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.experiments.store import Run
from bootlab.experiments.tailor.kernels import Kernels
from bootlab.experiments.tailor.look import KernelState, Look
from bootlab.experiments.tailor.protected import Policy
from bootlab.experiments.tailor.reasons import Needed
from bootlab.experiments.tailor.tailored import TailorStep
from bootlab.experiments.tailor.unused_options import Drop
from bootlab.experiments.verdict import exceeds_spread
from bootlab.measure import boot as one_boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord, Outcome
from bootlab.measure.statistics.series import spread_ns
from bootlab.profile.asked.request import ProfileRequest
from bootlab.system import System

AS_IT_IS: Final = "as it is"
NULLS: Final = 3
_PATIENCE: Final = 4.0
"""A profiled boot takes longer than a plain one."""


class KernelTrials:
    """The kernels of one tailoring in their order. `builds`: how many there may be, with the first."""

    def __init__(
        self, shop: Workshop, run: Run, kernels: Kernels, boots: FamilyBoots, policy: Policy, builds: int
    ) -> None:
        self.kernels = kernels
        self.steps = list[TailorStep]()
        self.needed = list[Needed]()
        """Options that a kernel did not do without, or was longer: none goes along with others."""
        self._shop = shop
        self._run = run
        self._boots = boots
        self._policy = policy
        self._builds = builds
        self._spread_ns = 0
        self._before: tuple[KernelState, Family] | None = None

    @property
    def spent(self) -> bool:
        """Whether no other kernel may be built."""
        return self.kernels.count >= self._builds

    def steady(self, rich: System) -> Family:
        """Return the boots of the system as it is. Raises InputError when its check fails, always or now and then."""
        self.kernels.first(rich, AS_IT_IS)
        family = self._boots.family("steady", rich, nulls=NULLS)
        expect_none_killed(family)
        boots = family.boots
        failed = [record for record in boots if record.outcome is not Outcome.READY]
        if len(failed) == len(boots):
            raise InputError(
                f"check: fails before anything was dropped: {_words(failed[0])}",
                hint="bootlab boot shows the console; the check must pass on the kernel as it is",
            )
        if failed:
            raise InputError(
                f"check: flaky: {len(failed)} of {len(boots)} boots that differ in nothing that matters failed: "
                f"{_words(failed[0])}",
                hint="a check that fails by itself would blame whatever was dropped last",
            )
        self._spread_ns = spread_ns(family.unchanged_ns)
        return family

    def first(self, rich: System) -> KernelState:
        """Return the kernel that all begins with, profiled. Raises InputError when it is not ready."""
        kernel = self.kernels.first(rich, AS_IT_IS)
        record, look = self._profiled(rich, kernel, AS_IT_IS)
        self._note(AS_IT_IS, 0, kernel, record)
        if record.outcome is not Outcome.READY:
            raise InputError(f"the profiled boot failed where a plain one did not: {_words(record)}")
        state = KernelState((), rich, kernel, look, record.judged_ns or 0)
        self._rich_config, self._rich_on = state.config, self.kernels.tree(state.config).on
        return state

    def _profiled(self, system: System, kernel: BuiltKernel, label: str) -> tuple[BootRecord, Look]:
        if kernel.objects is None:
            raise InputError(f"kernel.build: its linker wrote no map: {MAP_OPTION} must stay on")
        prepared = prepare(self._shop, system, profile=ProfileRequest())
        directory = self._run.path / "boots" / f"profiled-{_slug(label, kernel)}"
        record = find_finished_boot(directory, prepared)
        if record is None:
            self._shop.tell(f"{label}: booting with the profile on")
            record = one_boot.boot(prepared, self._run.boot_directory(directory.name), patience=_PATIENCE)
            expect_not_killed(record)
        return record, Look(kernel, kernel.objects, record, directory)

    def attempt(
        self, drops: Sequence[Drop], label: str, before_ns: int, *, wanted: Drop | None = None
    ) -> KernelState | str:
        """Return the first kernel without all of `drops`, or why that does not do. `before_ns`: what it may take.

        `wanted`: the one of them that all is about.
        """
        granted, tree = self.kernels.granted(self._rich_config, drops)
        if wanted is not None and wanted not in granted:
            return "kconfig does not grant it on top of the others"
        if (refused := self._refusal(granted, tree)) is not None:
            return refused
        system = self.kernels.with_options({drop.option: drop.value for drop in granted})
        kernel = self.kernels.build(system, label)
        if isinstance(kernel, str):
            self.steps.append(TailorStep(label, len(granted), 0, False, kernel, None, 0, 0.0, False))
            return kernel
        record, look = self._profiled(system, kernel, label)
        self._note(label, len(granted), kernel, record)
        if record.outcome is not Outcome.READY:
            return _words(record)
        took_ns = record.judged_ns or 0
        if exceeds_spread(took_ns - before_ns, self._spread_ns):
            # What came on in the place of something else may cost more than that did.
            return f"longer: {_ready_words(record)}, {before_ns / 1e6:.2f} before"
        return KernelState(granted, system, kernel, look, took_ns)

    def _refusal(self, drops: Sequence[Drop], tree: KconfigTree) -> str | None:
        """Return what must not go and does by all of `drops`, and by which; `tree`: what they come to.

        Each was looked at in another configuration; together they may leave other dependencies.
        """
        needed = {one.option: "without which a kernel was tried" for one in self.needed}
        for option in sorted(self._rich_on - tree.on):
            guard = self._policy.protected(option, tree.place(option))
            why = guard.why if guard is not None else needed.get(option)
            if why is None:
                continue
            again = self.kernels.tree(self._rich_config)
            for drop in drops:
                again.give(drop.option, drop.value)
                if option not in again.on:
                    return f"CONFIG_{drop.option} would take {option} along, {why}"
        return None

    def compared(
        self, state: KernelState, drops: Sequence[Drop], label: str, *, wanted: Drop | None = None
    ) -> tuple[KernelState, Comparison] | str:
        """Return a state with other `drops`, and what plain boots of both say; or why there is no such state."""
        outcome = self.attempt(drops, label, state.ready_ns, wanted=wanted)
        if isinstance(outcome, str):
            return outcome
        slug = _slug(label, outcome.kernel)
        if self._before is None or self._before[0] is not state:
            before = self._boots.family(f"before-{_slug(label, state.kernel)}", state.system, nulls=NULLS)
            expect_none_killed(before)
            self._before = state, before
        after = self._boots.family(slug, outcome.system, nulls=0)
        expect_none_killed(after)
        booted = {slug: (outcome.system, after)}
        # Null builds of each kernel on the way would take longer than the tailoring itself.
        after, against = self._boots.confirm(booted, self._before[1], state.system, null_builds=False)[slug]
        expect_none_killed(after)
        expect_none_killed(against)
        if after.failed is not None:
            return _words(after.failed)
        if against.failed is not None:
            return f"the kernel before it failed: {_words(against.failed)}"
        return outcome, compare_series(against, after)

    def judged(self, rich: System, before: Family, state: KernelState) -> Comparison:
        """Return what plain boots say of the first kernel, those of `steady`, and of what was come to."""
        after = self._boots.family("tailored", state.system, nulls=0)
        expect_none_killed(after)
        if after.failed is None:
            after, before = self._boots.confirm({"tailored": (state.system, after)}, before, rich)["tailored"]
            expect_none_killed(after)
            expect_none_killed(before)
        return compare_series(before, after)

    def _note(self, label: str, dropped: int, kernel: BuiltKernel, record: BootRecord) -> None:
        on = sum(value in ("y", "m") for value in kernel.options.values())
        ready = record.outcome is Outcome.READY
        size = record.sizes.get("kernel", 0)
        detail = "" if ready else _words(record)
        price_ns = None if record.price is None else record.price.total_ns
        step = TailorStep(
            label, dropped, on, ready, detail, record.ready_ns, size, kernel.seconds, kernel.from_cache, price_ns
        )
        self.steps.append(step)
        self._shop.tell(f"{label}: {on} options on, {size:,} bytes, {detail or _ready_words(record)}")


def _slug(label: str, kernel: BuiltKernel) -> str:
    """Return the name of boots: another run of the same call may come to another kernel by the same words."""
    return f"{label.replace(' ', '-').replace(',', '')}-{kernel.vmlinux.parent.name[:8]}"


def _ready_words(record: BootRecord) -> str:
    if record.price is not None:
        return f"ready, {record.price.total_ns / 1e6:.2f} ms price under {record.price.model}"
    return f"ready at {(record.ready_ns or 0) / 1e6:.2f} ms"


def _words(record: BootRecord) -> str:
    return f"{record.outcome.value}: {record.detail}"
