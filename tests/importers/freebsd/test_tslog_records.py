"""Rows of TSLOG as records."""

from bootlab.importers.freebsd.tslog_records import Record, RecordKind, TslogProcess, parse_rows
from bootlab.importers.reading.tally import Tally


def test_rows_of_records() -> None:
    dump = parse_rows(
        enumerate(
            [
                "0xffffffff81f00000 123 ENTER relocate_file1 ef->rela",
                "0x0 124 EVENT (null)",
                "FreeBSD/amd64 (host) (ttyu0)",
                '7 1 10 0 "" ""',
                '8 0 0 0 "" ""',
                '9 7 10 20 "a \\"b\\"" "/bin/"c"',
            ],
            start=1,
        ),
        Tally(),
    )
    assert dump.records == [
        Record(0xFFFFFFFF81F00000, 123, RecordKind.ENTER, "relocate_file1 ef->rela"),
        Record(0, 124, RecordKind.EVENT, "(null)"),
    ]
    assert dump.processes[0] == TslogProcess(7, 1, 10, 0, "", "")
    assert (dump.foreign, dump.first_foreign) == (2, 3)
