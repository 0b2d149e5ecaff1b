"""Files that need the tool that wrote them: named by their magic, with the command that makes text of them."""

import pytest

from bootlab.errors import InputError
from bootlab.importers.tool_files import LONGEST_MAGIC, tool_file
from tests.importers.samples import recording_of


@pytest.mark.parametrize(
    ("data", "command"),
    [(b"\x17\x08Dtracing6\0", "trace-cmd report -i x"), (b"PERFILE2\x68\0", "perf script -i x")],
)
def test_they_are_refused_with_the_command(data: bytes, command: str) -> None:
    kind = tool_file(data[:LONGEST_MAGIC])
    assert kind is not None and kind.command("x") == command
    with pytest.raises(InputError, match=f"which only {kind.argv[0]} can read") as caught:
        recording_of(data)
    assert caught.value.hint == f"{command} | bootlab import -"


def test_text_needs_no_tool() -> None:
    assert tool_file(b"# tracer: nop\n") is None and tool_file(b"") is None
