"""Keys of a system file set on the command line: how values are told apart, and what is refused by name."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import System
from bootlab.system.setting import KeySetting, one_in_another, parse_setting, system_with

TEXT = b"""
[machine]
type = "q35"
memory_mib = 256
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
cmdline = "quiet"
[rootfs]
packages = ["procps"]
suite = "bookworm"
model = "hdd"
[[disks]]
size_mib = 8
[[disks]]
size_mib = 16
[booted]
mark = "ready"
"""
BUILT = TEXT.replace(
    b'package = "linux-image-cloud-amd64"\nsuite = "bookworm"',
    b"""
build = { package = "linux-source-6.12", suite = "trixie", base = "tinyconfig", fragments = ["own.config"] }""",
)


def _set(*typed: str, text: bytes = TEXT, folder: Path = Path("/nowhere")) -> list[System]:
    """Return the system with each value of the last key, and the first one of those before."""
    *before, (_, settings) = [parse_setting(one) for one in typed]
    firsts = [values[0] for _, values in before]
    return [system_with(text, folder / "made-up.toml", [*firsts, one]) for one in settings]


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
        ('rootfs.texts."/etc/a=b+"=x', ["x"]),
    ],
)
def test_values_are_what_toml_has_and_words_need_no_quotes(typed: str, values: list[object]) -> None:
    key, settings = parse_setting(typed)
    assert typed.startswith(f"{key}=")
    assert [one.value for one in settings] == values


def test_a_key_that_is_spelled_in_two_ways_is_one_key() -> None:
    assert parse_setting("'rootfs' . \"model\"=hdd")[0] == "rootfs.model"
    assert parse_setting("rootfs.texts.'/a\"b'=x")[0] == 'rootfs.texts."/a\\"b"'
    assert one_in_another("rootfs", "rootfs.model") and one_in_another("rootfs.model", "rootfs.model")
    assert not one_in_another("rootfs.model", "rootfs.models")


def test_a_setting_changes_its_key_and_nothing_else() -> None:
    hdd, ssd = _set("rootfs.model=hdd,ssd")
    assert ssd.rootfs is not None and ssd.rootfs.model is not None and ssd.rootfs.model.name == "ssd"
    assert ssd.with_part("rootfs", model="hdd") == hdd
    [changed] = _set("disks.1.size_mib=32")
    assert [disk.size_mib for disk in changed.disks] == [8, 32]
    [fewer] = _set("disks.0=")
    assert [disk.size_mib for disk in fewer.disks] == [16]
    [written] = _set('rootfs.texts."/etc/fstab"=none')
    assert written.rootfs is not None and written.rootfs.texts == {"/etc/fstab": "none"}
    [both] = _set("rootfs.model=ssd", "kernel.cmdline=x")
    assert both.rootfs is not None and both.rootfs.model == ssd.rootfs.model and both.kernel.cmdline == "x"


def test_what_another_key_fills_in_follows_what_is_set() -> None:
    text = TEXT.replace(b"q35", b"microvm")
    plain, shaped = _set("machine.shape=,firecracker", text=text)
    assert plain.machine.cpu == "max"
    assert shaped.machine.cpu.startswith("EPYC") and shaped.machine.hypervisor is not None


def test_an_empty_value_leaves_the_key_out() -> None:
    _, settings = parse_setting("rootfs.model=,ssd")
    assert [one.shown for one in settings] == ["(not set)", "ssd"]
    bare, _ = _set("rootfs.model=,ssd")
    assert bare.rootfs is not None and bare.rootfs.model is None


def test_words_are_added_to_a_text_and_entries_to_a_list() -> None:
    _, settings = parse_setting("kernel.cmdline+=,nosmp,'a=b c'")
    assert [one.shown for one in settings] == ["(as it is)", "+ nosmp", "+ 'a=b c'"]
    systems = _set("kernel.cmdline+=,nosmp,'a=b c'")
    assert [one.kernel.cmdline for one in systems] == ["quiet", "quiet nosmp", "quiet a=b c"]
    longer, one_more = _set("rootfs.packages+=['busybox','kmod'],dash")
    assert longer.rootfs is not None and longer.rootfs.packages == ("procps", "busybox", "kmod")
    assert one_more.rootfs is not None and one_more.rootfs.packages == ("procps", "dash")
    [number] = _set("kernel.cmdline+=5")
    assert number.kernel.cmdline == "quiet 5"
    [set_first] = _set("rootfs.without+=['/usr/share/doc']")
    assert set_first.rootfs is not None and [str(one) for one in set_first.rootfs.without] == ["/usr/share/doc"]


def test_a_path_is_found_from_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, beside = tmp_path / "here", tmp_path / "beside"
    for folder in (here / "there", beside):
        folder.mkdir(parents=True)
    monkeypatch.chdir(here)
    [changed] = _set("rootfs.directory=there", folder=beside)
    assert changed.rootfs is not None and changed.rootfs.directory == here / "there"
    with pytest.raises(InputError, match=r"rootfs.directory: no such folder: .*here/gone, with --set rootfs.direct"):
        _set("rootfs.directory=gone", folder=beside)
    # The file's own stay beside it.
    (beside / "own.config").touch()
    (here / "more.config").touch()
    [built] = _set("kernel.build.fragments+=more.config", text=BUILT, folder=beside)
    assert built.kernel.build is not None
    assert list(built.kernel.build.fragments) == [beside / "own.config", here / "more.config"]
    with pytest.raises(InputError, match=r"no such file: .*here/gone.config"):
        _set("kernel.build.fragments+=gone.config", text=BUILT, folder=beside)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("x", r"--set x: expected KEY=VALUE"),
        ("=1", r"--set =1: expected KEY=VALUE"),
        ("+=1", r"--set \+=1: expected KEY=VALUE"),
        ("a b=1", r"--set a b: not a key of TOML"),
        ("0.kernel=1", r"0: unknown key"),
        ("rootfs.modle=hdd", r"rootfs.modle: unknown key, with --set rootfs.modle=hdd"),
        ("machine.memory_mib=1", r"machine.memory_mib: .*got 1, with --set machine.memory_mib=1"),
        ("machine.memory_mib.a=1", r"--set machine.memory_mib.a=1: no table, and nothing can be set in it: 256"),
        ("machine.memory_mib.a.b=1", r"--set machine.memory_mib.a.b=1: no table, and nothing can be set in it: 256"),
        ("disks.2.size_mib=1", r"--set disks.2.size_mib=1: 2 is none of its 2 entries, counted from 0"),
        ("disks.size_mib=1", r"--set disks.size_mib=1: size_mib is none of its 2 entries"),
        ("machine.memory_mib+=5", r"--set machine.memory_mib\+=5: only to a text or a list can be added"),
        ("disks.7.model+=5", r"--set disks.7.model\+=5: 7 is none of its 2 entries"),
        ("booted=", r"booted: missing"),
    ],
)
def test_what_is_wrong_is_said_with_the_option_and_the_key(typed: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        _set(typed)


def test_a_value_is_kept_as_it_was_typed() -> None:
    assert KeySetting(key="a", text="0x10").value == 16
    assert KeySetting(key="a", text="0x10").shown == "0x10"
