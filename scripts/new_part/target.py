"""The files of a new target: it boots what a command prints, until it boots the real thing."""

from pathlib import Path

from scripts.new_part.places import Refused, expect_word, filled, inserted, shown, write_new


def new_target(root: Path, name: str, folder: Path | None) -> list[str]:
    """Make a target with its settings, its line and its test; returns what to say. Raises Refused."""
    if folder is not None:
        raise Refused("a target is a part of the package: its keys are checked with the system file. Leave IN out")
    expect_word(name, "a target")
    words = {"name": name, "Name": "".join(part.capitalize() for part in name.split("_"))}
    settings, registry = root / "bootlab/system/target/target.py", root / "bootlab/targets/registry.py"
    document = root / "docs/architecture.md"
    changed = {
        settings: inserted(settings, "Target = Annotated[", filled("target_settings.py.txt", **words))
        .replace("Target = Annotated[", f"Target = Annotated[{words['Name']}Place | ", 1)
        .replace('= {"serial":', f'= {{"{name}": {words["Name"]}Place, "serial":', 1),
        registry: inserted(registry, "}", f'    "{name}": {words["Name"]}Target(),\n').replace(
            "from bootlab.targets.target import",
            f"from bootlab.targets.{name}.target import {words['Name']}Target\nfrom bootlab.targets.target import",
            1,
        ),
        document: inserted(
            document,
            "| `techniques/application/`",
            f"| `targets/{name}/` | {filled('target_init.py.txt', **words).strip()[3:-4]} |\n",
        ),
    }
    files = {
        root / "bootlab/targets" / name / "__init__.py": filled("target_init.py.txt", **words),
        root / "bootlab/targets" / name / "target.py": filled("target.py.txt", **words),
        root / "bootlab/targets" / name / "session.py": filled("target_session.py.txt", **words),
        root / "tests/targets" / name / "test_target.py": filled("target_test.py.txt", **words),
        root / "tests/targets" / name / "test_session.py": filled("target_session_test.py.txt", **words),
    }
    write_new(files, changed)
    return [
        *(f"made {shown(path, root)}" for path in files),
        *(f"changed {shown(path, root)}" for path in changed),
        "Fill in its words, and let it switch on the real thing; then:",
        f"    .venv/bin/python -m pytest tests/targets/{name} tests/targets/test_registry.py",
    ]
