"""The workshop: where things are made and kept, how new a package must be, and who hears what goes on meanwhile.

One goes from a verb down to whatever fetches, builds or packs. Nothing in it decides the bytes of what is made, but for
which version of a Debian package is the newest. What only keeps things takes the cache alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bootlab.build.cache import Cache
from bootlab.build.kernel.order import KernelOrder

Tell = Callable[[str], None]
"""Gets one line before a step that may take long, or about something that a user should know."""

Progress = Callable[[int, str], None]
"""Gets how many files have been compiled so far, and the last of them."""

_TOLD_EVERY = 250


class CompilePlace(Protocol):
    """Where kernels are compiled, if not here."""

    def compile(self, shop: "Workshop", order: KernelOrder, initramfs: Path | None) -> bool | None:
        """Bring the kernel that `order` describes into the cache of `shop`, from where it was compiled.

        Returns whether it was compiled now, False where it was there already; None where nobody there can compile it.
        Raises as `build.kernel.build.build_kernel`, and BootFailed where the place is lost.
        """
        ...


@dataclass(frozen=True, slots=True)
class Workshop:
    """What every maker shares."""

    cache: Cache
    refresh: bool = False
    """Look Debian packages up again, although the cache has them."""
    apt: Path = Path("/etc/apt")
    """The folder of apt's configuration, whose sources say where Debian is."""
    tell: Tell = lambda line: None
    progress: Progress | None = None
    """None: a line is told now and then."""
    compile_place: CompilePlace | None = None
    """None: kernels are compiled here."""
    cancelled: Callable[[], bool] = lambda: False
    """Whether nobody waits any more for what is made. A place that compiles asks it now and then."""
    _told: set[str] = field(default_factory=set)
    """Shared by every workshop that was made of this one with dataclasses.replace()."""

    def tell_once(self, line: str) -> None:
        """Tell what holds for many kernels that are made one after the other, when it is met first."""
        if line not in self._told:
            self._told.add(line)
            self.tell(line)

    def tell_compiled(self, files: int, last: str) -> None:
        """Let it be known that so many files have been compiled, `last` being the last of them."""
        if self.progress is not None:
            self.progress(files, last)
        elif files % _TOLD_EVERY == 0:
            self.tell(f"compiled {files} files")
