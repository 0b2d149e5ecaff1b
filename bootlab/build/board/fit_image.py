"""A flattened image tree (FIT) whose parts lie behind it: what SPL of a riscv64 board loads when it starts Linux.

SPL reads the tree alone, and each part from its place straight to where it goes. The form is that of the flattened
image tree specification (U-Boot, doc/usage/fit), with the properties that `spl_load_simple_fit()` reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bootlab.process import run

_PACKAGE: Final = "device-tree-compiler"
MACHINE_TREE: Final = "machine"
"""No part of this name is in the image: SPL then takes the tree that it was given, and lays the others over it."""


@dataclass(frozen=True, slots=True)
class FitPart:
    """A part of the image. `place`: bytes from the tree's first; `load`: physical address, None for an overlay."""

    kind: str
    """`firmware`, `standalone`, `ramdisk` or `flat_dt`."""
    place: int
    size: int
    load: int | None = None
    os: str | None = None


def fit_tree(parts: Mapping[str, FitPart]) -> bytes:
    """Return the tree of an image by which SPL starts `opensbi`, and that `linux`; the rest is loaded beside them.

    Raises MissingTool (dtc).
    """
    beside = [name for name, part in parts.items() if part.kind not in ("firmware", "flat_dt")]
    overlays = [MACHINE_TREE, *(name for name, part in parts.items() if part.kind == "flat_dt")]
    images = "\n".join(f"{name} {{ {_properties(part)} }};" for name, part in parts.items())
    return _compiled(
        f"""/dts-v1/;
/ {{
    description = "bootlab"; #address-cells = <2>; timestamp = <0>;
    images {{
{images}
    }};
    configurations {{
        default = "falcon";
        falcon {{
            description = "bootlab"; firmware = "opensbi"; loadables = {_strings(beside)}; fdt = {_strings(overlays)};
        }};
    }};
}};
"""
    )


def chosen_overlay(cmdline: str, initramfs: range | None) -> bytes:
    """Return what is laid over a machine's tree: the command line, and where in memory the initramfs is, if any.

    Raises MissingTool (dtc).
    """
    lines = [f"bootargs = {_quoted(cmdline)};"]
    if initramfs is not None:
        lines += [f"linux,initrd-{name} = {_cells(at)};" for name, at in _ends(initramfs).items()]
    fragment = f'target-path = "/chosen"; __overlay__ {{ {" ".join(lines)} }};'
    return _compiled(f"/dts-v1/;\n/plugin/;\n/ {{ fragment@0 {{ {fragment} }}; }};\n")


def _ends(memory: range) -> dict[str, int]:
    return {"start": memory.start, "end": memory.stop}


def _properties(part: FitPart) -> str:
    words = [f'type = "{part.kind}"; arch = "riscv"; compression = "none";']
    if part.os is not None:
        words.append(f'os = "{part.os}";')
    if part.load is not None:
        words.append(f"load = {_cells(part.load)};")
        if part.kind == "firmware":
            words.append(f"entry = {_cells(part.load)};")
    words.append(f"data-position = <{part.place}>; data-size = <{part.size}>;")
    return " ".join(words)


def _cells(value: int) -> str:
    return f"<{value >> 32:#x} {value & 0xFFFFFFFF:#x}>"


def _strings(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _compiled(text: str) -> bytes:
    done = run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-"], input=text.encode(), package=_PACKAGE)
    return done.stdout
