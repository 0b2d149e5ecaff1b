"""Why a guest says nothing: the driver, the word on the command line, or the node that init writes to."""

from bootlab.measure.causes.console import find_console_cause
from bootlab.measure.causes.kernel_options import KernelOptions
from bootlab.system import Booted, Kernel, Machine, MachineType, System

DRIVER = ("TTY", "SERIAL_8250", "SERIAL_8250_CONSOLE")
NO_CONSOLE = "Warning: unable to open an initial console.\n"


def on(*names: str) -> KernelOptions:
    return KernelOptions(dict.fromkeys(names, "y"))


def system(cmdline: str = "console=ttyS0", kind: MachineType = MachineType.Q35) -> System:
    machine, kernel = Machine(type=kind), Kernel(package="linux", cmdline=cmdline)
    return System(name="silent", machine=machine, kernel=kernel, booted=Booted(mark="ready"))


def cause(console: str, options: KernelOptions, asked: System) -> str:
    return find_console_cause(asked, console, options, None) or ""


def test_a_driver_that_is_off_comes_first() -> None:
    said = cause("", on("TTY", "PRINTK"), system(cmdline=""))
    assert said.startswith("the kernel has no driver for the console: ")
    assert "CONFIG_SERIAL_8250 and CONFIG_SERIAL_8250_CONSOLE are off" in said


def test_another_console_than_the_one_that_is_read_is_named() -> None:
    arm = on("TTY", "SERIAL_AMBA_PL011", "SERIAL_AMBA_PL011_CONSOLE", "PRINTK")
    said = cause("", arm, system("console=tty0 console=hvc0,9600", MachineType.VIRT))
    assert said == "the kernel's console is hvc0, and what is read is ttyAMA0: console=ttyAMA0 on the command line"


def test_without_a_word_the_screen_is_the_console_where_there_is_one() -> None:
    assert "a kernel's first choice is its screen: console=ttyS0" in cause("", on(*DRIVER, "VT", "PRINTK"), system(""))
    assert cause("", on(*DRIVER, "PRINTK"), system("")) == ""


def test_a_kernel_without_printk_cannot_say_what_happened() -> None:
    assert "the kernel cannot say what happened: CONFIG_PRINTK is off" in cause("", on(*DRIVER), system())
    assert cause("", on(*DRIVER, "PRINTK"), system()) == ""


def test_a_guest_that_spoke_has_a_console() -> None:
    assert cause("Linux version 6.1\n", on(), system()) == ""


def test_a_root_without_the_node_needs_devtmpfs() -> None:
    said = cause(NO_CONSOLE, on("TTY", "DEVTMPFS"), system())
    assert said.startswith("init has no console, because its root has no /dev/console: CONFIG_DEVTMPFS_MOUNT is off")
    assert cause(NO_CONSOLE, on("TTY", "DEVTMPFS", "DEVTMPFS_MOUNT"), system()) == ""
