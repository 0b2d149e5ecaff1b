"""Running a tree's own make: the same result wherever and whenever it runs, and errors that show the cause.

Objects stay between builds in one folder for each source, architecture and compiler, so that only what a change touches
is compiled again. A marker lies there while make runs: found at the start, it says that the last one was killed, and
all of the folder is thrown away. So it is when a user's tree has changed in a way that make does not see.

A source of the cache lies in a folder that is named by its content, so patched sources differ in every path that the
compiler is given, and ccache would find nothing of one in another. Its objects are therefore made in a folder below
links to it: kbuild then names every file by "..".
"""

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import Toolchain
from bootlab.build.source.tree_content import Listing, list_tree, outdates_objects
from bootlab.build.workshop import Progress, Tell
from bootlab.errors import BootlabError, InputError
from bootlab.process import ProgramFailed, stream

_DATE = "Thu Jan  1 00:00:00 UTC 1970"
_DEADLINE_S = 6 * 3600.0
_CONFIGURE_DEADLINE_S = 600.0
_CCACHE_SIZE = "5G"
_INHERITED = re.compile(
    r"^(KBUILD_\w*|KCONFIG_\w*|MAKE(FLAGS|LEVEL|OVERRIDES|FILES)|MFLAGS|GNUMAKEFLAGS|O|C|W|V|ARCH|SUBARCH|SRCARCH|LLVM\w*"
    r"|CROSS_COMPILE\w*|K?(C|A|CPP|RUST)FLAGS\w*|LDFLAGS\w*|HOST\w*FLAGS|LOCALVERSION|INSTALL_\w*|SOURCE_DATE_EPOCH"
    r"|C_INCLUDE_PATH|CPATH|LIBRARY_PATH|DEPMOD|PAHOLE_FLAGS)$"
)
"""Of the environment, what would change a kernel without being part of its key."""
_COMPILED = re.compile(r"^  (?:CC|AS|HOSTCC)\s+(?:\[M\]\s+)?(\S+)")
_STEP = re.compile(r"^  [A-Z][A-Z0-9]+ {1,8}(?:\[M\]\s+)?\S+")
_ERROR = re.compile(
    r"(\berror:|\berror [0-9A-F]{4}:"
    r"|\bERROR:|undefined reference|multiple definition|No rule to make target|^[^ ]*: \*\*\* |not found$"
    r"|Syntax error|syntax error|Killed)"
)
_GAVE_UP = re.compile(r"^make(\[\d+\])?: \*\*\* ")
_SHOWN_BEFORE, _SHOWN_AFTER = 4, 15
PYTHON = "/usr/bin/python3"
"""What a tree's own tools are run with."""
_NO_SPACE = "No space left on device"
_SCARCE = 16 << 20
"""Bytes free on the disk: a step that fails with less and says nothing has failed for want of more."""


class BuildFailed(BootlabError):
    """make ended with an error; the message shows the first one."""


