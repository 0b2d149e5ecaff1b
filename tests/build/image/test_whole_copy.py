"""An image with changes laid in: the same disk as the trial's overlay, as one file that needs no other."""

from pathlib import Path

import pytest

from bootlab.build.boot_files import prepare
from bootlab.build.cache import Cache, file_sha256
from bootlab.build.image.image_file import content_hash, open_image
from bootlab.build.image.whole_copy import write_whole_copy
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.image.test_files import BOOT_CODE, system


@pytest.mark.parametrize("name", ["new.img", "new.qcow2"])
def test_the_copy_is_the_changed_disk_and_needs_no_other_file(name: str, tmp_path: Path) -> None:
    shop = Workshop(Cache(tmp_path / "cache"))
    given = system(tmp_path, code=BOOT_CODE)
    image = given.image
    assert image is not None
    before = file_sha256(image.path)
    changed = given.model_copy(
        update={
            "kernel": given.kernel.model_copy(update={"cmdline": "quiet"}),
            "image": image.model_copy(update={"menu_s": 0}),
        }
    )
    whole = write_whole_copy(shop, changed, tmp_path / name)
    assert whole.kernel.cmdline == "" and whole.image is not None
    assert whole.image.path == tmp_path / name and whole.image.menu_s is None
    found = open_image(tmp_path / name)
    assert found.chain == () and found.format == ("raw" if name.endswith(".img") else "qcow2")
    assert file_sha256(image.path) == before
    # Read anew, it has the kernel's words: what a boot of it starts is what the overlay starts.
    ours, theirs = prepare(shop, whole), prepare(shop, changed)
    assert ours.hashes["kernel"] == theirs.hashes["kernel"]
    if name.endswith(".img"):
        assert ours.hashes["image"] == theirs.hashes["image"] == content_hash(found)
    assert sorted(path.name for path in tmp_path.iterdir() if "new" in path.name) == [name]


def test_what_qemu_loads_itself_is_told_so_of_the_copy_too(tmp_path: Path) -> None:
    shop = Workshop(Cache(tmp_path / "cache"))
    direct = system(tmp_path, code=BOOT_CODE).with_part("image", loader="direct").with_cmdline("quiet")
    whole = write_whole_copy(shop, direct, tmp_path / "new.img")
    assert whole.image is not None and whole.image.loader == "direct" and whole.kernel.cmdline == "quiet"
    assert prepare(shop, whole).words == prepare(shop, direct).words


def test_a_system_without_an_image_has_none_to_copy(tmp_path: Path) -> None:
    given = system(tmp_path, code=BOOT_CODE).model_copy(update={"image": None})
    with pytest.raises(InputError, match="boots from no disk image"):
        write_whole_copy(Workshop(Cache(tmp_path / "cache")), given, tmp_path / "new.img")
    assert not (tmp_path / "new.img").exists()
