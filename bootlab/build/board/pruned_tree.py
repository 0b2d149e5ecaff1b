"""A device tree without what the kernel has no driver for: nodes that it would read, and make devices of, for nobody.

Whether there is a driver is seen in the kernel's file: a driver is matched by the strings of `compatible`, so one that
is there has them. A string that is there for another reason only keeps a node.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bootlab.errors import InputError
from bootlab.process import ProgramFailed, run

_PACKAGE = "device-tree-compiler"
_BEGIN_NODE, _END_NODE, _PROPERTY, _NOP = 1, 2, 3, 4
_WORD = struct.Struct(">I")
# Devicetree Specification 0.4, section 2.3 and Linux' bindings: properties of phandles, each with the cells that the
# node it points at says it takes (#clock-cells), or with none.
_WITH_CELLS = re.compile(r"(?:assigned-)?([a-z-]+?)(?:-parent)?s|(?:.*-)?(gpio)s?|(interrupt)s-extended")
_OF_PINS = ("function", "pinmux", "allwinner,function")
_NUMBERS = frozenset({"reg", "ranges", "dma-ranges", "interrupts", "interrupt-map", "interrupt-map-mask", "phandle"})


@dataclass(slots=True)
class TreeNode:
    """A node of a device tree."""

    path: str
    properties: dict[str, bytes] = field(default_factory=dict)
    children: list["TreeNode"] = field(default_factory=list)

    def walk(self) -> Iterator["TreeNode"]:
        """Yield this node and all below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()

    def strings(self, name: str) -> list[str]:
        """Return the strings of a property; none where it is not there."""
        return [text.decode("latin-1") for text in self.properties.get(name, b"").split(b"\0") if text]

    def words(self, name: str) -> list[int]:
        """Return the cells of a property; none where it has not whole ones."""
        value = self.properties.get(name, b"")
        return [word for (word,) in _WORD.iter_unpack(value)] if len(value) % 4 == 0 else []


def read_tree(content: bytes) -> TreeNode:
    """Return the root of a flattened device tree. Raises ValueError for what is none, or is cut short."""
    try:
        nodes_at, strings_at = struct.unpack_from(">2I", content, 8)
        return _read_nodes(content, nodes_at, strings_at)
    except (struct.error, IndexError) as error:
        raise ValueError("no device tree, or one that is cut short") from error


def _read_nodes(content: bytes, at: int, strings_at: int) -> TreeNode:
    open_nodes: list[TreeNode] = []
    while True:
        (token,) = _WORD.unpack_from(content, at)
        at += 4
        if token == _BEGIN_NODE:
            end = _end_of_text(content, at)
            name = content[at:end].decode("latin-1")
            at = (end + 4) & ~3
            parent = open_nodes[-1] if open_nodes else None
            path = "/" if parent is None else f"{parent.path.removesuffix('/')}/{name}"
            node = TreeNode(path)
            if parent is not None:
                parent.children.append(node)
            open_nodes.append(node)
        elif token == _PROPERTY:
            size, name_at = struct.unpack_from(">2I", content, at)
            start = strings_at + name_at
            name = content[start : _end_of_text(content, start)].decode("latin-1")
            open_nodes[-1].properties[name] = content[at + 8 : at + 8 + size]
            at = (at + 8 + size + 3) & ~3
        elif token == _END_NODE:
            node = open_nodes.pop()
            if not open_nodes:
                return node
        elif token != _NOP:
            raise ValueError(f"no device tree: a token {token} at byte {at - 4:,}")


def _end_of_text(content: bytes, start: int) -> int:
    end = content.find(b"\0", start)
    if end < 0:
        raise IndexError
    return end


def needless_nodes(root: TreeNode, has_driver: Callable[[str], bool]) -> list[str]:
    """Return the paths of nodes that may go, none below another; `has_driver` is asked of strings of `compatible`.

    What stays: what has a driver, what says no `compatible` (CPUs, memory, what was chosen), all around and below
    these, and what one of them points at.
    """
    by_phandle = {node.words("phandle")[0]: node for node in root.walk() if node.words("phandle")}
    around = {child.path: node for node in root.walk() for child in node.children}
    kept: dict[str, TreeNode] = {}
    waiting = [node for node, dropped in _with_state(root, has_driver) if not dropped]
    while waiting:
        node = waiting.pop()
        if node.path in kept:
            continue
        kept[node.path] = node
        if node.path in around:
            waiting.append(around[node.path])
        waiting += _pointed_at(node, by_phandle)
    return list(_topmost(root, kept))


def _with_state(root: TreeNode, has_driver: Callable[[str], bool]) -> Iterator[tuple[TreeNode, bool]]:
    """Yield each node, and whether nobody drives it or what it lies in."""
    stack = [(root, False)]
    while stack:
        node, dropped = stack.pop()
        compatible = node.strings("compatible")
        off = node.strings("status")[:1] not in ([], ["okay"], ["ok"])
        unknown = bool(compatible) and not any(map(has_driver, compatible))
        is_cpu = node.strings("device_type")[:1] in (["cpu"], ["memory"])
        # The root's name is the board's; what is below a node without a driver may still have one (a bus).
        # Pins of a device are set up for whoever points at them, and for nobody else.
        are_pins = not compatible and not node.properties.keys().isdisjoint(_OF_PINS)
        gone = node is not root and not is_cpu and (off or unknown or are_pins or (dropped and not compatible))
        yield node, gone
        stack += [(child, gone) for child in node.children]


def _pointed_at(node: TreeNode, by_phandle: Mapping[int, TreeNode]) -> Iterator[TreeNode]:
    for name in node.properties:
        words = node.words(name)
        if not words or name.startswith("#") or name in _NUMBERS:
            continue
        cells = _WITH_CELLS.fullmatch(name)
        kind = next((one for one in cells.groups() if one), None) if cells is not None else None
        # What takes no cells of its own (supplies, pins) is a list of phandles, or begins with one.
        at = 0
        while at < len(words):
            target = by_phandle.get(words[at])
            if target is None:
                break
            yield target
            taken = target.words(f"#{kind}-cells")[:1] if kind is not None else []
            at += 1 + (taken[0] if taken else 0)


def _topmost(root: TreeNode, kept: Mapping[str, TreeNode]) -> Iterator[str]:
    for child in root.children:
        if child.path in kept:
            yield from _topmost(child, kept)
        else:
            yield child.path


def write_pruned(tree: Path, kernel_elf: Path, out: Path) -> None:
    """Write to `out` the device tree without what a kernel has no driver for; `kernel_elf`: all that is loaded of it.

    Raises InputError for what is no device tree, MissingTool (fdtput, dtc).
    """
    kernel = kernel_elf.read_bytes()
    try:
        root = read_tree(tree.read_bytes())
    except ValueError as error:
        raise InputError(f"card.device_tree_pruned: {tree}: {error}") from error
    paths = needless_nodes(root, lambda text: b"\0" + text.encode("latin-1") + b"\0" in kernel)
    whole = out.with_name(f"{out.name}.whole")
    whole.write_bytes(tree.read_bytes())
    try:
        if paths:
            run(["fdtput", "-r", whole, *paths], package=_PACKAGE)
        # As small as its content: fdtput leaves room where nodes were.
        run(["dtc", "-q", "-I", "dtb", "-O", "dtb", "-o", out, whole], package=_PACKAGE)
    except ProgramFailed as error:
        raise InputError(f"card.device_tree_pruned: {tree}: cannot be changed\n  {error.message}") from error
    finally:
        whole.unlink(missing_ok=True)
