"""A life's files and what the plugin is told of it; that a life is lived, and again to the byte, real boots show."""

import json
import subprocess
from pathlib import Path

import pytest

from bootlab.build.cache import file_sha256
from bootlab.errors import InputError
from bootlab.system import Attachment, BootFiles, System
from bootlab.targets.qemu.life import expect_lives, left_by, life_config, make_room

GIVEN = {"name": "s", "machine": {"type": "q35"}, "image": {"path": "disk.img"}, "booted": {"console": "login:"}}


def files(folder: Path) -> BootFiles:
    image, variables = folder / "disk.img", folder / "vars.fd"
    image.write_bytes(b"disk" * 4096)
    variables.write_bytes(b"settings")
    return BootFiles(kernel=folder / "k", image=image, image_format="raw", firmware_variables=variables)


def test_a_life_does_not_end_at_ready_but_at_its_time() -> None:
    config = "arch x86_64\nmark a 1 00\nuser u a\nguestmarks\nstop ready\nexactdisks\nnetwork 5 net0\n"
    assert life_config(config, 7) == (
        "arch x86_64\nmark a 1 00\nguestmarks\nexactdisks\nnetwork 5 net0\n"
        "at 7 life_s\nuser life_over life_s\npause life_over\n"
    )


def test_what_a_life_writes_is_beside_the_image_and_stays(tmp_path: Path) -> None:
    before = files(tmp_path)
    folder = tmp_path / "life"
    folder.mkdir()
    made = make_room(before, folder)
    assert made.image is not None and made.firmware_variables is not None
    assert made.image.parent == made.firmware_variables.parent == folder and made.image_format == "qcow2"
    argv = ["qemu-img", "info", "--output=json", str(made.image)]
    told = json.loads(subprocess.run(argv, capture_output=True, check=True).stdout)
    assert told["backing-filename"] == str(before.image) and told["backing-filename-format"] == "raw"
    assert made == left_by(before, folder) and made.firmware_variables.read_bytes() == b"settings"
    assert before.image is not None and file_sha256(before.image) == file_sha256(tmp_path / "disk.img")


def test_a_program_and_a_system_without_an_image_have_no_lives(tmp_path: Path) -> None:
    image = System.model_validate(GIVEN)
    expect_lives(image, files(tmp_path))
    program = files(tmp_path).model_copy(update={"image_format": "efi"})
    cd = image.with_part("image", attach=Attachment.CD)
    none = image.model_copy(update={"image": None})
    for system, what in ((image, program), (none, files(tmp_path)), (cd, files(tmp_path))):
        with pytest.raises(InputError, match=r"image\.life"):
            expect_lives(system, what)
