"""What a session opens is read from a slow root while its user still types the password.

A boot learns first what the session reads, and that goes into the same image. The proof is that the booted system says
how much it read before the session began; its check says that the session still works.
"""

from bootlab.build.root.preload import HABITS
from bootlab.system import Check, ClockKind, FileSystem, Preload, System
from bootlab.techniques.changes.root_image import no_recipe, recipe_of
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.proofs import fact_is
from bootlab.techniques.model.published import Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text


def _has_sessions(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    if recipe.preload is not None:
        return "the root reads for sessions already"
    if recipe.filesystem is not FileSystem.EXT4:
        return f"the root is {recipe.filesystem.value}; only from ext4 is read"
    if system.clock.kind is ClockKind.VIRTUAL and recipe.model is None:
        return "the root's disk answers at once on this clock (rootfs.model gives it the time of a real one)"
    if system.screen is None or not system.screen.typed:
        return "nobody logs in: the system types nothing ([screen.typed.NAME])"
    return None


def _learning(system: System) -> System:
    deadline_s = max(300.0, system.check.deadline_s if system.check is not None else 0.0)
    habits_come = Check(
        console=r"bootlab: fact preload\.end",
        # A session that nobody watched is not followed by another, and nobody would come to wait for.
        fail=r"bootlab: check failed|bootlab: fact preload\.(?:missed|failed) ",
        deadline_s=deadline_s,
    )
    return system.with_part("rootfs", preload=Preload(record=True)).model_copy(update={"check": habits_come})


def _reads_for_sessions(system: System, measured: Measured) -> System:
    return system.with_part("rootfs", preload=Preload(text=HABITS.of_facts(measured.facts)))


TECHNIQUES = (
    Technique(
        name="rootfs_preload",
        text=Text(
            summary="reads what a session will open while its user types the password",
            mechanism=(
                "A login window waits for somebody, and so does the disk. What sessions open is known from those "
                "before: read meanwhile, most of it is in memory when the session asks for it. Whoever else needs the "
                "disk or the memory goes first."
            ),
            cost="memory that a session may not need; nothing is gained by who has typed before it is read",
            risk=Risk.NONE,
            published=(
                Published(
                    "about 5 s of the time from the login to the desktop",
                    'F. Crozat, "Improving boot time on a general Linux distribution", 2008 (the preload daemon)',
                ),
            ),
        ),
        change=Change(
            Layer.ROOTFS,
            "[rootfs.preload] with what a session of a boot with record = true opened",
            _reads_for_sessions,
            _has_sessions,
            learning=_learning,
            learns_places=True,
        ),
        proof=fact_is(f"{HABITS.facts}bytes", r"^[1-9]"),
    ),
)
