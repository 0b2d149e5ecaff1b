"""What the start of a program costs by how it is linked: hash style, binding, number of libraries, static.

The same functions, in 16 libraries or 4 or in the program itself, each library with 500 functions of which the program
calls a tenth: what a program of systemd's is like. Instructions a start, from two marks around ten starts.
"""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from bootlab.build.cache import Cache
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.system import read_system

pytestmark = [pytest.mark.bench, pytest.mark.boot]

STARTS: Final = 10
FUNCTIONS: Final = 8000
CALLED: Final = 800
KINDS: Final = {
    "static": (0, ("-static", "-no-pie")),
    "one": (1, ("-Wl,--hash-style=gnu",)),
    "four": (4, ("-Wl,--hash-style=gnu",)),
    "sixteen": (16, ("-Wl,--hash-style=gnu",)),
    "sixteen-sysv": (16, ("-Wl,--hash-style=sysv",)),
    "sixteen-now": (16, ("-Wl,--hash-style=gnu", "-Wl,-z,now")),
    "sixteen-sysv-now": (16, ("-Wl,--hash-style=sysv", "-Wl,-z,now")),
}
"""Kind -> libraries, and what the linker is told."""


def _functions(numbers: range) -> str:
    return "".join(f"int a_function_of_some_library_{one}(void) {{ return {one}; }}\n" for one in numbers)


def _build(folder: Path, kind: str) -> list[Path]:
    libraries, options = KINDS[kind]
    called = range(0, FUNCTIONS, FUNCTIONS // CALLED)
    calls = "".join(f"int a_function_of_some_library_{one}(void);\n" for one in called)
    calls += (
        f"int main(void) {{ return ({' + '.join(f'a_function_of_some_library_{one}()' for one in called)}) == 0; }}\n"
    )
    (folder / "main.c").write_text(calls + ("" if libraries else _functions(range(FUNCTIONS))))
    made, program = [], folder / kind
    share = FUNCTIONS // libraries if libraries else 0
    for number in range(libraries):
        source, library = folder / f"{kind}-{number}.c", folder / f"lib{kind}{number}.so"
        source.write_text(_functions(range(number * share, (number + 1) * share)))
        subprocess.run(
            ["gcc", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", *options, "-o", library, source],
            check=True,
        )
        made.append(library)
    source = folder / "main.c"
    subprocess.run(["gcc", "-O1", *options, "-Wl,-rpath,/lib", "-o", program, source, *made], check=True)
    return [program, *made]


def test_a_start_by_how_it_is_linked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {f"/lib/{one.name}": one for kind in KINDS for one in _build(tmp_path, kind)}
    for name in ("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"):
        files[name] = Path(name).resolve()
    starts = "".join(
        f"bootlab-mark {kind}-begin\n" + f"/lib/{kind} || echo failed: {kind}\n" * STARTS + f"bootlab-mark {kind}-end\n"
        for kind in KINDS
    )
    # The first start of each also reads its pages for the first time; here that is memory.
    (tmp_path / "init").write_text(
        f"#!/bin/busybox sh\nexport PATH=/bin:/sbin\n{starts}bootlab-mark ready\nreboot -f\n"
    )
    (tmp_path / "init").chmod(0o755)
    listed = "".join(f'"{path}" = "{file}"\n' for path, file in files.items())
    (tmp_path / "linking.toml").write_text(
        'name = "linking"\n[machine]\ntype = "q35"\ncpu = "max"\n[clock]\nkind = "virtual"\n'
        '[kernel]\npackage = "linux-image-cloud-amd64"\nsuite = "bookworm"\nentry = "pvh"\n'
        'cmdline = "console=ttyS0 panic=-1 quiet cryptomgr.notests"\n'
        f'[initramfs]\ninit = "init"\ncompression = "none"\n[initramfs.files]\n{listed}[booted]\nmark = "ready"\n'
    )
    prepared = prepare(Workshop(Cache.default()), read_system(tmp_path / "linking.toml"))
    (tmp_path / "boot").mkdir()
    record = boot(prepared, tmp_path / "boot")
    assert "failed: " not in (tmp_path / "boot/console.log").read_text()
    us = {kind: (record.marks[f"{kind}-end"] - record.marks[f"{kind}-begin"]) // STARTS // 1000 for kind in KINDS}
    with capsys.disabled():
        print(f"\n{record.hashes}")
        for kind, spent_us in us.items():
            print(f"{kind:20} {spent_us:8,} us a start")
    assert us["static"] < us["one"] < us["sixteen"] < us["sixteen-sysv"]
