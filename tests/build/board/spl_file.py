"""A file of SPL's, out of the patch that brings it, compiled for this host behind what it uses of U-Boot."""

import subprocess
from pathlib import Path


def compile_spl_file(patch: Path, name: str, around: Path, folder: Path, *, sanitized: bool = False) -> Path:
    """Return a program in `folder`: `around`, with main() and what U-Boot has, and behind it a file of the patch.

    A mark is a line on standard output, in place of the board's NOP.
    """
    added = patch.read_text().partition(f"+++ b/common/spl/{name}\n")[2].partition("\n--- ")[0]
    lines = [line[1:] for line in added.splitlines()[1:] if not line.startswith(("+#include", " "))]
    head, _, rest = "\n".join(lines).partition("static void mark(const char *name)\n{\n")
    text = head + 'static void mark(const char *name)\n{\n\tprintf("mark %s\\n", name);\n}' + rest.partition("\n}")[2]
    source, program = folder / "spl.c", folder / "spl"
    source.write_text(around.read_text() + text)
    checks = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if sanitized else []
    subprocess.run(["cc", "-w", "-O1", *checks, "-fno-pie", "-no-pie", "-o", program, source], check=True)
    return program
