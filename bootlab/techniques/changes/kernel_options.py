"""The kernel built with other options of its configuration, and the proof that the image which booted has them.

A technique names all that it wants, by the names of today. Only what is not so already is asked for, by the name that
the kernel at hand has for it: an option that this kernel has never heard of, or that is off anyway, is not put into the
system.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bootlab.build.source.renamed_options import earlier_names, find_new_name, later_names
from bootlab.errors import InputError
from bootlab.system import System
from bootlab.techniques.model.evidence import Measured, Proof
from bootlab.techniques.model.proofs import configured
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Applies, Change, Layer, Technique, Text, everywhere

NOT_BUILT = "the kernel is not built from source (kernel.build)"
_MOST_NAMED = 3
SHA256_DRIVERS = {"x86_64": ("CRYPTO_SHA256_SSSE3", "sha256_ssse3"), "aarch64": ("CRYPTO_SHA2_ARM64_CE", "sha2_ce")}
"""Architecture -> option and module of the driver that hashes by the processor's own instructions."""
_ARCHITECTURES = {"x86_64": "x86-64", "aarch64": "arm64", "armv7": "32-bit arm", "riscv64": "riscv64"}


def _no_more(system: System, measured: Measured) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class WantedOptions:
    """The options that a technique wants a kernel to be built with, and when it can have them."""

    options: Mapping[str, str]
    gates: Mapping[str, str] = field(default_factory=dict)
    """What must be set for the others to be asked for at all (EXPERT); on their own no technique."""
    kept_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Option -> those that select it; while one of them is on, the option is left as it is."""
    needs: tuple[str, ...] = ()
    """Options without which the technique means nothing."""
    drops: tuple[str, ...] = ()
    """Options that no longer exist with these, so an earlier step's wish is forgotten."""
    arch: tuple[str, ...] = ()
    """The only architectures where the options can be had so; empty for all."""
    applies: Applies = everywhere
    more: Callable[[System, Measured], Mapping[str, str]] = _no_more
    """Options that depend on the system, beside the others."""


def rebuilt_kernel(
    name: str,
    text: Text,
    wanted: WantedOptions,
    *,
    shows: Proof | None = None,
    removes: Removes | None = None,
) -> Technique:
    """Return the technique that builds the kernel with what is `wanted`; `shows` as in kernel_proof."""
    return Technique(name, text, kernel_change(wanted), kernel_proof(wanted, shows), removes)


def kernel_change(wanted: WantedOptions, *, adds: bool = False) -> Change:
    """Return the change that builds the kernel with what is `wanted`; `adds` as in Change."""

    def check(system: System, measured: Measured) -> str | None:
        arch = wanted.arch
        if system.kernel.build is None:
            return NOT_BUILT
        if arch and system.machine.arch not in arch:
            return f"only {' and '.join(_ARCHITECTURES[one] for one in arch)}; this system is {system.machine.arch}"
        if known(system, measured):
            for option in wanted.needs:
                if option_value(system, measured, option) == "n":
                    return f"{option} is off, and without it this means nothing"
        mine = _asked(wanted, system, measured)
        if all(option_value(system, measured, option) == value for option, value in mine.items()):
            return already(mine)
        return wanted.applies(system, measured)

    def apply(system: System, measured: Measured) -> System:
        if (reason := check(system, measured)) is not None:
            raise InputError(reason)
        gates = _as_known(wanted.gates, system, measured)
        asked = {**gates, **_asked(wanted, system, measured), **wanted.more(system, measured)}
        return _without(system, wanted.drops).with_options(**_news(system, measured, asked))

    knob = "kernel.build.options: " + _spelled({**wanted.gates, **wanted.options})
    older = [one.old for option in wanted.options for one in earlier_names(option)]
    later = [name for option in wanted.options for name in later_names(option)]
    return Change(Layer.KERNEL, knob, apply, check, adds, (*wanted.options, *older, *later))


