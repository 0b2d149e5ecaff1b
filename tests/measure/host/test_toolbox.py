"""What `bootlab doctor` finds, and that setting up brings it."""

import re
import subprocess
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.measure.host.toolbox import ToolStatus, examine
from bootlab.targets.qemu.program import require_qemu

ROOT = Path(__file__).parents[3]
NOT_INSTALLED_BY_SETUP = {"golang-go", "dpkg", "apt", "binutils"}
"""Only some users want the first; the others are part of Debian, or come with gcc."""


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[ToolStatus]:
    """What is found on a machine that has no program at all."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("bootlab.process._ADMIN_FOLDERS", ())
    monkeypatch.setattr("bootlab.build.source.toolchain._INCLUDES", ())
    # An earlier test may have found one.
    require_qemu.cache_clear()
    return examine(Cache(tmp_path))


def test_each_missing_tool_has_a_package_and_a_purpose(bare: list[ToolStatus]) -> None:
    tools = [finding for finding in bare if finding.name not in ("plugin", "/dev/kvm")]
    assert len(tools) > 20
    for finding in tools:
        assert not finding.found
        assert finding.purpose
        assert re.search(r"apt install \S+", finding.hint), finding


def test_setup_knows_the_package_of_each(bare: list[ToolStatus]) -> None:
    script = (ROOT / "scripts" / "setup").read_text()
    packages = {match[1] for finding in bare if (match := re.search(r"apt install (\S+)", finding.hint))}
    # Cross compilers are named after their tools in a loop.
    names = {package.removeprefix("gcc-") for package in packages - NOT_INSTALLED_BY_SETUP}
    assert [name for name in sorted(names) if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", script)] == []


def test_setup_refuses_an_unknown_level() -> None:
    done = subprocess.run([ROOT / "scripts" / "setup", "everything"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: scripts/setup [--packages] [run|build|dev|web]")
