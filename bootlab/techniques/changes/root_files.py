"""Files that are written into the root: of a recipe, or of a disk image."""

from collections.abc import Mapping

from bootlab.system import System
from bootlab.techniques.changes.root_image import no_recipe, recipe_of


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
