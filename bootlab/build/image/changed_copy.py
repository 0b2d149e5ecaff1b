"""A copy of an image that boots otherwise: other words, another loader, other files, without some of its packages.

The user's image stays as it is. The loader's own text files, or a unified kernel image, are written into a copy with
mtools and debugfs; what the cache keeps of that is an overlay, a qcow2 file of what is other than in the image.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.debian import packages
from bootlab.build.debian.installed_packages import STATUS
from bootlab.build.formats.sparse import copy_sparse
from bootlab.build.image import loader_text
from bootlab.build.image.boot_entry import boot_entry
from bootlab.build.image.contents import Chain
from bootlab.build.image.efi_program import make_uki, parse_efi_program
from bootlab.build.image.image_file import EFI, ISO, QCOW2, RAW, ImageFile, content_hash
from bootlab.build.image.image_root import find_root, read_root
from bootlab.build.image.kept_contents import FORMAT, ReadImage, keep_contents, load_contents
from bootlab.build.image.overlay import write_overlay
from bootlab.build.image.pruned_archive import prune_archive
from bootlab.build.image.reading import ImageReader, Volume
from bootlab.build.image.taken_out import take_out
from bootlab.build.image.volume_writer import VolumeWriter
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import DiskImage

_FORMAT = 3
_DEADLINE_S = 1800.0
_STUB, _STUB_PACKAGE = "usr/lib/systemd/boot/efi/linuxx64.efi.stub", "systemd-boot-efi"
_BOOT_PROGRAM = "EFI/BOOT/BOOTX64.EFI"
_STUB_KERNEL, _STUB_INITRAMFS = "EFI/BOOT/VMLINUZ.EFI", "EFI/BOOT/INITRD.IMG"
_OVERLAY, _CONTENTS, _HASH, _ENTRY = "overlay.qcow2", "contents", "sha256", "boot-entry"


@dataclass(frozen=True, slots=True)
class LoaderChange:
    """What is to be other than on the image: `words` for the kernel, and what `[image]` asks for."""

    words: str
    asked: DiskImage
    suite: str | None
    """Of systemd's stub."""

    @property
    def is_none(self) -> bool:
        asked = self.asked
        return not (self.changes_loader or asked.without or asked.files or asked.keep_modules is not None)

    @property
    def changes_loader(self) -> bool:
        if self.asked.loader == "direct":
            # Nothing on the image is started, and so nothing on it is changed.
            return False
        return bool(self.words) or self.asked.menu_s is not None or self.asked.loader is not None

    @property
    def identity(self) -> str:
        """Return what tells this change from others."""
        without = (sorted(self.asked.without),) if self.asked.without else ()
        files = (("files", sorted(self.asked.files.items())),) if self.asked.files else ()
        modules = () if self.asked.keep_modules is None else (("modules", sorted(self.asked.keep_modules)),)
        words, loader = ("", None) if self.asked.loader == "direct" else (self.words, self.asked.loader)
        return repr((words, self.asked.menu_s, loader, self.suite, *without, *files, *modules))


def make_changed_copy(shop: Workshop, read: ReadImage, chain: Chain, change: LoaderChange) -> ReadImage:
    """Return an overlay of the image whose `chain` boots as `change` asks, and what is then on it.

    Raises InputError for what cannot be changed on this image, MissingTool (qemu-utils, mtools, e2fsprogs, binutils).
    """
    if read.image.format == EFI:
        raise InputError("image: a unified kernel image has its words in the program itself: they are not changed")
    if read.image.format == ISO:
        raise InputError(
            "image: an ISO image is not written to, so nothing on it can be changed",
            hint='image.loader = "direct" takes other words for its kernel (kernel.cmdline)',
        )
    stub = _fetch_stub(shop, change.suite) if change.asked.loader == "uki" else None
    base = read.image.path.resolve()
    # The overlay names the image by its path.
    key = f"{_FORMAT} {FORMAT} {base} {read.image.format} {read.sha256} {chain.loader} {change.identity}"

    def make(out: Path) -> None:
        out.mkdir()
        copy = out.parent / "copy"
        _copy(read.image, copy)
        writer = _CopyWriter(read, copy, chain)
        if change.asked.without:
            shop.tell(f"taking {', '.join(change.asked.without)} out of a copy of {read.image.path.name}")
            writer.take_out(change.asked.without, shop.cache)
        if change.asked.files:
            shop.tell(f"writing {len(change.asked.files)} files into a copy of {read.image.path.name}")
            writer.put_files(change.asked.files)
        if change.asked.keep_modules is not None:
            shop.tell(f"leaving modules out of the initramfs, on a copy of {read.image.path.name}")
            writer.prune_archive(change.asked.keep_modules)
        if change.changes_loader:
            shop.tell(f"changing what the loader of {read.image.path.name} is told, on a copy")
            entry = writer.write(change, stub)
            if entry is not None:
                (out / _ENTRY).write_bytes(entry)
        changed = ImageFile(copy, RAW, copy.stat().st_size)
        keep_contents(changed, out / _CONTENTS)
        (out / _HASH).write_text(content_hash(changed))
        write_overlay(copy, read.image, out / _OVERLAY, out.parent)

    folder = shop.cache.make("image-changed", key, make)
    image = ImageFile(folder / _OVERLAY, QCOW2, read.image.bytes, (base, *read.image.chain))
    contents = folder / _CONTENTS
    entry = (folder / _ENTRY).read_bytes() if (folder / _ENTRY).exists() else None
    return ReadImage(image, load_contents(image, contents), contents, (folder / _HASH).read_text(), entry)


