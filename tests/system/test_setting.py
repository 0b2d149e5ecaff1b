"""Keys of a system file set on the command line: how values are told apart, and what is refused by name."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import System
from bootlab.system.setting import KeySetting, parse_setting, with_setting

SYSTEM = System.model_validate(
    {
        "name": "made-up",
        "machine": {"type": "q35", "memory_mib": 256},
        "kernel": {"image": "/k/one", "cmdline": "quiet"},
        "rootfs": {"packages": ["procps"], "suite": "bookworm", "filesystem": "ext4", "model": "hdd"},
        "disks": [{"size_mib": 8}, {"size_mib": 16}],
        "booted": {"mark": "ready"},
    }
)


def _set(typed: str) -> list[System]:
    _, settings = parse_setting("--set", typed)
    return [with_setting("--set", SYSTEM, one) for one in settings]


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("rootfs.model=hdd,ssd", ["hdd", "ssd"]),
        ("machine.memory_mib=1, 2,1", [1, 2]),
        ("rootfs.readahead.record=true", [True]),
        ("kernel.cmdline=a b=c", ["a b=c"]),
        ("kernel.cmdline=\"a,b\",'c,d'", ["a,b", "c,d"]),
        ('rootfs.model={ like = "emmc", read_bytes_s = 1 },hdd', [{"like": "emmc", "read_bytes_s": 1}, "hdd"]),
        ("rootfs.packages=[],['a','b']", [[], ["a", "b"]]),
        ("kernel.cmdline=a],b", ["a]", "b"]),
        ("kernel.cmdline=it's,b", ["it's", "b"]),
    ],
)
def test_values_are_what_toml_has_and_words_need_no_quotes(typed: str, values: list[object]) -> None:
    key, settings = parse_setting("--set", typed)
    assert key == typed.partition("=")[0]
    assert [one.value for one in settings] == values


def test_a_setting_changes_its_key_and_nothing_else() -> None:
    hdd, ssd = _set("rootfs.model=hdd,ssd")
    assert hdd == SYSTEM
    assert ssd.rootfs is not None and ssd.rootfs.model is not None and ssd.rootfs.model.name == "ssd"
    assert ssd.with_part("rootfs", model="hdd") == SYSTEM
    [changed] = _set("disks.1.size_mib=32")
    assert [disk.size_mib for disk in changed.disks] == [8, 32]
    [written] = _set('rootfs.texts."/etc/fstab"=none')
    assert written.rootfs is not None and written.rootfs.texts == {"/etc/fstab": "none"}


def test_an_empty_value_leaves_the_key_out() -> None:
    _, settings = parse_setting("--set", "rootfs.model=,ssd")
    assert [one.shown for one in settings] == ["(not set)", "ssd"]
    bare = with_setting("--set", SYSTEM, settings[0])
    assert bare.rootfs is not None and bare.rootfs.model is None


def test_words_are_added_to_a_text_and_entries_to_a_list() -> None:
    _, settings = parse_setting("--set", "kernel.cmdline+=,nosmp,'a=b c'")
    assert [one.shown for one in settings] == ["(as it is)", "+ nosmp", "+ 'a=b c'"]
    systems = [with_setting("--set", SYSTEM, one) for one in settings]
    assert [one.kernel.cmdline for one in systems] == ["quiet", "quiet nosmp", "quiet a=b c"]
    [longer] = _set("rootfs.packages+=['busybox','kmod']")
    assert longer.rootfs is not None and longer.rootfs.packages == ("procps", "busybox", "kmod")
    [number] = _set("kernel.cmdline+=5")
    assert number.kernel.cmdline == "quiet 5"


def test_a_path_is_found_from_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    [changed] = _set("rootfs.directory=there")
    assert changed.rootfs is not None and changed.rootfs.directory == tmp_path / "there"
    with pytest.raises(InputError, match=r"--set rootfs.directory=gone: rootfs.directory: no such folder: .*gone"):
        _set("rootfs.directory=gone")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("x", r"--set x: expected KEY=VALUE"),
        ("=1", r"--set =1: expected KEY=VALUE"),
        ("a b=1", r"--set a b: not a key of TOML"),
        ("a=1\nb=1", r"--set a=.*memory_mib|unknown key"),
        ("rootfs.modle=hdd", r"--set rootfs.modle=hdd: rootfs.modle: unknown key"),
        ("machine.memory_mib=1", r"--set machine.memory_mib=1: machine.memory_mib: .*got 1"),
        ("machine.memory_mib.a=1", r"--set machine.memory_mib.a=1: no table, and nothing can be set in it: 256"),
        ("disks.2.size_mib=1", r"--set disks.2.size_mib=1: 2 is none of its 2 entries, counted from 0"),
        ("disks.size_mib=1", r"--set disks.size_mib=1: size_mib is none of its 2 entries"),
        ("machine.memory_mib+=5", r"--set machine.memory_mib\+=5: only to a text or a list can be added"),
        ("disks.7.model+=5", r"--set disks.7.model\+=5: only to a text or a list can be added"),
        ("booted=", r"--set booted=: booted: missing"),
    ],
)
def test_what_is_wrong_is_said_with_the_option_and_the_key(typed: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        _set(typed)


def test_a_value_is_kept_as_it_was_typed() -> None:
    assert KeySetting(key="a", text="0x10").value == 16
    assert KeySetting(key="a", text="0x10").shown == "0x10"
