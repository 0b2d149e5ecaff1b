"""A small kernel that restores another one's image: Linux 6.12 that of Debian 12's 6.1, and starts that one without it.

Each fault is booted: the small kernel looks at the image before it takes it, and where it takes none it enters the
system's own kernel by kexec in the same power-on.
"""

from pathlib import Path

import pytest

from bootlab.sources import EXAMPLES
from tests.boot.verbs.test_power_on import COMMON, SLEEPER, SLEEPER_INIT, Boot, boots_of, power_on

pytestmark = [pytest.mark.boot, pytest.mark.network, pytest.mark.kernel]

# Of ACPI's control register, which QEMU has at 0x604, the lowest bit: the firmware has handed ACPI to the kernel.
ACPI_C = """#include <stdio.h>
#include <sys/io.h>

int main(void)
{
	if (iopl(3))
		return 1;
	return printf("%d\\n", inw(0x604) & 1) < 0;
}
"""
FACTS = """bootlab-mark ready
echo "bootlab: fact acpi $(/sbin/acpi)"
echo "bootlab: fact memory_map $(cat /sys/firmware/memmap/*/* | md5sum | cut -c1-32)"
echo "bootlab: fact release $(uname -r)"
"""
RESTORER = """
[restorer.kernel]
entry = "pvh"
cmdline = "console=ttyS0 panic=-1 quiet noresume resume=/dev/vdb root=/dev/vda rootfstype=ext4"
[restorer.kernel.build]
package = "linux-source-6.12"
suite = "trixie"
base = "tinyconfig"
fragments = ["restorer.config"]
[restorer.initramfs]
mount_root = true
sleep_agent = true
compression = "none"
"""


@pytest.fixture(scope="module")
def restored(tmp_path_factory: pytest.TempPathFactory) -> Boot:
    folder = tmp_path_factory.mktemp("restored")
    (folder / "init").write_text(SLEEPER_INIT.replace("bootlab-mark ready\n", FACTS))
    (folder / "acpi.c").write_text(ACPI_C)
    (folder / "needed").write_text("needed\n" * 1000)
    (folder / "restorer.config").write_bytes((EXAMPLES / "persistence/restorer.config").read_bytes())
    text = 'name = "restored"' + COMMON.replace("WORDS", "rootfstype=ext4 rw swiotlb=noforce")
    # Its own initramfs only starts it cold.
    text += (
        SLEEPER.replace("sleep_agent = true\n", "", 1).replace("files = {", 'files = { "sbin/acpi" = "acpi.c",')
        + RESTORER
    )
    (folder / "restored.toml").write_text(text)
    without = text.replace('"restored"', '"without"').replace("[rootfs]\n", '[rootfs]\nwithout = ["/boot/vmlinuz"]\n')
    (folder / "without.toml").write_text(without)
    return boots_of(folder)


def test_a_small_kernel_restores_another_ones_image(restored: Boot) -> None:
    cold = restored("restored", "cold")
    one, again = (restored("restored", "hibernated") for _ in range(2))
    assert one["outcome"] == "ready" and power_on(one) == ("image", None), one["detail"]
    assert one["marks"] == again["marks"] and one["key"] == again["key"]
    assert one["marks"]["init_exec"] < one["marks"]["resuming"] < one["marks"]["woke"] < one["marks"]["ready"]
    assert one["facts"]["starts"] == "1" and "kexec" not in one["marks"]
    # What woke is the other kernel, with its memory map, and ACPI, which the small one has not, is on again.
    assert one["facts"]["release"].startswith("6.1.") and one["facts"]["acpi"] == "1"
    for fact in ("release", "memory_map", "acpi"):
        assert one["facts"][fact] == cold["facts"][fact], fact
    assert one["hashes"]["kernel"] != cold["hashes"]["kernel"] and one["hashes"]["rootfs"] == cold["hashes"]["rootfs"]


@pytest.mark.parametrize(
    ("fault", "refused"),
    [
        ("other-kernel", "it is of another kernel"),
        ("image-cut", "the kernel does not take it"),
        ("root-changed", "changed since it was made: the file system on /dev/vda"),
        ("no-image", None),
    ],
)
def test_without_an_image_that_it_may_take_it_enters_the_systems_own_kernel(
    restored: Boot, fault: str, refused: str | None
) -> None:
    record = restored("restored", f"hibernated:{fault}")
    assert record["outcome"] == "ready" and "woke" not in record["marks"], record["detail"]
    said = record["power_on"]["refused"]
    assert said is None if refused is None else said.startswith(refused)
    assert record["marks"]["kexec"] < record["marks"]["root_init"] < record["marks"]["ready"]
    assert record["facts"]["release"].startswith("6.1.")
    assert record["facts"]["starts"] == "2", "it was started again, after the start that was put to sleep"
    # So an image that this start makes is of the memory map that the small kernel will see again.
    assert record["facts"]["memory_map"] == restored("restored", "cold")["facts"]["memory_map"]


def test_where_the_systems_own_kernel_is_not_there_it_says_so(restored: Boot) -> None:
    record = restored("without", "hibernated:no-image")
    assert record["outcome"] == "not ready"
    assert "the system's own cannot be entered" in record["detail"], record["detail"]


def test_the_example_is_sooner_there_than_by_its_own_kernel(tmp_path: Path) -> None:
    boot = boots_of(EXAMPLES / "persistence", tmp_path / "runs")
    small, own = boot("restored", "hibernated"), boot("hibernated", "hibernated")
    assert power_on(small) == power_on(own) == ("image", None)
    assert small["marks"]["resuming"] < 0.2 * own["marks"]["resuming"]
    assert small["marks"]["ready"] < own["marks"]["ready"]
