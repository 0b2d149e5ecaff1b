"""What a system writes over its root in kept RAM: written back once it is ready, there again at the next start.

Debian's stock cloud kernel. Each start counts itself in a file of the root, removes another and makes a folder anew.
Each fault is booted: what is wrong with the changes is refused with a reason, and it starts with older ones, or none.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.root.kept_changes import read_slots
from tests.boot.verbs.test_power_on import COMMON, KEPT, Boot, boots_of, power_on

pytestmark = [pytest.mark.boot, pytest.mark.network]

CHANGES_INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
fail() { echo "bootlab: check failed: $*"; }
starts=$(cat /starts 2>/dev/null || echo 0)
if [ "$starts" = 0 ]; then
    [ -f /etc/not-needed ] && [ -f /folder/of-root ] || fail "the root is not as it was made"
else
    [ ! -e /etc/not-needed ] || fail "what was removed is there"
    [ -x /folder/tool ] && [ ! -e /folder/of-root ] || fail "a folder that was made anew shows what is below it"
fi
echo $((starts + 1)) >/starts && rm -rf /etc/not-needed /folder && mkdir /folder && cp /etc/needed /folder/tool &&
    chmod 700 /folder/tool || echo "bootlab: fact read_only yes"
bootlab-mark ready
echo "bootlab: fact starts $starts"
echo "bootlab: check ok"
bootlab-kept settle
bootlab-kept save
bootlab-mark all_saved
sleep 1000
"""
DISK = """
[[disks]]
size_mib = 9
filesystem = "changes"
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    folder = tmp_path_factory.mktemp("changed")
    (folder / "init").write_text(CHANGES_INIT)
    for name in ("needed", "not-needed"):
        (folder / name).write_text("".join(f"{name} {line}\n" for line in range(1000)))
    text = COMMON.replace("WORDS", "acpi=off rootfstype=erofs")
    kept = KEPT.replace('VERIFY"', 'verity", changes_mib = 4').replace('"dm_verity"', '"dm_verity", "overlay"') + DISK
    kept = kept.replace('"etc/not-needed" =', '"folder/of-root" = "needed", "etc/not-needed" =')
    for name, recipe in (
        ("changed", kept),
        ("without-overlay", kept.replace(', "overlay"', "")),
        ("some", kept.replace("changes_mib = 4", 'changes_mib = 4, without = ["/folder"]')),
    ):
        (folder / f"{name}.toml").write_text(f'name = "{name}"{text}{recipe}')
    return boots_of(folder)


def found(record: dict[str, Any]) -> tuple[str, int | None, str | None]:
    """Return how many starts the root tells of, which changes were taken, and why others were not."""
    assert record["outcome"] == "ready", record["detail"]
    return record["facts"]["starts"], record["power_on"].get("changes_taken"), record["power_on"].get("changes_refused")


def test_what_is_written_over_the_root_is_there_at_the_next_start(changed: Boot) -> None:
    assert found(changed("changed", "cold")) == ("0", None, None)
    one, again = changed("changed", "self-refresh"), changed("changed", "self-refresh")
    assert found(one) == ("1", 1, None) and power_on(one) == ("kept-ram", None)
    assert one["marks"]["changes_taken"] < one["marks"]["root_kept"] < one["marks"]["ready"]
    for what in ("marks", "instructions", "facts", "key"):
        assert one[what] == again[what], what
    # They are on a disk: RAM that is lost takes none of them along.
    lost = changed("changed", "self-refresh:ram-lost")
    assert found(lost) == ("1", 1, None) and power_on(lost)[0] == "disk"
    assert found(changed("some", "self-refresh")) == ("1", 1, None)


@pytest.mark.parametrize(
    ("fault", "starts", "taken", "refused"),
    [
        # The start before took generation 1, and its own was cut off half way: it is as if that had never been.
        ("save-cut", "1", 1, None),
        ("changes-bit", "0", None, "they are damaged: their sum is another"),
        ("old-image", "0", None, "they are of another image: "),
        ("changes-hung", "0", None, "3 starts with them did not become ready"),
        # A start that did not get there says little: it is the RAM that is not trusted again.
        ("start-hung", "1", 1, None),
    ],
)
def test_changes_are_whole_or_refused_with_a_reason(
    changed: Boot, fault: str, starts: str, taken: int | None, refused: str | None
) -> None:
    record = changed("changed", f"self-refresh:{fault}")
    told = found(record)
    assert told[:2] == (starts, taken)
    assert told[2] == refused if refused is None else (told[2] or "").startswith(refused)


def test_a_save_that_was_cut_has_left_the_older_changes_and_half_of_others(changed: Boot, tmp_path: Path) -> None:
    record = changed("changed", "self-refresh:save-cut")
    words = next(word for word in record["argv"] if word.startswith("if=none,id=disk0"))
    options = {key: value for key, _, value in (part.partition("=") for part in words.split(","))}
    below = options["backing.file.filename"]
    source = f"driver=qcow2,file.filename={options['file']},backing.driver=raw,backing.file.filename={below}"
    subprocess.run(["qemu-img", "convert", "--image-opts", source, "-O", "raw", tmp_path / "raw"], check=True)
    data = (tmp_path / "raw").read_bytes()
    with (tmp_path / "raw").open("rb") as disk:
        ((place, header),) = read_slots(disk, len(data)).items()
    first, second = 4096, 4096 + (len(data) // 4096 - 1) // 2 * 4096
    other = first + second - place
    assert header.generation == 1 and not data[other : other + 4096].strip(b"\0"), "its header was to come last"
    assert data[other + 4096 : other + 8192].strip(b"\0"), "some of what it was to have"


def test_a_root_that_nothing_can_be_laid_over_is_read_only_and_says_so(changed: Boot) -> None:
    record = changed("without-overlay", "cold")
    assert found(record) == ("0", None, "the kernel has no overlay file system")
    assert record["facts"]["read_only"] == "yes"
