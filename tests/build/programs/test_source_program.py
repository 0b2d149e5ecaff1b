"""Programs from source packages: real configure scripts and compilers, on packages made on the spot."""

import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from bootlab.build.cache import Cache
from bootlab.build.programs.cross_build import ProgramBuildFailed
from bootlab.build.programs.source_program import BuiltProgram, build_program, with_source_programs
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.symbols.program import belongs_to, read_program
from bootlab.system import Initramfs, SourceProgram
from tests.build.conftest import LocalArchive

_GCC = f"{platform.machine()}-linux-gnu-gcc"
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("apt-get", "dpkg-source", "make", _GCC))), reason="needs apt, dpkg-dev, make and cc"
)

_CONFIGURE = """#!/bin/sh
say=everything flags=
for word; do case $word in
    --flags=*) flags=${word#--flags=} ;;
    --say=*) say=${word#--say=} ;;
    --prefix-is=*) echo "prefix ${word#--prefix-is=}" ;;
    *) echo "configure: no such option: $word"; exit 1 ;;
esac; done
printf 'hello: hello.o\\n\\tcc -o $@ $<\\n' >Makefile
printf 'hello.o: ../source/hello.c\\n\\tcc %s -DSAY=%s -c -o $@ $<\\n' "$flags" "$say" >>Makefile
echo "this is configure's own log" >config.log
"""
_HELLO = """#include <stdio.h>
#define TEXT(x) #x
#define WORD(x) TEXT(x)
int main(void) { puts(WORD(SAY)); return 0; }
"""


@pytest.fixture
def archive(make_archive: Callable[[], LocalArchive]) -> LocalArchive:
    local = make_archive()
    local.add_source("hello", "1.0", {"configure": _CONFIGURE, "hello.c": _HELLO})
    local.add_source("broken", "1.0", {"configure": _CONFIGURE, "hello.c": "int main(void) { return nothing; }\n"})
    local.add_source("plain", "1.0", {"hello.c": _HELLO})
    local.publish()
    return local


@pytest.fixture
def shop(archive: LocalArchive) -> Workshop:
    return Workshop(Cache(archive.root.parent / "cache"), apt=archive.apt)


@pytest.fixture
def build(shop: Workshop) -> Callable[..., BuiltProgram]:

    def made(package: str = "hello", arch: str = platform.machine(), **keys: object) -> BuiltProgram:
        program = SourceProgram.model_validate({"package": package, "suite": "bookworm", "made": "hello", **keys})
        return build_program(shop, program, arch, key="program")

    return made


def test_a_dynamic_program_brings_its_loader_and_libraries(build: Callable[..., BuiltProgram]) -> None:
    built = build()
    assert run([built.path]).text == "everything\n"
    names = set(built.libraries)
    assert "/lib/libc.so.6" in names
    with built.path.open("rb") as file:
        (interp,) = [segment for segment in ELFFile(file).iter_segments() if segment["p_type"] == "PT_INTERP"]
        assert interp.get_interp_name() in names
        assert ELFFile(file).get_section_by_name(".symtab") is None


def test_a_static_program_needs_nothing_and_reduce_adds_its_words(build: Callable[..., BuiltProgram]) -> None:
    built = build(static=True, reduced=["--say=little", "--prefix-is={prefix}"], reduce=True)
    assert built.libraries == {}
    assert run([built.path]).text == "little\n"
    assert built.path != build(static=True).path


@pytest.mark.skipif(shutil.which("arm-linux-gnueabihf-gcc") is None, reason="needs gcc-arm-linux-gnueabihf")
@pytest.mark.parametrize(
    ("libc", "instructions"),
    [("gnu", "arm"), ("gnu", "thumb2"), pytest.param("musl", "thumb2", marks=pytest.mark.boot)],  # musl itself: 90 s
)
def test_a_static_program_for_a_board(build: Callable[..., BuiltProgram], libc: str, instructions: str) -> None:
    # gcc's name for a CPU, as a package's configure script passes it on.
    named = ["--flags=-mcpu=cortex-a7"]
    built = build(arch="armv7", static=True, libc=libc, instructions=instructions, configure=named)
    program = read_program(built.path.read_bytes(), "hello", [built.symbols])
    assert program is not None and "main" in {function.name for function in program.functions}
    with built.path.open("rb") as file:
        elf = ELFFile(file)
        assert (elf["e_machine"], elf.elfclass) == ("EM_ARM", 32)
        assert elf.get_section_by_name(".interp") is None


