"""Functions out of the map that lld writes, as MapFile.cpp lays it out."""

from bootlab.symbols.lld_map import mapped_symbols

MAP = """\
             VMA              LMA     Size Align Out     In      Symbol
         1001000          1001000       24     4 .text
         1001000          1001000       10     4         main.o:(.text.main)
         1001000          1001000       10     1                 main
         1001010          1001010        8     4         libc.a(memcpy.o):(.text.memcpy)
         1001018          1001018        c     4         libc.a(quick.o):(.text..Lquick)
         2000000          2000000        8     8         main.o:(.data.counter)
"""


def test_symbols_come_first_and_sections_stand_for_functions_without_one() -> None:
    assert list(mapped_symbols(MAP)) == [
        (0x1001000, 0x10, "main"),
        (0x1001010, 0x8, "memcpy"),
        (0x1001018, 0xC, "quick"),
    ]


def test_another_text_has_none() -> None:
    assert list(mapped_symbols("Archive member included to satisfy reference by file (symbol)\n")) == []
