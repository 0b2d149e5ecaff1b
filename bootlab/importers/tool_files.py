"""Files that only the tool that wrote them can read: what they are, and the command that makes text of them.

The command's text is what an importer reads; where the tool is not there, the command is the hint.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ToolFile:
    """A kind of such a file. `argv` goes before its path; `package` is Debian's that holds the tool."""

    title: str
    argv: tuple[str, ...]
    package: str

    def command(self, name: str) -> str:
        """Return the command line that makes text of the file `name`."""
        return f"{' '.join(self.argv)} {name}"


_BY_MAGIC: Final = {
    b"\x17\x08Dtracing": ToolFile("trace-cmd's trace.dat", ("trace-cmd", "report", "-i"), "trace-cmd"),
    b"PERFILE2": ToolFile("perf's perf.data", ("perf", "script", "-i"), "linux-perf"),
}
LONGEST_MAGIC: Final = max(map(len, _BY_MAGIC))


def tool_file(data: bytes) -> ToolFile | None:
    """Return what a file that begins so is; None for one that needs no tool."""
    return next((kind for magic, kind in _BY_MAGIC.items() if data.startswith(magic)), None)
