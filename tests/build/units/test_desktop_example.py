"""examples/desktop: one desktop and today's means, each file a step, so whatever is not a step must be the same."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bootlab.system import Rootfs, System, read_system

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "desktop"
SCREEN = FOLDER.parents[1] / "docs" / "screen.md"
STEPS = ("on-hdd", "fonts", "prepared", "tuned", "units")
DESKTOPS = {name: read_system(FOLDER / f"{name}.toml") for name in STEPS}


def root(name: str) -> Rootfs:
    value = DESKTOPS[name].rootfs
    assert value is not None
    return value


def the_rest(system: System) -> dict[str, object]:
    """Return all of a system but its name, what is done to its installed root, and the order of its modules."""
    value = system.model_dump(
        mode="json", exclude={"name": True, "description": True, "rootfs": {"run", "files", "bootlab_init"}}
    )
    value["initramfs"]["modules"] = sorted({*value["initramfs"]["modules"], "sha256_ssse3"})
    return value


@pytest.mark.parametrize("name", STEPS[1:])
def test_machine_kernel_disk_packages_screen_and_check_are_those_of_the_defaults(name: str) -> None:
    assert the_rest(DESKTOPS[name]) == the_rest(DESKTOPS["on-hdd"])
    assert set(root(name).run) > set(root("on-hdd").run)


def test_each_of_systemds_steps_adds_to_the_one_before() -> None:
    for before, after in (("on-hdd", "fonts"), ("fonts", "prepared"), ("prepared", "tuned")):
        assert set(root(before).run) < set(root(after).run)
    assert not root("prepared").files and not any(root(name).bootlab_init for name in STEPS[:-1])


def test_with_the_other_init_the_same_is_worked_out_beforehand() -> None:
    assert root("units").run == root("prepared").run and root("units").bootlab_init
    assert DESKTOPS["units"].initramfs == DESKTOPS["tuned"].initramfs == DESKTOPS["prepared"].initramfs
    units = {path.name for path in (FOLDER / "units").glob("*.unit")}
    assert units == {Path(name).name for name in root("units").files if name.endswith(".unit")}


def test_what_boots_teach_is_put_into_files_as_the_page_says(tmp_path: Path) -> None:
    said = SCREEN.read_text(encoding="utf-8")
    lines = re.findall(
        r"^    (.+)$", said[said.index("    LEARN=") : said.index("**One boot each** of what")], re.MULTILINE
    )
    folder = shutil.copytree(FOLDER, tmp_path / "desktop")
    first, second, third = consoles = [tmp_path / name for name in ("FIRST", "SECOND", "THIRD")]
    for console in consoles:
        console.write_text("")
    commands = "\n".join(line for line in lines if not line.startswith("bootlab "))
    commands = re.sub("FIRST|SECOND|THIRD", lambda found: str(tmp_path / found[0]), commands)
    subprocess.run(["sh", "-e", "-c", commands], cwd=folder, check=True)
    made = {
        name: read_system(folder / f"{name}.toml") for name in ("learn-1", "learn-2", "learn-3", "end", "tuned-end")
    }
    layouts = {name: system.rootfs.layout for name, system in made.items() if system.rootfs is not None}
    assert layouts == {"learn-1": None, "learn-2": first, "learn-3": None, "end": first, "tuned-end": None}
    for name in ("learn-1", "learn-2", "learn-3"):
        system = made[name]
        assert system.rootfs is not None and system.rootfs.readahead is not None and system.rootfs.readahead.record
        # One that learns of a session is not over before it has.
        assert (system.rootfs.preload is not None) == (system.check is not None and system.check.console is not None)
    for name, of, console in (("end", "units", second), ("tuned-end", "tuned", third)):
        value = made[name].rootfs
        assert value is not None and value.readahead is not None and value.preload is not None
        assert value.readahead.pack == value.preload.habits == console and value.readahead.order == "block"
        assert value.run == root(of).run and made[name].check == DESKTOPS[of].check
        assert value.bootlab_init == root(of).bootlab_init
