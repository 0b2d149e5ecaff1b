"""What `bootlab doctor` finds, and that setting up brings it."""

import re
import subprocess
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.measure.host.toolbox import ToolJob, ToolStatus, examine
from bootlab.targets.qemu.program import require_qemu

ROOT = Path(__file__).parents[3]
NOT_INSTALLED_BY_SETUP = {"golang-go", "dpkg", "apt", "binutils"}
"""Only some users want the first; the others are part of Debian, or come with gcc."""
FOR_EVERY_BOOT = {"xz-utils"}
"""Set up for every boot, since kernel packages are packed with it."""


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[ToolStatus]:
    """What is found on a machine that has no program at all, and is to build."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("bootlab.process._ADMIN_FOLDERS", ())
    monkeypatch.setattr("bootlab.build.source.toolchain._INCLUDES", ())
    monkeypatch.setattr("bootlab.build.board.bootloader.PYTHON", str(tmp_path / "python3"))
    # An earlier test may have found one.
    require_qemu.cache_clear()
    return examine(Cache(tmp_path), build=True)


def test_each_missing_tool_has_a_package_and_a_purpose(bare: list[ToolStatus]) -> None:
    tools = [finding for finding in bare if finding.name not in ("plugin", "/dev/kvm")]
    assert len(tools) > 20
    for finding in tools:
        assert not finding.found
        assert finding.purpose
        way = "make setup|on PATH" if finding.name.startswith("qemu-system-") else r"apt install \S+"
        assert re.search(way, finding.hint), finding


def test_what_builds_need_is_needed_when_it_is_asked_about(bare: list[ToolStatus], tmp_path: Path) -> None:
    assert {finding.job for finding in bare} == set(ToolJob)
    assert all(finding.needed == (finding.job is not ToolJob.OTHER) for finding in bare)
    assert all(finding.needed == (finding.job is ToolJob.BOOT) for finding in examine(Cache(tmp_path)))


def test_builds_need_exactly_what_setting_up_for_builds_installs(bare: list[ToolStatus]) -> None:
    script = (ROOT / "scripts" / "setup").read_text()
    (body,) = re.findall(r"^missing_build_packages\(\) \{\n(.*?)^\}", script, re.MULTILINE | re.DOTALL)
    installed = set(re.findall(r"\|\| echo \"?([a-z0-9+-]+)$", body, re.MULTILINE))
    programs, _, cross = (words.split() for words in re.findall(r"for program in ([\w -]+); do", body))
    installed |= {*programs, *(f"gcc-{one}" for one in cross), "python3-setuptools", "python3-pyelftools"}
    wanted = {
        match[1] for one in bare if one.job is ToolJob.BUILD and (match := re.search(r"apt install (\S+)", one.hint))
    }
    # What is native on one host is cross on another.
    native = {name for name in installed - wanted if name.startswith("gcc-")}
    assert wanted - FOR_EVERY_BOOT == installed - native
    assert len(native) == 1


def test_setup_knows_the_package_of_each(bare: list[ToolStatus]) -> None:
    script = (ROOT / "scripts" / "setup").read_text()
    others = [finding for finding in bare if finding.job is not ToolJob.BUILD]
    packages = {match[1] for finding in others if (match := re.search(r"apt install (\S+)", finding.hint))}
    names = packages - NOT_INSTALLED_BY_SETUP
    assert [name for name in sorted(names) if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", script)] == []


def test_setup_refuses_an_unknown_level() -> None:
    done = subprocess.run([ROOT / "scripts" / "setup", "everything"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: scripts/setup [--packages] [run|build|dev|web]")
