"""The table of docs/auditing.md on starts of a program by how it is linked: `python -m tests.bench.linking`.

The same functions, in 16 libraries or 4 or in the program itself, each library with 500 functions of which the program
calls a tenth: what a program of systemd's is like. Instructions a start, from two marks around ten starts.
"""

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.measure.record import BootRecord
from bootlab.report.parts.figures import ms
from bootlab.report.parts.markdown import markdown_table, prose
from bootlab.system import read_system
from scripts.publishing.boots_table import made_of

STARTS: Final = 10
FUNCTIONS: Final = 8000
CALLED: Final = 800


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to link the program."""

    said: str
    libraries: int
    options: tuple[str, ...]
    """What the linker is told."""


KINDS: Final[Mapping[str, Kind]] = {
    "static": Kind("static", 0, ("-static", "-no-pie")),
    "one": Kind("one library and libc", 1, ("-Wl,--hash-style=gnu",)),
    "four": Kind("four", 4, ("-Wl,--hash-style=gnu",)),
    "sixteen": Kind("sixteen", 16, ("-Wl,--hash-style=gnu",)),
    "sixteen-now": Kind("sixteen, `-z now`", 16, ("-Wl,--hash-style=gnu", "-Wl,-z,now")),
    "sixteen-sysv": Kind("sixteen, `--hash-style=sysv`", 16, ("-Wl,--hash-style=sysv",)),
    "sixteen-sysv-now": Kind(
        "sixteen, `--hash-style=sysv -z now`", 16, ("-Wl,--hash-style=sysv", "-Wl,-z,now")
    ),
}  # fmt: skip


def boot_programs(folder: Path) -> BootRecord:
    """Build and boot them all in an empty folder; return the record, with a mark before and behind each one's starts.

    Raises RuntimeError when a program failed.
    """
    files = {f"/lib/{one.name}": one for kind in KINDS for one in _build(folder, kind)}
    for name in ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"):
        files[name] = Path(name).resolve()
    starts = "".join(
        f"bootlab-mark {kind}-begin\n" + f"/lib/{kind} || echo failed: {kind}\n" * STARTS + f"bootlab-mark {kind}-end\n"
        for kind in KINDS
    )
    # The first start of each also reads its pages for the first time; here that is memory.
    (folder / "init").write_text(f"#!/bin/busybox sh\nexport PATH=/bin:/sbin\n{starts}bootlab-mark ready\nreboot -f\n")
    (folder / "init").chmod(0o755)
    listed = "".join(f'"{path}" = "{file}"\n' for path, file in files.items())
    (folder / "linking.toml").write_text(
        'name = "linking"\n[machine]\ntype = "q35"\ncpu = "max"\n[clock]\nkind = "virtual"\n'
        '[kernel]\npackage = "linux-image-cloud-amd64"\nsuite = "bookworm"\nentry = "pvh"\n'
        'cmdline = "console=ttyS0 panic=-1 quiet cryptomgr.notests"\n'
        f'[initramfs]\ninit = "init"\ncompression = "none"\n[initramfs.files]\n{listed}[booted]\nmark = "ready"\n'
    )
    prepared = prepare(Workshop(Cache.default()), read_system(folder / "linking.toml"))
    (folder / "boot").mkdir()
    record = boot(prepared, folder / "boot")
    said = (folder / "boot/console.log").read_text(errors="replace")
    if record.ready_ns is None or "failed: " in said:
        raise RuntimeError(f"{record.outcome.value}: {record.detail}\n{said}")
    return record


def a_start_ns(record: BootRecord) -> dict[str, int]:
    """Return kind -> ns of a start, of the virtual clock."""
    return {kind: (record.marks[f"{kind}-end"] - record.marks[f"{kind}-begin"]) // STARTS for kind in KINDS}


def linking_table(record: BootRecord) -> str:
    """Return the table, and below it what all of it was made of."""
    rows = [[KINDS[kind].said, ms(spent_ns)] for kind, spent_ns in a_start_ns(record).items()]
    what = f"One boot, {STARTS} starts each; {FUNCTIONS:,} functions of which each program calls {CALLED:,}"
    told = f"{what}; {_version('gcc')}; {_version('ldd')}."
    return f"{markdown_table(['linked', 'ms a start>'], rows)}\n\n{prose(told)}\n\n{made_of([('', [record])])}"


def _version(program: str) -> str:
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]


def _functions(numbers: range) -> str:
    return "".join(f"int a_function_of_some_library_{one}(void) {{ return {one}; }}\n" for one in numbers)


def _build(folder: Path, name: str) -> list[Path]:
    kind = KINDS[name]
    called = range(0, FUNCTIONS, FUNCTIONS // CALLED)
    calls = "".join(f"int a_function_of_some_library_{one}(void);\n" for one in called)
    calls += (
        f"int main(void) {{ return ({' + '.join(f'a_function_of_some_library_{one}()' for one in called)}) == 0; }}\n"
    )
    (folder / "main.c").write_text(calls + ("" if kind.libraries else _functions(range(FUNCTIONS))))
    made, program = [], folder / name
    share = FUNCTIONS // kind.libraries if kind.libraries else 0
    for number in range(kind.libraries):
        source, library = folder / f"{name}-{number}.c", folder / f"lib{name}{number}.so"
        source.write_text(_functions(range(number * share, (number + 1) * share)))
        subprocess.run(
            ["gcc", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", *kind.options, "-o", library, source],
            check=True,
        )
        made.append(library)
    source = folder / "main.c"
    subprocess.run(["gcc", "-O1", *kind.options, "-Wl,-rpath,/lib", "-o", program, source, *made], check=True)
    return [program, *made]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(linking_table(boot_programs(Path(place))))
