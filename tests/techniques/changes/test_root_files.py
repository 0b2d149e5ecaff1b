"""Files that are written into a root: of a recipe by rootfs.texts, of an image by image.files."""

from pathlib import Path

from bootlab.sources import EXAMPLES
from bootlab.system import read_system
from bootlab.techniques.changes.root_files import expect_no_files, with_root_files
from tests.techniques.userspace.test_cloud_init import image_system

FILES = {"/etc/a": "a\n"}


def test_a_recipe_and_an_image_take_them_beside_those_they_have() -> None:
    recipe = read_system(EXAMPLES / "compressed-root.toml")
    assert expect_no_files(recipe, FILES) is None
    changed = with_root_files(recipe, FILES)
    assert changed.rootfs is not None and set(changed.rootfs.texts) == {"/etc/fstab", "/etc/a"}
    assert expect_no_files(changed, FILES) == "rootfs.texts has these files already"
    image = with_root_files(image_system(files={"/etc/b": "b\n"}), FILES)
    assert image.image is not None and set(image.image.files) == {"/etc/a", "/etc/b"}
    assert expect_no_files(image, FILES) == "image.files has these files already"
    finished = recipe.model_copy(update={"rootfs": type(changed.rootfs)(path=Path("root.img"))})
    assert "is a finished image" in str(expect_no_files(finished, FILES))
