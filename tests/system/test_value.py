"""Systems as values: parts that exclude each other, changes, and keys that are documented."""

from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.system import System, read_system
from tests.system.files import GOOD, write


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("image = ", "image = 3 #"), "kernel.image"),
        (('image = "vmlinuz"', 'image = "gone"'), "kernel.image: no such file"),
        (('image = "vmlinuz"', 'image = "vmlinuz"\npackage = "p"'), "exactly one of image"),
        (('image = "vmlinuz"', ""), "exactly one of image"),
        (('type = "q35"', 'type = "virt"\nfirmware = "qboot"'), "qboot"),
        (('image = "vmlinuz"', 'image = "vmlinuz"\nentry = "pvh"\n'), ""),
        (('mark = "ready"', 'mark = "ready"\nconsole = "x"'), "exactly one of mark"),
        (('mark = "ready"', 'mark = "ready"\n[check]\nmark = "ready"'), "check.mark is booted.mark"),
        (("[booted]", '[timings.a]\nmark = "x"\nafter = "x"\n[booted]'), "timings.a: mark and after are both x"),
        (("[booted]", '[timings.a]\nmark = "power_on"\n[booted]'), "timings.a: mark and after are both power_on"),
        (("[booted]", '[timings.a]\nmark = "power_on"\nafter = "x"\n[booted]'), "timings.a: mark is power_on, where"),
        (("[booted]", '[timings."a b"]\nmark = "x"\n[booted]'), "is no mark's name: 1 to 64"),
        (("[booted]", '[timings.a]\nuntil = "x"\n[booted]'), "timings.a.until"),
        (("[booted]", '[timings.a]\nmark = "x"\nafter = "y"\n[booted]'), ""),
        (('mark = "ready"', 'mark = "is ready"'), "booted.mark: is no mark's name: 1 to 64"),
        (('mark = "ready"', 'mark = "ready"\n[check]\nmark = "' + "x" * 65 + '"'), "check.mark: is no mark's name"),
        (('type = "q35"', 'type = "q35"\n[clock]\naccelerator = "kvm"'), "cannot count instructions"),
        (
            ('type = "q35"', 'type = "q35"\n[clock]\nkind = "wall"\ncharges = { io_delay = 1 }'),
            'charges are added to the virtual clock; kind is "wall"',
        ),
        (('type = "q35"', 'type = "q35"\n[clock]\ncharges = { io_delay = 0 }'), "clock.charges.io_delay: "),
        (
            ('type = "q35"', 'type = "q35"\n[clock]\nkind = "wall"\ntick_us = 4000'),
            'tick_us is of the virtual clock; kind is "wall"',
        ),
        (('type = "q35"', 'type = "q35"\n[clock]\ntick_us = 1'), "clock.tick_us: "),
        (
            ('type = "q35"', 'type = "microvm"\n[[disks]]\nsize_mib = 16\nattach = "nvme"'),
            'disks.0.attach = "nvme" needs a PCI bus: machine.options',
        ),
        (
            ('type = "q35"', 'type = "microvm"\n[rootfs]\npackages = ["a"]\ndevice = "nvme"'),
            'rootfs.device = "nvme" needs a PCI bus: machine.options',
        ),
        (('type = "q35"', ""), "machine.type: missing"),
        (('type = "q35"', 'type = "virt"\narchitecture = "riscv64"'), ""),
        (('type = "q35"', 'type = "q35"\narchitecture = "x86_64"'), ""),
        (
            ('type = "q35"', 'type = "q35"\narchitecture = "riscv64"'),
            "machine: architecture 'riscv64': machine.type 'q35' is x86_64",
        ),
        (
            ('type = "q35"', 'type = "virt"\narchitecture = "riscv64"\n[rootfs]\npackages = ["a"]\ndevice = "pmem"'),
            'rootfs.device = "pmem": QEMU has no NVDIMM for riscv64',
        ),
        (
            ('type = "q35"', 'type = "virt"\narchitecture = "armv7"'),
            "architecture 'armv7': machine.type 'virt' is aarch64 or riscv64",
        ),
        (("[machine]", "[machine"), "not TOML"),
    ],
)
def test_mistakes(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    path = write(tmp_path, GOOD.replace(*change))
    if not expected:
        read_system(path)
        return
    with pytest.raises(InputError, match=expected) as caught:
        read_system(path)
    assert "system.toml" in caught.value.message


def test_changes_make_a_new_value(tmp_path: Path) -> None:
    system = read_system(write(tmp_path, GOOD))
    quiet = system.with_cmdline("quiet", "loglevel=0")
    assert quiet.kernel.cmdline == "console=ttyS0 quiet loglevel=0"
    assert system.kernel.cmdline == "console=ttyS0"
    # Behind -- the kernel reads nothing any more: all is its init's.
    assert system.with_part("kernel", cmdline="a=--b -- single").with_cmdline("quiet").kernel.cmdline == (
        "a=--b quiet -- single"
    )
    assert system.with_part("kernel", cmdline="-- single").with_cmdline("quiet").kernel.cmdline == "quiet -- single"
    assert system.with_part("machine", vcpus=2).machine.vcpus == 2
    with pytest.raises(InputError, match="machine.vcpus"):
        system.with_part("machine", vcpus=-1)
    with pytest.raises(InputError, match=r"no \[initramfs\]"):
        system.with_part("initramfs", busybox=False)
    assert system.with_seed(5).seed == 5


def test_every_key_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "systems.md").read_text()
    for part, field in System.model_fields.items():
        model = next((kind for kind in _models(field.annotation)), None)
        for key in model.model_fields if model else ():
            assert key in text, f"docs/systems.md does not mention {part}.{key}"
        assert part in text


def _models(annotation: object) -> list[type]:
    from typing import get_args

    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _models(argument)]
