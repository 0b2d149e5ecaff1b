"""The options of `bootlab boot --from`: what does not go together is told before anything is prepared."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.cli.snapshot.restoring import RestoreRequest
from bootlab.errors import InputError
from bootlab.experiments.snapshot.restoring import _woken_s, find_snapshot
from bootlab.experiments.store import RunKind, Store
from bootlab.snapshot.identity import WOKEN_S
from bootlab.system import read_system

SYSTEM = (
    'name = "s"\n[machine]\ntype = "q35"\n[kernel]\npackage = "linux-image-cloud-amd64"\n[booted]\nmark = "ready"\n'
)


@pytest.mark.parametrize("tool", ["buildroot", "yocto", "nixos", "mkosi", "debos"])
def test_a_build_tool_is_no_snapshot(tool: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"--from {tool}: a snapshot goes here, and {tool} is a build tool") as refused:
        run(["boot", "--from", tool, str(tmp_path), "--runs", str(tmp_path / "runs")])
    assert refused.value.hint == f"bootlab boot {tmp_path}, or bootlab boot {tool}:{tmp_path}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--clones 2", "--clones: is for a machine that goes on from a snapshot"),
        ("--clone 2", "--clone: is for"),
        ("--or-cold", "--or-cold: is for"),
        ("--unread", "--unread: is for"),
        ("--parallel 2", "--parallel: is for"),
        ("--from 1 --seed 2", "--seed: a snapshot has the seed"),
        ("--from 1 --clones 2 --clone 2", "--clone: is one machine"),
        ("--from 1 --clones 2 --or-cold", "--or-cold: one machine"),
        ("--from 1 --parallel 2", "--parallel: is how many clones"),
        ("--from 1 --clones 0", "--clones"),
    ],
)
def test_options_that_do_not_go_together(words: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SYSTEM)
    with pytest.raises(InputError, match=said):
        run(["boot", str(tmp_path / "s.toml"), *words.split(), "--runs", str(tmp_path / "runs")])
    assert not (tmp_path / "runs").exists()


def test_what_cannot_be_restored_is_said_before_anything_is_prepared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "init").write_text("#!/bin/sh\n")
    (tmp_path / "s.toml").write_text(f'{SYSTEM}[initramfs]\ninit = "init"\nsleep_agent = true\n')
    for words, said in (
        ("--from last", "--from last: no snapshot in"),
        (f"--from {tmp_path}", "holds no snapshot"),
        ("--from last --power-on suspended", "is not switched on, and finds nothing: power_on.kind is"),
        ("--from last --or-cold --power-on suspended", "is not switched on, and finds nothing"),
        ("--from last --set power_on.kind=s2idle", "is not switched on, and finds nothing"),
    ):
        with pytest.raises(InputError, match=said):
            run(["boot", str(tmp_path / "s.toml"), *words.split(), "--runs", str(tmp_path / "runs")])
    assert "preparing" not in capsys.readouterr().err


def test_which_clones_are_wanted() -> None:
    def numbers(clones: int | None, clone: int | None) -> list[int]:
        return list(RestoreRequest("1", clones, clone, False, False, None).numbers)

    assert (numbers(None, None), numbers(3, None), numbers(None, 7)) == ([1], [1, 2, 3], [7])


def test_a_name_that_means_no_snapshot_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    with pytest.raises(InputError, match="no snapshot in"):
        find_snapshot("last", store)
    run_of_boot = store.start(RunKind.BOOT, "s", {})
    with pytest.raises(InputError, match="a run of bootlab boot, which kept no machine"):
        find_snapshot("1", store)
    with pytest.raises(InputError, match="no snapshot in"):
        find_snapshot("last", store)
    store.start(RunKind.SNAPSHOT, "s", {})
    # One that was interrupted: nothing whole is there.
    with pytest.raises(InputError, match="holds no snapshot"):
        find_snapshot("last", store)
    for name in (str(tmp_path), str(run_of_boot.path), "9", "nonsense", "x" * 5000):
        with pytest.raises(InputError):
            find_snapshot(name, store)


@pytest.mark.parametrize("mark", ["", "a b", "x" * 65, "\u00e9"])
def test_a_mark_that_can_be_none_is_refused(mark: str, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SYSTEM)
    with pytest.raises(InputError, match="--at"):
        run(["snapshot", str(tmp_path / "s.toml"), "--at", mark, "--runs", str(tmp_path / "runs")])


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", WOKEN_S),
        ('[clock]\nkind = "wall"\n', None),
        ('[clock]\nkind = "wall"\n[snapshot]\nwoken_at = 1970-01-03\n', 2 * 86_400 - 1),
        ("[snapshot]\nwoken_at = 1970-01-03T00:00:10Z\n", 2 * 86_400 + 9),
    ],
)
def test_clones_are_told_this_hosts_time_on_the_wall_clock_alone(more: str, told: int | None, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SYSTEM + more)
    assert _woken_s(read_system(tmp_path / "s.toml")) == told
