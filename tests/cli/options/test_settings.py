"""--set changes a key of the system file for one run: what is booted then, what is kept of it, and what is refused."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.cli.options.arguments import open_system
from bootlab.cli.options.settings import expect_none_set, set_in
from bootlab.errors import InputError
from bootlab.experiments.store import Store
from bootlab.measure.record_files import read_record
from bootlab.system import read_system
from tests.cli.test_compare import Place
from tests.replayed import answer, replayed

SYSTEM = """
name = "made-up"
[machine]
type = "q35"
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
cmdline = "quiet"
[rootfs]
packages = ["procps"]
suite = "bookworm"
filesystem = "ext4"
model = "hdd"
[booted]
mark = "ready"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (path := tmp_path / "made-up.toml").write_text(SYSTEM)
    return path


def test_what_is_set_is_what_a_file_that_says_so_has(file: Path, tmp_path: Path) -> None:
    written = tmp_path / "written.toml"
    words = ["--set", "rootfs.model=ssd", "--set", "kernel.cmdline+=nosmp", "--set", "kernel.cmdline+='a=b,c'"]
    assert run(["boot", str(file), *words, "--write-system", str(written)]) == 0
    (other := tmp_path / "other.toml").write_text(
        SYSTEM.replace('"hdd"', '"ssd"').replace('"quiet"', '"quiet nosmp a=b,c"')
    )
    assert read_system(written) == read_system(other)
    # A file of another form is what --write-system makes of it, with keys set there.
    again = open_system(written, silent=True, settings=["rootfs.model="])
    assert again.rootfs is not None and again.rootfs.model is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rootfs.model=hdd,ssd"], "--set rootfs.model=hdd,ssd: 2 values, and one system is booted"),
        (["rootfs.model=ssd", "rootfs.model=sd"], "--set rootfs.model and rootfs.model: one is in the other"),
        (["kernel.cmdline=a", "kernel.cmdline+=b"], "--set kernel.cmdline and kernel.cmdline: one is in the other"),
        (["rootfs={}", "rootfs.model=sd"], "--set rootfs and rootfs.model: one is in the other"),
        (["rootfs.modle=sd"], "made-up.toml:rootfs.modle: unknown key.*, with --set rootfs.modle=sd"),
        (["ssd"], "--set ssd: expected KEY=VALUE"),
    ],
)
def test_what_cannot_be_set_is_refused_by_name(words: list[str], said: str, file: Path) -> None:
    with pytest.raises(InputError, match=said):
        open_system(file, silent=True, settings=words)


def test_a_run_on_record_is_as_it_was() -> None:
    expect_none_set(None, "7")
    with pytest.raises(InputError, match="--set rootfs.model=sd: 7 is a run: its boots are as they were"):
        expect_none_set(["rootfs.model=sd"], "7")
    for words in (["audit", "last"], ["profile", "last"]):
        with pytest.raises(InputError, match="--set rootfs.model=sd: last is a run"):
            run([*words, "--set", "rootfs.model=sd"])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    replayed(tmp_path, answer("plain", later_ns=-5_000_000))
    return Place(tmp_path)


def test_what_is_booted_is_what_was_set_and_the_run_keeps_it(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert set_in(None) == set_in([]) == {}
    base, words = place.system("base"), ["--set", "kernel.cmdline+=plain"]
    ready_ns = [
        [read_record(path).marks["ready"] for path in Store(place.runs).find(one).records()]
        for one in (place.on_record("measure", base), place.on_record("measure", base, *words))
    ]
    assert ready_ns[1] == [one - 5_000_000 for one in ready_ns[0]]
    assert Store(place.runs).find("2").asked["settings"] == ["kernel.cmdline+=plain"]
    assert run(["measure", base, *words, "--runs", str(place.runs)]) == 0
    assert "base, with kernel.cmdline+=plain" in capsys.readouterr().err
    # Both sides of a comparison have it.
    compared = place.compared(base, place.system("plain", "plain"), *words)
    assert (compared["verdict"], compared["saved_ns"]) == ("no difference shown", 0)


def test_a_trial_goes_on_with_what_was_set(place: Place) -> None:
    base = place.system("base")
    tried = ["try", base, "cmdline_quiet", "--no-stack", "--runs", str(place.runs)]
    assert run([*tried, "--set", "kernel.cmdline+=plain"]) == 0
    begun = Store(place.runs).find("last")
    booted = begun.records()
    go_on = ["try", base, "--runs", str(place.runs), "--resume", "last"]
    assert run(go_on) == 0 and begun.records() == booted
    with pytest.raises(InputError, match="give the system and --resume only"):
        run([*go_on, "--set", "kernel.cmdline+=plain"])
