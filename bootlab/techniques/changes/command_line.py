"""Words for the kernel, put at the end of its command line, and what techniques ask of the words that are there.

A word that is there already is not put there twice; the technique then does not apply.
"""

import re
from collections.abc import Callable

from bootlab.errors import InputError
from bootlab.system import System, cmdline_value
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Applies, Change, Layer, everywhere

BLACKLIST = "initcall_blacklist="


def kernel_words(words: str, applies: Applies = everywhere) -> Change:
    """Return the change that adds fixed `words` to the kernel command line."""

    def check(system: System, measured: Measured) -> str | None:
        if has_words(system, words):
            return f"the command line has {words} already"
        return applies(system, measured)

    return Change(Layer.CMDLINE, words, lambda system, measured: system.with_cmdline(*words.split()), check)


def measured_words(
    knob: str,
    words: Callable[[System, Measured], str | None],
    missing: str,
    applies: Applies = everywhere,
) -> Change:
    """Return the change whose words hold a value of the baseline boot; `missing` says that it has none."""

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
            raise InputError(missing)
        return system.with_cmdline(*wanted.split())

    return Change(Layer.CMDLINE, knob, apply, check)


def has_words(system: System, words: str) -> bool:
    """Return whether every one of `words` is on the system's command line."""
    return set(words.split()) <= set(system.kernel.cmdline.split())


def word_value(system: System, key: str) -> str | None:
    """Return the last value of `key=value` on the command line, or None."""
    return cmdline_value(system.kernel.cmdline, key)


def blacklisted(system: System) -> set[str]:
    """Return the initcalls that the command line skips already."""
    words = [word.removeprefix(BLACKLIST) for word in system.kernel.cmdline.split() if word.startswith(BLACKLIST)]
    return {name for word in words for name in re.split(",", word) if name}


def x86_only(system: System, measured: Measured) -> str | None:
    """Say why an x86 option does nothing on another architecture."""
    arch = system.machine.arch
    return None if arch == "x86_64" else f"the option exists on x86-64 only; this system is {arch}"