class ObjectFolder:
    """Where the objects of one source, architecture and compiler live; `name` tells apart what is kept there."""

    def __init__(self, cache: Cache, source: SourceTree, toolchain: Toolchain, name: str) -> None:
        # A user's tree keeps its folder when it is edited.
        of = f"{source.identity} below links" if source.in_place is None else "in place"
        words = " ".join([of, toolchain.arch, toolchain.identity, str(source.tree)])
        self._name = f"{name}-{hashlib.sha256(words.encode()).hexdigest()[:32]}"
        self._cache = cache
        self._source = source
        self._toolchain = toolchain
        self.root = cache.root / "kernel-objects" / self._name
        # A user's tree is asked by its own path: what git says of it may be part of the kernel's version.
        self._tree = source.tree if source.in_place is not None else self.root / "tree"
        self.objects = (self.root if source.in_place is not None else self._tree) / "objects"
        self.log = self.root / "make.log"
        self._sources = self.root / "sources"
        self._programs = self.root / "programs"

    @contextmanager
    def locked(self, tell: Tell = lambda line: None) -> Iterator[None]:
        """Hold the folder against other builds, emptied if the last build in it did not come to its end."""
        with self._cache.lock(
            self._name,
            on_wait=lambda: tell(f"waiting for another build of this {self._source.of.what}, whose objects are shared"),
        ):
            marker = self.root / "building"
            if marker.exists() or self._outdated():
                self._throw_away()
            self.objects.mkdir(parents=True, exist_ok=True)
            if self._tree != self._source.tree:
                self._link_source()
            self._programs.mkdir(exist_ok=True)
            if not (python := self._programs / "python3").is_symlink():
                python.symlink_to(PYTHON)
            marker.touch()
            if self._source.in_place is not None:
                self._sources.write_bytes(self._source.in_place.saved)
            try:
                yield
            except BuildFailed:
                # make has come to its end, and removes what an error left half made.
                self._finish(marker)
                raise
            self._finish(marker)

    def _link_source(self) -> None:
        for path in self._source.tree.iterdir():
            link = self._tree / path.name
            if not link.is_symlink():
                link.symlink_to(path)

    def _throw_away(self) -> None:
        # Out of the way first: what a killed build has left running may still write by that name.
        stale = self.root.with_name(f"{self._name}.stale")
        shutil.rmtree(stale, ignore_errors=True)
        self.root.rename(stale)
        shutil.rmtree(stale, ignore_errors=True)

    def _finish(self, marker: Path) -> None:
        if self._sources.exists():
            self._sources.touch()
        marker.unlink()

    def _outdated(self) -> bool:
        if self._source.in_place is None or not self._sources.exists():
            return False
        before = Listing.load(self._source.tree, self._source.of.key, self._sources.read_bytes())
        return outdates_objects(before, self._source.in_place, self._sources.stat().st_mtime)

    def expect_same_source(self) -> None:
        """Raise InputError when a user's tree was changed since it was looked at: what was made is of neither state.

        To be called while the folder is locked: it is then emptied at the next use.
        """
        if self._source.in_place is None:
            return
        of, tree = self._source.of, self._source.tree
        if list_tree(tree, of.key).stamp != self._source.in_place.stamp:
            raise InputError(
                f"{of.key}.source: {tree} was changed while the {of.what} was built from it",
                hint="run it again when nothing writes there",
            )

    def configure(self, *targets: str) -> None:
        """Run configuration targets, quickly done. Raises BuildFailed."""
        try:
            argv, log = self._argv(targets), self.root / "configure.log"
            stream(argv, lambda line: None, log=log, env=self._environment(), deadline_s=_CONFIGURE_DEADLINE_S)
        except ProgramFailed as error:
            if _NO_SPACE in error.stderr:
                raise
            text = first_error(error.stderr.splitlines())
            raise BuildFailed(f"make {' '.join(targets)} failed\n  {text}", hint=_hint(text)) from error

    def make(
        self, targets: Sequence[str], progress: Progress, *, debug: bool = False, variables: Sequence[str] = ()
    ) -> None:
        """Run make on all cores, calling `progress` as it goes. Raises BuildFailed; ProgramFailed on a full disk.

        `debug`: the configuration has debug information. `variables`: make's, as NAME=VALUE.
        """
        done, least = 0, self._free_bytes()

        def on_line(line: str) -> None:
            nonlocal done, least
            least = min(least, self._free_bytes())
            if step := _COMPILED.match(line):
                done += 1
                progress(done, step[1])

        jobs = f"--jobs={len(os.sched_getaffinity(0))}"
        try:
            argv = self._argv([jobs, *variables, *targets], debug=debug)
            stream(argv, on_line, log=self.log, env=self._environment(), deadline_s=_DEADLINE_S)
        except ProgramFailed as error:
            if _NO_SPACE in error.stderr or error.exit_status is None or error.exit_status < 0:
                raise
            lines = error.stderr.splitlines()
            if least < _SCARCE and not any(_ERROR.search(line) and not _GAVE_UP.match(line) for line in lines):
                # ld dies of a full disk without a word, and takes what it wrote with it.
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.objects)) from error
            text = first_error(lines)
            raise BuildFailed(
                f"make {' '.join(targets)} failed\n  {text}\n  the whole log: {self.log}", hint=_hint(text)
            ) from error

    def _free_bytes(self) -> int:
        facts = os.statvfs(self.root)
        return facts.f_bavail * facts.f_frsize

    def _argv(self, words: Sequence[str], *, debug: bool = False) -> list[str | Path]:
        # Not those that we set ourselves: env would take ours away.
        foreign = sorted(name for name in os.environ if _INHERITED.match(name) and name not in self._environment())
        unset = [word for name in foreign for word in ("-u", name)]
        # Paths must not reach debug information, and through a build id the kernel itself.
        flags = f"-ffile-prefix-map={self._tree}/= -ffile-prefix-map={self.objects}/="
        if self._tree != self._source.tree:
            flags = f"-ffile-prefix-map={self._source.tree}/= {flags} -ffile-prefix-map=../="
        if debug:
            # It names the compiler's own folder too, without a slash at its end. The last map is tried first.
            flags = f"-ffile-prefix-map={self._tree}=. -ffile-prefix-map={self.objects}=. {flags}"
        argv: list[str | Path] = ["env", *unset, "make", "-C", self._tree, f"O={self.objects}"]
        argv += [*self._toolchain.words, "LOCALVERSION=", "DEPMOD=true", f"KCFLAGS={flags}", f"KAFLAGS={flags}"]
        return [*argv, *words]

    def _environment(self) -> dict[str, str]:
        return {
            # The kernel's Makefile takes LC_ALL away, and errors are looked for in English.
            **dict.fromkeys(("LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG"), "C"),
            "KBUILD_BUILD_TIMESTAMP": _DATE,
            "KBUILD_BUILD_USER": "bootlab",
            "KBUILD_BUILD_HOST": "bootlab",
            "KBUILD_BUILD_VERSION": "1",
            # U-Boot's: its date, and its tools in Python, which lie in the source.
            "SOURCE_DATE_EPOCH": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            # What they import is Debian's, whatever python3 is first on the user's PATH.
            "PATH": f"{self._programs}:{os.environ.get('PATH', os.defpath)}",
            "CCACHE_DIR": str(self._cache.root / "ccache"),
            "CCACHE_NOHASHDIR": "1",
            "CCACHE_MAXSIZE": _CCACHE_SIZE,
            "CCACHE_COMPILERCHECK": "content",
        }


