"""Kernel options that a boot misses, named from its console: lines of real boots of a small Linux 6.12."""

from tests.measure.causes.guests import REFUSED, USUAL, Case, elf, guest, without


def test_a_guest_that_says_nothing(case: Case) -> None:
    known = without("SERIAL_8250_CONSOLE")
    assert "CONFIG_SERIAL_8250_CONSOLE is off" in case.cause("", known, guest(elf()))
    assert "CONFIG_TTY" in case.cause("", without("TTY"), guest(elf()))
    assert "console=ttyS0 on the command line" in case.cause("", USUAL, guest(elf()), cmdline="console=ttyAMA0")
    assert "names no console" in case.cause("", (*USUAL, "VT"), guest(elf()), cmdline="panic=-1")
    assert "names no console" not in case.cause("", USUAL, guest(elf()), cmdline="panic=-1")
    assert "CONFIG_PRINTK is off" in case.cause("", without("PRINTK"), guest(elf()))
    said = "Warning: unable to open an initial console.\n"
    assert "the archive has no /dev/console" in case.cause(said, USUAL, guest(elf()))


def test_what_is_on_is_not_blamed(case: Case) -> None:
    assert case.cause(REFUSED.format(-8), USUAL, guest(elf())) == ""
    assert case.cause("", USUAL, guest(elf())) == ""


def test_a_kernel_that_is_built_is_told_how(case: Case) -> None:
    built = {"kernel": {"build": {"package": "linux-source-6.12"}, "cmdline": "console=ttyS0"}}
    cause = case.cause("", without("SERIAL_8250_CONSOLE"), guest(elf()), **built)
    assert "kernel.build.options = { SERIAL_8250_CONSOLE = true }" in cause
