"""Makes a final configuration of base, fragments and options by the tree's own kconfig, and proves that it holds.

kconfig drops without an error what it cannot grant. Here everything that was asked for is looked up in the result, and
what is not there as asked is an error that says why.
"""

import difflib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bootlab.build.cache import Cache
from bootlab.build.debian import packages
from bootlab.build.source.config_text import Asked, collect, merge, named_options, parse_config, same_value
from bootlab.build.source.kconfig_reasons import Refusal, explain
from bootlab.build.source.make import ObjectFolder
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.renamed_options import find_new_name
from bootlab.build.source.toolchain import Toolchain, probe_tools, require_tools
from bootlab.build.source.unknown_options import UnknownOption, find_unknown, told
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import KernelBuild, SourceBuild

_FORMAT = 3
_KINDS_FORMAT = 2
GENERIC_BASES = ("tinyconfig", "allnoconfig", "allyesconfig", "allmodconfig", "alldefconfig", "defconfig")
"""Configuration targets that every tree has."""
_ENTRY = re.compile(r"^\s*(?:menu)?config\s+(\w+)\s*(?:#.*)?$")
_KIND = re.compile(r"^\s+(?:def_)?(bool|tristate|string|int|hex)\b")
_NO_KCONFIG = {"Documentation": ("kbuild",), "scripts/kconfig": ("tests",)}
"""Folder -> those in it whose files only look like the tree's Kconfig."""
_STRICT = ("kernel.build.options.", "initramfs.", "bootloader.", "card.")
"""Who must get what they ask for, whatever else is asked."""
_KEY_FILES = ("SYSTEM_TRUSTED_KEYS", "SYSTEM_REVOCATION_KEYS")
"""Files of a distribution's own build, named in its configuration and in no package."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration that is complete, and holds all that was asked for."""

    text: str
    """The text of the .config."""
    unknown: tuple[UnknownOption, ...] = ()
    """What its base names and the tree does not know; of all else that is an error."""

    @property
    def options(self) -> dict[str, str]:
        """Option -> value, of those that are not off."""
        return parse_config(self.text)


def configure(
    shop: Workshop,
    build: SourceBuild,
    source: SourceTree,
    toolchain: Toolchain,
    *,
    ask: Callable[[SourceBuild], dict[str, Asked]] = collect,
) -> Configuration:
    """Return the configuration that `build` describes for `source`, from the cache when it was made before.

    `ask`: what goes on top of its base. Raises InputError naming every option that is not in the result as asked, who
    asked, and why not; MissingTool, BuildFailed, StoreError.
    """
    asked = ask(build)
    base = _base(shop, build, source, toolchain)

    def solve(asked: Mapping[str, Asked]) -> _Solved:
        return _solved(shop, base, asked, source, toolchain)

    solved = solve(asked)
    if build.options and solved.reasons and not solved.unknown:
        # Without the options the fragments may well have what they ask for: then it was the options that decided.
        alone = solve(ask(build.model_copy(update={"options": {}})))
        overruled = _overruled(solved, alone, asked)
        if overruled == set(solved.reasons):
            shop.tell(f"{build.key}.options overrules what fragments ask for: {', '.join(sorted(overruled))}")
            solved = _Solved(solved.text, {}, {})
    if solved.reasons or solved.unknown:
        raise _refused(build, solved, asked)
    found = Configuration(solved.text, _unknown(base, source, solved.text, shop.cache))
    for line in told(found.unknown, f"{build.key}.{base.key}", f"{source.of.project} {source.version}"):
        shop.tell_once(line)
    require_tools(toolchain, found.options)
    return found


@dataclass(frozen=True, slots=True)
class _Base:
    """What options go on top of."""

    name: str
    text: str | None = None
    """None for a target that make knows."""
    key: str = "base"
    """What in the system file's table names it."""
    said: tuple[Asked, ...] = ()
    """What it says itself, option by option; nothing of a target that every tree has."""


@dataclass(frozen=True, slots=True)
class _Solved:
    """What kconfig made of a request; kept when it refuses too, for the same request gets the same answer."""

    text: str
    reasons: dict[str, str]
    """Option that did not survive -> why."""
    unknown: dict[str, str]
    """Option that the tree does not know -> what may have been meant, or nothing."""


