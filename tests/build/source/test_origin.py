"""Where kernel source comes from: a tree, a tarball, patches; the same files elsewhere are the same source."""

import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.source.make import BuildFailed, ObjectFolder, first_error
from bootlab.build.source.origin import require_source
from bootlab.build.source.toolchain import require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import KernelBuild

MAIN = "int start_kernel(void)\n{\n\treturn 0;\n}\n"
PATCH = """--- a/init/main.c
+++ b/init/main.c
@@ -1,4 +1,4 @@
 int start_kernel(void)
 {
-\treturn 0;
+\treturn 1;
 }
"""


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """A cache of this test."""
    return Cache(tmp_path / "cache")


@pytest.fixture
def shop(cache: Cache) -> Workshop:
    """A workshop that tells nobody."""
    return Workshop(cache)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """As much of a kernel tree as tells it from another folder, with a Makefile that make can run."""
    return make_tree(tmp_path / "linux")


def make_tree(tree: Path) -> Path:
    """Write the tree."""
    for name, text in {
        "Makefile": "# SPDX\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 107\nEXTRAVERSION = -rc1\nNAME = Baby\n",
        "Kconfig": "",
        "scripts/kconfig/Makefile": "",
        "init/main.c": MAIN,
        "arch/x86/Makefile": "",
    }.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tree / "init/link.c").symlink_to("main.c")
    return tree


def from_tree(tree: Path, *patches: Path) -> KernelBuild:
    """Return a request for a kernel from this source."""
    return KernelBuild(source=tree, patches=patches)


def test_a_tree_is_used_where_it_is(tree: Path, shop: Workshop) -> None:
    source = require_source(shop, from_tree(tree))
    assert source.tree == tree
    assert source.version == "6.12.107-rc1"
    assert source.in_place is not None


def test_the_same_files_at_another_place_are_the_same_source(tree: Path, tmp_path: Path, shop: Workshop) -> None:
    copy = make_tree(tmp_path / "other/place")
    (copy / ".git").mkdir()
    (copy / ".git/HEAD").write_text("ref: refs/heads/main\n")
    assert require_source(shop, from_tree(copy)).identity == require_source(shop, from_tree(tree)).identity


