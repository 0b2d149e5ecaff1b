"""What command-line techniques have in common: words for the kernel, put at the end of its command line.

A word that is there already is not put there twice; the technique then does not apply.
"""

import re
from collections.abc import Callable

from bootlab.errors import InputError
from bootlab.system import System
from bootlab.techniques.evidence import Prove
from bootlab.techniques.technique import Layer, Measured, Removes, Risk, Source, Technique

Applies = Callable[[System, Measured], str | None]

NONE_PUBLISHED = "none published"
BLACKLIST = "initcall_blacklist="


def kernel_words(
    *,
    name: str,
    words: str,
    summary: str,
    mechanism: str,
    cost: str,
    risk: Risk,
    sources: tuple[Source, ...],
    prove: Prove,
    applies: Applies = lambda system, measured: None,
    watch: tuple[str, ...] = (),
    removes: Removes | None = None,
) -> Technique:
    """Return the technique that adds fixed `words` to the kernel command line."""

    def check(system: System, measured: Measured) -> str | None:
        if has_words(system, words):
            return f"the command line has {words} already"
        return applies(system, measured)

    return Technique(
        name=name,
        layer=Layer.CMDLINE,
        summary=summary,
        mechanism=mechanism,
        knob=words,
        cost=cost,
        risk=risk,
        sources=sources,
        apply=lambda system, measured: system.with_cmdline(*words.split()),
        prove=prove,
        applies=check,
        watch=watch,
        removes=removes,
    )


def measured_words(
    *,
    name: str,
    knob: str,
    words: Callable[[System, Measured], str | None],
    missing: str,
    summary: str,
    mechanism: str,
    cost: str,
    risk: Risk,
    sources: tuple[Source, ...],
    prove: Prove,
    applies: Applies = lambda system, measured: None,
    watch: tuple[str, ...] = (),
    removes: Removes | None = None,
) -> Technique:
    """Return the technique whose words hold a value of the baseline boot; `missing` says that it has none."""

    def check(system: System, measured: Measured) -> str | None:
        wanted = words(system, measured)
        if wanted is None:
            return missing
        if has_words(system, wanted):
            return f"the command line has {wanted} already"
        return applies(system, measured)

    def apply(system: System, measured: Measured) -> System:
        wanted = words(system, measured)
        if wanted is None:
            raise InputError(f"{name}: {missing}")
        return system.with_cmdline(*wanted.split())

    return Technique(
        name=name,
        layer=Layer.CMDLINE,
        summary=summary,
        mechanism=mechanism,
        knob=knob,
        cost=cost,
        risk=risk,
        sources=sources,
        apply=apply,
        prove=prove,
        applies=check,
        watch=watch,
        removes=removes,
    )


def has_words(system: System, words: str) -> bool:
    """Return whether every one of `words` is on the system's command line."""
    return set(words.split()) <= set(system.kernel.cmdline.split())


def option(system: System, key: str) -> str | None:
    """Return the last value of `key=value` on the command line, or None."""
    values = [word.partition("=")[2] for word in system.kernel.cmdline.split() if word.startswith(f"{key}=")]
    return values[-1] if values else None


def blacklisted(system: System) -> set[str]:
    """Return the initcalls that the command line skips already."""
    words = [word.removeprefix(BLACKLIST) for word in system.kernel.cmdline.split() if word.startswith(BLACKLIST)]
    return {name for word in words for name in re.split(",", word) if name}


def x86_only(system: System, measured: Measured) -> str | None:
    """Say why an x86 option does nothing on another architecture."""
    arch = system.machine.arch
    return None if arch == "x86_64" else f"the option exists on x86-64 only; this system is {arch}"


def one_vcpu_only(system: System, measured: Measured) -> str | None:
    """Say why an option that gives up per-CPU hardware is not for a machine with several vCPUs."""
    if (reason := x86_only(system, measured)) is not None:
        return reason
    vcpus = system.machine.vcpus
    return None if vcpus == 1 else f"the machine has {vcpus} vCPUs, and each needs it"


def ran(initcall: str) -> Applies:
    """Return the check that the baseline boot ran `initcall`; a boot that saw no initcalls at all leaves it open."""

    def applies(system: System, measured: Measured) -> str | None:
        if initcall in blacklisted(system):
            return f"the command line skips {initcall} already"
        if measured.initcalls_ns and initcall not in measured.initcalls_ns:
            return f"the baseline boot ran no initcall {initcall}"
        return None

    return applies


def has_uart_option(system: System, measured: Measured) -> str | None:
    """Say why the 8250 options do not matter: ports are looked for at fixed places on x86-64 only (asm/serial.h)."""
    arch = system.machine.arch
    if arch != "x86_64":
        return f"the kernel looks for serial ports that nothing names on x86-64 only; this system is {arch}"
    return None