def _solved(
    shop: Workshop, base: _Base, asked: Mapping[str, Asked], source: SourceTree, toolchain: Toolchain
) -> _Solved:
    """Return what kconfig makes of a request, from the cache when it was asked before."""
    require_tools(toolchain, _likely_options(base, asked))
    document = [
        _FORMAT,
        source.identity,
        toolchain.arch,
        toolchain.identity,
        probe_tools(rust=toolchain.rust),
        base.name,
        hashlib.sha256(base.text.encode()).hexdigest() if base.text is not None else None,
        [(one.option, one.value) for one in asked.values()],
    ]

    def make(out: Path) -> None:
        shop.tell(f"configuring {source.of.project} {source.version} for {toolchain.arch}")
        made = _configured(base, asked, source, toolchain, shop.cache)
        out.write_text(json.dumps(asdict(made)), encoding="utf-8")

    entry = shop.cache.make("kernel-config", json.dumps(document), make)
    return _Solved(**json.loads(entry.read_text(encoding="utf-8")))


def _unknown(base: _Base, source: SourceTree, final: str, cache: Cache) -> tuple[UnknownOption, ...]:
    if not base.said:
        return ()
    kinds = read_option_kinds(source, cache)
    return find_unknown(base.said, kinds, parse_config(final), renames=source.of is KernelBuild)


def _overruled(solved: _Solved, alone: _Solved, asked: Mapping[str, Asked]) -> set[str]:
    """Return what a fragment asked for, did not get, and would have got if nobody had overruled it."""
    fragments = {option for option in solved.reasons if not asked[option].by.startswith(_STRICT)}
    return fragments - set(alone.reasons)


def read_option_kinds(source: SourceTree, cache: Cache) -> dict[str, str]:
    """Return every option that the source's Kconfig files define, of any architecture, with its type."""

    def scan(out: Path) -> None:
        kinds: dict[str, str] = {}
        for folder, folders, files in os.walk(source.tree):
            # Examples of the language, and kconfig's own tests, define no option of the tree.
            left_out = _NO_KCONFIG.get(Path(folder).relative_to(source.tree).as_posix(), (".git",))
            folders[:] = sorted(name for name in folders if name not in left_out)
            for name in sorted(files):
                if name.startswith("Kconfig"):
                    _scan(Path(folder, name).read_text(encoding="utf-8", errors="replace"), kinds)
        out.write_text(json.dumps(kinds), encoding="utf-8")

    key = f"{source.identity} {_KINDS_FORMAT}"
    found = json.loads(cache.make("kconfig-options", key, scan).read_text(encoding="utf-8"))
    return {str(option): str(kind) for option, kind in found.items()}


def refusals(
    asked: Mapping[str, Asked], got: Mapping[str, str], kinds: Mapping[str, str], *, renames: bool = True
) -> tuple[list[Asked], dict[str, str]]:
    """Return what was asked for and is not there, and the options that the tree does not know -> their new names.

    An option that was not renamed has similar names instead. `renames`: the tree is one of Linux.
    """
    unknown = {}
    for one in asked.values():
        if one.option not in kinds:
            renamed = find_new_name(one.option, kinds) if renames else None
            near = difflib.get_close_matches(one.option, kinds, n=3)
            if renamed is not None:
                value = renamed.renamed_value(one.value)
                unknown[one.option] = (
                    f"; since Linux {renamed.linux} it is {renamed.new}, and this CONFIG_{renamed.new}={value}"
                )
            else:
                unknown[one.option] = f"; did you mean {', '.join(near)}?" if near else ""
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


def _base(shop: Workshop, build: SourceBuild, source: SourceTree, toolchain: Toolchain) -> _Base:
    if build.config is not None:
        try:
            text = build.config.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{build.key}.config: {build.config}: {error.strerror}") from error
        if not parse_config(text):
            raise InputError(
                f"{build.key}.config: {build.config}: not a {build.what} configuration: it sets no option",
                hint="a whole .config, as make saves it or /boot/config-* has it; a few options are a fragment",
            )
        said = named_options(text, str(build.config))
        return _Base("config", _without_absent_keys(text, source.tree), "config", tuple(said))
    if isinstance(build, KernelBuild) and build.config_package is not None:
        text, name = _packaged(shop, build, toolchain)
        said = named_options(text, f"{build.config_package}: {name}")
        return _Base("config", _without_absent_keys(text, source.tree), "config_package", tuple(said))
    base = build.base or "defconfig"
    generic = GENERIC_BASES if isinstance(build, KernelBuild) else ()
    folder = source.tree / ("configs" if not generic else f"arch/{toolchain.kbuild}/configs")
    if base not in generic and not (folder / base).is_file():
        names = [*generic, *(path.name for path in sorted(folder.glob("*_defconfig")))]
        near = difflib.get_close_matches(base, names, n=3) or names[:6]
        raise InputError(
            f'{build.key}.base: {build.project} {source.version} has no "{base}" for {toolchain.kbuild}',
            hint=f"for example {', '.join(near)}",
        )
    if base in generic:
        return _Base(base)
    # make leaves what it does not know out of what it writes, so the tree's own file is read.
    place = folder / base
    text = place.read_text(encoding="utf-8", errors="replace")
    return _Base(base, said=tuple(named_options(text, str(place.relative_to(source.tree)))))


