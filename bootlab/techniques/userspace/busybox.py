"""BusyBox with the applets that the system's own files name, in its initramfs and in its root."""

from bootlab.system import Content, System
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import BOOTLIN_2019, Published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_PARTS = ("initramfs", "rootfs")
_USED = "used"


def _recipe(system: System, part: str) -> Content | None:
    recipe = getattr(system, part)
    return recipe if isinstance(recipe, Content) and recipe.busybox and getattr(recipe, "path", None) is None else None


def _can_be_reduced(system: System, measured: Measured) -> str | None:
    recipes = [recipe for part in _PARTS if (recipe := _recipe(system, part)) is not None]
    if not recipes:
        return "no recipe of the system puts busybox into its initramfs or root (initramfs.busybox)"
    if all(recipe.busybox_applets is not None for recipe in recipes):
        return "busybox_applets says already which of busybox's applets there are"
    return None


def _reduced(system: System, measured: Measured) -> System:
    for part in _PARTS:
        recipe = _recipe(system, part)
        if recipe is not None and recipe.busybox_applets is None:
            system = system.with_part(part, busybox_applets=_USED)
    return system


def _is_smaller(after: Evidence, before: Evidence) -> Effect:
    # An archive that is built into the kernel is part of its size.
    known = [name for name in ("initramfs", "rootfs") if name in before.sizes] or ["kernel"]
    sizes = [(after.sizes.get(name), before.sizes.get(name)) for name in known]
    if any(new is None or old is None for new, old in sizes):
        return Effect.NOT_SHOWN
    return Effect.PROVEN if any(new < old for new, old in sizes if new is not None and old is not None) else Effect.NONE


TECHNIQUES = (
    Technique(
        name="userspace_busybox_used",
        text=Text(
            summary="builds busybox with only those applets that the system's own files name",
            mechanism=(
                "A distribution's busybox answers to some 270 names, each with its code, its words and its link: all "
                "of that is read from storage and unpacked, for the dozen names that scripts call. The kernel also "
                "maps and touches fewer pages at every start of it, once for each line of a script."
            ),
            cost=(
                "no other tools for repairs; an applet whose name is put together at run time, is typed by hand, or "
                "is a bare word of a compiled program (system(), execvp(): told as left out) is not there: list it in "
                "busybox_applets. The proof is a smaller archive: that the system still does its work only its own "
                "[check] tells"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published("echo, sh, sleep and test alone: 682 to 86 KB; hardly noticeable in boot time", BOOTLIN_2019),
            ),
        ),
        change=Change(
            Layer.USERSPACE,
            'busybox_applets = "used" in [initramfs] and [rootfs]',
            _reduced,
            _can_be_reduced,
        ),
        proof=Proof(_is_smaller),
    ),
)
