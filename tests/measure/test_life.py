"""A machine that lives until its power button is pressed, and what is said of one that does not do as it should."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.errors import BootFailed, InputError
from bootlab.measure.life import CONSOLE, life_before, live
from bootlab.system import DiskImage, System
from bootlab.targets.replay.playing import Play
from bootlab.targets.replay.target import ReplayPrepared, ReplaySession
from bootlab.targets.target import EndReason, OpenedMachine
from tests.replayed import prepared, replayed


@dataclass(frozen=True, slots=True, kw_only=True)
class Living(ReplayPrepared):
    """A boot on record that says `said`, ends as `end` says, and writes down when its power button was pressed."""

    said: bytes = b"debian login: "
    end: EndReason = EndReason.GUEST_SHUTDOWN
    trace: str = ""
    lived: list[Path] = field(default_factory=list)

    def living(self, folder: Path, over_ns: int) -> "Living":
        assert over_ns == 30_000_000_000
        self.lived.append(folder)
        return self

    @asynccontextmanager
    async def open(self, directory: Path, argv: list[str]) -> AsyncIterator[OpenedMachine]:
        async def press() -> None:
            (directory / "pressed").touch()

        if self.trace:
            (directory / "trace.txt").write_text(self.trace)
        yield OpenedMachine(ReplaySession(Play(((1_000, self.said),), None, end=self.end)), power_off=press)


def machine(tmp_path: Path, **how: Any) -> Living:
    kept = prepared(replayed(tmp_path / "system", clock="wall"))
    values = {one.name: getattr(kept, one.name) for one in fields(kept)}
    image = DiskImage(path=tmp_path / "disk.img", life_s=30)
    booted = kept.system.booted.model_copy(update={"mark": None, "console": "login:"})
    system = kept.system.model_copy(update={"image": image, "booted": booted, "check": None})
    return Living(**{**values, "system": system}, **how)


def test_a_life_leaves_its_folder_and_is_lived_once(tmp_path: Path) -> None:
    shop, one = Workshop(Cache(tmp_path / "cache")), machine(tmp_path)
    first, again = live(shop, one), live(shop, one)
    assert first == again and len(one.lived) == 1
    assert (first.folder / CONSOLE).read_bytes() == b"debian login: "
    other = replace(machine(tmp_path / "other"), hashes={"image": "another"})
    assert live(shop, other).identity != first.identity and len(other.lived) == 1


def test_what_a_life_said_is_part_of_who_it_was(tmp_path: Path) -> None:
    """On the wall clock no two lives are the same, and what comes after one lies over its disk alone."""
    one = machine(tmp_path / "1")
    first, again = (live(Workshop(Cache(tmp_path / name)), one) for name in ("a", "b"))
    other = live(Workshop(Cache(tmp_path / "c")), replace(one, said=b"later login: "))
    assert first.identity == again.identity != other.identity


def test_a_life_whose_disks_may_not_repeat_says_so(tmp_path: Path) -> None:
    told: list[str] = []
    refused = "bootlab-trace 1\nclock virtual 0\nrefused network no socket\nrefused traps no symbol\nsettled 5 2\n"
    live(Workshop(Cache(tmp_path / "cache"), tell=told.append), machine(tmp_path, trace=refused))
    assert told[1:] == [
        "life 1: exact network: refused: no socket: it may not repeat exactly",
        "life 1: of 5 waits for a disk 2 were given up: it may not repeat exactly",
    ]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"said": b"Welcome\r\n"}, 'life 1: not ready in its 30 s, last console line: "Welcome"'),
        ({"said": b"\n"}, "life 1: not ready in its 30 s, the console said nothing"),
        ({"end": EndReason.DIED}, "life 1: not powered off in order: "),
        (
            {"end": EndReason.GUEST_PANIC},
            'life 1: not powered off in order: guest panic, last console line: "debian lo',
        ),
    ],
)
def test_a_life_that_did_not_end_in_order_leaves_nothing(how: dict[str, Any], words: str, tmp_path: Path) -> None:
    shop = Workshop(Cache(tmp_path / "cache"))
    with pytest.raises(BootFailed) as failed:
        live(shop, machine(tmp_path, **how))
    assert words in failed.value.message
    assert list((tmp_path / "cache/life").iterdir()) == []


def test_a_target_that_keeps_nothing_has_no_lives(tmp_path: Path) -> None:
    kept = prepared(replayed(tmp_path / "system"))
    assert not kept.remembers
    with pytest.raises(InputError, match=r"image\.life: a machine that runs on replay has no lives"):
        kept.living(tmp_path, 1)


def test_the_life_before_is_the_same_system_otherwise(tmp_path: Path) -> None:
    system = System.model_validate(
        {
            "name": "s",
            "machine": {"type": "q35"},
            "image": {"path": tmp_path / "disk.img", "life": 3, "life_s": 40},
            "booted": {"console": "login:"},
        }
    )
    before = life_before(system)
    assert before.image is not None and (before.image.life, before.image.life_s) == (2, 40)
    assert before.model_copy(update={"image": system.image}) == system
