"""Logs of test labs: the lab's stamps, across midnight, with the lab's own words beside the board's."""

import json
from datetime import datetime

import pytest

from bootlab.importers.importer import Options
from bootlab.importers.reading.source import FormatError
from bootlab.importers.serial import lava
from bootlab.timeline.line_account import Fate
from tests.importers.samples import DATA, phases_ms, read_text, recording_of, sample, source_of


def test_phases_and_events_of_lavas_yaml_by_its_own_stamps() -> None:
    rows = [json.loads(row[2:]) for row in (DATA / "lab" / "lava.yaml").read_text().splitlines()]
    stamps = [(datetime.fromisoformat(row["dt"]) - datetime.fromisoformat(rows[0]["dt"])) for row in rows]
    expected = sorted(round(stamp.total_seconds() * 1e9) for stamp in stamps)
    one = sample("lab/lava.yaml")
    assert [event.t_ns for event in one.timeline.events] == expected
    assert [event.source for event in one.timeline.events].count("lab") == 2
    assert list(phases_ms(one)) == ["U-Boot SPL", "U-Boot", "kernel", "user space, as far as logged"]
    assert phases_ms(one)["U-Boot SPL"] == 500.0


def test_lines_with_the_escapes_of_yaml_are_read_and_not_left_out() -> None:
    told = r"\e[0;32mOK\x1b[0m \xE9 \U0001F600 \_ \N \L \P \a \v \0 \ttab \"q\" \\ back"
    rows = [
        '- {"dt": "2024-03-04T10:00:00.000000", "lvl": "target", "msg": "U-Boot 2023.07 (Jul 01 2023)"}',
        f'- {{"dt": "2024-03-04T10:00:01.000000", "lvl": "target", "msg": "{told}"}}',
        '- {"dt": "2024-03-04T10:00:02.000000", "lvl": "results", "msg": {"case": "download", "size": ! "149"}}',
        r'- {"dt": "2024-03-04T10:00:03.000000", "lvl": "target", "msg": "\q is no escape"}',
    ]
    source = source_of("\n".join(rows).encode())
    one = lava.IMPORTER.read(source, Options())
    texts = {event.t_ns // 10**9: event.name for event in one.timeline.events}
    assert "OK" in texts[1] and "é 😀" in texts[1] and '"q" \\ back' in texts[1]
    assert texts[2] == '{"case": "download", "size": ! "149"}' and "is no escape" in texts[3]
    account = source.account()
    assert account is not None and account.total(Fate.USED) == 4 and account.total(Fate.LEFT_OUT) == 0


def test_a_time_of_day_goes_on_over_midnight() -> None:
    one = sample("lab/kernelci.txt")
    assert [event.t_ns // 10**6 for event in one.timeline.events] == [0, 1800, 2000, 2010, 2050, 3000, 3800]
    # An old kernel does not name its init.
    assert phases_ms(one) == {"U-Boot": 2010.0, "kernel": 990.0, "user space, as far as logged": 800.0}


@pytest.mark.parametrize(
    "text",
    ["x\n", '- {"dt": "2024-03-04T10:00:00.000000", "lvl": "info", "msg": "start"}\n', '- {"dt": "x'],
)
def test_a_log_without_a_board_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="expected lines of a board"):
        read_text(lava.IMPORTER, text)


def test_a_record_that_is_cut_is_left_out_with_a_note() -> None:
    text = (
        DATA / "lab" / "lava.yaml"
    ).read_text() + '- {"dt": "2024-03-05T00:00:04.000000", "lvl": "target", "msg": "cu'
    (note,) = [note for note in recording_of(text.encode()).notes if "left out" in note]
    assert note.startswith("1 of 49 lines left out: no line of this format")