def _fetch_stub(shop: Workshop, suite: str | None) -> Path:
    path = packages.fetch(shop, _STUB_PACKAGE, suite, "x86_64", key="image.loader").tree / _STUB
    if not path.is_file():
        raise InputError(f"image.loader: {_STUB_PACKAGE} of this suite has no /{_STUB}")
    return path


def _copy(image: ImageFile, out: Path) -> None:
    if image.format == QCOW2:
        argv: list[str | Path] = ["qemu-img", "convert", "-f", QCOW2, "-O", "raw", image.path.absolute(), out]
        run(argv, deadline_s=_DEADLINE_S, package="qemu-utils")
        return
    with image.path.open("rb") as source, out.open("wb") as target:
        target.truncate(image.bytes)
        copy_sparse(source, target, 0)


class _CopyWriter:
    def __init__(self, read: ReadImage, copy: Path, chain: Chain) -> None:
        self._read = read
        self._copy = copy
        self._chain = chain
        self._scratch = copy.parent
        self._writer = VolumeWriter(copy, self._scratch)
        self._archive = read.file(chain.initramfs) if chain.initramfs else None

    def write(self, change: LoaderChange, stub: Path | None) -> bytes | None:
        """Change what boots; return the boot entry that the firmware is to have for that, if any."""
        image = ImageFile(self._copy, RAW, self._copy.stat().st_size)
        with ImageReader(image, self._scratch) as reader:
            volumes = {one.partition.number: one for one in reader.volumes}
            esp = next((volumes[one.number] for one in self._read.contents.partitions if one.is_esp), None)
            if change.asked.loader == "efi-stub":
                return self._put_kernel(reader, esp, change.words)
            if stub is not None:
                self._put_uki(reader, esp, stub, change.words)
                return None
            if not self._chain.texts:
                raise InputError(f"image: {self._chain.loader} on it keeps its words in the program itself")
            changed = False
            for place in self._chain.texts:
                volume = volumes[place.partition]
                old = (reader.read(volume, place.path) or b"").decode(errors="surrogateescape")
                new = loader_text.changed(place.kind, old, words=change.words, menu_s=change.asked.menu_s)
                if new != old:
                    changed = True
                    self._writer.put(reader, volume, place.path, new.encode(errors="surrogateescape"))
        if not changed:
            raise InputError(f"image: nothing in what {self._chain.loader} reads says what is to be changed")
        return None

    def take_out(self, names: Sequence[str], cache: Cache) -> None:
        """Remove packages from the root of the copy."""
        image = ImageFile(self._copy, RAW, self._copy.stat().st_size)
        with ImageReader(image, self._scratch) as reader:
            volume, entries = read_root(reader, image, cache)
            if volume.kind != "ext4":
                raise InputError(
                    f"image.without: its root is on {volume.kind}, which bootlab cannot write: ext4 it can"
                )
            taken = take_out(entries, names, str(self._read.image.path))
            self._writer.remove(volume, taken.files, f"{', '.join(names)} could not be taken out")
            self._writer.put(reader, volume, STATUS, taken.status)

    def put_files(self, files: Mapping[str, str]) -> None:
        """Write texts into the root of the copy."""
        image = ImageFile(self._copy, RAW, self._copy.stat().st_size)
        with ImageReader(image, self._scratch) as reader:
            volume = find_root(reader, image)
            if volume.kind != "ext4":
                raise InputError(f"image.files: its root is on {volume.kind}, which bootlab cannot write: ext4 it can")
            for path, text in sorted(files.items()):
                self._writer.make_folders(volume, path)
                self._writer.put(reader, volume, path, text.encode(errors="surrogateescape"))

    def prune_archive(self, keep: Collection[str]) -> None:
        """Leave modules out of the initramfs that the loader of the copy boots."""
        place = self._chain.initramfs_place
        if place is None or self._archive is None:
            raise InputError(f"image.keep_modules: {self._chain.loader} on it boots no initramfs that is one file")
        data = prune_archive(self._archive.read_bytes(), keep)
        self._archive = self._scratch / "initramfs"
        self._archive.write_bytes(data)
        with ImageReader(ImageFile(self._copy, RAW, self._copy.stat().st_size), self._scratch) as reader:
            volume = next(one for one in reader.volumes if one.partition.number == place.partition)
            self._writer.put(reader, volume, place.path, data)

    def _put_uki(self, reader: ImageReader, esp: Volume | None, stub: Path, words: str) -> None:
        if esp is None or not self._chain.kernel:
            raise InputError("image.loader: no EFI system partition, or no kernel, that a UKI could be made of")
        command_line, uki = self._scratch / "cmdline", self._scratch / "uki.efi"
        command_line.write_text(f"{self._chain.words} {words}".strip())
        parts = {".cmdline": command_line, ".linux": self._read.file(self._chain.kernel)}
        if self._archive is not None:
            parts[".initrd"] = self._archive
        make_uki(stub, parts, uki)
        self._writer.put(reader, esp, _BOOT_PROGRAM, uki.read_bytes())

    def _put_kernel(self, reader: ImageReader, esp: Volume | None, words: str) -> bytes:
        if esp is None or not self._chain.kernel:
            raise InputError("image.loader: no EFI system partition, or no kernel, that UEFI could start")
        kernel = self._read.file(self._chain.kernel).read_bytes()
        if parse_efi_program(kernel).kind != "Linux":
            raise InputError("image.loader: its kernel has no EFI stub (CONFIG_EFI_STUB)")
        self._writer.put(reader, esp, _STUB_KERNEL, kernel)
        told = f"{self._chain.words} {words}".strip()
        if self._archive is not None:
            self._writer.put(reader, esp, _STUB_INITRAMFS, self._archive.read_bytes())
            told = f"initrd=\\{_STUB_INITRAMFS.replace('/', chr(92))} {told}"
        return boot_entry(esp.partition, _STUB_KERNEL, "Linux", told)
