"""The struct layouts of a kernel that carries none itself (CONFIG_DEBUG_INFO_BTF): asked of its compiler.

A file that names the structs is compiled as the kernel's own files were, with their types in the form that BTF has
(gcc 12 and later). The kernel stays as it is, byte for byte.
"""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from bootlab.build.kernel.objects import read_saved_command
from bootlab.errors import MissingTool
from bootlab.process import ProgramFailed, run

_LIKE = "kernel/fork"
"""An object that every kernel has; its command is what the others were compiled with too."""
_HEADERS = ("sched", "binfmts", "fs", "dcache", "device", "module", "blkdev", "blk-mq")
_STRUCTS = (
    "task_struct", "linux_binprm", "file", "dentry", "inode", "device", "device_driver", "module", "request",
    "request_queue", "gendisk",
)  # fmt: skip
_DEADLINE_S = 120.0


def compile_types(objects: Path, out: Path) -> None:
    """Write an object file whose .BTF section has the types of the kernel in an objects folder, where that works.

    symbols.btf.read_btf() reads it. A compiler or a kernel that cannot is no error: what needs the types does without.
    """
    try:
        command = read_saved_command(objects, f"{_LIKE}.o")
        with tempfile.TemporaryDirectory(prefix="bootlab-") as scratch:
            source = Path(scratch, "types.c")
            source.write_text(_source(), encoding="utf-8")
            run([*_compilation(command), "-gbtf", "-o", str(out), str(source)], deadline_s=_DEADLINE_S, cwd=objects)
    except (ProgramFailed, MissingTool, OSError, ValueError):
        out.unlink(missing_ok=True)


def _source() -> str:
    lines = [f"#include <linux/{name}.h>" for name in _HEADERS]
    # A pointer to each is enough to have it written down.
    lines += [f"struct {name} *bootlab_{name};" for name in _STRUCTS]
    lines += ["#ifdef CONFIG_KALLSYMS", "struct mod_kallsyms *bootlab_mod_kallsyms;", "#endif"]
    return "\n".join(lines) + "\n"


def _compilation(command: Iterable[str]) -> Iterator[str]:
    """Yield the words of a compilation without what it read, what it wrote and its own -g."""
    words = iter(command)
    for word in words:
        if word == "-o":
            next(words, None)
        elif not word.endswith(f"{_LIKE}.c") and not word.startswith(("-g", "-Wp,-MMD", "-Wp,-MD")):
            yield word
