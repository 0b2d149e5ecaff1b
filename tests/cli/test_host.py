"""`bootlab host fit`: what is refused before a guest runs, and what a fit is shown as."""

import json
import platform
from pathlib import Path

import pytest

from bootlab.cli import host
from bootlab.cli.app import run
from bootlab.errors import InputError, MissingTool
from bootlab.measure.host_fit.result import FittedFigure, HostFit

FIT = HostFit(
    name="mine", rules="svm", memory="4K",
    figures=(FittedFigure(name="cpuid", ns=712.5, low_ns=700, high_ns=720, samples=300, outliers=2, by_guest_ns=(1,)),),
    not_timed={"hypercall": "the guest got an exception for it"}, cautions=("the host was busy",),
    host={"cpu_model": "a CPU", "kernel": "6.1"}, qemu="10.0.2", wall_s=1.5, model='name = "mine"\n',
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "model.txt"], "--to model.txt: the name of a host model's file ends in .toml"),
        (["--name", "lean"], "--name lean: a model that comes with bootlab is called so"),
        (["--name", "a b"], "--name a b: no name of a model"),
        (["--to", "there.toml"], "--to there.toml: is there already"),
    ],
)
def test_refused_before_a_guest_runs(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.toml").write_text("mine")
    with pytest.raises(InputError) as caught:
        run(["host", "fit", *words])
    assert caught.value.message == said and Path("there.toml").read_text() == "mine"


def test_a_host_of_another_architecture_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(MissingTool, match="fitted on x86-64; this one is aarch64"):
        run(["host", "fit"])
    assert not [*tmp_path.iterdir()]


def test_what_was_found_is_written_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(host, "fit_host", lambda cache, name, tell: FIT)
    path = tmp_path / "mine.toml"
    assert run(["host", "fit", "--to", str(path)]) == 0
    shown = capsys.readouterr().out
    assert path.read_text() == FIT.model
    for words in (
        "cpuid",
        "712",
        "700 to 720",
        "not timed: hypercall",
        "caution: the host was busy",
        f"--price {path}",
    ):
        assert words in shown, shown
    assert run(["host", "fit", "--to", str(path), "--force", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "bootlab.host-fit/1" and told["file"] == str(path) and told["cautions"]
