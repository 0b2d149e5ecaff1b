"""What was found in an image is kept: read once, and damage is said."""

import json
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.image.contents import BIOS, Chain, ImageContents
from bootlab.build.image.image_file import open_image
from bootlab.build.image.kept_contents import read_image
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.image.small_images import make_disk, make_ext4, make_fat
from tests.build.image.test_survey import GRUB, ROOT


def test_an_image_is_read_once_and_a_damaged_memory_of_it_is_said(tmp_path: Path) -> None:
    parts = [make_fat(tmp_path, {"EFI/BOOT/BOOTX64.EFI": GRUB}), make_ext4(tmp_path, ROOT)]
    image = open_image(make_disk(tmp_path / "disk.img", parts))
    first = read_image(Workshop(Cache(tmp_path / "cache")), image)
    told: list[str] = []
    again = read_image(Workshop(Cache(tmp_path / "cache"), tell=told.append), first.image)
    assert again == first and told == []
    # Of the same length: an entry that has a file of another one is made anew.
    contents = first.folder / "contents.json"
    contents.write_text(json.dumps({"format": 1}).ljust(contents.stat().st_size))
    with pytest.raises(InputError, match="what the cache knows of it is damaged"):
        read_image(Workshop(Cache(tmp_path / "cache")), first.image)


def test_what_is_known_survives_json() -> None:
    contents = ImageContents(format="raw", bytes=1, scheme="", partitions=(), chains={BIOS: Chain(loader="GRUB")})
    assert ImageContents.model_validate(json.loads(contents.model_dump_json()), strict=False) == contents
