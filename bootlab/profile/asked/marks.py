"""Kernel symbols -> the plugin's config: what it watches for, as link-time addresses (plugin/trace_format.h).

Pure. A stock kernel inlines most of what is named in its source, so a mark that another function bounds as well has a
list of symbols, best first; which one was taken is part of the result and of the config's comments.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from bootlab.errors import InputError
from bootlab.timeline import marks as m

INITCALL: Final = "initcall"
"""The plugin's name for calls of `do_one_initcall()`; their argument is the initcall's address."""
WATCH_PREFIX: Final = "watch:"

# Enough to be unlike any other function's: on x86-64 they begin with a call whose displacement is their own, on arm64
# with two NOPs, on riscv64 with four short ones. Not more on x86-64: beyond that there are absolute addresses, which
# KASLR rewrites.
_CODE_SIZE: Mapping[str, int] = {"x86_64": 8, "aarch64": 16, "armv7": 16, "riscv64": 16}
_NAME_MAX = 64
_FUNCTION_MAX = 1 << 16

# The first instruction of an image, before any symbol's own address is valid: (physical address, code; ?? is any byte).
# x86-64: the real-mode setup code, which QEMU and SeaBIOS load at 64 KiB: a short jump over the header "HdrS" at 512.
# arm64: QEMU's virt loads an Image at its text_offset above RAM; 0 becomes 2 MiB, kernels before 5.8 ask for 512 KiB.
# The header is "MZ" (ccmp or add), then a branch.
# riscv64: QEMU's virt loads an Image 2 MiB above the start of RAM, behind OpenSBI, as its header's third word asks. In
# front of that are "MZ" (a short instruction) and a branch, or without CONFIG_EFI the branch alone.
_IMAGE_START: Mapping[str, tuple[tuple[int, str], ...]] = {
    "x86_64": ((0x10200, "eb??48647253"),),
    "aarch64": ((0x40200000, "4d5a??????????14"), (0x40080000, "4d5a??????????14")),
    "riscv64": ((0x80200000, "????????????????0000200000000000"),),
    # A board's: bootlab knows where its bootloader puts the image (asked/stage_marks.py).
    "armv7": (),
}

# arm's modules lie below the kernel's own part (arch/arm/include/asm/memory.h, MODULES_VADDR), which begins at the
# configured split of the addresses; every split is a multiple of this.
_ARM_SPLIT = 0x10000000
_ARM_MODULES = 16 << 20
_ARM_START = 0xC0000000 - _ARM_MODULES

# The first serial port of every x86 machine type, as PCs have always had it.
_UART_PORT: Mapping[str, int] = {"x86_64": 0x3F8}

_KERNEL_ENTRY: Mapping[str, tuple[str, ...]] = {
    "x86_64": ("pvh_start_xen", "startup_64"),
    "aarch64": ("primary_entry", "stext"),
    "armv7": ("stext",),
    "riscv64": ("_start_kernel",),
}

# The initcalls' thread is kernel_init_freeable(): do_pre_smp_initcalls() (the early ones), smp_init(), then
# do_basic_setup(), which every stock kernel inlines; cpuset_init_smp() is the first thing that calls, driver_init() the
# second, and do_initcalls() the last. Without any of them the mark is the first early initcall.
_INITCALLS_START = ("do_basic_setup", "cpuset_init_smp", "driver_init", "do_one_initcall")
# kunit_run_all_tests() and wait_for_initramfs() follow do_basic_setup(). The latter is where unpacking is waited for,
# and user-mode helpers (request_module(), say) call it too, during the initcalls: only the call from the function named
# here counts. console_on_rootfs() comes after that wait.
_INITCALLS_END_CALLED_FROM = "kernel_init_freeable"
_INITCALLS_END = ("kunit_run_all_tests", "wait_for_initramfs")
_INITCALLS_END_LATER = ("console_on_rootfs", "prepare_namespace", "free_initmem")


class Symbols(Protocol):
    """What is needed of a kernel's symbol table; `bootlab.symbols.table.SymbolTable` has it."""

    @property
    def arch(self) -> str: ...

    def address(self, name: str) -> int | None:
        """Return the link address of a function; None for one that is not known."""
        ...

    def name_at(self, address: int) -> str | None:
        """Return the function that holds a link address; None where none is known."""
        ...

    def code(self, name: str, size: int) -> bytes | None:
        """Return the first `size` bytes of a function's code; None where they are not known."""
        ...


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """A config for the plugin.

    `symbols`: mark -> the kernel symbol it was tied to (kernel_entry has one per way of entry).
    `missing`: standard marks that this kernel has no symbol for; the boot will not have them.
    """

    text: str
    symbols: Mapping[str, tuple[str, ...]]
    missing: tuple[str, ...]


