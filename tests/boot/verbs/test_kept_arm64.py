"""A root in kept RAM on arm64: its device tree says where that RAM is. Debian 13's stock cloud kernel.

Each fault is booted, and each kind three times: as on x86-64 (test_power_on.py), whose promises are those of
`make boot-test`.
"""

import pytest

from tests.boot.verbs.test_power_on import COMMON, KEPT, KEPT_INIT, RAM_FAULTS, Boot, boots_of, power_on

pytestmark = [pytest.mark.boot, pytest.mark.network]

ARM64 = (
    ('"q35"', '"virt"'),
    ('entry = "pvh"\n', ""),
    ("linux-image-cloud-amd64", "linux-image-cloud-arm64"),
    ("bookworm", "trixie"),
    ("ttyS0", "ttyAMA0"),
    ("edd=off cryptomgr.notests no_timer_check", "cryptomgr.notests"),
    ('"crc32c_intel", "sha256_ssse3", "nd_e820"', '"crc32c_generic", "sha2_ce", "of_pmem"'),
    ("size_mib = 8", "size_mib = 8, at_mib = 1208"),
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    folder = tmp_path_factory.mktemp("kept-arm64")
    (folder / "init").write_text(KEPT_INIT)
    for name in ("needed", "not-needed"):
        (folder / name).write_text("".join(f"{name} {line}\n" for line in range(1000)))
    for name, verify in (("verity", "verity"), ("all", "all"), ("mapped", 'header", dax = true')):
        text = f'name = "{name}"' + COMMON.replace("WORDS", "rootfstype=erofs")
        text += KEPT.replace('VERIFY"', verify if "dax" in verify else f'{verify}"')
        for old, new in ARM64:
            assert old in text, old
            text = text.replace(old, new)
        (folder / f"{name}.toml").write_text(text)
    return boots_of(folder)


@pytest.mark.parametrize("kind", ["cold", "self-refresh", "warm-reset"])
def test_three_boots_of_a_kind_are_identical(kept: Boot, kind: str) -> None:
    one, *others = (kept("verity", kind) for _ in range(3))
    found = ("disk", "nothing is there: the RAM was lost") if kind == "cold" else ("kept-ram", None)
    assert one["outcome"] == "ready" and power_on(one) == found
    for other in others:
        for what in ("marks", "instructions", "idle_ns", "phases", "power_on", "facts", "key"):
            assert other[what] == one[what], what


@pytest.mark.parametrize(("fault", "refused"), RAM_FAULTS)
def test_what_is_wrong_with_the_ram_is_refused_and_the_disk_is_booted(kept: Boot, fault: str, refused: str) -> None:
    record = kept("verity", f"self-refresh:{fault}")
    assert record["outcome"] == "ready" and record["power_on"]["source"] == "disk"
    assert record["power_on"]["refused"].startswith(refused)


def test_a_turned_bit_is_found_where_it_is_read(kept: Boot) -> None:
    unread = kept("verity", "self-refresh:file-bit:/etc/not-needed")
    assert unread["outcome"] == "ready" and power_on(unread) == ("kept-ram", None)
    read = kept("verity", "self-refresh:file-bit:/etc/needed")
    assert read["outcome"] == "not ready" and "guest reset before ready" in read["detail"]
    checked = kept("all", "self-refresh:file-bit:/etc/not-needed")
    assert checked["outcome"] == "ready" and checked["power_on"]["source"] == "disk"
    assert checked["power_on"]["refused"].startswith("a block is not what it was")


def test_another_seed_finds_the_same_and_the_files_are_mapped_where_that_is_asked(kept: Boot) -> None:
    one, other = kept("verity", "self-refresh"), kept("verity", "self-refresh", "--seed", "2")
    assert power_on(one) == power_on(other) == ("kept-ram", None)
    assert one["kaslr_slide"] != other["kaslr_slide"], "the device tree is of this boot's seed"
    assert kept("mapped", "self-refresh")["facts"]["root_dax"] == "yes"
