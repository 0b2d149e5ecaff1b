"""What may skip where every tool can be installed: hardware and figures of other packages, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest

@pytest.mark.hardware
def test_hardware():
    pytest.skip("no /dev/kvm")

@pytest.mark.rolling
def test_rolling():
    pytest.skip("no expected figures for kernel 0123; measured: 42")

def test_tool():
    pytest.skip("lzop: not found")
"""
MIRROR = """
import pytest

@pytest.mark.parametrize("number", range(15))
def test_needs_mirror(number):
    raise OSError("apt-get: exit status 100: E: Failed to fetch x  File has unexpected size. Mirror sync in progress?")

def test_other():
    raise OSError("apt-get: exit status 100")
"""
EMPTY = """
import pytest

@pytest.mark.parametrize("nothing", [])
def test_of_an_empty_list(nothing):
    pass
"""


def outcome(folder: Path, required: str, tests: str, name: str, *options: str) -> str:
    """Return what pytest says of one of the tests above."""
    file = folder / "test_skips.py"
    file.write_text(tests)
    words = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "tests.conftest", "-p", "no:cacheprovider", "-c",
             str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]  # fmt: skip
    environment = {**os.environ, "BOOTLAB_REQUIRE": required, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*words, *options, f"{file}::{name}"], capture_output=True, text=True, env=environment, cwd=folder,
        check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_a_tool_that_is_required_may_not_be_missing(tmp_path: Path) -> None:
    assert "1 failed" in outcome(tmp_path, "all", TESTS, "test_tool")
    assert "1 failed" in outcome(tmp_path, "lzop", TESTS, "test_tool")
    assert "1 skipped" in outcome(tmp_path, "xz", TESTS, "test_tool")


@pytest.mark.parametrize("name", ["test_hardware", "test_rolling"])
def test_hardware_and_rolling_packages_may_and_say_so(name: str, tmp_path: Path) -> None:
    said = outcome(tmp_path, "all", TESTS, name)
    assert "1 skipped" in said
    assert "no /dev/kvm" in said or "measured: 42" in said


def test_a_mirror_that_contradicts_itself_is_no_failure_of_this_tree_unless_it_is_most_of_it(tmp_path: Path) -> None:
    one = outcome(tmp_path, "all", MIRROR, "test_needs_mirror[3]")
    assert "1 skipped" in one and "mirror contradicts itself" in one
    assert "3 failed, 12 skipped" in outcome(tmp_path, "all", MIRROR, "test_needs_mirror")
    assert "1 failed" in outcome(tmp_path, "all", MIRROR, "test_other")


def test_what_would_begin_too_late_is_left_out_and_named(tmp_path: Path) -> None:
    late = outcome(tmp_path, "all", MIRROR, "test_needs_mirror", "--begin-until", "0")
    assert "15 skipped" in late and "no test begins 0 minutes behind the first" in late
    assert "LEFT OUT, 15 tests: no time was left" in late and "test_skips.py::test_needs_mirror[14]\n" in late
    assert "1 failed" in outcome(tmp_path, "all", TESTS, "test_tool", "--begin-until", "60")


def test_a_test_over_an_empty_list_does_not_pass(tmp_path: Path) -> None:
    said = outcome(tmp_path, "", EMPTY, "test_of_an_empty_list")
    assert "error" in said
    assert "Empty parameter set" in said
