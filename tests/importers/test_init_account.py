"""bootlab-init's account: what is read of it and what is refused. Real ones: tests/boot/init/test_namespace.py."""

import base64
import contextlib
import random
import struct

import pytest

from bootlab.errors import InputError
from bootlab.importers.init_account import AccountEventKind, parse_account, require_account

NAMES = b"a\0db\0\0\0\0"


def record(t_ns: int, kind: AccountEventKind, unit: int, detail: int = 0, value: int = 0) -> bytes:
    return struct.pack("<qQIHBB", t_ns, value, 7, unit, kind, detail)


RECORDS = [
    record(10, AccountEventKind.SPAWN, 1),
    record(12, AccountEventKind.SPAWN, 0),
    record(20, AccountEventKind.EXIT, 1, 0, 5 << 32 | 300),
    record(21, AccountEventKind.READY, 1),
    record(25, AccountEventKind.FAILED, 0),
    record(26, AccountEventKind.GOAL, 0xFFFF),
]
WHOLE = struct.pack("<8s4I3q", b"BLINIT1\0", 2, len(RECORDS), len(NAMES), 0, 5, 26, 30) + NAMES + b"".join(RECORDS)


def test_records_become_spans_and_events() -> None:
    account = parse_account(WHOLE)
    assert (account.begun_ns, account.goal_ns, account.units) == (5, 26, ("a", "db"))
    assert account.most_starting() == 2
    gone = account.records[2]
    assert (gone.unit, gone.cpu_us, gone.memory_kib) == ("db", 300, 5)
    timeline = account.timeline()
    assert [(span.name, span.start_ns, span.end_ns) for span in timeline.spans] == [("db", 10, 21)]
    assert [event.name for event in timeline.events] == ["db exit", "a failed", "goal"]


def test_the_last_whole_one_on_a_console_counts() -> None:
    text = base64.b64encode(WHOLE).decode()
    lines = ["bootlab: account AAAA", "bootlab: account end", f"[1.0] x bootlab: account {text[:40]}", "other"]
    lines += [f"bootlab: account {text[40:]}\r", "bootlab: account end", "bootlab: account AAAA"]
    assert require_account("\n".join(lines)) == parse_account(WHOLE)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "not an account"),
        (WHOLE[:-1], "cut short or damaged"),
        (WHOLE + b"x", "cut short or damaged"),
        (WHOLE[:-2] + b"\x63\0", "a record of kind 99"),
        (WHOLE[:-4] + b"\x09\0" + WHOLE[-2:], "about unit 9"),
    ],
)
def test_what_is_none_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_account(data)


@pytest.mark.parametrize("console", ["", "bootlab: account AAAA", "bootlab: account !!!\nbootlab: account end"])
def test_no_account_on_the_console(console: str) -> None:
    with pytest.raises(InputError):
        require_account(console)


def test_damaged_ones_are_read_or_refused() -> None:
    dice = random.Random(5)
    read = 0
    for _ in range(20_000):
        data = bytearray(WHOLE)
        for _ in range(dice.randrange(1, 5)):
            data[dice.randrange(8, len(data))] = dice.randrange(256)
        if dice.random() < 0.2:
            del data[dice.randrange(len(data)) :]
        lines = [f"bootlab: account {base64.b64encode(data).decode()}", "bootlab: account end"]
        with contextlib.suppress(InputError):
            account = require_account("\n".join(lines))
            read += 1
            assert all(span.duration_ns >= 0 for span in account.timeline().spans)
            assert account.most_starting() <= len(account.records)
    assert 2_000 < read < 18_000
