"""What the plugin is told for a profile: the kernel's functions and their roles, hooks, struct offsets, user programs.

Pure, but for reading the kernel image itself. What this kernel has not got is left out, and the plugin does without; it
is listed in words for the user. Format: plugin/trace_format.h.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bootlab.errors import InputError
from bootlab.profile.recorded.compressed import find_kept, read_kept
from bootlab.symbols.btf import Btf, read_btf
from bootlab.symbols.functions import Function, list_functions
from bootlab.symbols.initcall_levels import read_initcall_levels
from bootlab.symbols.program import Program
from bootlab.symbols.roles import Role
from bootlab.symbols.table import SymbolTable

VERSION: Final = 7
"""Version of the decoding: with a new number, cached results are decoded again."""
FUNCTIONS: Final = "functions.txt"
"""Name of the kernel's functions file, in a boot's directory."""
DECOMPRESSOR: Final = "[decompressor]"
SPL: Final = "[SPL]"
OPENSBI: Final = "[OpenSBI]"
UBOOT: Final = "[U-Boot]"
"""Names of stages, for the config's objects and for the code that runs in them."""
DEFAULT_SPAN_NS: Final = 20_000

_HEADER = "bootlab-functions 1"
_LINE = re.compile(r"([0-9a-f]{1,16}) (\S+) (.*)")
_OBJECT_NAME = re.compile(r"[!-~]{1,64}")

# Kind of hook -> kernel function whose entry it is, by architecture where they differ.
_HOOKS: Mapping[str, Mapping[str, str] | str] = {
    "switch": {"x86_64": "__switch_to", "aarch64": "cpu_switch_to", "armv7": "__switch_to", "riscv64": "__switch_to"},
    "wake": "try_to_wake_up",
    "fork": "wake_up_new_task",
    "exec": "begin_new_exec",
    "command": "finalize_exec",
    "comm": "__set_task_comm",
    "exit": "do_exit",
    "initcall": "do_one_initcall",
    "console_initcalls": "console_init",
    "probe": "really_probe",
    "defer": "driver_deferred_probe_add",
    "module": "do_init_module",
    "unmap_module": "free_module",
    "block_issue": "blk_mq_start_request",
    "block_done": "blk_update_request",
    "map": "mmap_region",
    "map_special": "_install_special_mapping",
}
PATH_HOOKS: Mapping[str, str] = {"open": "do_filp_open", "lookup": "filename_lookup"}
"""Hooks of a profile that is to say which files are opened, or otherwise looked up: kind -> kernel function."""
_WITHOUT: Mapping[str, str] = {
    "switch": "stacks of different tasks run into one another",
    "wake": "no wakers: waits cannot be blamed",
    "fork": "no times of fork",
    "exec": "no times of exec",
    "command": "programs run without their command lines",
    "comm": "tasks keep their first name",
    "exit": "no times of exit",
    "initcall": "no initcalls",
    "console_initcalls": "no initcalls of consoles",
    "probe": "no driver probes",
    "defer": "no deferred probes",
    "module": "modules' functions have no names",
    "unmap_module": "an unloaded module's functions keep their names",
    "block_issue": "no block requests",
    "block_done": "no ends of block requests",
    "map": "user code has no file",
    "map_special": "the vDSO's code has no name",
}

