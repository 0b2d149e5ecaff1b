"""Kernel modules of an unpacked Debian kernel package: by name, with what they depend on, in load order.

The package carries no modules.dep (depmod makes it at installation), so dependencies are read from the modules.
"""

import difflib
import io
import lzma
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import zstandard
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from bootlab.errors import InputError

_SUFFIXES = (".ko", ".ko.xz", ".ko.zst")


class ModuleTree:
    """The modules of one kernel release below an unpacked package. Raises InputError when there are none."""

    def __init__(self, package_tree: Path) -> None:
        # Debian 12 ships /lib/modules, Debian 13 /usr/lib/modules.
        places = [folder for base in ("lib", "usr/lib") for folder in sorted(package_tree.glob(f"{base}/modules/*"))]
        if len(places) != 1:
            raise InputError(f"{package_tree}: holds modules of {len(places)} kernel releases, expected one")
        self.folder = places[0]
        self.release = self.folder.name
        self._info: dict[str, dict[str, list[str]]] = {}

    @cached_property
    def files(self) -> dict[str, Path]:
        """Module name -> its file, in order of path."""
        found = (path for path in self.folder.rglob("*.ko*") if path.name.endswith(_SUFFIXES))
        return {_name(path.name): path for path in sorted(found)}

    @cached_property
    def built_in(self) -> frozenset[str]:
        """Names of modules that this kernel has built in."""
        listing = self.folder / "modules.builtin"
        lines = listing.read_text(encoding="utf-8").splitlines() if listing.is_file() else []
        return frozenset(_name(Path(line).name) for line in lines)

    def load_order(self, names: Iterable[str], key: str = "initramfs.modules") -> list[str]:
        """Return `names` and all they depend on, each after its own dependencies; built-in ones are left out.

        Raises InputError naming `key` for a name that this kernel does not have.
        """
        order: list[str] = []
        for name in names:
            self._visit(_name(name), order, key)
        return order

    def archive_path(self, name: str) -> str:
        """Return where the module belongs in an initramfs: uncompressed, below /lib/modules/RELEASE."""
        relative = self.files[name].relative_to(self.folder)
        plain = relative.name.split(".ko")[0] + ".ko"
        return f"/lib/modules/{self.release}/{relative.with_name(plain)}"

    def content(self, name: str) -> bytes:
        """Return the module itself, decompressed. Raises InputError when its file is damaged."""
        path = self.files[name]
        data = path.read_bytes()
        try:
            if path.suffix == ".xz":
                return lzma.decompress(data)
            if path.suffix == ".zst":
                return zstandard.ZstdDecompressor().decompressobj().decompress(data)
        except (lzma.LZMAError, zstandard.ZstdError) as error:
            raise InputError(f"{path}: damaged module: {error}") from error
        return data

    def _visit(self, name: str, order: list[str], key: str) -> None:
        if name in order or name in self.built_in:
            return
        if name not in self.files:
            raise self._unknown(name, key)
        info = self._modinfo(name)
        for needed in ",".join(info.get("depends", [])).split(","):
            if needed:
                self._visit(_name(needed), order, key)
        for needed in _soft_before(info):
            # Soft dependencies may name an alias or something this kernel lacks: insmod works without them.
            if needed in self.files:
                self._visit(needed, order, key)
        if name not in order:
            order.append(name)

    def _modinfo(self, name: str) -> dict[str, list[str]]:
        if name not in self._info:
            info: dict[str, list[str]] = {}
            try:
                section = ELFFile(io.BytesIO(self.content(name))).get_section_by_name(".modinfo")
            except ELFError as error:
                raise InputError(f"{self.files[name]}: damaged module: {error}") from error
            for item in (section.data() if section else b"").decode(errors="replace").split("\0"):
                key, _, value = item.partition("=")
                info.setdefault(key, []).append(value)
            self._info[name] = info
        return self._info[name]

    def _unknown(self, name: str, key: str) -> InputError:
        near = difflib.get_close_matches(name, [*self.files, *self.built_in], n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "module names are those of the .ko files in the package"
        return InputError(f'{key}: kernel {self.release} has no module "{name}"', hint=hint)


def _name(file_or_name: str) -> str:
    # The kernel takes - and _ for the same in a module's name.
    return file_or_name.split(".ko")[0].replace("-", "_")


def _soft_before(info: dict[str, list[str]]) -> list[str]:
    names: list[str] = []
    for line in info.get("softdep", []):
        before = False
        for word in line.split():
            if word.endswith(":"):
                before = word == "pre:"
            elif before:
                names.append(_name(word))
    return names
