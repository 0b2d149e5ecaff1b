"""What `bootlab unused` found: files that a boot never opened, and what became of a boot without them."""

from typing import Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.findings.unused_files import Unused
from bootlab.measure.record import Outcome

SCHEMA: Final = "bootlab.unused/1"


class File(Document):
    """A file or link that was never opened. `bytes`: 0 for a further name of a file that stays."""

    path: str
    bytes: int


class UnusedPart(Document):
    """What was never opened of the initramfs, or of the root file system."""

    files: int
    """All files and links of the tree; device nodes and folders do not count."""
    bytes: int
    """Their bytes, before any compression."""
    unused_files: int
    unused_bytes: int
    unused: list[File]
    without: list[str]
    """The same as a recipe's `without`: whole folders where nothing in them was opened."""
    unsure_files: int = 0
    """Of a real machine: files that count as used because nothing tells."""
    size: int | None
    """Bytes of the archive or image, as it is."""
    size_without: int | None
    """Bytes of the archive or image without these files; None when it was not made."""


class UnusedResult(Document):
    """What was never opened of one system. The boot without it is None where it was not tried."""

    schema_: Literal["bootlab.unused/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    checked: bool
    """Whether the system has a check, so that what it needs after ready counts as used."""
    parts: dict[str, UnusedPart]
    """`initramfs` and `rootfs`, of those there are; `root` of a real machine."""
    ready_ns: int | None
    ready_without_ns: int | None
    outcome_without: Outcome | None
    detail_without: str | None
    written: str | None = Field(validation_alias="list", serialization_alias="list")
    """The file with the `without` lists."""
    packages: list[str] = []
    """Packages of Buildroot's or Yocto's of which no file was opened, of a system that one of them built."""
    packages_list: str | None = None
    """The file that leaves them out, in that builder's form."""
    notes: list[str] = []
    """What its access times cannot tell, of a real machine."""
    run: str

    @property
    def boots_without(self) -> bool:
        """Whether nothing was seen that needs these files."""
        return self.outcome_without in (None, Outcome.READY)


def unused_part(found: Unused, size: int | None, size_without: int | None) -> UnusedPart:
    """Return what was never opened of one part; the sizes are those of its archive or image."""
    return UnusedPart(
        files=found.files,
        bytes=found.size,
        unused_files=len(found.unused),
        unused_bytes=found.unused_size,
        unused=[File(path=file.path, bytes=file.size) for file in found.unused],
        without=list(found.without),
        size=size,
        size_without=size_without,
    )