def make_plugin_config(
    symbols: Symbols,
    *,
    marks: Mapping[str, str] | None = None,
    charges: Mapping[str, int] | None = None,
    watch: Sequence[str] = (),
    stop: str | None = None,
    stages: Sequence[str] = (),
) -> PluginConfig:
    """Return the config that records the standard marks of `timeline.marks`, and more.

    `marks`: the user's own, mark -> kernel symbol. `charges`: symbol -> ns that each call takes more. `watch`: symbols;
    the mark of each is `watch:SYMBOL`. `stop`: the mark, guest mark included, that ends the boot. `stages`: lines for
    what runs before the kernel (asked/stage_marks.py). The console's lines are stamped where the machine has a port to
    see them at (x86-64).
    Raises InputError that names, by key of the system file, every symbol this kernel has not got and every name that
    the formats cannot hold.
    """
    maker = _Maker(symbols)
    maker.add_standard_marks()
    maker.add_marks({f"marks.{_toml_key(name)}": (name, symbol) for name, symbol in (marks or {}).items()})
    maker.add_marks({f"watch {symbol}": (WATCH_PREFIX + symbol, symbol) for symbol in watch})
    maker.add_first_found("calls", INITCALL, ("do_one_initcall",))
    maker.add_charges(charges or {})
    lines = [arch_line(symbols.arch, symbols.address("_text")), *stages, *maker.lines, "guestmarks"]
    if symbols.arch in _UART_PORT:
        lines.append(f"uart {_UART_PORT[symbols.arch]:x}")
    if stop is not None:
        lines.append(f"stop {stop}")
    missing = tuple(name for name in (*m.BOOT_ORDER[1:-1], m.PANIC) if name not in maker.taken)
    return PluginConfig("\n".join(lines) + "\n", {k: tuple(v) for k, v in maker.taken.items() if v}, missing)


