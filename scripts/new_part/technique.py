"""The file of a new technique: a change that works at its layer, a proof, and words to fill in."""

from pathlib import Path
from typing import Final

from bootlab.techniques.model.technique import Layer
from scripts.new_part.places import Refused, expect_room, expect_word, filled, shown, write_new

_OF_ALL: Final = {
    "bootlab.techniques.model.published": ("none_published",),
    "bootlab.techniques.model.technique": ("Risk", "Technique", "Text"),
}
_OF_A_PART: Final = {
    "bootlab.system": ("System",),
    "bootlab.techniques.model.evidence": ("Measured",),
    "bootlab.techniques.model.technique": ("Change", "Layer", "Risk", "Technique", "Text"),
}
_PARTS: Final = {
    Layer.MACHINE: ("machine", "options", '"off"', ""),
    Layer.FIRMWARE: ("machine", "options", '"off"', ""),
    Layer.BOOTLOADER: ("bootloader", "options", '"y"', ""),
    Layer.INITRAMFS: ("initramfs", "files", 'Path("/dev/null")', "/"),
    Layer.ROOTFS: ("rootfs", "files", 'Path("/dev/null")', "/"),
    Layer.APPLICATION: ("initramfs", "files", 'Path("/dev/null")', "/"),
    Layer.USERSPACE: ("initramfs", "files", 'Path("/dev/null")', "/"),
}
"""Layer -> the part of a system that it changes, a table in it, a value for that table, how its keys begin."""
_CODE: Final = """_KEY = "{key}"


def _applies(system: System, measured: Measured) -> str | None:
    part = system.{part}
    if part is None:
        return "the system has no [{part}]"
    return f"[{part}] has {{_KEY}} already" if _KEY in part.{table} else None


def _apply(system: System, measured: Measured) -> System:
    part = system.{part}
    assert part is not None
    return system.with_part("{part}", {table}={{**part.{table}, _KEY: {value}}})


"""


def new_technique(root: Path, name: str, folder: Path | None) -> list[str]:
    """Make the file of a technique in the package, or below `folder`; returns what to say. Raises Refused."""
    layer = next((one for one in Layer if name.startswith(f"{one.value}_")), None)
    if layer is None:
        raise Refused(f"{name!r} does not begin with its layer: {', '.join(f'{one.value}_' for one in Layer)}")
    what = expect_word(name.removeprefix(f"{layer.value}_"), "a technique behind its layer")
    techniques = root / "bootlab/techniques" if folder is None else folder / "techniques"
    file = techniques / layer.value / f"{what}.py"
    if folder is None:
        expect_room(file.parent)
    write_new({file: _text(name, layer, what)})
    outside = "" if folder is None else f" IN={folder}"
    return [
        f"made {shown(file, root)}",
        "Fill in its words, then its change and its proof; what is still missing is told by:",
        f"    make contract-test{outside}",
        *([] if folder is None else [f"Name the folder in a system file: extensions = [{str(folder)!r}]"]),
    ]


def _text(name: str, layer: Layer, what: str) -> str:
    imports = dict(_OF_ALL)
    code = ""
    if layer is Layer.CMDLINE:
        imports["bootlab.techniques.changes.command_line"] = ("kernel_words",)
        imports["bootlab.techniques.model.proofs"] = ("line_appears",)
        change, proof = f'kernel_words("fill_in.{what}=1")', f'line_appears("fill in {what}")'
    elif layer is Layer.KERNEL:
        imports["bootlab.techniques.changes.kernel_options"] = ("WantedOptions", "kernel_change", "kernel_proof", "off")
        option = f'"FILL_IN_{what.upper()}"'
        code = f"_WANTED = WantedOptions(off({option}))\n\n"
        change, proof = "kernel_change(_WANTED)", "kernel_proof(_WANTED)"
    else:
        part, table, value, begins = _PARTS[layer]
        imports |= _OF_A_PART
        imports["bootlab.techniques.model.proofs"] = ("line_appears",)
        code = _CODE.format(key=f"{begins}fill-in-{what}", part=part, table=table, value=value)
        change = f'Change(Layer.{layer.name}, "FILL IN: as a user would write it", _apply, _applies)'
        proof = f'line_appears("fill in {what}")'
    lines = [f"from {module} import {', '.join(names)}" for module, names in sorted(imports.items())]
    if "Path(" in code:
        lines = ["from pathlib import Path", "", *lines]
    return filled("technique.py.txt", name=name, imports="\n".join(lines), code=code, change=change, proof=proof)
