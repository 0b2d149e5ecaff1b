"""Who clones are: no two alike, each the same every time, and in the words that the guest's agent reads."""

import time

from bootlab.snapshot.identity import SIZE, CloneIdentity, no_clone


def words(identity: CloneIdentity) -> dict[str, str]:
    lines = identity.text.decode().split()
    assert lines[:2] == ["bootlab-clone", "1"] and lines[-1] == "end"
    return dict(zip(lines[2:-1:2], lines[3:-1:2], strict=True))


def test_a_thousand_clones_differ_in_everything_and_repeat() -> None:
    clones = [CloneIdentity("kept", number, "My system_1", has_card=True) for number in range(1, 1001)]
    said = [words(clone) for clone in clones]
    for key in ("number", "seed", "time_us", "name", "machine-id", "mac"):
        assert len({one[key] for one in said}) == 1000, key
    assert len({clone.generation for clone in clones}) == len({clone.sha256 for clone in clones}) == 1000
    assert words(CloneIdentity("kept", 7, "My system_1", has_card=True)) == said[6]
    assert words(CloneIdentity("other", 7, "My system_1"))["seed"] != said[6]["seed"]


def test_what_is_said_can_be_used_by_a_guest() -> None:
    clone = CloneIdentity("kept", 100_000, "_A" * 50)
    said = words(clone)
    assert "mac" not in said
    assert len(said["seed"]) == 64 and len(said["machine-id"]) == 32 and len(said["name"]) <= 64
    assert said["name"].replace("-", "").isalnum() and not said["name"].startswith("-")
    # The agent reads numbers of at most 18 digits.
    assert all(len(said[key]) <= 18 for key in ("number", "time_us"))
    assert [len(part) for part in clone.generation.split("-")] == [8, 4, 4, 4, 12]
    assert len(clone.text) == len(no_clone()) == SIZE


def test_on_the_wall_clock_the_time_is_this_hosts_and_no_part_of_who_it_is() -> None:
    clone = CloneIdentity("kept", 3, "wall", woken_s=None)
    before_us = time.time_ns() // 1000
    said = int(words(clone)["time_us"])
    assert before_us <= said <= time.time_ns() // 1000
    again = CloneIdentity("kept", 3, "wall", woken_s=None)
    assert clone.sha256 == again.sha256 != CloneIdentity("kept", 4, "wall", woken_s=None).sha256
    assert int(words(CloneIdentity("kept", 3, "then", woken_s=1_900_000_000))["time_us"]) == 1_900_000_003_000_000
