"""A host model of a stranger's: found by the name of its file, and part of the key of a boot that it charges."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.extensions.host_models import find_host_models
from bootlab.price import host_model
from bootlab.price.host_model import read_host_model
from bootlab.system import System
from bootlab.targets.boot_key import boot_key
from bootlab.targets.qemu.host_charges import charge_lines, model_hash

LEAN = Path(host_model.__file__).parent / "host_models" / "lean.toml"


def folder_with(folder: Path, text: str) -> Path:
    (folder / "host_models").mkdir(parents=True)
    (folder / "host_models" / "ours.toml").write_text(text)
    return folder


def system(folder: Path) -> System:
    return System.model_validate(
        {
            "name": "x", "machine": {"type": "microvm"}, "kernel": {"image": Path("k")}, "booted": {"mark": "ready"},
            "clock": {"host_model": "ours"}, "extensions": [folder],
        }
    )  # fmt: skip


def test_its_figures_are_charged_and_enter_the_key(tmp_path: Path) -> None:
    text = LEAN.read_text().replace('name = "lean"', 'name = "ours"')
    one = system(folder_with(tmp_path / "one", text))
    other = system(
        folder_with(tmp_path / "other", text.replace("[exit.pio_vmm]\nns = 2500", "[exit.pio_vmm]\nns = 2501"))
    )
    same = system(folder_with(tmp_path / "same", text.replace('words = "', 'words = "In other words: ')))
    keys = [boot_key(each, model_hash(each), charge_lines(each)) for each in (one, other, same)]
    assert keys[0] == keys[2] != keys[1]
    assert read_host_model("ours", find_host_models(one.extensions)).name == "ours"


def test_a_name_that_nobody_has_lists_all_there_are(tmp_path: Path) -> None:
    others = find_host_models((folder_with(tmp_path, LEAN.read_text()),))
    with pytest.raises(InputError, match="no host model of this name") as caught:
        read_host_model("theirs", others)
    assert "ours" in (caught.value.hint or "")


def test_a_mistake_in_it_names_its_file_and_key(tmp_path: Path) -> None:
    others = find_host_models((folder_with(tmp_path, LEAN.read_text() + "\n[nothing]\n"),))
    with pytest.raises(InputError, match=r"ours\.toml:nothing: unknown key"):
        read_host_model("ours", others)
