"""Files that are written into the root: of a recipe, or of a disk image."""

from collections.abc import Callable, Mapping

from bootlab.system import System
from bootlab.techniques.changes.root_image import no_recipe, recipe_of
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Applies, Change, Layer, everywhere

Files = Mapping[str, str]


def writes_files(
    files: Files | Callable[[Measured], Files], applies: Applies = everywhere, *, knob: str | None = None
) -> Change:
    """Return the change of user space that writes these files, path -> text, or those of what was measured.

    `applies` is asked where they can be written, or where nothing measured says which; `knob`: by default their paths.
    """

    def of(measured: Measured) -> Files:
        return files(measured) if callable(files) else files

    def may(system: System, measured: Measured) -> str | None:
        wanted = of(measured)
        why = expect_no_files(system, wanted) if wanted else None
        return applies(system, measured) if why is None else why

    named = knob if knob is not None else "files of the root" if callable(files) else root_files_words(files)
    return Change(Layer.USERSPACE, named, lambda system, measured: with_root_files(system, of(measured)), may)


def root_files_words(files: Files) -> str:
    """Return the paths of files in words, for the knob of a technique."""
    return f"files of the root: {', '.join(files)}"


def with_root_files(system: System, files: Mapping[str, str]) -> System:
    """Return the system with these files in its root, path -> text; it has a recipe or an image (`expect_no_files`)."""
    if system.image is not None:
        return system.with_part("image", files={**system.image.files, **files})
    recipe = recipe_of(system)
    assert recipe is not None
    return system.with_part("rootfs", texts={**recipe.texts, **files})


def expect_no_files(system: System, files: Mapping[str, str]) -> str | None:
    """Return why these files cannot be written into the root, or that they are there; None where they can."""
    if system.image is not None:
        return "image.files has these files already" if files.items() <= system.image.files.items() else None
    recipe = recipe_of(system)
    if recipe is None:
        return no_recipe(system)
    return "rootfs.texts has these files already" if files.items() <= recipe.texts.items() else None
