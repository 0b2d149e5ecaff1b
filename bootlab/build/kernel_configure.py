"""A kernel's final configuration: base, fragments and options through the tree's own kconfig, and the proof of it.

kconfig drops without an error what it cannot grant. Here everything that was asked for is looked up in the result, and
what is not there as asked is an error that says why.
"""

import difflib
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootlab.build import packages
from bootlab.build.cache import Cache
from bootlab.build.kconfig_reasons import Refusal, explain
from bootlab.build.kernel_config import Asked, collect, merge, parse_config, same_value
from bootlab.build.kernel_make import ObjectFolder
from bootlab.build.kernel_source import KernelSource
from bootlab.build.toolchain import Toolchain, require_tools
from bootlab.errors import InputError
from bootlab.system import KernelBuild

_FORMAT = 1
_GENERIC_BASES = ("tinyconfig", "allnoconfig", "allyesconfig", "allmodconfig", "alldefconfig", "defconfig")
_ENTRY = re.compile(r"^\s*(?:menu)?config\s+(\w+)\s*(?:#.*)?$")
_KIND = re.compile(r"^\s+(?:def_)?(bool|tristate|string|int|hex)\b")
_KEY_FILES = ("SYSTEM_TRUSTED_KEYS", "SYSTEM_REVOCATION_KEYS")
"""Files of a distribution's own build, named in its configuration and in no package."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration that is complete, and holds all that was asked for."""

    text: str
    """Of the .config."""

    @property
    def options(self) -> dict[str, str]:
        """Option -> value, of those that are not off."""
        return parse_config(self.text)


def configure(
    build: KernelBuild,
    source: KernelSource,
    toolchain: Toolchain,
    cache: Cache,
    *,
    embedded: bool = False,
    refresh: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> Configuration:
    """Return the configuration that `build` describes for `source`, from the cache when it was made before.

    `embedded`: an initramfs goes into the image. Raises InputError naming every option that is not in the result as
    asked, who asked, and why not; MissingTool, BuildFailed, StoreError.
    """
    asked = collect(build, embedded=embedded)
    base, text = _base(build, source, toolchain, cache, refresh, tell)
    require_tools(toolchain, _likely_options(base, text, asked))
    document = [
        _FORMAT,
        source.identity,
        toolchain.arch,
        toolchain.identity,
        base,
        hashlib.sha256(text.encode()).hexdigest() if text is not None else None,
        [(one.option, one.value) for one in asked.values()],
    ]

    def make(out: Path) -> None:
        tell(f"configuring Linux {source.version} for {toolchain.arch}")
        out.write_text(_configured(base, text, asked, source, toolchain, cache), encoding="utf-8")

    entry = cache.make("kernel-config", json.dumps(document), make)
    found = Configuration(entry.read_text(encoding="utf-8"))
    require_tools(toolchain, found.options)
    return found


def option_kinds(source: KernelSource, cache: Cache) -> dict[str, str]:
    """Return every option that the source's Kconfig files define, of any architecture, with its type."""

    def scan(out: Path) -> None:
        kinds: dict[str, str] = {}
        for folder, folders, files in os.walk(source.tree):
            folders[:] = sorted(name for name in folders if name not in (".git", "Documentation"))
            for name in sorted(files):
                if name.startswith("Kconfig"):
                    _scan(Path(folder, name).read_text(encoding="utf-8", errors="replace"), kinds)
        out.write_text(json.dumps(kinds), encoding="utf-8")

    found = json.loads(cache.make("kconfig-options", source.identity, scan).read_text(encoding="utf-8"))
    return {str(option): str(kind) for option, kind in found.items()}


def refusals(
    asked: Mapping[str, Asked], got: Mapping[str, str], kinds: Mapping[str, str]
) -> tuple[list[Asked], list[str]]:
    """Return what was asked for and is not there, and a line for each option that the tree does not know."""
    unknown = []
    for one in asked.values():
        if one.option not in kinds:
            near = difflib.get_close_matches(one.option, kinds, n=3, cutoff=0.7)
            meant = f"; did you mean {', '.join(near)}?" if near else ""
            unknown.append(f"{one.by}: no option CONFIG_{one.option} in this tree{meant}")
    lost = [
        one
        for one in asked.values()
        if one.option in kinds and not same_value(one.value, got.get(one.option), kinds[one.option])
    ]
    return lost, unknown


def _scan(text: str, kinds: dict[str, str]) -> None:
    option = None
    for line in text.splitlines():
        if entry := _ENTRY.match(line):
            option = entry[1]
            kinds.setdefault(option, "bool")
        elif option is not None and (kind := _KIND.match(line)):
            kinds[option] = kind[1]
            option = None


def _base(
    build: KernelBuild,
    source: KernelSource,
    toolchain: Toolchain,
    cache: Cache,
    refresh: bool,
    tell: Callable[[str], None],
) -> tuple[str, str | None]:
    """Return a name for the base, and its text; None for a target that make knows."""
    if build.config is not None:
        try:
            text = build.config.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"kernel.build.config: {build.config}: {error.strerror}") from error
        if not parse_config(text):
            raise InputError(f"kernel.build.config: {build.config}: not a kernel configuration: it sets no option")
        return "config", _without_absent_keys(text, source.tree)
    if build.config_package is not None:
        return "config", _without_absent_keys(_packaged(build, toolchain, cache, refresh, tell), source.tree)
    base = build.base or "defconfig"
    folder = source.tree / "arch" / toolchain.kbuild / "configs"
    if base not in _GENERIC_BASES and not (folder / base).is_file():
        names = [*_GENERIC_BASES, *(path.name for path in sorted(folder.glob("*_defconfig")))]
        near = difflib.get_close_matches(base, names, n=3) or names[:6]
        raise InputError(
            f'kernel.build.base: Linux {source.version} has no "{base}" for {toolchain.kbuild}',
            hint=f"for example {', '.join(near)}",
        )
    return base, None


