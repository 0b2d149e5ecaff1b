"""What a workshop lets others know of a compiler's progress."""

from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop


def test_a_line_is_told_now_and_then_where_nobody_follows_the_compiler(tmp_path: Path) -> None:
    lines: list[str] = []
    shop = Workshop(Cache(tmp_path), tell=lines.append)
    for number in range(1, 601):
        shop.tell_compiled(number, "init/main.o")
    assert lines == ["compiled 250 files", "compiled 500 files"]


def test_who_follows_the_compiler_hears_of_every_file_and_no_line_is_told(tmp_path: Path) -> None:
    lines: list[str] = []
    heard: list[tuple[int, str]] = []
    shop = Workshop(Cache(tmp_path), tell=lines.append, progress=lambda done, last: heard.append((done, last)))
    for number, name in enumerate(("init/main.o", "init/version.o"), 249):
        shop.tell_compiled(number, name)
    assert (heard, lines) == ([(249, "init/main.o"), (250, "init/version.o")], [])
