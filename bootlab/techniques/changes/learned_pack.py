"""What techniques ask that learn from a boot what the next one reads, and the boot that learns it."""

from bootlab.system import KEEPS_RAM, Check, ClockKind, FileSystem, ReadAhead, System
from bootlab.techniques.changes.root_image import no_recipe, recipe_of


def expect_slow_root(system: System) -> str | None:
    """Return why a boot of this system learns no pack, or why one would not help it; None where it does."""
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    if recipe.filesystem is not FileSystem.EXT4:
        return f"the root is {recipe.filesystem.value}; only ext4 is read ahead"
    if recipe.device == "kept-ram" and system.power_on is not None and system.power_on.kind in KEEPS_RAM:
        return "the root is in RAM that outlives the power: a start from it waits for no disk"
    if system.clock.kind is ClockKind.VIRTUAL and recipe.model is None:
        return "the root's disk answers at once on this clock (rootfs.model gives it the time of a real one)"
    if any(word.startswith("init=") for word in system.kernel.cmdline.split()):
        return "init= on the command line starts another init than the root's"
    if not (recipe.packages or recipe.bootlab_init or recipe.init):
        return "nothing in the recipe brings /sbin/init, beside which it would read"
    return None


def boot_that_learns(system: System) -> System:
    """Return the system whose boot prints the pack as facts, and which is done when it has."""
    deadline_s = system.check.deadline_s if system.check is not None else 0.0
    pack_comes = Check(console=r"bootlab: fact readahead\.end", deadline_s=max(300.0, deadline_s))
    changed = system.with_part("rootfs", readahead=ReadAhead(record=True))
    return changed.model_copy(update={"check": pack_comes})