def _script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_compiler_of_the_users_links_with_its_own_library(build: Callable[..., BuiltProgram], tmp_path: Path) -> None:
    # It takes itself for one of uClibc; what Buildroot makes is called in the same way.
    called = 'case $0 in */my-linux-uclibc-gcc) ;; *) echo "$0: no such compiler" >&2; exit 2 ;; esac'
    wrapper = _script(tmp_path / "toolchain-wrapper", f'{called}\nexec {_GCC} -D__UCLIBC__=1 "$@"')
    compiler = tmp_path / "my-linux-uclibc-gcc"
    compiler.symlink_to(wrapper.name)
    keys = {"libc": "uclibc", "static": True, "uclibc_compiler": str(compiler)}
    built = build(**keys)
    assert run([built.path]).text == "everything\n" and built.libraries == {}
    assert built.path != build(static=True).path
    assert build(**keys, reduced=["--say=little"], reduce=True).path != built.path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'exec {_GCC} "$@"', "its C library is not uClibc"),
        ("exit 3", "is no C compiler that works"),
        ("[ $1 = -dumpmachine ] && echo sh4-linux-uclibc || exit 0", "is no C compiler that works"),
        (f'[ $1 = -dumpmachine ] && echo sh4-linux-uclibc || exec {_GCC} "$@"', "compiles for sh4-linux-uclibc"),
        (f'[ $1 = -print-file-name=libc.a ] && echo libc.a || exec {_GCC} -D__UCLIBC__=1 "$@"', "has no libc.a"),
    ],
)
def test_a_compiler_that_is_none_for_this_is_refused(
    build: Callable[..., BuiltProgram], tmp_path: Path, text: str, message: str
) -> None:
    compiler = _script(tmp_path / "gcc", text)
    with pytest.raises(InputError, match=rf"program.uclibc_compiler: .*{message}") as caught:
        build(libc="uclibc", static=True, uclibc_compiler=str(compiler))
    assert "output/host/bin/" in (caught.value.hint or "") and "no Debian package" in (caught.value.hint or "")


def test_uclibc_without_a_compiler_says_where_one_is_from() -> None:
    with pytest.raises(ValueError, match=r"no Debian package has one: uclibc_compiler = .*as Buildroot makes it"):
        SourceProgram.model_validate({"package": "hello", "made": "hello", "libc": "uclibc"})


def test_the_program_as_it_was_before_it_was_stripped_is_kept_beside_it(build: Callable[..., BuiltProgram]) -> None:
    built = build()
    stripped, whole = built.path.read_bytes(), built.symbols.read_bytes()
    assert belongs_to(built.symbols, whole, stripped)
    program = read_program(stripped, "hello", [built.symbols])
    assert program is not None and "main" in {function.name for function in program.functions}


def test_the_same_recipe_is_built_once_and_gives_the_same_bytes_elsewhere(
    build: Callable[..., BuiltProgram], archive: LocalArchive
) -> None:
    first = build()
    at = first.path.stat().st_mtime_ns
    assert build().path.stat().st_mtime_ns == at
    data = first.path.read_bytes()
    (archive.root.parent / "cache").rename(archive.root.parent / "moved")
    assert build().path.read_bytes() == data


def test_a_failing_build_shows_its_last_lines_and_keeps_the_log(build: Callable[..., BuiltProgram]) -> None:
    with pytest.raises(ProgramBuildFailed, match=r"program: make of broken failed") as caught:
        build("broken")
    assert "nothing" in caught.value.message
    log = Path(caught.value.message.rsplit(": ", 1)[1])
    assert "this is configure's own log" in log.read_text()


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"package": "plain"}, r"program\.package: plain has no configure script"),
        ({"made": "goodbye"}, r"program\.made: the build made no goodbye"),
        ({"package": "nosuch"}, r'program\.package: Debian bookworm has no source package "nosuch"'),
    ],
)
def test_what_cannot_be_built_names_its_key(
    build: Callable[..., BuiltProgram], keys: dict[str, str], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        build(**keys)


def test_a_wrong_word_for_configure_is_shown(build: Callable[..., BuiltProgram]) -> None:
    with pytest.raises(ProgramBuildFailed, match=r"no such option: --nonsense"):
        build(configure=["--nonsense"])


def test_contradictory_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="say static = true"):
        SourceProgram.model_validate({"package": "hello", "made": "hello", "libc": "musl"})
    with pytest.raises(ValueError, match="reduce takes the words of reduced"):
        SourceProgram.model_validate({"package": "hello", "made": "hello", "reduce": True})


def test_a_recipe_gets_the_program_among_its_files(build: Callable[..., BuiltProgram], shop: Workshop) -> None:
    recipe = Initramfs.model_validate(
        {
            "packages": ["base"],
            "programs": {"/usr/bin/hello": {"package": "hello", "suite": "bookworm", "made": "hello", "static": True}},
        }
    )
    made = with_source_programs(shop, recipe, "initramfs", platform.machine())
    assert made.files == {"/usr/bin/hello": build(static=True).path}


_KILLED = """
import platform, sys
from pathlib import Path
from bootlab.build.cache import Cache
from bootlab.build.programs.source_program import build_program
from bootlab.build.workshop import Workshop
from bootlab.system import SourceProgram
shop = Workshop(Cache(Path(sys.argv[2])), apt=Path(sys.argv[1]), tell=print)
program = SourceProgram(package="slow", suite="bookworm", made="hello")
build_program(shop, program, platform.machine(), key="k")
"""


def test_a_killed_build_leaves_nothing_that_the_next_one_takes(
    build: Callable[..., BuiltProgram], archive: LocalArchive
) -> None:
    slow = _CONFIGURE.replace("\\tcc %s -DSAY", "\\ttouch ../begun; sleep 8 & wait; cc %s -DSAY")
    archive.add_source("slow", "1.0", {"configure": slow, "hello.c": _HELLO})
    archive.publish()
    cache = archive.root.parent / "cache"
    child = subprocess.Popen([sys.executable, "-c", _KILLED, str(archive.apt), str(cache)], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(cache.glob("source-program/.*/begun")):
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert [path for path in (cache / "source-program").iterdir() if not path.name.startswith(".")] == []
    archive.add_source("slow", "1.0", {"configure": _CONFIGURE, "hello.c": _HELLO})
    archive.publish()
    assert run([build("slow").path]).text == "everything\n"
