"""Puts a technique on a system and makes it ready to boot; what does not apply, or cannot be had, becomes a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bootlab.build.workshop import Tell
from bootlab.errors import BootlabError, InputError, Interrupted, MissingTool, StoreError
from bootlab.experiments.family import Family
from bootlab.experiments.family_boots import FamilyBoots
from bootlab.findings.technique_evidence import measured_of
from bootlab.system import System
from bootlab.targets.registry import target_of
from bootlab.techniques.changes.bootloader import finished_medium
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Technique
from bootlab.techniques.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Ground:
    """What a technique is tried on: a system, its boots, and the techniques that are in it already, in order."""

    system: System
    family: Family
    techniques: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """A system with one technique more; `system` is None when that cannot be booted, and `verdict` and `detail` why."""

    system: System | None
    verdict: Verdict = Verdict.DOES_NOT_APPLY
    detail: str = ""


class Changing:
    """Applies techniques to systems and makes the result ready to boot: a kernel technique is built here."""

    def __init__(self, boots: FamilyBoots, measured: Measured, tell: Tell) -> None:
        self.measured = measured
        self._boots = boots
        self._tell = tell

    def each(self, techniques: Sequence[Technique], ground: Ground) -> dict[str, Changed]:
        """Return the system of `ground` with each technique alone."""
        applied = {technique.name: self._applied([technique], ground) for technique in techniques}
        kernels = [name for name, changed in applied.items() if _other_kernel(changed.system, ground.system)]
        makes = []
        for name, changed in applied.items():
            who = name
            if name in kernels and len(kernels) > 1:
                who = f"{name}, kernel {kernels.index(name) + 1} of {len(kernels)}"
            makes.append(partial(self._prepared, changed, who))
        return dict(zip(applied, self._boots.each(makes), strict=True))

    def one(self, technique: Technique, ground: Ground) -> Changed:
        """Return the system of `ground` with one technique."""
        return self._prepared(self._applied([technique], ground), technique.name)

    def all(self, techniques: Sequence[Technique], ground: Ground, who: str) -> Changed:
        """Return the system of `ground` with every one of `techniques`, in order. What takes long is told for `who`."""
        return self._prepared(self._applied(techniques, ground), who)

    def _applied(self, techniques: Sequence[Technique], ground: Ground) -> Changed:
        # Whether an option is still there to change, only the kernel that stands there now can tell; so with an image.
        now = measured_of(ground.family.median, ground.family.kernel_config)
        measured = replace(self.measured, kernel_config=now.kernel_config, sizes=now.sizes)
        system = ground.system
        for technique in techniques:
            said = f"{technique.name}: " if len(techniques) > 1 else ""
            reason = technique.change.applies(system, measured)
            if reason is not None:
                return Changed(None, Verdict.DOES_NOT_APPLY, f"{said}{reason}")
            try:
                facts = self._learned(technique, system)
                system = technique.change.apply(system, replace(measured, facts={**measured.facts, **facts}))
            except InputError as error:
                return Changed(None, Verdict.DOES_NOT_APPLY, f"{said}{error.message}")
            if (lack := machine_lacks(ground.system, system)) is not None:
                return Changed(None, Verdict.DOES_NOT_APPLY, f"{said}{lack}")
        return Changed(system)

    def _learned(self, technique: Technique, system: System) -> Mapping[str, str]:
        if technique.change.learning is None:
            return {}
        return self._boots.learn(f"learning-{technique.name}", technique.change.learning(system))

    def _prepared(self, changed: Changed, who: str) -> Changed:
        if changed.system is None:
            return changed
        try:
            # What cannot be made (a kernel without PVH entry, say) shows here, before any boot.
            self._boots.prepare(changed.system, who)
        except (StoreError, Interrupted):
            raise
        except (InputError, MissingTool) as error:
            return Changed(None, Verdict.DOES_NOT_APPLY, _in_one_line(error))
        except BootlabError as error:
            self._tell(f"{who}: {_in_one_line(error)}")
            return Changed(None, Verdict.BROKE_IT, _in_one_line(error))
        return changed


def machine_lacks(before: System, after: System) -> str | None:
    """Return why the machine of `before` cannot boot `after`: its target, or its finished card or chip, allows no such.

    None where it can, or where the two are the same.
    """
    if after == before:
        return None
    held = any(getattr(before, part) != getattr(after, part) for part in ("kernel", "initramfs"))
    return target_of(before).lacks(before, after) or (finished_medium(before) if held else None)


def _other_kernel(changed: System | None, system: System) -> bool:
    if changed is None or changed.kernel.build is None:
        return False
    embedded = [one.initramfs for one in (changed, system) if one.initramfs is not None and one.initramfs.embedded]
    same_archive = not embedded or changed.initramfs == system.initramfs
    return changed.kernel.build != system.kernel.build or not same_archive


def _in_one_line(error: BootlabError) -> str:
    # A failed build says what failed, then the compiler's first error in many lines, then where its log is.
    lines = [line.strip() for line in error.message.splitlines() if line.strip()] or [type(error).__name__]
    logs = [line for line in lines[2:] if " log: " in line]
    said = "; ".join([": ".join(lines[:2]), *logs])
    return f"{said} ({' '.join(error.hint.split())})" if error.hint else said
