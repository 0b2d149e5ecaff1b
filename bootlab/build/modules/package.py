"""Kernel modules of an unpacked Debian kernel package: by name, with what they depend on, in load order.

The package carries no modules.dep (depmod makes it at installation), so dependencies are read from the modules.
"""

import difflib
import hashlib
import io
import lzma
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import zstandard
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from bootlab.build.cache import file_sha256
from bootlab.errors import InputError

_SUFFIXES = (".ko", ".ko.xz", ".ko.zst")
_ENTRY = re.compile(r"[0-9a-f]{64}")


def kernel_release(package_tree: Path) -> str | None:
    """Return the kernel release whose modules are below an unpacked package; None unless there is just one."""
    places = _places(package_tree)
    return places[0].name if len(places) == 1 else None


def _places(package_tree: Path) -> list[Path]:
    # Debian 12 ships /lib/modules, Debian 13 /usr/lib/modules.
    return [folder for base in ("lib", "usr/lib") for folder in sorted(package_tree.glob(f"{base}/modules/*"))]


class ModuleTree:
    """The modules of one kernel release below an unpacked package. Raises InputError when there are none."""

    def __init__(self, package_tree: Path) -> None:
        places = _places(package_tree)
        if len(places) != 1:
            raise InputError(f"{package_tree}: holds modules of {len(places)} kernel releases, expected one")
        self.folder = places[0]
        self.release = self.folder.name
        self._info: dict[str, dict[str, list[str]]] = {}

    @cached_property
    def files(self) -> dict[str, Path]:
        """Module name -> its file, in order of path."""
        found = (path for path in self.folder.rglob("*.ko*") if path.name.endswith(_SUFFIXES))
        return {module_name(path.name): path for path in sorted(found)}

    @cached_property
    def built_in(self) -> frozenset[str]:
        """Names of modules that this kernel has built in."""
        listing = self.folder / "modules.builtin"
        lines = listing.read_text(encoding="utf-8").splitlines() if listing.is_file() else []
        return frozenset(module_name(Path(line).name) for line in lines)

    def load_order(
        self,
        names: Iterable[str],
        key: str = "initramfs.modules",
        never: Collection[str] = (),
        before: Sequence[str] = (),
    ) -> list[str]:
        """Return `names` and all they depend on, each after its own dependencies; built-in ones are left out.

        Neither modules of `never` nor those that need one of them are in it. What is in `before` comes first.
        Raises InputError naming `key` for a name that this kernel does not have.
        """
        order = list(before)
        for name in names:
            self.expect(name, key)
            wanted = self._closure(module_name(name))
            if not any(needed in never for needed in wanted):
                order += [needed for needed in wanted if needed not in order]
        return order

    def needs(self, name: str) -> list[str]:
        """Return the modules that must be loaded before it: those whose symbols it takes, and soft dependencies."""
        hard, soft = needed_modules(self._modinfo(name))
        # Soft dependencies may name an alias or something this kernel lacks: insmod works without them.
        return [
            one
            for one in dict.fromkeys([*hard, *soft])
            if one not in self.built_in and (one in hard or one in self.files)
        ]

    def aliases(self, name: str) -> list[str]:
        """Return the patterns of the devices that it is for."""
        return self._modinfo(name).get("alias", [])

    def expect(self, name: str, key: str) -> None:
        """Raise InputError naming `key` for a name that this kernel does not have, as a module or built in."""
        if module_name(name) not in self.files and module_name(name) not in self.built_in:
            raise self._unknown(module_name(name), key)

    def archive_path(self, name: str) -> str:
        """Return where the module belongs in an initramfs: uncompressed, below /lib/modules/RELEASE."""
        relative = self.files[name].relative_to(self.folder)
        plain = relative.name.split(".ko")[0] + ".ko"
        return f"/lib/modules/{self.release}/{relative.with_name(plain)}"

    def content(self, name: str) -> bytes:
        """Return the module itself, decompressed. Raises InputError when its file is damaged."""
        path = self.files[name]
        return plain_module(str(path), path.read_bytes())

    def _closure(self, name: str) -> list[str]:
        order: dict[str, None] = {}
        entered: set[str] = set()

        def visit(one: str) -> None:
            if one in entered or one in self.built_in:
                return
            entered.add(one)
            if one not in self.files:
                raise InputError(f"{self.folder}: {name} needs the module {one}, which is not there")
            for needed in self.needs(one):
                visit(needed)
            order[one] = None

        visit(name)
        return list(order)

    def _modinfo(self, name: str) -> dict[str, list[str]]:
        if name not in self._info:
            self._info[name] = module_info(str(self.files[name]), self.content(name))
        return self._info[name]

    def _unknown(self, name: str, key: str) -> InputError:
        near = difflib.get_close_matches(name, [*self.files, *self.built_in], n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "module names are those of the .ko files in the package"
        return InputError(f'{key}: kernel {self.release} has no module "{name}"', hint=hint)


def module_name(file_or_name: str) -> str:
    """Return what the kernel calls the module of a file or a name."""
    # The kernel takes - and _ for the same in a module's name.
    return file_or_name.split(".ko")[0].replace("-", "_")


def plain_module(path: str, data: bytes) -> bytes:
    """Return a module out of its file's content, decompressed as `path` ends. Raises InputError when it is damaged."""
    try:
        if path.endswith(".xz"):
            return lzma.decompress(data)
        if path.endswith(".zst"):
            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    except (lzma.LZMAError, zstandard.ZstdError) as error:
        raise InputError(f"{path}: damaged module: {error}") from error
    return data


def module_info(path: str, data: bytes) -> dict[str, list[str]]:
    """Return what a plain module says of itself (modinfo(8)): key -> values.

    `path`: for messages. Raises InputError when it is damaged.
    """
    try:
        section = ELFFile(io.BytesIO(data)).get_section_by_name(".modinfo")
    except ELFError as error:
        raise InputError(f"{path}: damaged module: {error}") from error
    info: dict[str, list[str]] = {}
    for item in (section.data() if section else b"").decode(errors="replace").split("\0"):
        key, _, value = item.partition("=")
        info.setdefault(key, []).append(value)
    return info


def needed_modules(info: Mapping[str, Sequence[str]]) -> tuple[list[str], list[str]]:
    """Return whose symbols a module takes, and what it would rather have loaded before it: names, by `module_info`."""
    return [module_name(one) for one in ",".join(info.get("depends", [])).split(",") if one], _soft_before(info)


def _soft_before(info: Mapping[str, Sequence[str]]) -> list[str]:
    names: list[str] = []
    for line in info.get("softdep", []):
        before = False
        for word in line.split():
            if word.endswith(":"):
                before = word == "pre:"
            elif before:
                names.append(module_name(word))
    return names


@lru_cache
def identify_modules(tree: Path) -> str:
    """Return what tells an unpacked kernel package, or a built kernel's modules, from others."""
    # An entry of the cache never changes and is named by what it was made from, wherever the cache lies, so a thousand
    # modules need not be read on every boot.
    for at, name in enumerate(tree.parts):
        if _ENTRY.fullmatch(name):
            return "/".join(tree.parts[at - 1 :])
    facts = (f"{path.relative_to(tree)} {file_sha256(path)}" for path in sorted(tree.rglob("*")) if path.is_file())
    return hashlib.sha256("\n".join(facts).encode(errors="surrogateescape")).hexdigest()
