"""Where the compiled QEMU plugin is looked for, and that an installed bootlab builds it once."""

import ctypes
import os
from pathlib import Path

import pytest

from bootlab.build import plugin
from bootlab.build.cache import Cache
from bootlab.build.plugin import build_in_checkout, find_plugin
from bootlab.build.workshop import Workshop
from bootlab.errors import MissingTool
from bootlab.sources import BUILT_PLUGIN, PLUGIN


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(Cache(tmp_path / "cache"))


def test_a_plugin_that_the_user_names_is_taken(shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.so").write_bytes(b"")
    monkeypatch.setenv("BOOTLAB_PLUGIN", str(tmp_path / "own.so"))
    assert find_plugin(shop) == tmp_path / "own.so"
    monkeypatch.setattr(plugin, "INSTALLED", True)
    assert find_plugin(shop) == tmp_path / "own.so"


def test_a_plugin_that_is_not_there_is_named_with_what_builds_it(
    shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOTLAB_PLUGIN", str(tmp_path / "none.so"))
    with pytest.raises(MissingTool, match="none.so: the QEMU plugin is not built") as missing:
        find_plugin(shop)
    assert missing.value.hint == "make setup builds it"


def test_a_plugin_older_than_its_sources_is_refused_with_the_newer_one(
    shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOOTLAB_PLUGIN", raising=False)
    sources, built = tmp_path / "plugin", tmp_path / "bootlab-plugin.so"
    (sources / "tests").mkdir(parents=True)
    for name in ("Makefile", "marks.c", "tests/test_marks.c"):
        (sources / name).write_text("")
        os.utime(sources / name, ns=(1000, 1000))
    built.write_bytes(b"")
    os.utime(built, ns=(1000, 1000))
    monkeypatch.setattr(plugin, "PLUGIN", sources)
    monkeypatch.setattr(plugin, "BUILT_PLUGIN", built)
    os.utime(sources / "tests/test_marks.c", ns=(2000, 2000))
    assert find_plugin(shop) == built
    os.utime(sources / "marks.c", ns=(2000, 2000))
    with pytest.raises(MissingTool, match=r"the QEMU plugin is older than .*/marks\.c") as old:
        find_plugin(shop)
    assert old.value.hint == "make setup builds it anew"
    monkeypatch.setenv("BOOTLAB_PLUGIN", str(built))
    assert find_plugin(shop) == built, "whoever names one knows which"


def test_an_empty_word_names_none(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOTLAB_PLUGIN", "")
    if BUILT_PLUGIN.is_file():
        assert find_plugin(shop) == BUILT_PLUGIN
    else:
        with pytest.raises(MissingTool, match=str(BUILT_PLUGIN)):
            find_plugin(shop)


@pytest.mark.skipif(not BUILT_PLUGIN.is_file(), reason="needs the plugin: make setup")
def test_a_plugin_does_not_name_the_folder_that_it_was_built_in() -> None:
    """Or workers whose checkouts lie elsewhere would have another one than their client."""
    assert str(PLUGIN).encode() not in BUILT_PLUGIN.read_bytes()


def test_an_installed_bootlab_builds_it_once_and_says_so(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(plugin, "INSTALLED", True)
    monkeypatch.delenv("BOOTLAB_PLUGIN", raising=False)
    made = find_plugin(Workshop(shop.cache, tell=told.append))
    assert made.is_relative_to(shop.cache.root) and told == ["building the QEMU plugin, once"]
    assert find_plugin(Workshop(shop.cache, tell=told.append)) == made and len(told) == 1
    # What QEMU reads of it before anything else; its own functions are QEMU's, and bound when they are called.
    assert ctypes.c_int.in_dll(ctypes.CDLL(str(made), mode=1), "qemu_plugin_version").value == 4


def test_a_checkouts_plugin_is_built_where_it_is_missing(
    shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOOTLAB_PLUGIN", raising=False)
    sources, built = tmp_path / "plugin", tmp_path / "build" / "bootlab-plugin.so"
    sources.mkdir()
    (sources / "Makefile").write_text("all:\n\tmkdir -p $(OUT)\n\ttouch $(OUT)/bootlab-plugin.so\n")
    monkeypatch.setattr(plugin, "PLUGIN", sources)
    monkeypatch.setattr(plugin, "BUILT_PLUGIN", built)
    monkeypatch.setattr(plugin, "INSTALLED", True)
    build_in_checkout()
    assert not built.exists(), "an installed bootlab has a cache for it"
    monkeypatch.setattr(plugin, "INSTALLED", False)
    build_in_checkout()
    assert find_plugin(shop) == built
