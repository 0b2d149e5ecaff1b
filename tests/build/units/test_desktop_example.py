"""examples/desktop: one desktop and today's means, each file a step, so whatever is not a step must be the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bootlab.system import Rootfs, System, read_system

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "examples" / "desktop"
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


AS_BOOTLAB = """#!/bin/bash
# A boot boots nothing: it writes the system that it would boot, and leaves a console.
if [[ ${*: -2:1} == --runs ]]; then
    mkdir -p "${*: -1}/0001/boots/1"
    : >"${*: -1}/0001/boots/1/console.log"
    learned=(learned-*.toml)
    [[ -e ${learned[0]} ]] || learned=()
    set -- "${@:1:$#-2}" --write-system "learned-${#learned[@]}.toml"
fi
exec "$PYTHON" -m bootlab "$@"
"""


@pytest.mark.parametrize(("name", "learning"), [("units", 2), ("tuned", 1)])
def test_what_boots_teach_is_put_into_a_file(name: str, learning: int, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "bootlab"
    program.parent.mkdir()
    program.write_text(AS_BOOTLAB)
    program.chmod(0o755)
    env = {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    subprocess.run([FOLDER / "learn", name], cwd=tmp_path, check=True, env={**os.environ, **env}, capture_output=True)
    into = tmp_path / "build" / "desktop"
    first, last = into / "layout.log", into / f"{name}.log"
    learned = [read_system(tmp_path / f"learned-{number}.toml") for number in range(learning)]
    assert not list(tmp_path.glob(f"learned-{learning}.toml")) and not list(into.glob("learning.*"))
    layouts = [system.rootfs.layout for system in learned if system.rootfs is not None]
    assert layouts == ([None, first] if learning == 2 else [None])
    for system in learned:
        assert system.rootfs is not None and system.rootfs.readahead is not None and system.rootfs.readahead.record
        # One that learns of a session is not over before it has.
        assert (system.rootfs.preload is not None) == (system.check is not None and system.check.console is not None)
    end = read_system(into / f"{name}-end.toml")
    value = end.rootfs
    assert value is not None and value.readahead is not None and value.preload is not None
    assert value.readahead.pack == value.preload.habits == last and value.readahead.order == "block"
    assert value.layout == layouts[-1] and value.run == root(name).run and end.check == DESKTOPS[name].check
    assert value.bootlab_init == root(name).bootlab_init
