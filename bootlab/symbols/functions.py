"""Turns a kernel's symbols into functions: one name and role for each address where code begins, and code's ends.

kallsyms has no sizes and no types, so what lies between functions must be recognised by its names: labels of sections
and labels inside assembly code begin no function.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from bootlab.symbols.roles import ARM_VECTORS, Role, find_labels, find_roles
from bootlab.symbols.table import SymbolTable

_TEXT_KINDS = frozenset("tTwW")
_ENDS = frozenset({"_etext", "_einittext"})
# Names of code that is there twice (position-independent, for the hypervisor) or has a second name (32-bit arm's
# memset() and memcpy()): the plain alias says it better.
_COPIES = ("__pi_", "__kvm_nvhe_", "mmioset", "mmiocpy")
_NOWHERE = "end"
_PADDING = 16
_ARM_VECTORS_AT = 0xFFFF0000
_ARM_VECTORS_SIZE = 0x20
_PAGE = 0x1000
ALTERNATIVES = ".altinstr_aux"
"""x86: behind _einittext, static_cpu_has() checks that functions jump out to and back from until they are patched."""


class Function(NamedTuple):
    """Where code begins. Its end is where the next one is; one of role `end` begins what is no code."""

    address: int
    role: Role
    name: str


def list_functions(table: SymbolTable) -> list[Function]:
    """Return the kernel's functions by link address, one for each address; the last has the role `end`."""
    start = table.text_start
    symbols = [symbol for symbol in table if symbol.address >= start]
    texts = {symbol.name for symbol in symbols if symbol.kind in _TEXT_KINDS}
    roles = find_roles(table.arch, texts)
    names = texts - find_labels(texts)
    found: list[Function] = []
    in_text = False
    for address, group in groupby(symbols, itemgetter(0)):
        here = [symbol.name for symbol in group if symbol.kind in _TEXT_KINDS]
        # Without a function of its own, the one before goes on, unless the text is over.
        function = _function(address, [name for name in here if name in names], roles)
        if function is None and (not here or not _ENDS.isdisjoint(here)):
            function = _behind(address, here, table.arch)
        if function is not None and (in_text or function.role is not Role.END):
            found.append(function)
            in_text = function.role is not Role.END
    if table.arch == "armv7":
        return _with_vectors(found, table.link_map.end)
    if in_text:
        found.append(Function(max(table.link_map.end, found[-1].address + 1), Role.END, _NOWHERE))
    return found


def _with_vectors(functions: list[Function], end: int) -> list[Function]:
    # The vectors and what they jump to are linked to two pages at the end of all addresses; the first has no symbols.
    image = [one for one in functions if one.address < _ARM_VECTORS_AT]
    stubs = [one for one in functions if one.address >= _ARM_VECTORS_AT + _PAGE]
    if not image:
        return []
    if image[-1].role is not Role.END:
        last = image[-1].address + 1
        image.append(Function(end if last <= end < _ARM_VECTORS_AT else last, Role.END, _NOWHERE))
    vectors = Function(_ARM_VECTORS_AT, Role.STUBS, ARM_VECTORS)
    behind = Function(_ARM_VECTORS_AT + _ARM_VECTORS_SIZE, Role.END, _NOWHERE)
    if not stubs:
        # A kernel that does not list them: all of the page is one.
        stubs = [Function(_ARM_VECTORS_AT + _PAGE, Role.STUBS, ARM_VECTORS)]
    stubs = [one for one in stubs if one.role is not Role.END]
    return [*image, vectors, behind, *stubs, Function(_ARM_VECTORS_AT + 2 * _PAGE, Role.END, _NOWHERE)]


def _function(address: int, names: Sequence[str], roles: dict[str, Role]) -> Function | None:
    if not names:
        return None
    name = names[0] if len(names) == 1 else min(names, key=lambda name: (name not in roles, name.startswith(_COPIES)))
    return Function(address, roles.get(name, Role.PLAIN), name)


def _behind(address: int, labels: Sequence[str], arch: str) -> Function:
    if arch == "x86_64" and "_einittext" in labels:
        return Function(address, Role.THUNK, ALTERNATIVES)
    return Function(address, Role.END, _NOWHERE)


def without_overlap(functions: Iterable[tuple[int, int, Role, str]]) -> Iterator[Function]:
    """Make functions of (address, size, role, name), sorted by address: one for each address, and the gaps between.

    A size of 0 reaches to the next function, and so does one that ends less than 16 bytes before it: padding.
    """
    end = None
    last = 0
    for address, size, role, name in functions:
        if end is not None and address - end >= _PADDING:
            yield Function(end, Role.END, _NOWHERE)
        yield Function(address, role, name)
        end = address + size if size else None
        last = address + max(size, 1)
    if last:
        yield Function(last, Role.END, _NOWHERE)
