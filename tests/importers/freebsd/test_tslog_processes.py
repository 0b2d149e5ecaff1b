"""Processes of TSLOG: their names and their ends."""

from bootlab.importers.freebsd.tslog_processes import read_lives
from bootlab.importers.freebsd.tslog_records import TslogProcess
from tests.importers.freebsd.rows import own_ns, rows


def test_names_of_processes_and_their_ends() -> None:
    table = [
        TslogProcess(1, 0, 5, 0, "/sbin/init", ""),
        TslogProcess(2, 0, 6, 0, "", ""),
        TslogProcess(10, 1, 100, 300, "", "/etc/rc"),
        TslogProcess(11, 10, 110, 400, "", ""),
        TslogProcess(12, 11, 120, 0, "sleep", ""),
        TslogProcess(12, 1, 130, 140, "again", ""),
        TslogProcess(13, 13, 150, 160, "own", ""),
    ]
    lives = read_lives(table, user_start=None, end=500)
    assert [(one.name, one.parent, one.start, one.end) for one in lives] == [
        ("/sbin/init", -1, 100, 500), ("/etc/rc", 0, 100, 300), ("/etc/rc", 1, 110, 300), ("sleep", 2, 120, 300),
        ("own", -1, 150, 160),
    ]  # fmt: skip


def test_programs_that_begin_when_the_log_is_read_keep_their_places() -> None:
    programs = ("10 1 100 0", "sh"), ("11 10 110 0", "late"), ("12 10 120 5000", "sysctl"), ("13 12 130 140", "sed")
    table = "".join(f'{numbers} "{name}" ""\n' for numbers, name in (*programs, ("1 0 200 0", "init")))
    boot = rows(table)
    assert own_ns(boot) == {"processes;sh": 10, "processes;sh;late": 10}
