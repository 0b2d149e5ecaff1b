"""`--lives`: refused by name where a system has none, before anything is made. Real lives are lived in test_images."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError

PLAIN = '[machine]\ntype = "q35"\n[kernel]\npackage = "linux-image-cloud-amd64"\n[booted]\nmark = "ready"\n'
IMAGE = '[machine]\ntype = "q35"\n[image]\npath = "disk.img"\n{more}[booted]\nconsole = "login:"\n'


@pytest.mark.parametrize("verb", ["boot", "measure"])
@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (PLAIN, ["--lives", "2"], "boots from no disk image"),
        (PLAIN, ["--life-s", "9"], "--life-s: is how long each life lasts: --lives N"),
        (IMAGE.format(more="life = 2\n"), ["--lives", "2"], "image.life = 2 names one life"),
    ],
)
def test_what_has_no_lives_is_refused(verb: str, text: str, words: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(b"")
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        run([verb, str(path), *words])
    assert message in refused.value.message


def test_a_snapshot_has_no_lives(tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(b"")
    path = tmp_path / "s.toml"
    path.write_text(IMAGE.format(more=""))
    with pytest.raises(InputError, match="--lives: a machine that goes on from a snapshot is not powered on"):
        run(["boot", str(path), "--lives", "2", "--from", "last"])


@pytest.mark.parametrize("option", [["--clones", "3"], ["--clone", "2"], ["--or-cold"], ["--unread"]])
def test_options_of_a_snapshot_are_not_passed_over(option: list[str], tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(b"")
    path = tmp_path / "s.toml"
    path.write_text(IMAGE.format(more=""))
    with pytest.raises(InputError, match=rf"{option[0]}: is for a machine that goes on from a snapshot"):
        run(["boot", str(path), "--lives", "2", *option])
