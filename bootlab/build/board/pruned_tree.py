"""A device tree without what the kernel has no driver for: nodes that it would read, and make devices of, for nobody.

Whether there is a driver is seen in the kernel's file: a driver is matched by the strings of `compatible`, so one that
is there has them. A string that is there for another reason only keeps a node, and so does all else that is in doubt.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from bootlab.errors import InputError
from bootlab.process import ProgramFailed, run

_PACKAGE = "device-tree-compiler"
_BEGIN_NODE, _END_NODE, _PROPERTY, _NOP = 1, 2, 3, 4
_WORD = struct.Struct(">I")
_MOST_DEEP = 64
"""Levels of nodes that Linux reads (FDT_MAX_DEPTH of drivers/of/fdt.c)."""
# Devicetree Specification 0.4, section 2.3 and Linux' bindings: properties of phandles, each with the cells that the
# node it points at says it takes (#clock-cells), or with none.
_WITH_CELLS = re.compile(r"(?:.*-)?(gpio)s?|(?:assigned-)?([a-z-]+?)(?:-parent)?s|(interrupt)s-extended|(msi)-parent")
_IRREGULAR = {"mboxes": "mbox", "cooling-device": "cooling", "sound-dai": "sound-dai"}
"""Property -> what its cells are called, where that does not follow from its name."""
_MAPS = {"interrupt-map": "#interrupt-cells", "iommu-map": "#iommu-cells", "msi-map": "#msi-cells"}
"""Property that has phandles among numbers -> property of what they point at."""
_NUMBERS = frozenset({"reg", "ranges", "dma-ranges", "interrupts", "interrupt-map-mask", "phandle", "linux,phandle"})
_BUSES = frozenset({"simple-bus", "simple-mfd", "simple-pm-bus", "isa", "arm,amba-bus"})
"""What has devices below it that the kernel itself looks for, and no driver that knows them by name."""
_COUNTED = ("i2c", "i3c", "mmc", "spi")
"""Aliases whose highest number says what number a device without one gets: of_alias_get_highest_id()."""
# A bus finds these by itself, and gives them their node for the sake of what else it says, as an address.
_FOUND_BY_A_BUS = re.compile(r"(?:usb|pci)[0-9a-f]+,[0-9a-f]+(?:\.[0-9a-f.]+)?|pciclass,[0-9a-f]+|ethernet-phy-id.*")


@dataclass(slots=True)
class TreeNode:
    """A node of a device tree."""

    path: str
    at: int
    """Offset of its first byte in the flattened tree."""
    end: int = 0
    """Offset of the byte behind its last one."""
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
        begin = at
        (token,) = _WORD.unpack_from(content, at)
        at += 4
        if token == _BEGIN_NODE:
            end = _end_of_text(content, at)
            name = content[at:end].decode("latin-1")
            at = (end + 4) & ~3
            parent = open_nodes[-1] if open_nodes else None
            if len(open_nodes) == _MOST_DEEP:
                raise ValueError(f"no device tree that Linux reads: nodes more than {_MOST_DEEP} deep")
            path = "/" if parent is None else f"{parent.path.removesuffix('/')}/{name}"
            node = TreeNode(path, begin)
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
            node.end = at
            if not open_nodes:
                return node
        elif token != _NOP:
            raise ValueError(f"no device tree: a token {token} at byte {at - 4:,}")


def _end_of_text(content: bytes, start: int) -> int:
    end = content.find(b"\0", start)
    if end < 0:
        raise IndexError
    return end


def needless_nodes(
    root: TreeNode, has_driver: Callable[[str], bool], turned_on: Set[str] = frozenset()
) -> list[TreeNode]:
    """Return the nodes that may go, none below another; `has_driver` is asked of strings of `compatible`.

    What stays: what has a driver, what says no `compatible` (memory, what was chosen), CPUs, memory that is set aside,
    what a driver looks for below itself, all around these, and what one of them points at. `turned_on`: strings of
    `compatible` of what is off in the tree and need not remain so.
    """
    # Linux takes either name for a phandle (drivers/of/fdt.c).
    by_phandle = {
        words[0]: node for node in root.walk() for name in ("linux,phandle", "phandle") if (words := node.words(name))
    }
    around = {child.path: node for node in root.walk() for child in node.children}
    kept: dict[str, TreeNode] = {}
    waiting = [node for node, dropped in _with_state(root, has_driver, turned_on) if not dropped]
    while waiting:
        node = waiting.pop()
        if node.path in kept:
            continue
        kept[node.path] = node
        if node.path in around:
            waiting.append(around[node.path])
        for target in _pointed_at(node, by_phandle):
            waiting += _whole_of(target)
    return list(_topmost(root, kept))


def turned_on_later(config: Mapping[str, str]) -> frozenset[str]:
    """Return the strings of `compatible` of what is off in a tree, and a bootloader turns on for a kernel so built."""
    # U-Boot hands over a screen that it has a picture on. Every kernel has the word, to look for it; only these use it.
    screen = any(config.get(one) == "y" for one in ("FB_SIMPLE", "DRM_SIMPLEDRM"))
    return frozenset({"simple-framebuffer"} if screen else ())


def _with_state(
    root: TreeNode, has_driver: Callable[[str], bool], turned_on: Set[str]
) -> Iterator[tuple[TreeNode, bool]]:
    """Yield each node, and whether nobody drives it or what it lies in."""
    counted = _counted_paths(root)
    stack = [(root, root, False)]
    while stack:
        node, parent, dropped = stack.pop()
        compatible = node.strings("compatible")
        off = node.strings("status")[:1] not in ([], ["okay"], ["ok"]) and turned_on.isdisjoint(compatible)
        # The root's name is the board's; what is below a node without a driver may still have one (a bus).
        needless = off or _is_unknown(node, parent, dropped, has_driver) or _are_pins(node)
        stays = node is root or node.path in counted or _is_cpu(node)
        gone = not stays and (needless or (dropped and not compatible))
        yield node, gone
        stack += [(child, node, gone) for child in node.children]


def _is_unknown(node: TreeNode, parent: TreeNode, dropped: bool, has_driver: Callable[[str], bool]) -> bool:
    """Return whether a node says what it is, and nobody in the kernel knows or asks."""
    compatible = node.strings("compatible")
    # Reserved memory is whoever's it is, often not the kernel's (fdt_scan_reserved_mem()).
    if not compatible or parent.path == "/reserved-memory":
        return False
    if any(has_driver(one) or _FOUND_BY_A_BUS.fullmatch(one) for one in compatible):
        return False
    # Drivers of I2C and SPI devices may have their names alone (of_alias_from_compatible()).
    if (name := compatible[0].partition(",")[2]) and has_driver(name):
        return False
    # What has no address of its own is found by the driver around it, by name (a USB connector).
    device = bool(parent.strings("compatible")) and parent.path != "/"
    return not (
        device and not dropped and "reg" not in node.properties and _BUSES.isdisjoint(parent.strings("compatible"))
    )


def _is_cpu(node: TreeNode) -> bool:
    if node.strings("device_type")[:1] in (["cpu"], ["memory"]):
        return True
    # Linux goes by the name as well (of_get_next_cpu_node()).
    return node.path.partition("@")[0] == "/cpus/cpu"


def _are_pins(node: TreeNode) -> bool:
    """Return whether a node is a group of pins: these are set up for whoever points at them, and for nobody else."""
    names = node.properties.keys()
    if "compatible" in names:
        return False
    # A light's node has a `function`, too.
    named = "function" in names and not names.isdisjoint({"pins", "groups"})
    return named or not names.isdisjoint({"pinmux", "allwinner,function"}) or any(map(_are_pins, node.children))


def _counted_paths(root: TreeNode) -> set[str]:
    aliases = next((node for node in root.children if node.path == "/aliases"), None)
    if aliases is None:
        return set()
    names = [name for name in aliases.properties if name.rstrip("0123456789") in _COUNTED]
    return {path for name in names for path in aliases.strings(name)[:1]}


def _whole_of(node: TreeNode) -> Iterator[TreeNode]:
    """Yield a node that is pointed at and, if it is a part of a device (pins), what that consists of."""
    yield node
    if "compatible" not in node.properties:
        for child in node.children:
            if "compatible" not in child.properties:
                yield from _whole_of(child)


def _pointed_at(node: TreeNode, by_phandle: Mapping[int, TreeNode]) -> Iterator[TreeNode]:
    for name in node.properties:
        words = node.words(name)
        if not words or name.startswith("#") or name in _NUMBERS:
            continue
        targets = (by_phandle.get(word) for word in words)
        if name in _MAPS or "," in name:
            # A vendor's own property may have phandles anywhere among its numbers (`rockchip,pins`).
            cells = _MAPS.get(name)
            yield from (one for one in targets if one is not None and (cells is None or cells in one.properties))
            continue
        found = _WITH_CELLS.fullmatch(name)
        kind = _IRREGULAR.get(name, next(filter(None, found.groups()), None) if found is not None else None)
        # What takes no cells of its own (supplies, pins) is a list of phandles, or begins with one.
        at = 0
        while at < len(words):
            target = by_phandle.get(words[at])
            # 0 stands for one that is left out (`clocks = <0>, <&other>`).
            if target is None and (words[at] or kind is None):
                break
            taken = []
            if target is not None:
                yield target
                taken = target.words(f"#{kind}-cells")[:1] if kind is not None else []
            at += 1 + (taken[0] if taken else 0)


def _topmost(root: TreeNode, kept: Mapping[str, TreeNode]) -> Iterator[TreeNode]:
    for child in root.children:
        if child.path in kept:
            yield from _topmost(child, kept)
        else:
            yield child


def write_pruned(tree: Path, kernel_elf: Path, out: Path, *, turned_on: Set[str] = frozenset()) -> None:
    """Write to `out` the device tree without what a kernel has no driver for; `kernel_elf`: all that is loaded of it.

    `turned_on` as in needless_nodes. Raises InputError for what is no device tree, MissingTool (dtc).
    """
    kernel = kernel_elf.read_bytes()
    content = bytearray(tree.read_bytes())
    try:
        root = read_tree(bytes(content))
    except ValueError as error:
        raise InputError(f"card.device_tree_pruned: {tree}: {error}") from error
    # Without the byte before it: the linker lets a string lie in another one's end.
    for node in needless_nodes(root, lambda text: text.encode("latin-1") + b"\0" in kernel, turned_on):
        content[node.at : node.end] = _WORD.pack(_NOP) * ((node.end - node.at) // 4)
    whole = out.with_name(f"{out.name}.whole")
    whole.write_bytes(content)
    try:
        # As small as its content. Not by way of a source: dtc 1.6 reads back "32" behind a 0, as it wrote it, as octal.
        run(["dtc", "-q", "-I", "dtb", "-O", "dtb", "-o", out, whole], package=_PACKAGE)
    except ProgramFailed as error:
        raise InputError(f"card.device_tree_pruned: {tree}: cannot be changed\n  {error.message}") from error
    finally:
        whole.unlink(missing_ok=True)