def kernel_proof(wanted: WantedOptions, shows: Proof | None = None) -> Proof:
    """The image that booted was built with what is `wanted`, and the one before was not.

    `shows` is what the boot itself shows beside its configuration; a boot that contradicts overrules it.
    """
    return configured({name: value for name, value in wanted.options.items() if name not in wanted.kept_by}, shows)


def known(system: System, measured: Measured) -> bool:
    """Return whether the baseline's configuration is known; without it nothing is said about an option."""
    return bool(measured.kernel_config)


def option_value(system: System, measured: Measured, option: str) -> str | None:
    """Return an option's value as the system asks for it, else as the baseline was built; `n` is off, None unknown."""
    build = system.kernel.build
    if build is not None and option in build.options:
        return build.options[option]
    return measured.kernel_config.get(option, "n") if known(system, measured) else None


def if_above(option: str, least: int) -> Applies:
    """Return the condition that a numeric option is not known to be `least` or less already."""

    def applies(system: System, measured: Measured) -> str | None:
        built = option_value(system, measured, option)
        smaller = built is not None and built.isdigit() and int(built) <= least
        return f"{option} is {built} already" if smaller else None

    return applies


def is_on(system: System, measured: Measured, option: str) -> bool:
    """Return whether an option is known to be on."""
    return _value_or_off(system, measured, option) != "n"


def choice(chosen: str, members: Iterable[str]) -> dict[str, str]:
    """Return the options that choose one member of a kconfig choice: the others are asked off, or an earlier one stays.

    kconfig takes one of them; another that somebody asked for by name would be refused.
    """
    return {chosen: "y", **{one: "n" for one in members if one != chosen}}


def off(*options: str) -> dict[str, str]:
    """Return the options, each off."""
    return dict.fromkeys(options, "n")


def already(options: Mapping[str, str]) -> str:
    """Say that the options are so already."""
    if all(value == "n" for value in options.values()):
        names = list(options)
        return f"{_listed(names)} {'is' if len(names) == 1 else 'are'} off already"
    return f"the kernel has {_spelled({name: value for name, value in options.items() if value != 'n'})} already"


def _asked(wanted: WantedOptions, system: System, measured: Measured) -> dict[str, str]:
    left = {
        option
        for option, selectors in wanted.kept_by.items()
        if any(_value_or_off(system, measured, one) != "n" and wanted.options.get(one) != "n" for one in selectors)
    }
    asked = {option: value for option, value in wanted.options.items() if option not in left}
    return _as_known(asked, system, measured)


def _as_known(options: Mapping[str, str], system: System, measured: Measured) -> dict[str, str]:
    """Return options and values by the names that the kernel at hand has for them: another version has others."""
    there = {*measured.kernel_config, *(system.kernel.build.options if system.kernel.build is not None else ())}
    known = {}
    for option, value in options.items():
        older = next((one for one in earlier_names(option) if one.old in there), None)
        newer = find_new_name(option, there)
        if older is not None:
            known[older.old] = older.renamed_value(value)
        elif newer is not None:
            known[newer.new] = newer.renamed_value(value)
        else:
            known[option] = value
    return known


def _news(system: System, measured: Measured, asked: Mapping[str, str]) -> dict[str, str]:
    assert system.kernel.build is not None
    explicit = system.kernel.build.options
    return {
        option: value
        for option, value in asked.items()
        if option in explicit or option_value(system, measured, option) != value
    }


def _without(system: System, options: Iterable[str]) -> System:
    build = system.kernel.build
    assert build is not None
    left = {option: value for option, value in build.options.items() if option not in options}
    return system.with_part("kernel", build={**dict(build), "options": left})


def _value_or_off(system: System, measured: Measured, option: str) -> str:
    return option_value(system, measured, option) or "n"


def _spelled(options: Mapping[str, str]) -> str:
    return ", ".join(f"{option}={value}" for option, value in options.items())


def _listed(names: list[str]) -> str:
    if len(names) > _MOST_NAMED + 1:
        return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
