"""Objects compiled again with other options: the compiler says which of them change a function's code."""

from pathlib import Path

import pytest

from bootlab.build.kernel.recompiled import FunctionLengths
from bootlab.build.source.make import BuildFailed
from tests.build.kernel.test_build import needs_tools

pytestmark = needs_tools

SOURCE = """
int place(int page)
{
#if defined(CONFIG_SECTIONS) && !defined(CONFIG_MAP)
	for (int section = 0; section < page; section++)
		page ^= section * 3 + page / 7;
#endif
#ifdef CONFIG_TICKS
	page += CONFIG_TICKS * page * page * page % 1234567;
#endif
#ifdef CONFIG_DRIVER_MODULE
	page = page * page * page % 7;
#endif
	return page;
}
int other(int page) { return place(page) * 2; }
#ifdef CONFIG_BROKEN
#error no
#endif
"""


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    """A folder as kbuild leaves it: an object's command beside it, and the options in a header."""
    (tmp_path / "include/linux").mkdir(parents=True)
    (tmp_path / "include/linux/kconfig.h").write_text("#define CONFIG_SECTIONS 1\n#define CONFIG_MAP 1\n")
    (tmp_path / ".config").write_text("CONFIG_SECTIONS=y\nCONFIG_MAP=y\n")
    (tmp_path / "mm").mkdir()
    (tmp_path / "mm/init.c").write_text(SOURCE)
    command = "gcc -Wp,-MMD,mm/.init.o.d -Iinclude -include linux/kconfig.h -O2 -c -o mm/init.o mm/init.c ; ./objtool"
    (tmp_path / "mm/.init.o.cmd").write_text(f"savedcmd_mm/init.o := {command}\n\nsource_mm/init.o := mm/init.c\n")
    return tmp_path


def never(name: str) -> None:
    raise AssertionError(name)


CONFIG = {"SECTIONS": "y", "MAP": "y"}


def test_options_that_change_a_function_change_its_length(objects: Path) -> None:
    length = FunctionLengths(objects, never).of("mm/init.o", "place", CONFIG)
    assert length is not None
    now = length({})
    assert now
    assert length({"UNKNOWN": "y", "SECTIONS": "n"}) == now
    without = length({"MAP": "n"})
    assert without is not None and without > now
    for options in ({"TICKS": "250"}, {"DRIVER": "m"}):
        assert length(options) not in (None, now)
    assert length({"DRIVER": "y"}) == now, "only a module has it"
    assert length({"BROKEN": "y"}) is None, "it does not compile"
    nothing = FunctionLengths(objects, never).of("mm/init.o", "nothing", CONFIG)
    assert nothing is not None and nothing({}) == 0
    assert sorted(path.name for path in (objects / "mm").iterdir()) == [".init.o.cmd", "init.c"]


def test_another_configuration_than_the_one_built_last_is_compiled_as_it_is(objects: Path) -> None:
    built = FunctionLengths(objects, never).of("mm/init.o", "place", CONFIG)
    other = FunctionLengths(objects, never).of("mm/init.o", "place", {"SECTIONS": "y", "TICKS": "100"})
    assert built is not None and other is not None
    assert other({}) == built({"MAP": "n", "TICKS": "100"}) != built({})
    assert other({"MAP": "y", "TICKS": "n"}) == built({})


def test_an_object_that_is_missing_is_made(objects: Path) -> None:
    command, made = objects / "mm/.init.o.cmd", list[str]()
    text = command.read_text()
    command.unlink()

    def make(name: str) -> None:
        made.append(name)
        command.write_text(text)

    length = FunctionLengths(objects, make).of("mm/init.o", "place", CONFIG)
    assert length is not None and length({}) and made == ["mm/init.o"]


def fails(name: str) -> None:
    raise BuildFailed(f"{name}: no rule")


def test_an_object_that_cannot_be_made_has_no_length(objects: Path) -> None:
    assert FunctionLengths(objects, fails).of("mm/slab.o", "place", CONFIG) is None
    assert FunctionLengths(objects, lambda name: None).of("mm/slab.o", "place", CONFIG) is None