def _packaged(
    build: KernelBuild, toolchain: Toolchain, cache: Cache, refresh: bool, tell: Callable[[str], None]
) -> str:
    name = build.config_package
    assert name is not None
    if toolchain.arch not in packages.ARCHITECTURES:
        raise InputError(f"kernel.build.config_package: no Debian kernels are fetched for {toolchain.arch}")
    package = packages.fetch(name, build.suite, toolchain.arch, cache, refresh=refresh, tell=tell)
    found = sorted(package.tree.glob("boot/config-*"))
    if len(found) != 1:
        raise InputError(
            f'kernel.build.config_package: "{name}" holds {len(found)} kernel configurations, expected one',
            hint="name a kernel package, for example linux-image-cloud-amd64",
        )
    return found[0].read_text(encoding="utf-8", errors="replace")


def _without_absent_keys(text: str, tree: Path) -> str:
    for option in _KEY_FILES:
        found = re.search(rf'^CONFIG_{option}="(.+)"$', text, re.MULTILINE)
        if found and not (tree / found[1]).is_file():
            text = text.replace(found[0], f'CONFIG_{option}=""')
    return text


def _likely_options(base: str, text: str | None, asked: Mapping[str, Asked]) -> dict[str, str]:
    # Before kconfig has run, which itself needs tools: enough to name every missing one at once.
    likely = parse_config(text) if text is not None else {}
    if base == "tinyconfig" and not any(name.startswith("KERNEL_") and one.value == "y" for name, one in asked.items()):
        likely["KERNEL_XZ"] = "y"
    return {**likely, **{one.option: one.value for one in asked.values()}}


def _configured(
    base: str,
    text: str | None,
    asked: Mapping[str, Asked],
    source: KernelSource,
    toolchain: Toolchain,
    cache: Cache,
) -> str:
    kinds = option_kinds(source, cache)
    folder = ObjectFolder(cache, source, toolchain, "config")
    place = folder.objects / ".config"
    with folder.locked():
        if text is None:
            place.unlink(missing_ok=True)
            folder.configure(base)
            text = place.read_text(encoding="utf-8")
        place.write_text(merge(text, asked.values(), kinds), encoding="utf-8")
        folder.configure("olddefconfig")
        final = place.read_text(encoding="utf-8")
    got = parse_config(final)
    lost, unknown = refusals(asked, got, kinds)
    if lost or unknown:
        raise _refused(lost, unknown, got, final, source, toolchain)
    return final


def _refused(
    lost: Sequence[Asked],
    unknown: Sequence[str],
    got: Mapping[str, str],
    final: str,
    source: KernelSource,
    toolchain: Toolchain,
) -> InputError:
    reasons = explain([Refusal(one.option, one.value) for one in lost], final, source, toolchain) if lost else {}
    lines = [
        f"{one.by}: CONFIG_{one.option}={one.value} did not survive, it is {got.get(one.option, 'n')}: "
        f"{reasons[one.option]}"
        for one in lost
    ]
    return InputError(
        "\n".join([*lines, *unknown]),
        hint="ask for what is needed too, or do without; kernel.build.options overrules base and fragments",
    )
