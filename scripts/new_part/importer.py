"""The files of a new importer: it reads a small text format of its own, which is to become the real one."""

import re
from pathlib import Path

from scripts.new_part.places import Refused, expect_room, expect_word, filled, inserted, shown, write_new


def new_importer(root: Path, name: str, folder: Path | None) -> list[str]:
    """Make an importer with a sample: in the package with its test and its line, or below `folder`.

    `name`: FORMAT, or FOLDER/FORMAT. Returns what to say. Raises Refused.
    """
    room, _, what = name.rpartition("/")
    expect_word(what, "a format")
    if room:
        expect_word(room, "a folder of importers")
    format_name = what.replace("_", "-")
    if folder is not None:
        return _outside(root, folder / "importers" / room, what, format_name)
    importers = root / "bootlab/importers"
    file, registry = importers / room / f"{what}.py", importers / "registry.py"
    if not file.parent.is_dir():
        rooms = sorted(path.parent.name for path in importers.glob("*/__init__.py"))
        raise Refused(f"{room}: no such folder of importers: {', '.join(rooms)}")
    expect_room(file.parent)
    module = ".".join(["bootlab.importers", *([room] if room else []), what])
    if re.search(rf"\b{what}\.IMPORTER", registry.read_text()):
        raise Refused(f"{registry}: there is an importer {what} already")
    sample = f"{room or 'own'}/{what}.txt"
    words = {"format": format_name, "module": module, "sample": sample}
    text = inserted(registry, "    ftrace.IMPORTER,", f"    {what}.IMPORTER,\n")
    line = f"from {module.rpartition('.')[0]} import {what}\n"
    files = {
        file: filled("importer.py.txt", **words),
        root / "tests/data/importers" / sample: filled("importer_sample.txt", **words),
        root / "tests/importers" / room / f"test_{what}.py": filled("importer_test.py.txt", **words),
    }
    write_new(files, {registry: _with_import(text, line)})
    return [
        *(f"made {shown(path, root)}" for path in files),
        f"changed {shown(registry, root)}",
        "Fill in its words, and put a real file in place of the sample; then:",
        "    make contract-test",
    ]


def _outside(root: Path, folder: Path, what: str, format_name: str) -> list[str]:
    files = {
        folder / f"{what}.py": filled("importer.py.txt", format=format_name),
        folder / f"{what}.sample": filled("importer_sample.txt", format=format_name),
    }
    write_new(files)
    extension = folder.parent if folder.name == "importers" else folder.parent.parent
    return [
        *(f"made {shown(path, root)}" for path in files),
        "Fill in its words, and put a real file in place of the sample; then:",
        f"    make contract-test IN={extension}",
    ]


def _with_import(text: str, line: str) -> str:
    # In its place among the others, by the name of the module.
    lines = text.splitlines(keepends=True)
    ours = [number for number, one in enumerate(lines) if one.startswith("from bootlab.")]
    place = next((number for number in ours if lines[number] > line), ours[-1] + 1)
    return "".join([*lines[:place], line, *lines[place:]])
