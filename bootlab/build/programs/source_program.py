"""A program for the guest, cross-built from a Debian source package with the configure line of its recipe."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from bootlab.build.debian.source_package import SourcePackage, fetch_source
from bootlab.build.programs.cross_build import CrossBuild, CrossCompiler, find_compiler
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import Content, SourceProgram

ContentT = TypeVar("ContentT", bound=Content)

_FORMAT = 2
_STRIPPED, _WHOLE = "stripped", "whole"
"""Names in an entry."""
_CONFIGURE_DEADLINE_S = 1200.0
_MAKE_DEADLINE_S = 2 * 3600.0
_TOLD_EVERY = 100


@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """A program in the cache, and the shared libraries that it needs. Shared: never to be changed."""

    path: Path
    """Stripped."""
    symbols: Path
    """The same, not stripped."""
    libraries: Mapping[str, Path]
    """Path in the guest -> file on this host."""
    version: str
    """Of the Debian package."""


def with_source_programs(shop: Workshop, content: ContentT, part: str, arch: str) -> ContentT:
    """Return the recipe with every program that it builds from a source package among its files.

    Raises as `build_program`.
    """
    files = dict(content.files)
    for name, program in content.programs.items():
        built = build_program(shop, program, arch, key=f'{part}.programs."{name}"')
        files |= {**built.libraries, name: built.path}
    return content.model_copy(update={"files": files, "programs": {}})


def build_program(shop: Workshop, program: SourceProgram, arch: str, *, key: str) -> BuiltProgram:
    """Return the program that `program` describes for `arch`, from the cache when it was built before.

    `key` is what the system file calls it. Raises InputError, MissingTool, ProgramBuildFailed with the last lines of
    configure or make, Unreachable (no network), StoreError.
    """
    source = fetch_source(shop, program.package, program.suite, key=f"{key}.package")
    for note in source.notes:
        shop.tell(note)
    if not (source.tree / "configure").is_file():
        raise InputError(f"{key}.package: {program.package} has no configure script, which is what is known here")
    compiler = find_compiler(program.libc, program.instructions, arch, named=program.uclibc_compiler, key=key)
    job = _ProgramJob(shop, program, source, compiler, arch, key)
    entry = shop.cache.make("source-program", job.identity, job.build)
    path = entry / _STRIPPED
    libraries = {} if program.static else _libraries(path, compiler, key)
    return BuiltProgram(path, entry / _WHOLE, libraries, source.version)


class _ProgramJob:
    def __init__(
        self,
        shop: Workshop,
        program: SourceProgram,
        source: SourcePackage,
        compiler: CrossCompiler,
        arch: str,
        key: str,
    ) -> None:
        self._program = program
        self._source = source
        self._compiler = compiler
        self._cache = shop.cache
        self._key = key
        self._tell = shop.tell
        choices = [program.words, program.make, program.made, program.libc, program.static, program.instructions]
        self.identity = json.dumps([_FORMAT, source.sha256, arch, compiler.identity, compiler.choices, choices])

    def build(self, out: Path) -> None:
        work = CrossBuild(self._cache, out.parent, self._compiler, self._program.package, self._key)
        work.begin(self._source.tree, static=self._program.static)
        name = f"{self._program.package} {self._source.version}"
        self._tell(f"configuring {name}")
        words = [word.replace("{prefix}", self._compiler.prefix) for word in self._program.words]
        work.run(["../source/configure", *words], _CONFIGURE_DEADLINE_S, lambda line: None)
        self._tell(f"building {name}")
        done = 0

        def on_line(line: str) -> None:
            nonlocal done
            # Both of make's ways to say it: `CC\tfile.o`, and a compiler's command line.
            if line.startswith(("CC\t", "CC ")) or " -c " in line:
                done += 1
                if done % _TOLD_EVERY == 0:
                    self._tell(f"{self._program.package}: compiled {done} files")

        jobs = f"--jobs={len(os.sched_getaffinity(0))}"
        work.run(["make", jobs, *self._program.make], _MAKE_DEADLINE_S, on_line)
        made = work.objects / self._program.made
        if not made.is_file():
            raise InputError(f"{self._key}.made: the build made no {self._program.made}")
        out.mkdir()
        run([f"{self._compiler.prefix}strip", "--remove-section=.comment", "-o", out / _STRIPPED, made])
        (out / _STRIPPED).chmod(0o755)
        # Debug information, which a package's own flags may ask for, is large and names nothing more.
        run([f"{self._compiler.prefix}strip", "--strip-debug", "-o", out / _WHOLE, made])


def _libraries(program: Path, compiler: CrossCompiler, key: str) -> dict[str, Path]:
    # Path in the guest -> file, of the loader and of all libraries that a dynamic program comes to need.
    found: dict[str, Path] = {}
    wanted = [program]
    while wanted:
        with wanted.pop().open("rb") as file:
            elf = ELFFile(file)
            for segment in elf.iter_segments():
                if isinstance(segment, InterpSegment):
                    loader = segment.get_interp_name()
                    found.setdefault(loader, _library(compiler, Path(loader).name, key))
            dynamic = elf.get_section_by_name(".dynamic")
            tags = dynamic.iter_tags("DT_NEEDED") if isinstance(dynamic, DynamicSection) else ()
            names = [str(tag.needed) for tag in tags]  # type: ignore[attr-defined]
        for name in names:
            if f"/lib/{name}" not in found:
                found[f"/lib/{name}"] = _library(compiler, name, key)
                wanted.append(found[f"/lib/{name}"])
    return found


def _library(compiler: CrossCompiler, name: str, key: str) -> Path:
    # A compiler that does not find it gives the bare name back.
    path = Path(run([compiler.program, f"-print-file-name={name}"]).text.strip())
    if not path.is_absolute() or not path.is_file():
        raise InputError(
            f"{key}: it is linked with {name}, which {compiler.program} does not find",
            hint="leave the library out with a word for configure, or link it static",
        )
    return path
