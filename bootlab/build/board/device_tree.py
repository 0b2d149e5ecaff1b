"""Device trees: a board's own, made of the kernel's sources, and what a bootloader would have put into it."""

import json
import shutil
import struct
from pathlib import Path

from bootlab.build.board.kept_image import NODE
from bootlab.build.board.pruned_tree import turned_on_later, write_pruned
from bootlab.build.cache import file_sha256
from bootlab.build.kernel.build import BuiltKernel, objects_of
from bootlab.build.source.config_text import read_config
from bootlab.build.source.origin import require_source
from bootlab.build.source.toolchain import require_toolchain
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import ProgramFailed, run
from bootlab.system import KeptRam, KernelBuild

MAGIC = b"\xd0\x0d\xfe\xed"
_HEADER = struct.Struct(">4s9I")
_BEGIN_NODE, _END_NODE, _END = 1, 2, 9
_VERSION, _COMPATIBLE_VERSION = 17, 16
_FORMAT = 1
_PRUNED_FORMAT = 2
_PACKAGE = "device-tree-compiler"


def build_device_tree(
    shop: Workshop, build: KernelBuild, kernel: BuiltKernel, arch: str, name: str, *, pruned: bool = False
) -> Path:
    """Return the device tree `name` (as `sun8i-h3-orangepi-pc.dtb`) of the sources of `kernel`, made of `build`.

    `pruned`: without what the kernel has no driver for. Raises InputError when the sources have none of this name, or
    the kernel loads modules and it is to be pruned; BuildFailed, StoreError.
    """
    toolchain = require_toolchain(arch)
    # The kernel's build has looked it up, and told what there is to tell.
    source = require_source(Workshop(shop.cache), build)
    folder = source.tree / "arch" / toolchain.kbuild / "boot/dts"
    found = sorted(folder.rglob(f"{name.removesuffix('.dtb')}.dts"))
    if not found:
        raise InputError(
            f"kernel.build: Linux {source.version} has no device tree {name} for {toolchain.kbuild}",
            hint="card.dtb names a device tree of yours",
        )
    target = found[0].relative_to(folder).with_suffix(".dtb")

    def make(out: Path) -> None:
        # The kernel's own objects have its compiler of device trees in them.
        objects = objects_of(build, source, toolchain, shop.cache)
        with objects.locked(shop.tell):
            shutil.copyfile(kernel.config, objects.objects / ".config")
            objects.configure(str(target))
            shutil.copyfile(objects.objects / "arch" / toolchain.kbuild / "boot/dts" / target, out)

    whole = shop.cache.make("dtb", json.dumps([_FORMAT, source.identity, toolchain.identity, str(target)]), make)
    if not pruned:
        return whole
    config = read_config(kernel.config)
    if config.get("MODULES") == "y":
        raise InputError(
            "card.device_tree_pruned: this kernel loads modules, and drivers that are modules are not in it",
            hint="kernel.build.options: MODULES = false",
        )
    turned_on = turned_on_later(config)
    key = json.dumps([_PRUNED_FORMAT, file_sha256(whole), file_sha256(kernel.stripped), sorted(turned_on)])
    return shop.cache.make("dtb", key, lambda out: write_pruned(whole, kernel.stripped, out, turned_on=turned_on))


def write_fixed_up(tree: Path, out: Path, *, cmdline: str, memory: range, kept: KeptRam | None = None) -> None:
    """Write to `out` the device tree with the kernel's command line and the board's memory in it.

    That is what U-Boot proper does to it, and nobody does in Falcon mode. `kept`: what of the memory the kernel is to
    leave alone. Raises InputError for what is no device tree, MissingTool (fdtput).
    """
    if tree.read_bytes()[:4] != MAGIC:
        raise InputError(f"card.dtb: {tree}: not a device tree (.dtb)", hint="a .dts is compiled with dtc")
    shutil.copyfile(tree, out)
    node = f"/memory@{memory.start:x}"
    try:
        # The node is /chosen in every board's tree; a command line of nothing is one too.
        run(["fdtput", "-p", "-t", "s", out, "/chosen", "bootargs", cmdline], package=_PACKAGE)
        run(["fdtput", "-p", "-t", "s", out, node, "device_type", "memory"], package=_PACKAGE)
        run(["fdtput", "-t", "x", out, node, "reg", f"{memory.start:x}", f"{len(memory):x}"], package=_PACKAGE)
        if kept is not None:
            reserve(out, NODE, range(kept.start, kept.start + kept.size))
    except ProgramFailed as error:
        raise InputError(f"card.dtb: {tree}: cannot be changed\n  {error.message}") from error


def set_chosen(tree: Path, name: str, text: str) -> None:
    """Set a property of the tree's /chosen. Raises MissingTool (fdtput)."""
    run(["fdtput", "-p", "-t", "s", tree, "/chosen", name, text], package=_PACKAGE)


def reserve(tree: Path, name: str, memory: range, *, mapped: bool = False) -> None:
    """Have the kernel of a device tree leave `memory` alone. Raises MissingTool (fdtput).

    `mapped`: it has it in its page tables all the same, as hibernation needs it (Linux 6.12): that copies every page
    that is reserved.
    """
    parent = "/reserved-memory"
    node = f"{parent}/{name}@{memory.start:x}"
    properties: list[tuple[str, str, list[str]]] = [
        (parent, "#address-cells", ["1"]),
        (parent, "#size-cells", ["1"]),
        (parent, "ranges", []),
        (node, "reg", [f"{memory.start:x}", f"{len(memory):x}"]),
    ]
    for path, key, words in properties if mapped else [*properties, (node, "no-map", [])]:
        run(["fdtput", "-p", "-t", "x", tree, path, key, *words], package=_PACKAGE)


def empty_tree() -> bytes:
    """Return a device tree that says nothing: an unnamed root, as the Devicetree Specification's chapter 5 has it."""
    reserved = bytes(16)
    nodes = struct.pack(">4I", _BEGIN_NODE, 0, _END_NODE, _END)
    nodes_at = _HEADER.size + len(reserved)
    end = nodes_at + len(nodes)
    # Size, nodes, strings, reserved memory; versions, boot CPU; sizes of strings and nodes. There are no strings.
    words = (end, nodes_at, end, _HEADER.size, _VERSION, _COMPATIBLE_VERSION, 0, 0, len(nodes))
    return _HEADER.pack(MAGIC, *words) + reserved + nodes
