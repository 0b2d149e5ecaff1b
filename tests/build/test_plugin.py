"""Where the compiled QEMU plugin is looked for."""

from pathlib import Path

import pytest

from bootlab.build.plugin import plugin_path
from bootlab.checkout import PLUGIN
from bootlab.errors import MissingTool


def test_a_plugin_that_the_user_names_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.so").write_bytes(b"")
    monkeypatch.setenv("BOOTLAB_PLUGIN", str(tmp_path / "own.so"))
    assert plugin_path() == tmp_path / "own.so"


def test_a_plugin_that_is_not_there_is_named_with_what_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOTLAB_PLUGIN", str(tmp_path / "none.so"))
    with pytest.raises(MissingTool, match="none.so: the QEMU plugin is not built") as missing:
        plugin_path()
    assert missing.value.hint == "make setup builds it"


def test_an_empty_word_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOTLAB_PLUGIN", "")
    if PLUGIN.is_file():
        assert plugin_path() == PLUGIN
    else:
        with pytest.raises(MissingTool, match=str(PLUGIN)):
            plugin_path()