# Struct of this kernel -> members that are asked for. A member that moved has a line for each of its places.
_OFFSETS: Mapping[str, tuple[str, ...]] = {
    "task_struct": (
        "comm", "pid", "tgid", "mm", "__state", "state", "on_rq", "se.sched_delayed", "real_parent", "flags",
    ),
    "linux_binprm": ("filename", "mm", "p"),
    "file": ("f_path.dentry", "f_inode"),
    "dentry": ("d_name.name", "d_parent", "d_inode"),
    "inode": ("i_ino",),
    "device": ("kobj.name", "init_name"),
    "device_driver": ("name",),
    "module": (
        "name", "kallsyms", "mem", "core_layout.base", "core_layout.size", "init_layout.base", "init_layout.size",
    ),
    "module_memory": ("base", "size"),
    "mod_kallsyms": ("symtab", "num_symtab", "strtab"),
    "request": ("cmd_flags", "__data_len", "q", "rq_disk"),
    "request_queue": ("disk",),
    "gendisk": ("disk_name",),
}  # fmt: skip
_SIZES = ("module_memory",)
# Where these members have always been. Comm, pid and state of tasks the plugin finds itself
# (plugin/profile/task_layout.h).
_WITHOUT_TYPES: Mapping[str, int] = {"module.name": 24, "device_driver.name": 0}
_WITHOUT_TYPES_32: Mapping[str, int] = {"module.name": 12, "device_driver.name": 0}


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """All that a profile needs of one kernel; depends on nothing but its image and symbols, so it can be cached."""

    functions: tuple[tuple[int, str, str], ...]
    """Link address, role and name; the number of a function is its place here."""
    hooks: Mapping[str, int]
    offsets: Mapping[str, int]
    initcall_levels: Mapping[int, str]
    """Link address of an initcall's function -> level (symbols.initcall_levels.LEVELS)."""
    missing: tuple[str, ...]
    """What this kernel has not got and what follows from that, each in words for the user."""

    @property
    def names(self) -> list[str]:
        """Function number -> name; empty where no function is."""
        return [name if role != Role.END else "" for _, role, name in self.functions]

    def as_json(self) -> dict[str, Any]:
        """Return what from_json() takes."""
        return {
            "functions": self.functions,
            "hooks": self.hooks,
            "offsets": self.offsets,
            "initcall_levels": self.initcall_levels,
            "missing": self.missing,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "KernelFacts":
        """Return the facts that as_json() made the document of. Raises KeyError, TypeError, ValueError for another."""
        return cls(
            functions=tuple((int(address), str(role), str(name)) for address, role, name in document["functions"]),
            hooks={str(key): int(value) for key, value in document["hooks"].items()},
            offsets={str(key): int(value) for key, value in document["offsets"].items()},
            initcall_levels={int(key): str(value) for key, value in document["initcall_levels"].items()},
            missing=tuple(map(str, document["missing"])),
        )


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """What a profile adds to a boot: files beside the plugin's config, and lines in it."""

    files: Mapping[str, str]
    """Name in the boot's directory -> text."""
    settings: tuple[str, ...]
    objects: Mapping[str, str]
    """Name of a user program -> its file in `files`."""

    def text(self, folder: Path) -> str:
        """Return the config's lines when `files` are in `folder`. Raises InputError for a name with a newline."""
        if "\n" in str(folder):
            raise InputError(f"{str(folder)!r}: a folder for profiles cannot have a newline in its name")
        lines = [f"functions {folder / FUNCTIONS}", *self.settings]
        lines += [f"object {name} {folder / file}" for name, file in self.objects.items()]
        return "".join(f"{line}\n" for line in lines)


def read_kernel_facts(table: SymbolTable, types_of: Path | None = None) -> KernelFacts:
    """Return what the profile needs of the kernel that `table` is of. Raises InputError when its image is gone.

    `types_of`: a file with the struct layouts of a kernel that has none in itself.
    """
    functions = list_functions(table)
    missing = []
    hooks = {}
    for kind, symbol in _HOOKS.items():
        name = symbol if isinstance(symbol, str) else symbol[table.arch]
        address = table.address(name)
        if address is None:
            missing.append(f"this kernel has no function {name}: {_WITHOUT[kind]}")
        else:
            hooks[kind] = address
    for kind, name in PATH_HOOKS.items():
        if (address := table.address(name)) is not None:
            hooks[kind] = address
    types = read_btf(table.image) or (read_btf(types_of) if types_of is not None else None)
    if types is None:
        missing.append(
            "this kernel has no types (CONFIG_DEBUG_INFO_BTF): "
            "devices, disks, user programs and functions of modules have no names"
        )
    levels = read_initcall_levels(table)
    if not levels:
        missing.append("this kernel's initcall tables were not found: initcalls have no level")
    known = _WITHOUT_TYPES_32 if table.arch == "armv7" else _WITHOUT_TYPES
    offsets = dict(known) if types is None else _offsets(types)
    return KernelFacts(tuple(functions), hooks, offsets, levels, tuple(missing))


def make_profile_config(
    facts: KernelFacts,
    *,
    span_ns: int = DEFAULT_SPAN_NS,
    programs: Mapping[str, Program] | None = None,
    stages: Mapping[str, Sequence[Function]] | None = None,
    relocate: tuple[int, int] | None = None,
    paths: bool = False,
) -> ProfileConfig:
    """Return what to write and to tell the plugin.

    `span_ns`: the shortest call that is recorded one by one. `programs`: path in the guest, or file name alone, -> its
    symbols; programs without functions count as unknown, and so do those whose name the format cannot hold.
    `stages`: name (DECOMPRESSOR and its kin) -> functions by physical address. `relocate`: address of the function that
    moves U-Boot, and where from. `paths`: record which files are opened and looked up. Raises InputError.
    """
    if span_ns < 0:
        raise InputError(f"a span of {span_ns} ns: expected 0 or more")
    files = {FUNCTIONS: functions_text(facts.functions)}
    objects = {}
    for path, program in sorted((programs or {}).items()):
        name = path if _OBJECT_NAME.fullmatch(path) else Path(path).name
        if program.functions and _OBJECT_NAME.fullmatch(name) and name not in objects:
            objects[name] = f"functions-{len(files)}.txt"
            files[objects[name]] = functions_text(program.functions)
    for name, functions in (stages or {}).items():
        if functions:
            objects[name] = f"functions-{len(files)}.txt"
            files[objects[name]] = functions_text(functions)
    settings = [f"hook {kind} {address:x}" for kind, address in facts.hooks.items() if paths or kind not in PATH_HOOKS]
    if relocate is not None:
        settings.append(f"hook relocate {relocate[0]:x} {relocate[1]:x}")
    settings += [f"offset {name} {value}" for name, value in facts.offsets.items()]
    settings.append(f"span {span_ns}")
    return ProfileConfig(files, tuple(settings), objects)


def functions_text(functions: Iterable[Function] | Iterable[tuple[int, str, str]]) -> str:
    """Return the functions file: a header, then `ADDRESS ROLE NAME` of each, by address."""
    return _HEADER + "\n" + "".join(f"{address:x} {role} {name}\n" for address, role, name in functions)


def read_functions(path: Path) -> list[tuple[int, str, str]]:
    """Return address, role and name of every line of a functions file; a function's number is its place.

    Raises InputError when it cannot be read or is no such file.
    """
    try:
        lines = read_kept(path).decode("utf-8").splitlines()
    except (OSError, ValueError) as error:
        reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else getattr(error, "strerror", None)
        raise InputError(f"{find_kept(path)}: {reason or error}, expected the functions of a profile") from error
    if not lines or lines[0] != _HEADER:
        raise InputError(f"{path}: not a functions file of this version of bootlab")
    found = [_LINE.fullmatch(line) for line in lines[1:]]
    bad = next((number for number, line in enumerate(found, start=2) if line is None), None)
    if bad is not None:
        raise InputError(f"{path}:{bad}: not a line of a functions file: {lines[bad - 1][:60]!r}")
    return [(int(line[1], 16), line[2], line[3]) for line in found if line is not None]


def function_names(functions: Sequence[tuple[int, str, str]]) -> list[str]:
    """Return function number -> name; empty where no function is."""
    return [name if role != Role.END else "" for _, role, name in functions]


def _offsets(types: Btf) -> dict[str, int]:
    found = {}
    for struct, members in _OFFSETS.items():
        for member in members:
            offset = types.offset(f"{struct}.{member}")
            if offset is not None:
                found[f"{struct}.{member}"] = offset
    for struct in _SIZES:
        size = types.size(struct)
        if size is not None:
            found[struct] = size
    return found
