"""System -> all that its boots need, made once for every seed by the target that it boots on."""

from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.measure.life import life_before, live
from bootlab.measure.power_on import leave, system_before
from bootlab.profile.asked.request import ProfileRequest
from bootlab.system import System
from bootlab.targets.registry import target_of
from bootlab.targets.target import BootRequest, Prepared
from bootlab.timeline.marks import OWN


def prepare(
    shop: Workshop,
    system: System,
    *,
    watch: tuple[str, ...] = (),
    profile: ProfileRequest | None = None,
    keeps: bool = False,
) -> Prepared:
    """Make or find all that `system` boots from. `watch`: kernel symbols whose first execution becomes `watch:SYMBOL`.

    With `profile` the boots are profiled (virtual clock only). With `keeps` the machine is to be kept in a snapshot:
    one that cannot be is refused ahead of every build.

    Raises InputError for files that cannot be right, MissingTool for a QEMU that is absent or too old, BootFailed for
    an earlier life of a disk image (`image.life`), or a boot before a power-on (`power_on`), that did not end as it
    should.
    """
    for key, part in (("booted.mark", system.booted), ("check.mark", system.check)):
        if part is not None and part.mark in OWN:
            raise InputError(
                f"{key}: {part.mark!r} is a mark that bootlab makes itself, and this one is the guest's to make",
                hint=f'for example {key} = "{"ready" if key == "booted.mark" else "checked"}"',
            )
        if part is not None and part.mark in system.marks:
            raise InputError(
                f"{key}: {part.mark!r} is a function of the kernel's in [marks], and this one is the guest's to make",
                hint=f"[timings] tells when marks.{part.mark} was reached, whatever {key} is",
            )
    prepared = target_of(system).prepare(shop, system, BootRequest(watch, profile, keeps))
    if system.power_on is not None and system.power_on.finds:
        left = leave(shop, prepare(shop, system_before(system)), system)
        return prepared.finding(left.folder, left.identity)
    if system.image is None or system.image.life == 1 or not prepared.remembers:
        return prepared
    life = live(shop, prepare(shop, life_before(system)))
    return prepared.after_life(life.folder, life.identity)
