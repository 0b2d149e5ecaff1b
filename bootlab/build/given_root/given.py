"""What was handed over as a root: recognised by its first bytes or what is in it, identified, and read.

A word before it says which it is, and one behind it which image of several, as skopeo has them: `docker-archive:FILE`,
`oci:FOLDER:NAME`. Nothing is ever written to it.
"""

import hashlib
import io
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bootlab.build.cache import file_sha256
from bootlab.build.formats.cpio import Entry
from bootlab.build.given_root.blobs import Blobs, FolderBlobs, open_archive
from bootlab.build.given_root.container import DOCKER_LIST, OCI_INDEX, find_image, lay_image
from bootlab.build.given_root.folder import is_root_folder, read_folder
from bootlab.build.given_root.image_config import ImageConfig
from bootlab.build.given_root.layers import LayeredTree
from bootlab.build.given_root.limits import MOST_UNPACKED, Budget
from bootlab.build.given_root.tar_stream import ReadTar, is_tar, read_members, unpacked_head
from bootlab.build.outputs.unpacked import unpack_image
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError

PREFIXES: Final = ("docker-archive", "oci", "oci-archive")
_CONTAINER_FIRST: Final = re.compile(
    r"blobs(/.*)?|oci-layout|index\.json|manifest\.json|repositories|(sha256:)?[0-9a-f]{64}([./].*)?"
)
_HEAD: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadRoot:
    """A root that was read. `config`: of a container image; None for what is none."""

    entries: tuple[Entry, ...]
    config: ImageConfig | None = None
    image: str = ""
    """Which image of its archive it is, for people."""
    remarks: tuple[str, ...] = ()
    """What is not kept, and what else a user should know."""


@dataclass(frozen=True, slots=True)
class GivenRoot:
    """A folder or an archive that holds a root. `choice`: which image of several; `arch`: of several platforms."""

    shop: Workshop = field(repr=False)
    path: Path
    choice: str | None = None
    arch: str | None = None

    def identity(self) -> str:
        """Return what decides every byte of it. Raises InputError for what cannot be read, or holds no such image."""
        try:
            if self.is_container:
                with self._blobs() as blobs:
                    # A manifest, or Docker's configuration, has the digests of all the rest.
                    return find_image(blobs, self.choice, self.arch).candidate.digest
            if self.path.is_dir():
                return _identify(self.read().entries)
            return file_sha256(self.path)
        except OSError as error:
            raise InputError(f"{self.path}: {(error.strerror or str(error)).lower()}") from error

    @property
    def is_container(self) -> bool:
        """Whether it is a container image, in a folder or an archive, by what comes first in it."""
        if self.path.is_dir():
            return _is_layout(self.path)
        with self.path.open("rb") as file:
            return _CONTAINER_FIRST.fullmatch(_first_name(unpacked_head(file, _HEAD))) is not None

    def read(self) -> ReadRoot:
        """Return its files. Raises InputError for what is damaged, cut off, too large, or leads out of the root."""
        where, remarks = str(self.path), list[str]()
        budget = Budget(where)
        try:
            if self.is_container:
                with self._blobs() as blobs:
                    image = find_image(blobs, self.choice, self.arch)
                    tree, left_out = lay_image(blobs, image, budget)
                remarks += _left_out(left_out)
                if image.others:
                    remarks.append(f"there are other platforms of it, too: {', '.join(image.others)}")
                return ReadRoot(tree.entries(), image.config, image.candidate.about, tuple(remarks))
            if self.choice is not None:
                raise InputError(f"{where}: no container image, so there is no {self.choice!r} in it")
            if self.path.is_dir():
                entries = read_folder(self.path, budget, remarks)
                return ReadRoot(entries, remarks=tuple(remarks))
            tree, read = LayeredTree(where), ReadTar()
            with self.path.open("rb") as file:
                tree.lay(read_members(file, where, budget, read), whiteouts=False)
        except OSError as error:
            raise InputError(f"{where}: {(error.strerror or str(error)).lower()}") from error
        remarks += _left_out(read.left_out)
        if not read.has_end:
            remarks.append("it ends without the mark of a tar archive's end: something may have been cut off")
        return ReadRoot(tree.entries(), remarks=tuple(remarks))

    @contextmanager
    def _blobs(self) -> Iterator[Blobs]:
        if self.path.is_dir():
            yield FolderBlobs(self.path)
            return
        with open_archive(unpack_image(self.shop, self.path, MOST_UNPACKED), str(self.path)) as blobs:
            yield blobs


def names_root(path: Path) -> bool:
    """Return whether a path names a root: a folder of one, a tar archive, a container image."""
    if _told(path) is not None:
        return True
    try:
        if path.is_dir():
            return _is_layout(path) or is_root_folder(path)
        if path.suffix == ".toml" or not path.is_file():
            return False
        with path.open("rb") as file:
            return is_tar(unpacked_head(file))
    except OSError:
        return False


def find_root(shop: Workshop, path: Path, arch: str | None = None) -> GivenRoot:
    """Return the root that a path names, with the image that is chosen behind it. Raises InputError for none."""
    told = _told(path)
    place, choice = told if told is not None else (path, None)
    root = GivenRoot(shop, place, choice, arch)
    if not place.exists():
        raise InputError(f"{place}: no such file or folder", hint="docs/roots.md says what is taken as a root")
    if told is not None and not root.is_container:
        raise InputError(f"{place}: no container image", hint="without the word before it: a root by itself")
    return root


def _told(path: Path) -> tuple[Path, str | None] | None:
    word, colon, rest = str(path).partition(":")
    if not colon or not rest or word not in PREFIXES:
        return None
    # The path may have colons, and so may the name.
    cuts = [len(rest), *(found.start() for found in re.finditer(":", rest))]
    there = next((cut for cut in sorted(cuts, reverse=True) if Path(rest[:cut]).exists()), None)
    if there is None:
        return Path(rest.partition(":")[0]), None
    return Path(rest[:there]), rest[there + 1 :] or None


def _is_layout(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (OCI_INDEX, DOCKER_LIST, "oci-layout"))


def _first_name(head: bytes) -> str:
    try:
        with tarfile.open(fileobj=io.BytesIO(head), mode="r|", encoding="utf-8") as archive:
            while (member := archive.next()) is not None:
                name = member.name.removeprefix("./").strip("/")
                if name not in ("", "."):
                    return name
    except tarfile.TarError:
        pass
    return ""


def _left_out(left_out: dict[str, int]) -> list[str]:
    return [f"not kept: {what}, of {count} file{'s' if count > 1 else ''}" for what, count in sorted(left_out.items())]


def _identify(entries: tuple[Entry, ...]) -> str:
    digest = hashlib.sha256()
    for one in entries:
        about = f"{one.path}\0{one.mode:o} {one.device} {one.owner} {one.linked} {len(one.data)} {one.xattrs}\0"
        digest.update(about.encode(errors="surrogateescape"))
        digest.update(one.data)
    return digest.hexdigest()