def first_error(lines: Sequence[str]) -> str:
    """Return the lines about the first error in what make wrote, and make's own last words on it."""
    at = next((number for number, line in enumerate(lines) if _ERROR.search(line) and not _GAVE_UP.match(line)), None)
    if at is None:
        at = next((number for number, line in enumerate(lines) if _GAVE_UP.match(line)), max(len(lines) - 1, 0))
    before = [line for line in lines[max(at - _SHOWN_BEFORE, 0) : at] if not _STEP.match(line)]
    after = [line for line in lines[at : at + _SHOWN_AFTER] if not _STEP.match(line)]
    given_up = next((line for line in lines if _GAVE_UP.match(line)), None)
    shown = [*before, *after]
    if given_up is not None and given_up not in shown:
        shown.append(given_up)
    return "\n  ".join(line.rstrip() for line in shown) or "it wrote nothing"


def require_buildable(source: SourceTree, cache: Cache) -> None:
    """Raise InputError for a place that a kernel's or bootloader's Makefile cannot live with."""
    for path in (source.tree, cache.root):
        if re.search(r"[\s:]", str(path)):
            raise InputError(
                f"{path}: the Makefile of {source.of.project} takes no path with a blank or a colon in it",
                hint="move it; BOOTLAB_CACHE=/path names another folder for the cache",
            )


def _hint(text: str) -> str | None:
    if re.search(r"Killed|killed", text):
        return "the compiler was killed: most likely this machine ran out of memory"
    return None
