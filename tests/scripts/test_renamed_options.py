"""`scripts/renamed-options`: the list against trees, and renames found in two trees and in a git history."""

import subprocess
from pathlib import Path

import pytest

from scripts.renamed_options import candidates, check, entries, main, renamed_in

MITIGATIONS = 'menuconfig {name}\n\tbool "Mitigations for CPU vulnerabilities"\n\tdefault y\n'
OLD = (
    MITIGATIONS.format(name="SPECULATION_MITIGATIONS")
    + 'config FAST_GUP\n\tbool "Fast  walks"\nconfig LZ4\n\tbool "LZ4"\n'
)
NEW = MITIGATIONS.format(name="CPU_MITIGATIONS") + 'config GUP_FAST\n\tbool "fast walks"\nconfig A_LZ4\n\tbool "LZ4"\n'


def tree(place: Path, version: str, kconfig: str) -> Path:
    place.mkdir()
    major, minor = version.split(".")
    (place / "Makefile").write_text(f"VERSION = {major}\nPATCHLEVEL = {minor}\nSUBLEVEL = 3\nNAME = x\n")
    (place / "Kconfig").write_text(kconfig)
    return place


def test_the_list_against_a_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tree(tmp_path / "old", "6.1", OLD), tree(tmp_path / "new", "6.12", NEW)
    assert main(["check", str(old), str(new)]) == 0
    wrong = tree(tmp_path / "wrong", "6.12", OLD)
    assert list(check(wrong)) == [
        f"{wrong}: Linux 6.12.3 still has SPECULATION_MITIGATIONS, and no CPU_MITIGATIONS (renamed in 6.9)"
    ]
    assert main(["check", str(wrong)]) == 1
    assert main(["find", str(old), str(tmp_path)]) == 2
    assert "no source tree of Linux" in capsys.readouterr().err


def test_what_two_trees_show(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", "6.1", OLD)
    new = tree(tmp_path / "new", "6.12", NEW + 'config B_LZ4\n\tbool "LZ4"\n')
    # The first is in the list, and LZ4 may be either of two.
    assert list(candidates(old, new)) == [{"old": "FAST_GUP", "new": "GUP_FAST", "linux": "by 6.12.3", "commit": ""}]


def test_an_old_name_that_hands_its_value_on_counts_as_gone(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", "6.12", 'config SOME_CFI\n\tbool "Control flow"\n')
    new = tree(
        tmp_path / "new", "6.18", 'config SAFE\n\tbool "Control flow"\nconfig SOME_CFI\n\tbool\n\ttransitional\n'
    )
    assert entries(new)["SOME_CFI"].transitional
    assert [(row["old"], row["new"]) for row in candidates(old, new)] == [("SOME_CFI", "SAFE")]


def test_a_history_has_commit_and_release(tmp_path: Path) -> None:
    place = tree(tmp_path / "linux", "6.8", OLD)

    def git(*words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *identity, *words], cwd=place, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    for text, tag in ((NEW, "v6.9-rc1"), (NEW + 'config MORE\n\tbool "more"\n', "v6.9")):
        (place / "Kconfig").write_text(text)
        git("commit", "-qam", "next")
        git("tag", tag)
    commit = git("rev-parse", "v6.9-rc1")[:12]
    # SPECULATION_MITIGATIONS is in the list already.
    assert [(row["old"], row["new"], row["linux"], row["commit"]) for row in renamed_in(place, "HEAD")] == [
        ("FAST_GUP", "GUP_FAST", "6.9", commit),
        ("LZ4", "A_LZ4", "6.9", commit),
    ]