def _packaged(shop: Workshop, build: KernelBuild, toolchain: Toolchain) -> tuple[str, str]:
    """Return the configuration of a Debian kernel, and what its file is called."""
    name = build.config_package
    assert name is not None
    if toolchain.arch not in packages.ARCHITECTURES:
        raise InputError(f"kernel.build.config_package: no Debian kernels are fetched for {toolchain.arch}")
    key = "kernel.build.config_package"
    package = packages.fetch(shop, name, build.suite, toolchain.arch, key=key)
    found = sorted(package.tree.glob("boot/config-*"))
    if len(found) != 1:
        raise InputError(
            f'kernel.build.config_package: "{name}" holds {len(found)} kernel configurations, expected one',
            hint="name a kernel package, for example linux-image-cloud-amd64",
        )
    return found[0].read_text(encoding="utf-8", errors="replace"), found[0].name


def _without_absent_keys(text: str, tree: Path) -> str:
    for option in _KEY_FILES:
        found = re.search(rf'^CONFIG_{option}="(.+)"$', text, re.MULTILINE)
        if found and not (tree / found[1]).is_file():
            text = text.replace(found[0], f'CONFIG_{option}=""')
    return text


def _likely_options(base: _Base, asked: Mapping[str, Asked]) -> dict[str, str]:
    # Before kconfig has run, which itself needs tools: enough to name every missing one at once.
    likely = parse_config(base.text) if base.text is not None else {}
    compression_asked = any(name.startswith("KERNEL_") and one.value == "y" for name, one in asked.items())
    if base.name == "tinyconfig" and not compression_asked:
        likely["KERNEL_XZ"] = "y"
    return {**likely, **{one.option: one.value for one in asked.values()}}


def _configured(
    base: _Base, asked: Mapping[str, Asked], source: SourceTree, toolchain: Toolchain, cache: Cache
) -> _Solved:
    kinds = read_option_kinds(source, cache)
    text = base.text if base.text is not None else _made_base(base.name, source, toolchain, cache)
    folder = ObjectFolder(cache, source, toolchain, "config")
    place = folder.objects / ".config"
    with folder.locked():
        place.write_text(merge(text, asked.values(), kinds), encoding="utf-8")
        folder.configure("olddefconfig")
        final = place.read_text(encoding="utf-8")
    lost, unknown = refusals(asked, parse_config(final), kinds, renames=source.of is KernelBuild)
    reasons = explain([Refusal(one.option, one.value) for one in lost], final, source, toolchain) if lost else {}
    return _Solved(final, reasons, unknown)


def _made_base(base: str, source: SourceTree, toolchain: Toolchain, cache: Cache) -> str:
    """Return what `make BASE` writes: kept, for it takes longer than what every variant of it needs after."""

    def make(out: Path) -> None:
        folder = ObjectFolder(cache, source, toolchain, "config")
        place = folder.objects / ".config"
        with folder.locked():
            place.unlink(missing_ok=True)
            folder.configure(base)
            shutil.copyfile(place, out)

    key = [_FORMAT, source.identity, toolchain.arch, toolchain.identity, probe_tools(rust=toolchain.rust), base]
    return cache.make("kernel-base", json.dumps(key), make).read_text(encoding="utf-8")


def _refused(build: SourceBuild, solved: _Solved, asked: Mapping[str, Asked]) -> InputError:
    got = parse_config(solved.text)
    lines = []
    for option, reason in solved.reasons.items():
        one = asked[option]
        value = got.get(option, "n")
        lines.append(f"{_place(build, one)}: CONFIG_{option}={one.value} did not survive, it is {value}: {reason}")
    for option, meant in solved.unknown.items():
        lines.append(f"{_place(build, asked[option])}: no option CONFIG_{option} in this tree{meant}")
    return InputError(
        "\n".join(lines),
        hint=f"ask for what is needed too, or do without; {build.key}.options overrules base and fragments",
    )


def _place(build: SourceBuild, one: Asked) -> str:
    # A line of a fragment is found through the key that names the fragment.
    named = one.by.startswith((f"{build.key}.", "initramfs.", "machine.", "card."))
    return one.by if named else f"{build.key}.fragments: {one.by}"
