"""A kernel tree's Kconfig files as values: what an option depends on, and what goes with it when it is turned off.

The tree's own kconfig answers only by writing a configuration. kconfiglib reads the same language, in seconds and once,
and then answers in milliseconds. It knows all of it but the bare keyword `modules` of 5.13 and later, which it gets in
the old spelling.
"""

import io
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import kconfiglib

from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import NO_RUST, Toolchain
from bootlab.errors import InputError
from bootlab.process import run

_NO, _YES = 0, 2
_NUMBERS = {
    kconfiglib.INT: ("a number", r"-?(0|[1-9][0-9]*)"),
    kconfiglib.HEX: ("a number such as 0x1000", r"0x[0-9a-f]+"),
}
"""The numbers that kconfig takes, and as it writes them."""
# kconfiglib reads the environment of this process, of which there is one.
_environment_lock = threading.Lock()


class _Kconfig(kconfiglib.Kconfig):  # type: ignore[misc]
    config = ""
    """What load_config() reads, whatever the name."""

    def _open(self, filename: str, mode: str) -> Any:
        with open(filename, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
        return io.StringIO("".join("\toption modules\n" if line.strip() == "modules" else line for line in lines))

    def _open_config(self, filename: str) -> Any:
        return io.StringIO(self.config)


@contextmanager
def load_kconfig(config: str, source: SourceTree, toolchain: Toolchain) -> Iterator[Any]:
    """Give the tree's kconfiglib.Kconfig with `config` (text of a .config) loaded; its files are read within.

    Raises InputError for a tree whose Kconfig files kconfiglib does not understand.
    """
    try:
        with _environment(_variables(source, toolchain)):
            kconf = _Kconfig(str(source.tree / "Kconfig"), warn=False, encoding="utf-8")
            kconf.config = config
            kconf.load_config(".config")
            yield kconf
    except (kconfiglib.KconfigError, OSError, RecursionError) as error:
        raise InputError(f"Linux {source.version}: its Kconfig files could not be read: {error}") from error


@dataclass(frozen=True, slots=True)
class Closure:
    """What turning one option off, or on, does to all others: they go off with it, come on with it or in its place."""

    option: str
    lost: frozenset[str]
    """With the option itself, where it is turned off."""
    gained: frozenset[str]
    """With the option itself, where it is turned on."""


@dataclass(frozen=True, slots=True)
class OptionPlace:
    """Where the kernel itself puts an option."""

    files: tuple[str, ...]
    """The Kconfig files that define it, from the top of the tree."""
    menus: tuple[str, ...]
    """The titles above it, outermost first."""
    prompt: str


class KconfigTree:
    """One configuration of one tree, to be changed step by step; options are bool or tristate, named without CONFIG_.

    `on` is what the configuration has on, always as kconfig would complete it.
    """

    def __init__(self, kconf: Any) -> None:
        self._kconf = kconf
        switches = (kconfiglib.BOOL, kconfiglib.TRISTATE)
        self._switches = [one for one in kconf.unique_defined_syms if one.orig_type in switches]
        self.on = self._read()

    def can_turn_off(self, option: str) -> bool:
        """Return whether it is on, has a prompt that shows, and nothing selects it; a choice's member never can."""
        symbol = self._kconf.syms[option]
        return symbol.tri_value > _NO and symbol.choice is None and _NO in symbol.assignable

    def can_turn_on(self, option: str) -> bool:
        """Return whether it is off and has a prompt that shows; a choice's member takes the place of another."""
        symbol = self._kconf.syms.get(option)
        return symbol is not None and symbol.tri_value == _NO and _YES in symbol.assignable

    def turn_on(self, option: str) -> bool:
        """Turn an option on if its prompt shows and return whether it is on now."""
        symbol = self._kconf.syms.get(option)
        if symbol is None or _YES not in symbol.assignable:
            return option in self.on
        symbol.set_value(_YES)
        self.on = self._read()
        return option in self.on

    def closure(self, option: str, *, on: bool = False) -> Closure:
        """Return what turning an option off, or `on`, would do, leaving all as it is."""
        symbol = self._kconf.syms[option]
        before, taken = symbol.user_value, symbol.choice.selection if symbol.choice is not None else None
        symbol.set_value(_YES if on else _NO)
        now = self._read()
        if before is None:
            symbol.unset_value()
        else:
            symbol.set_value(before)
        if taken is not None:
            # Of a choice, what was set last is taken.
            taken.set_value(_YES)
        return Closure(option, self.on - now, now - self.on)

    def changes(self, asked: Mapping[str, str]) -> dict[str, tuple[str, str]]:
        """Return what asking for these options would change, leaving all as it is: option -> before, after.

        `n` is off. An option that this tree does not know, or does not grant, changes nothing.
        """
        symbols = [self._kconf.syms[option] for option in asked if option in self._kconf.syms]
        users = [(one, one.user_value) for one in symbols]
        taken = [one.choice.selection for one in symbols if one.choice is not None]
        before = self._values()
        # Of a choice, what was set last is taken.
        for one in sorted(symbols, key=lambda one: asked[one.name] == "y"):
            one.set_value(asked[one.name])
        after = self._values()
        for one, value in users:
            if value is None:
                one.unset_value()
            else:
                one.set_value(value)
        for one in taken:
            if one is not None:
                one.set_value(_YES)
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        return {name: (before.get(name, "n"), after.get(name, "n")) for name in changed}

    def turn_off(self, option: str) -> None:
        """Turn an option off, with all that goes with it."""
        self._kconf.syms[option].set_value(_NO)
        self.on = self._read()

    def give(self, option: str, value: str) -> bool:
        """Give an option a value, with all that follows, and return whether kconfig grants it; else all stays as it is.

        `n` is off. A choice's member goes off by another one that comes on.
        """
        symbol = self._kconf.syms.get(option)
        if symbol is None:
            return False
        if symbol in self._switches:
            granted = value == "y" and self.can_turn_on(option) or value == "n" and self.can_turn_off(option)
            if granted and value == "y":
                self.turn_on(option)
            elif granted:
                self.turn_off(option)
            return granted
        if self.changes({option: value}).get(option, ("", ""))[1] != value:
            return False
        symbol.set_value(value)
        self.on = self._read()
        return True

    def value(self, option: str) -> str:
        """Return the value of an option as kconfig completes it; `n` where it is off or nobody is asked for it."""
        symbol = self._kconf.syms[option]
        return str(symbol.str_value) if symbol.config_string else "n"

    def refusal(self, option: str, value: str) -> str | None:
        """Return why an option is no number that may be this, or no member of a choice; None where it may be tried."""
        symbol = self._kconf.syms.get(option)
        if symbol is None or symbol not in self._kconf.unique_defined_syms:
            return f"it has no option {option}"
        if symbol.choice is not None:
            return (
                None if value == "y" else f"{option} is one of several of which one must be taken: only y can be tried"
            )
        if symbol.orig_type not in _NUMBERS:
            return f"{option} is no number and no member of a choice"
        wanted, form = _NUMBERS[symbol.orig_type]
        if not re.fullmatch(form, value):
            return f"{option} is {wanted}"
        base = 10 if symbol.orig_type == kconfiglib.INT else 16
        bounds = [(_bound(low, base), _bound(high, base)) for low, high, _ in symbol.ranges]
        number = int(value, base)
        within = ((low is None or low <= number) and (high is None or number <= high) for low, high in bounds)
        if not bounds or any(within):
            return None
        return f"{option} is {' or '.join(f'from {low.name} to {high.name}' for low, high, _ in symbol.ranges)}"

    def off(self) -> tuple[str, ...]:
        """Return the options that can be turned on, sorted."""
        return tuple(sorted(one.name for one in self._switches if self.can_turn_on(one.name)))

    def selectors(self, option: str) -> tuple[str, ...]:
        """Return the options that are on and select it."""
        found = kconfiglib.split_expr(self._kconf.syms[option].rev_dep, kconfiglib.OR)
        active = (kconfiglib.split_expr(one, kconfiglib.AND)[0] for one in found if kconfiglib.expr_value(one))
        return tuple(sorted({str(one.name) for one in active if getattr(one, "name", None)} - {"y", "n", "m"}))

    def has_prompt(self, option: str) -> bool:
        """Return whether anybody can be asked for it at all."""
        return any(node.prompt for node in self._kconf.syms[option].nodes)

    def is_choice(self, option: str) -> bool:
        """Return whether it is one of several of which one must be taken."""
        return self._kconf.syms[option].choice is not None

    def place(self, option: str) -> OptionPlace:
        """Return where the tree defines an option."""
        nodes = self._kconf.syms[option].nodes
        menus = list[str]()
        above = nodes[0].parent if nodes else None
        while above is not None and above.prompt:
            menus.append(above.prompt[0])
            above = above.parent
        prompt = next((node.prompt[0] for node in nodes if node.prompt), "")
        return OptionPlace(tuple(dict.fromkeys(node.filename for node in nodes)), tuple(reversed(menus)), prompt)

    def _values(self) -> dict[str, str]:
        written = (one for one in self._kconf.unique_defined_syms if one.config_string)
        return {one.name: one.str_value for one in written if one.str_value != "n"}

    def _read(self) -> frozenset[str]:
        return frozenset(one.name for one in self._switches if one.tri_value > _NO)


def _bound(end: Any, base: int) -> int | None:
    """Return the end of a range; None for one that is another option's value, which may change yet."""
    try:
        return int(str(end.name), base)
    except ValueError:
        return None


def _variables(source: SourceTree, toolchain: Toolchain) -> dict[str, str]:
    tools = {
        name: f"{toolchain.prefix}{tool}"
        for name, tool in (
            *(("CC", "gcc"), ("LD", "ld"), ("AR", "ar"), ("NM", "nm"), ("OBJCOPY", "objcopy")),
            *(("OBJDUMP", "objdump"), ("READELF", "readelf"), ("STRIP", "strip")),
        )
    }
    version = run([toolchain.cc, "--version"], deadline_s=20).text.splitlines()[0]
    return {
        **tools,
        "srctree": str(source.tree),
        "SRCARCH": toolchain.kbuild,
        "ARCH": toolchain.kbuild,
        "KERNELVERSION": source.version,
        "CC_VERSION_TEXT": version,
        "HOSTCC": "gcc",
        "HOSTCXX": "g++",
        "RUSTC": "rustc" if toolchain.rust else NO_RUST,
        "BINDGEN": "bindgen",
        "PAHOLE": "pahole",
        "RUSTC_VERSION_TEXT": "",
        "PAHOLE_FLAGS": "",
        "CLANG_FLAGS": "",
        "LLVM": "",
        "RUSTC_BOOTSTRAP": "1",
        "LC_ALL": "C",
    }


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    with _environment_lock:
        before = dict(os.environ)
        os.environ.update(variables)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
