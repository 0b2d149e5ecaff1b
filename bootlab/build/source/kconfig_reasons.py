"""Why kconfig did not grant an option: which dependency is missing, who selects it, what a choice took instead.

The tree's own kconfig says none of that, so its Kconfig files are read again with kconfiglib.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import kconfiglib

from bootlab.build.source.option_dependencies import load_kconfig
from bootlab.build.source.origin import SourceTree
from bootlab.build.source.toolchain import Toolchain
from bootlab.errors import BootlabError

_UNEXPLAINED = "kconfig decided otherwise; the help of make menuconfig (key /) shows what it depends on"
_SHOWN = 6
_DEPTH = 2
_YES = 2
_TYPES = {kconfiglib.BOOL: "a bool", kconfiglib.TRISTATE: "y, m or n", kconfiglib.INT: "a whole number",
          kconfiglib.HEX: "a hexadecimal number", kconfiglib.STRING: "text"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Refusal:
    """An option that a configuration does not have as it was asked for."""

    option: str
    asked: str


def explain(refused: Sequence[Refusal], config: str, source: SourceTree, toolchain: Toolchain) -> dict[str, str]:
    """Return, for each refused option, why the configuration `config` (text of a .config) does not have it as asked."""
    try:
        with load_kconfig(config, source, toolchain) as kconf:
            return {one.option: _reason(kconf, one) for one in refused}
    except BootlabError:
        # Another version of the language: the options are refused all the same.
        return {one.option: _UNEXPLAINED for one in refused}


def _reason(kconf: Any, one: Refusal) -> str:
    symbol = kconf.syms.get(one.option)
    if symbol is None or not symbol.nodes:
        return "it is an option of other architectures"
    return (
        _wrong_value(kconf, symbol, one.asked)
        or (_why_on(symbol) if one.asked == "n" else _why_off(symbol))
        or _UNEXPLAINED
    )


def _wrong_value(kconf: Any, symbol: Any, asked: str) -> str | None:
    kind = symbol.orig_type
    if kind == kconfiglib.BOOL and asked not in ("y", "n"):
        return "it is y or n"
    if kind == kconfiglib.TRISTATE:
        if asked not in ("y", "m", "n"):
            return "it is y, m or n"
        if asked == "m" and kconf.modules.tri_value == 0:
            return "m needs MODULES=y (is n)"
    if kind in (kconfiglib.INT, kconfiglib.HEX):
        try:
            number = int(asked, 10 if kind == kconfiglib.INT else 16)
        except ValueError:
            return f"it is {_TYPES[kind]}"
        for low, high, condition in symbol.ranges:
            if kconfiglib.expr_value(condition):
                base = 10 if kind == kconfiglib.INT else 16
                if not int(low.str_value, base) <= number <= int(high.str_value, base):
                    return f"it must be from {low.str_value} to {high.str_value}"
                break
    return None


def _why_off(symbol: Any) -> str | None:
    if needs := _unmet(symbol.direct_dep, _DEPTH):
        return f"needs {_listed(needs)}"
    conditions = [node.prompt[1] for node in symbol.nodes if node.prompt]
    if not conditions:
        selectors = sorted({_selector(one) for one in kconfiglib.split_expr(symbol.rev_dep, kconfiglib.OR)} - {"n"})
        others = f"; {_listed(selectors)} would select it" if selectors else ""
        return f"cannot be asked for: it has no prompt{others}"
    if all(kconfiglib.expr_value(condition) < _YES for condition in conditions):
        return f"its prompt needs {_listed(_unmet(conditions[0], _DEPTH))}"
    choice = symbol.choice
    if choice is not None and choice.selection is not None and choice.selection is not symbol:
        return f"is one of a choice, and {choice.selection.name} was taken"
    return None


def _why_on(symbol: Any) -> str | None:
    active = [one for one in kconfiglib.split_expr(symbol.rev_dep, kconfiglib.OR) if kconfiglib.expr_value(one)]
    if active:
        return f"is selected by {_listed([_selector(one) for one in active])}"
    choice = symbol.choice
    if choice is not None and choice.selection is symbol:
        others = [member.name for member in choice.syms if member is not symbol and member.visibility]
        return (
            f"is what a choice took; ask for another member as y: {_listed(others)}"
            if others
            else ("is the only member of a choice that can be taken here")
        )
    conditions = [node.prompt[1] for node in symbol.nodes if node.prompt]
    if not conditions:
        return "has no prompt, and is on by default"
    if all(kconfiglib.expr_value(condition) == 0 for condition in conditions):
        return f"can be turned off only with {_listed(_unmet(conditions[0], _DEPTH))}"
    return None


def _unmet(expression: Any, depth: int) -> list[str]:
    """Return what an expression lacks to be y, each in words."""
    if kconfiglib.expr_value(expression) == _YES:
        return []
    if not isinstance(expression, tuple):
        return [_lacking(expression, depth)]
    operator, *operands = expression
    if operator == kconfiglib.AND:
        return list(dict.fromkeys(words for operand in operands for words in _unmet(operand, depth)))
    if operator == kconfiglib.OR:
        branches = [_unmet(operand, 0) for operand in kconfiglib.split_expr(expression, kconfiglib.OR)]
        words = list(dict.fromkeys(" and ".join(branch) for branch in branches))
        return [f"one of: {' | '.join(words[:_SHOWN])}{' | ...' if len(words) > _SHOWN else ''}"]
    if operator == kconfiglib.NOT:
        text = kconfiglib.expr_str(operands[0], _name)
        if isinstance(operands[0], tuple):
            return [f"not ({text})"]
        return [f"{text}=n (is {operands[0].str_value})"]
    return [f"{kconfiglib.expr_str(expression, _name)} ({_name(operands[0])} is {operands[0].str_value})"]


def _lacking(symbol: Any, depth: int) -> str:
    if isinstance(symbol, kconfiglib.Choice):
        return "a choice that is not offered here"
    if symbol.is_constant:
        return "what never holds"
    if not symbol.nodes:
        return f"{symbol.name}, which this architecture does not have"
    deeper = _unmet(symbol.direct_dep, depth - 1) if depth > 1 else []
    more = f", which needs {_listed(deeper)}" if deeper else ""
    return f"{symbol.name}=y (is {symbol.str_value}{more})"


def _selector(expression: Any) -> str:
    first = kconfiglib.split_expr(expression, kconfiglib.AND)[0]
    return str(getattr(first, "name", None) or kconfiglib.expr_str(first, _name))


def _name(symbol: Any) -> str:
    return str(symbol.name) if getattr(symbol, "name", None) else "a choice"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN]) + (", ..." if len(words) > _SHOWN else "")
