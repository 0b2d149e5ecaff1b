"""Pictures of a boot as files, and their order on a film."""

from pathlib import Path

from PIL import Image

from bootlab.measure.record import PictureRecord
from bootlab.measure.screen import film_of, keep_pictures

RED_BLUE = bytes([0, 0, 255, 0, 255, 0, 0, 0])


def test_each_picture_becomes_a_png(tmp_path: Path) -> None:
    raw = tmp_path / "pictures.bin"
    raw.write_bytes(b"frame a/b 5 2 1\n" + RED_BLUE + b"frame - 7 2 1\n" + RED_BLUE + b"frame - 9 0 0\n")
    (tmp_path / "picture-desk.pixels").write_bytes(b"")
    kept = keep_pictures(raw, tmp_path)
    assert [(one.mark, one.t_ns, one.width) for one in kept] == [("a/b", 5, 2), (None, 7, 2), (None, 9, 0)]
    assert kept[0].file == "screen/000000000000005-a_b.png"
    assert kept[0].pixels_sha256 == kept[1].pixels_sha256 != kept[2].pixels_sha256
    with Image.open(tmp_path / kept[0].file) as image:
        assert [image.getpixel((x, 0)) for x in (0, 1)] == [(255, 0, 0), (0, 0, 255)]
    assert (tmp_path / kept[0].file).read_bytes() == (tmp_path / kept[1].file).read_bytes()
    # What is in the files now is not kept twice.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["screen"]


def test_a_boot_that_nobody_looked_at_has_none(tmp_path: Path) -> None:
    assert keep_pictures(tmp_path / "pictures.bin", tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_moment_is_on_the_film_once_but_every_mark_is() -> None:
    def one(mark: str | None, t_ns: int) -> PictureRecord:
        return PictureRecord(mark=mark, t_ns=t_ns, width=1, height=1, pixels_sha256="", file="")

    film = film_of([one(None, 9), one("a", 5), one(None, 5), one("b", 5), one(None, 2)])
    assert [(picture.mark, picture.t_ns) for picture in film] == [(None, 2), ("a", 5), ("b", 5), (None, 9)]
