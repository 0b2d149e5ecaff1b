"""A program of the guest that is built from a Debian source package."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from bootlab.system.part import TEXT, WORD, Part


class Libc(StrEnum):
    """The C library that a program is linked with."""

    GNU = "gnu"
    """glibc, by the distribution's compiler (gcc-arm-linux-gnueabihf and its like)."""
    MUSL = "musl"
    """musl, by zig from the pinned ziglang wheel; always static."""
    UCLIBC = "uclibc"
    """uClibc-ng, by a cross compiler that `uclibc_compiler` names, as Buildroot makes one; no package has it."""


class Instructions(StrEnum):
    """Which of 32-bit arm's two instruction sets a compiler uses."""

    ARM = "arm"
    THUMB2 = "thumb2"


class SourceProgram(Part):
    """A program to build: a Debian source package, its configure line, and how it is compiled and linked.

    `configure` finds the compiler as `cc`, made for the guest, with the choices below; other tools of the toolchain
    have its prefix, which `{prefix}` stands for in the words.
    """

    package: str
    """A Debian source package, e.g. `ffmpeg`."""
    suite: str | None = None
    """Debian suite of `package`; by default the suite of this machine."""
    configure: tuple[str, ...] = Field(default=(), strict=False)
    """Words for the package's configure script."""
    reduced: tuple[str, ...] = Field(default=(), strict=False)
    """Further words that leave out all that this system does not need: taken with `reduce`."""
    reduce: bool = False
    make: tuple[str, ...] = Field(default=(), strict=False)
    """Targets of make; by default its own."""
    made: Annotated[str, WORD]
    """The program's path in the folder of the build."""
    libc: Annotated[Libc, TEXT] = Libc.GNU
    uclibc_compiler: Path | None = Field(default=None, strict=False, exclude_if=lambda value: value is None)
    """A cross compiler whose C library is uClibc (Buildroot's output/host/bin/*-linux-uclibc*-gcc): with `uclibc`."""
    static: bool = False
    """Dynamic ones bring the shared libraries that they name along, from the cross compiler's own packages."""
    instructions: Annotated[Instructions, TEXT] = Instructions.ARM

    @model_validator(mode="after")
    def _can_be_linked(self) -> Self:
        if self.libc is Libc.MUSL and not self.static:
            raise ValueError('libc = "musl" is linked static here: say static = true')
        if self.libc is Libc.UCLIBC and self.uclibc_compiler is None:
            raise ValueError(
                'libc = "uclibc" needs a cross compiler of it, and no Debian package has one: uclibc_compiler = '
                '"output/host/bin/arm-buildroot-linux-uclibcgnueabihf-gcc", as Buildroot makes it'
            )
        if self.reduce and not self.reduced:
            raise ValueError("reduce takes the words of reduced; there are none")
        return self

    @property
    def words(self) -> tuple[str, ...]:
        """Return all words for configure."""
        return (*self.configure, *(self.reduced if self.reduce else ()))
