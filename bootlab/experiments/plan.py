"""Plans: which techniques a trial takes, and in which order they are stacked.

The default order is that of gain, measured alone. A named plan fixes the order instead, so that somebody's published
ladder can be replayed step by step on another system.
"""

from dataclasses import dataclass

from bootlab.errors import InputError


@dataclass(frozen=True, slots=True)
class Plan:
    """`techniques` None means all; `by_gain` False keeps the order given."""

    name: str
    summary: str
    techniques: tuple[str, ...] | None
    by_gain: bool


PLANS: dict[str, Plan] = {}
"""Filled below; `bootlab techniques --plans` lists them."""


def _add(name: str, summary: str, *techniques: str, by_gain: bool = False) -> None:
    PLANS[name] = Plan(name, summary, techniques or None, by_gain)


_add("gain", "every technique alone, then those that helped in the order of their gain", by_gain=True)
_add(
    "demo",
    "ten techniques across the layers, in the order of their gain: a few minutes on two cores",
    "firmware_pvh",
    "cmdline_cryptomgr_notests",
    "cmdline_acpi_off",
    "cmdline_certs_builtin",
    "cmdline_ftrace_names",
    "cmdline_quiet",
    "cmdline_rcu_expedited",
    "cmdline_nokaslr",
    "cmdline_mitigations_off",
    "initramfs_none",
    by_gain=True,
)
# "Minimizing Linux boot times" (D. Ventura, 2024) went this way, as far as it needed no kernel build: a microVM, little
# memory, the command line word by word, and an uncompressed kernel.
_add(
    "microvm-2024",
    "the ladder of the 6 ms microVM (Ventura, 2024), in its order",
    "machine_microvm",
    "machine_memory_half",
    "cmdline_quiet",
    "cmdline_no_timer_check",
    "cmdline_cryptomgr_notests",
    "cmdline_tsc_reliable",
    "cmdline_8250_nr_uarts",
    "cmdline_pci_off",
    "cmdline_mitigations_off",
    "firmware_qboot",
    "firmware_pvh",
)


def find_plan(name: str) -> Plan:
    """Return a plan by name. Raises InputError that lists those there are."""
    try:
        return PLANS[name]
    except KeyError:
        raise InputError(f"--plan {name}: no such plan", hint=f"there are: {', '.join(sorted(PLANS))}") from None