def call_lines(symbols: Symbols, functions: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return those of these kernel functions that there are, and the lines that record every call of them by name."""
    maker = _Maker(symbols)
    found = tuple(name for name in functions if maker.add_first_found("calls", name, (name,)))
    return found, tuple(maker.lines)


def expect_ticks(config: PluginConfig) -> None:
    """Raise InputError for a kernel in which nobody knows where its ticks would be moved (skip_line)."""
    if m.INITCALLS_START not in config.symbols:
        raise InputError(
            "clock.tick_us: this kernel's symbols do not say where its initcalls begin, and its ticks are moved there",
            hint="leave it out: seeds and null changes then re-roll all but the moment of a tick",
        )


def skip_line(ns: int) -> str:
    """Return the line that moves the kernel's ticks by `ns` against its work; empty for 0.

    They are moved as its initcalls begin: an x86's local timer is set, and its ticks begin, a moment before that, in
    the same thread (setup_boot_APIC_clock()); no driver has run yet.
    """
    return f"skip {m.INITCALLS_START} {ns}\n" if ns else ""


def marks_looked_for(config: str) -> frozenset[str]:
    """Return the marks that a config names code for; a boot of its kernel reaches most of them."""
    lines = (line.split() for line in config.splitlines())
    return frozenset(words[1] for words in lines if words and words[0] in ("image", "entry", "mark"))


def arch_line(arch: str, text: int | None) -> str:
    """Return the config's first line; `text`: where the kernel is linked, None when that is not known."""
    if arch != "armv7":
        return f"arch {arch}"
    start = _ARM_START if text is None else text - text % _ARM_SPLIT - _ARM_MODULES
    return f"arch {arch} {start:x}"


class _Maker:
    def __init__(self, symbols: Symbols) -> None:
        if symbols.arch not in _IMAGE_START:
            raise InputError(f"kernel for {symbols.arch}: the plugin knows {' and '.join(_IMAGE_START)}")
        self.symbols = symbols
        self.lines: list[str] = []
        self.taken: dict[str, list[str]] = {}

    def add_standard_marks(self) -> None:
        arch = self.symbols.arch
        for address, code in _IMAGE_START[arch]:
            self.lines.append(f"image {m.IMAGE_ENTRY} {address:x} {code}")
        self.taken[m.IMAGE_ENTRY] = []
        if arch == "x86_64":
            # An uncompressed kernel has no other entry than this one; there is no decompressor in front of it.
            self.add_first_found("entry", m.IMAGE_ENTRY, ("pvh_start_xen",))
        for symbol in _KERNEL_ENTRY[arch]:
            self.add_first_found("entry", m.KERNEL_ENTRY, (symbol,))
        self.add_first_found("mark", m.START_KERNEL, ("start_kernel",))
        self.add_first_found("mark", m.INITCALLS_START, _INITCALLS_START)
        extent = self._extent(_INITCALLS_END_CALLED_FROM)
        if extent is None or not self.add_first_found("mark", m.INITCALLS_END, _INITCALLS_END, called_from=extent):
            self.add_first_found("mark", m.INITCALLS_END, _INITCALLS_END_LATER)
        if self.add_first_found("mark", m.INIT_EXEC, ("run_init_process",)):
            self.lines.append(f"user {m.FIRST_USER_INSTRUCTION} {m.INIT_EXEC}")
            self.taken[m.FIRST_USER_INSTRUCTION] = []
        self.add_first_found("mark", m.PANIC, ("panic",))

    def add_first_found(
        self, kind: str, name: str, candidates: Sequence[str], *, called_from: tuple[int, int] | None = None
    ) -> bool:
        size = _CODE_SIZE[self.symbols.arch]
        for symbol in candidates:
            address = self.symbols.address(symbol)
            code = self.symbols.code(symbol, size)
            if address is not None and code is not None and len(code) == size:
                self._add(kind, name, symbol, address, code, called_from)
                return True
        return False

    def add_marks(self, wanted: Mapping[str, tuple[str, str]]) -> None:
        mistakes, hint = [], None
        for key, (name, symbol) in wanted.items():
            if (trouble := _trouble_with_name(name)) is not None:
                mistakes.append(f"{key}: {trouble}")
            elif name in self.taken or name in m.BOOT_ORDER:
                mistakes.append(f"{key}: bootlab has a mark of this name; give yours another")
            elif not self.add_first_found("mark", name, (symbol,)):
                mistakes.append(f"{key}: this kernel has no function {symbol!r}")
                hint = "the compiler may have inlined it; the kernel's /proc/kallsyms lists what there is"
        if mistakes:
            raise InputError("\n".join(mistakes), hint=hint)

    def add_charges(self, charges: Mapping[str, int]) -> None:
        unknown = []
        for symbol, ns in charges.items():
            address = self.symbols.address(symbol)
            code = self.symbols.code(symbol, _CODE_SIZE[self.symbols.arch])
            if address is None or not code:
                unknown.append(f"clock.charges.{_toml_key(symbol)}: this kernel has no function {symbol!r}")
            else:
                self.lines.append(f"charge {symbol} {address:x} {code.hex()} {ns}")
        if unknown:
            hint = "the compiler may have inlined it; the kernel's /proc/kallsyms lists what there is"
            raise InputError("\n".join(unknown), hint=hint)

    def _add(
        self, kind: str, name: str, symbol: str, address: int, code: bytes, called_from: tuple[int, int] | None
    ) -> None:
        source = "" if called_from is None else f" from {called_from[0]:x} {called_from[1]:x}"
        self.lines.append(f"# {name}: {symbol}")
        self.lines.append(f"{kind} {name} {address:x} {code.hex()}{source}")
        self.taken.setdefault(name, []).append(symbol)

    def _extent(self, symbol: str) -> tuple[int, int] | None:
        # kallsyms has no sizes: a function ends where the next symbol begins.
        start = self.symbols.address(symbol)
        if start is None:
            return None
        steps: Iterator[int] = iter(range(start, start + _FUNCTION_MAX))
        end = next((address for address in steps if self.symbols.name_at(address) != symbol), start + _FUNCTION_MAX)
        return (start, end) if end > start else None


def _trouble_with_name(name: str) -> str | None:
    if not 1 <= len(name) <= _NAME_MAX or any(not "!" <= letter <= "~" for letter in name):
        return f"a mark's name is 1 to {_NAME_MAX} printable ASCII characters, without spaces"
    return None


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
