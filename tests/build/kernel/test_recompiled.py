"""Objects compiled again with other options: the compiler says which of them change a function's code."""

from pathlib import Path

import pytest

from bootlab.build.kernel.recompiled import RecompiledObject
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
    (tmp_path / "mm").mkdir()
    (tmp_path / "mm/init.c").write_text(SOURCE)
    command = "gcc -Wp,-MMD,mm/.init.o.d -Iinclude -include linux/kconfig.h -O2 -c -o mm/init.o mm/init.c ; ./objtool"
    (tmp_path / "mm/.init.o.cmd").write_text(f"savedcmd_mm/init.o := {command}\n\nsource_mm/init.o := mm/init.c\n")
    return tmp_path


def test_options_that_change_a_function_change_its_length(objects: Path) -> None:
    made = RecompiledObject(objects, "mm/init.o")
    now = made.function_bytes("place", {})
    assert now
    assert made.function_bytes("place", {"UNKNOWN": "y", "SECTIONS": "n"}) == now
    without = made.function_bytes("place", {"MAP": "n"})
    assert without is not None and without > now
    for options in ({"TICKS": "250"}, {"DRIVER": "m"}):
        assert made.function_bytes("place", options) not in (None, now)
    assert made.function_bytes("place", {"DRIVER": "y"}) == now, "only a module has it"
    assert made.function_bytes("nothing", {}) == 0
    assert sorted(path.name for path in objects.rglob("*") if path.is_file()) == [".init.o.cmd", "init.c", "kconfig.h"]


def test_what_does_not_compile_has_no_length(objects: Path) -> None:
    assert RecompiledObject(objects, "mm/init.o").function_bytes("place", {"BROKEN": "y"}) is None
    with pytest.raises(OSError, match=r"slab\.o"):
        RecompiledObject(objects, "mm/slab.o")