@pytest.mark.parametrize("change", ["text", "same size and time", "mode", "new", "gone", "link"])
def test_any_change_makes_another_source_and_undoing_it_the_same(tree: Path, shop: Workshop, change: str) -> None:
    before = require_source(shop, from_tree(tree)).identity
    main = tree / "init/main.c"
    facts = main.stat()
    if change == "text":
        main.write_text(MAIN.replace("return 0", "return 10"))
    elif change == "same size and time":
        main.write_text(MAIN.replace("return 0", "return 1"))
        os.utime(main, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    elif change == "mode":
        main.chmod(0o755)
    elif change == "new":
        (tree / "init/new.c").write_text("")
    elif change == "gone":
        (tree / "arch/x86/Makefile").unlink()
    else:
        (tree / "init/link.c").unlink()
        (tree / "init/link.c").symlink_to("other.c")
    assert require_source(shop, from_tree(tree)).identity != before
    shutil.rmtree(tree)
    make_tree(tree)
    assert require_source(shop, from_tree(tree)).identity == before


@pytest.mark.parametrize(("suffix", "option"), [(".tar", ""), (".tar.xz", "J"), (".tar.gz", "z"), (".tgz", "z")])
def test_a_tarball_is_unpacked_once(tree: Path, tmp_path: Path, cache: Cache, suffix: str, option: str) -> None:
    tarball = tmp_path / f"linux-6.12{suffix}"
    subprocess.run(["tar", f"-c{option}f", tarball, "-C", tmp_path, "linux"], check=True)
    lines: list[str] = []
    first = require_source(Workshop(cache, tell=lines.append), from_tree(tarball))
    assert lines == [f"unpacking {tarball.name}"]
    assert (first.tree / "init/main.c").read_text() == MAIN
    moved = tarball.rename(tmp_path / f"moved{suffix}")
    assert require_source(Workshop(cache, tell=lines.append), from_tree(moved)) == first
    assert len(lines) == 1


def test_a_damaged_tarball_is_told(tree: Path, tmp_path: Path, cache: Cache) -> None:
    tarball = tmp_path / "linux.tar.xz"
    subprocess.run(["tar", "-cJf", tarball, "-C", tmp_path, "linux"], check=True)
    tarball.write_bytes(tarball.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"kernel\.build\.source: .*linux\.tar\.xz: cannot be unpacked"):
        require_source(Workshop(cache), from_tree(tarball))
    assert not [path for path in (cache.root / "kernel-source").glob("*") if not path.name.startswith(".")]


@pytest.mark.parametrize("kind", ["tree", "tarball"])
def test_patches_are_applied_to_a_copy(tree: Path, tmp_path: Path, shop: Workshop, kind: str) -> None:
    patch = tmp_path / "one.patch"
    patch.write_text(PATCH)
    named = tree
    if kind == "tarball":
        named = tmp_path / "linux.tar"
        subprocess.run(["tar", "-cf", named, "-C", tmp_path, "linux"], check=True)
    source = require_source(shop, from_tree(named, patch))
    assert "return 1" in (source.tree / "init/main.c").read_text()
    assert (tree / "init/main.c").read_text() == MAIN
    assert source.identity != require_source(shop, from_tree(named)).identity


def test_a_patch_that_does_not_apply_names_its_hunk(tree: Path, tmp_path: Path, shop: Workshop) -> None:
    good, bad = tmp_path / "good.patch", tmp_path / "bad.patch"
    good.write_text(PATCH)
    bad.write_text(PATCH.replace("return 0;", "return 7;").replace("return 1;", "return 8;"))
    with pytest.raises(InputError) as caught:
        require_source(shop, from_tree(tree, good, bad))
    assert caught.value.message.splitlines() == [
        f"kernel.build.patches[1]: {bad}: does not apply to this source",
        "  init/main.c: Hunk #1 FAILED at 1.",
    ]


def test_a_patch_applied_twice_is_told(tree: Path, tmp_path: Path, shop: Workshop) -> None:
    patch = tmp_path / "one.patch"
    patch.write_text(PATCH)
    with pytest.raises(InputError, match=r"patches\[1\].*\n.*previously applied"):
        require_source(shop, from_tree(tree, patch, patch))


def test_what_is_no_kernel_is_told(tmp_path: Path, shop: Workshop) -> None:
    (tmp_path / "music").mkdir()
    with pytest.raises(InputError, match="not a tree of the Linux kernel: it has no Makefile, Kconfig"):
        require_source(shop, from_tree(tmp_path / "music"))
    (tmp_path / "song.mp3").write_bytes(b"ID3")
    with pytest.raises(InputError, match="neither a kernel tree nor a tarball"):
        require_source(shop, from_tree(tmp_path / "song.mp3"))


def test_a_tree_that_was_built_in_place_is_told_how_to_clean(tree: Path, shop: Workshop) -> None:
    (tree / ".config").write_text("CONFIG_64BIT=y\n")
    with pytest.raises(InputError, match="was configured or built in place") as caught:
        require_source(shop, from_tree(tree))
    assert caught.value.hint is not None and "mrproper" in caught.value.hint


class TestObjects:
    """What stays of the objects when a user's tree changes."""

    @staticmethod
    def folder(tree: Path, cache: Cache) -> ObjectFolder:
        return ObjectFolder(
            cache, require_source(Workshop(cache), from_tree(tree)), require_toolchain("x86_64"), "build"
        )

    def test_they_stay_when_a_file_gets_newer(self, tree: Path, cache: Cache) -> None:
        with self.folder(tree, cache).locked():
            (self.folder(tree, cache).objects / "main.o").touch()
        later = self.folder(tree, cache).log.parent.stat().st_mtime + 10
        (tree / "init/main.c").write_text(MAIN + "\n")
        os.utime(tree / "init/main.c", (later, later))
        folder = self.folder(tree, cache)
        with folder.locked():
            assert (folder.objects / "main.o").exists()

    @pytest.mark.parametrize("change", ["older", "new", "gone"])
    def test_they_go_when_make_would_not_see_it(self, tree: Path, cache: Cache, change: str) -> None:
        with self.folder(tree, cache).locked():
            (self.folder(tree, cache).objects / "main.o").touch()
        if change == "older":
            (tree / "init/main.c").write_text(MAIN + "\n")
            os.utime(tree / "init/main.c", (1, 1))
        elif change == "new":
            (tree / "init/main.h").write_text("")
        else:
            (tree / "init/link.c").unlink()
        folder = self.folder(tree, cache)
        with folder.locked():
            assert not (folder.objects / "main.o").exists()

    def test_they_go_when_the_last_build_did_not_end(self, tree: Path, cache: Cache) -> None:
        folder = self.folder(tree, cache)
        with pytest.raises(KeyboardInterrupt), folder.locked():
            (folder.objects / "half.o").touch()
            raise KeyboardInterrupt
        with folder.locked():
            assert not (folder.objects / "half.o").exists()

    def test_they_stay_when_a_compiler_refused(self, tree: Path, cache: Cache) -> None:
        folder = self.folder(tree, cache)
        with pytest.raises(BuildFailed), folder.locked():
            (folder.objects / "main.o").touch()
            raise BuildFailed("init/main.c:1: error")
        with folder.locked():
            assert (folder.objects / "main.o").exists()

    def test_who_waits_for_another_build_is_told(self, tree: Path, cache: Cache) -> None:
        told: list[str] = []
        waiting = threading.Event()
        ended = threading.Event()

        def second() -> None:
            def tell(line: str) -> None:
                told.append(line)
                waiting.set()

            with self.folder(tree, cache).locked(tell):
                ended.set()

        with self.folder(tree, cache).locked(told.append):
            thread = threading.Thread(target=second)
            thread.start()
            assert waiting.wait(20) and not ended.is_set()
        thread.join(20)
        assert ended.is_set()
        assert told == ["waiting for another build of this kernel, whose objects are shared"]

    def test_a_tree_that_changes_while_it_is_built_is_told(self, tree: Path, cache: Cache) -> None:
        folder = self.folder(tree, cache)
        with pytest.raises(InputError, match="was changed while the kernel was built"), folder.locked():
            (folder.objects / "main.o").touch()
            (tree / "init/main.c").write_text("int other;\n")
            folder.expect_same_source()
        with folder.locked():
            assert not (folder.objects / "main.o").exists()


LOG = """  CC      init/main.o
  CC      init/version.o
In file included from init/main.c:10:
init/main.c: In function 'start_kernel':
init/main.c:12:9: error: 'nothing' undeclared (first use in this function)
   12 |  return nothing;
      |         ^~~~~~~
make[4]: *** [scripts/Makefile.build:229: init/main.o] Error 1
  CC      fs/open.o
make[3]: *** [scripts/Makefile.build:478: init] Error 2
"""


def test_of_a_log_the_first_error_is_shown_without_the_steps_around_it() -> None:
    shown = first_error(LOG.splitlines())
    assert shown.splitlines()[0] == "In file included from init/main.c:10:"
    assert "  init/main.c:12:9: error: 'nothing' undeclared" in shown
    assert "CC  " not in shown
    assert "make[4]: *** [scripts/Makefile.build:229: init/main.o] Error 1" in shown


@pytest.mark.parametrize(
    "line",
    [
        "ld: init/main.o: undefined reference to `missing'",
        "make[2]: *** No rule to make target 'init/gone.o', needed by 'init/built-in.a'.  Stop.",
        "/bin/sh: 1: lz4: not found",
        "ERROR: modpost: missing symbol",
        "gcc: fatal error: Killed signal terminated program cc1",
    ],
)
def test_errors_of_other_tools_are_found(line: str) -> None:
    assert line in first_error(["  LD      vmlinux", line, "make: *** [Makefile:224: __sub-make] Error 2"])


def test_an_error_in_no_known_words_is_the_end_of_the_log() -> None:
    assert first_error(["something", "make: *** [x] Error 1"]) == "something\n  make: *** [x] Error 1"
    assert first_error([]) == "it wrote nothing"
