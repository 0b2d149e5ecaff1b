"""Why a guest said nothing, or nothing after its kernel: the console's driver, and the node that init writes to."""

from bootlab.measure.causes.guest_files import GuestFiles
from bootlab.measure.causes.kernel_options import KernelOptions
from bootlab.system import System

_NO_CONSOLE = "unable to open an initial console"
_DRIVERS = {
    "x86_64": ("ttyS0", ["TTY", "SERIAL_8250", "SERIAL_8250_CONSOLE"]),
    "aarch64": ("ttyAMA0", ["TTY", "SERIAL_AMBA_PL011", "SERIAL_AMBA_PL011_CONSOLE"]),
    "riscv64": ("ttyS0", ["TTY", "SERIAL_8250", "SERIAL_8250_CONSOLE", "SERIAL_OF_PLATFORM"]),
}


def find_console_cause(system: System, console: str, options: KernelOptions, held: GuestFiles | None) -> str | None:
    """Return why nothing, or nothing from init, came out of the console; None when that is not so or not known.

    `held` is what the initramfs carries, if that is known.
    """
    if system.machine.arch not in _DRIVERS:
        return None
    port, driver = _DRIVERS[system.machine.arch]
    if _NO_CONSOLE in console:
        if held is not None and held.complete and held.find("/dev/console") is None:
            return (
                "init has no console: the archive has no /dev/console (character device 5, 1), and the kernel mounts "
                "devtmpfs by itself on a root file system only"
            )
        blame = options.blame("TTY", "DEVTMPFS", "DEVTMPFS_MOUNT") if system.initramfs is None else None
        return blame and f"init has no console, because its root has no /dev/console: {blame}"
    if console.strip():
        return None
    if options.off(*driver):
        return f"the kernel has no driver for the console: {options.blame(*driver)}"
    words = [
        word.removeprefix("console=").split(",")[0] for word in system.kernel.cmdline.split() if "console=" in word
    ]
    if words and port not in words and "ttyS0" not in words:
        return f"the kernel's console is {words[-1]}, and what is read is {port}: console={port} on the command line"
    if not words and system.machine.arch == "x86_64" and not options.off("VT"):
        # Without virtual terminals the first serial port is the console anyway.
        return f"the command line names no console, and a kernel's first choice is its screen: console={port}"
    if options.off("PRINTK"):
        return f"the kernel cannot say what happened: {options.blame('PRINTK')}"
    return None
