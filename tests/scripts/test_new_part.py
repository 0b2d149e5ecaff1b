"""`scripts/new`: files of each kind, complete but for their words, and nothing written where something cannot be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bootlab.extensions.broken import forget_broken, noted
from bootlab.importers.registry import all_importers
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.technique import Layer
from scripts.new_part.run import main


@pytest.fixture(autouse=True)
def nothing_noted() -> Iterator[None]:
    forget_broken()
    yield
    forget_broken()


@pytest.mark.parametrize("layer", Layer)
def test_a_technique_lacks_its_words_and_nothing_else(layer: Layer, tmp_path: Path) -> None:
    name = f"{layer.value}_brand_new"
    assert main(["technique", name, "--in", str(tmp_path)]) == 0
    load_catalogue((tmp_path,))
    (one,) = noted()
    assert {complaint.rpartition(": ")[2] for complaint in one.why.split("; ")} == {"words to fill in"}
    file = tmp_path / "techniques" / layer.value / "brand_new.py"
    words = file.read_text().replace("FILL IN: completes the sentence: This technique ...", "is there to be read")
    words = words.replace("FILL IN: ", "")
    written = tmp_path / "written"
    (written / "techniques" / layer.value).mkdir(parents=True)
    (written / "techniques" / layer.value / "brand_new.py").write_text(words)
    forget_broken()
    assert name in {technique.name for technique in load_catalogue((written,))}, noted()


def test_an_importer_lacks_its_words_and_nothing_else(tmp_path: Path) -> None:
    assert main(["importer", "lab/brand_new", "--in", str(tmp_path)]) == 0
    all_importers((tmp_path,))
    assert [one.why for one in noted()] == ["IMPORTER: title: words to fill in"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["technique", "quiet"], "'quiet' does not begin with its layer: machine_, "),
        (["technique", "cmdline_No"], "'No' is no name of a technique behind its layer"),
        (["technique", "cmdline_../x"], "'../x' is no name of a technique"),
        (["technique", ""], "'' does not begin with its layer"),
        (["technique", "cmdline_clocks"], "clocks.py: there already"),
        (["importer", "nowhere/x1"], "nowhere: no such folder of importers: bootchart, "),
        (["importer", "vmm/Foo"], "'Foo' is no name of a format"),
        (["importer", "kernel/ftrace"], "there is an importer ftrace already"),
        (["target", "9p"], "'9p' is no name of a target"),
        (["target", "serial"], "there already"),
        (["target", "x1", "--in", "/tmp"], "a target is a part of the package"),
    ],
)
def test_what_cannot_be_made_is_told_and_changes_nothing(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"new-{words[0]}: error: ") and says in said.err
    assert said.err.count("\n") == 1


def test_an_unwritable_folder_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "techniques").write_text("a file")
    assert main(["technique", "cmdline_x1", "--in", str(tmp_path)]) == 2
    assert "techniques" in capsys.readouterr().err
