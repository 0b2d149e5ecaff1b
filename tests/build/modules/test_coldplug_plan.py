"""What an image loads for which devices: aliases as modprobe takes them, order, exclusions, and the plan's text."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.modules.aliases import ModuleAliases, read_aliases
from bootlab.build.modules.coldplug_plan import plan_coldplug, read_devices, wanted_modules
from bootlab.build.modules.package import ModuleTree
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.system import Coldplug

_DISK, _CARD, _STICK = "virtio:d00000002v00001AF4", "pci:v00008086d000010D3sv0sd0bc02sc00i00", "usb:v46F4p0001d0000dc00"
_INFO = {
    "virtio": {"alias": "pci:v00001AF4d*sv*sd*bc*sc*i*"},
    "virtio_blk": {"alias": "virtio:d00000002v*", "depends": "virtio"},
    "e1000e": {"alias": "pci:v00008086d000010D3sv*sd*bc*sc*i*", "depends": "ptp", "softdep": "pre: mei"},
    "ptp": {},
    "mei": {"depends": "ptp"},
    "usb-storage": {"alias": "usb:v46F4p0001d*", "depends": "scsi_mod"},
    "uas": {"alias": "usb:v*p*d*dc*", "depends": "usb-storage"},
    "any_bus": {"alias": "*:nothing"},
}
Plan = Callable[..., tuple[list[str], list[str]]]


@pytest.fixture
def tree(tmp_path: Path, module: Callable[..., bytes]) -> Path:
    folder = tmp_path / "kernel" / "lib" / "modules" / "6.1.0-test"
    (folder / "kernel").mkdir(parents=True)
    for name, info in _INFO.items():
        (folder / "kernel" / f"{name}.ko").write_bytes(module(**info))
    (folder / "modules.builtin").write_text("kernel/drivers/scsi/scsi_mod.ko\n")
    return tmp_path / "kernel"


@pytest.fixture
def aliases(tree: Path, tmp_path: Path) -> ModuleAliases:
    return read_aliases(Workshop(Cache(tmp_path / "cache")), tree)


@pytest.fixture
def plan(tree: Path, aliases: ModuleAliases, tmp_path: Path) -> Plan:
    def made(*devices: str, **keys: object) -> tuple[list[str], list[str]]:
        (tmp_path / "devices").write_text("".join(f"{one}\n" for one in devices))
        coldplug = Coldplug.model_validate({"devices": tmp_path / "devices", **keys})
        found = plan_coldplug(coldplug, ModuleTree(tree), aliases, "initramfs")
        text = found.text.decode().replace("/lib/modules/6.1.0-test/kernel/", "/")
        return list(found.modules), text.splitlines()

    return made


def test_a_device_is_for_the_modules_that_say_so(aliases: ModuleAliases) -> None:
    assert aliases.modules(_DISK) == ["virtio_blk"]
    assert aliases.modules(_STICK) == ["uas", "usb_storage"]
    assert aliases.modules("pci:v00001AF4d00001042sv0sd0bc01sc00i00") == ["virtio"]
    assert aliases.modules("odd:nothing") == ["any_bus"]
    assert aliases.modules("acpi:PNP0A08:") == []
    assert wanted_modules([_STICK, _DISK, _STICK], aliases) == ["uas", "usb_storage", "virtio_blk"]


def test_what_the_modules_say_is_read_once(tree: Path, tmp_path: Path) -> None:
    told: list[str] = []
    cache = Cache(tmp_path / "cache")
    for _ in range(2):
        read_aliases(Workshop(cache, tell=told.append), tree)
    assert told == ["reading what each module is for"]


def test_the_plan_has_each_module_after_those_it_needs(plan: Plan) -> None:
    order, text = plan(_CARD, _DISK)
    assert order == ["ptp", "mei", "e1000e", "virtio", "virtio_blk"]
    assert text[:3] == ["module /ptp.ko -", "module /mei.ko 0", "module /e1000e.ko 0,1"]
    assert text[3:] == ["module /virtio.ko -", "module /virtio_blk.ko 3"]


def test_slow_ones_come_first_and_what_is_excluded_takes_those_that_need_it_along(plan: Plan) -> None:
    keys = {"first": ["usb-storage"], "never": ["ptp"], "parameters": {"usb_storage": "delay_use=0"}}
    order, text = plan(_CARD, _DISK, _STICK, serial=True, wait={"/dev/sda": 2.5}, **keys)
    assert order == ["usb_storage", "virtio", "virtio_blk", "uas"]
    assert text[0] == "serial" and text[1] == "module /usb-storage.ko - delay_use=0"
    assert text[-1] == "wait /dev/sda 2.500000000s"


def test_what_the_boot_does_not_wait_for_comes_later(plan: Plan) -> None:
    _, text = plan(_CARD, _DISK, first=["virtio_blk"], background=True)
    assert text[:3] == ["module /virtio.ko -", "module /virtio_blk.ko 0", "background"] and len(text) == 6
    _, text = plan(_DISK, first=["virtio_blk"], background=True)
    assert "background" not in text, "nothing is left"
    with pytest.raises(ValueError, match="first is empty"):
        Coldplug.model_validate({"background": True})


def test_what_checks_the_signatures_of_the_others_comes_first_and_alone(
    tree: Path, module: Callable[..., bytes]
) -> None:
    kernel = tree / "lib/modules/6.1.0-test/kernel"
    (kernel / "sha_fast.ko").write_bytes(module(alias="crypto-sha256", depends="ptp"))
    (kernel / "sha_other.ko").write_bytes(module(alias="crypto-sha512"))
    aliases = ModuleAliases([("crypto-sha256", "sha_fast"), ("crypto-sha512", "sha_other")])
    coldplug = Coldplug(first=("virtio_blk",), modules=("sha_other", "sha_fast"), background=True)
    unsigned = plan_coldplug(coldplug, ModuleTree(tree), aliases, "initramfs")
    assert unsigned.modules == ("virtio", "virtio_blk", "sha_other", "ptp", "sha_fast")
    signature = bytes.fromhex("0609608648016503040201") + bytes(600) + b"~Module signature appended~\n"
    for path in kernel.glob("*.ko"):
        path.write_bytes(path.read_bytes() + signature)
    made = plan_coldplug(coldplug, ModuleTree(tree), aliases, "initramfs")
    assert made.modules == ("ptp", "sha_fast", "virtio", "virtio_blk", "sha_other")
    after = [line.split("/")[-1] for line in made.text.decode().splitlines()]
    assert after[:3] == ["ptp.ko -", "sha_fast.ko 0", "virtio.ko 0,1"]
    assert after[3:] == ["virtio_blk.ko 0,1,2", "background", "sha_other.ko 0,1"]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"modules": ["e1000"]}, r'initramfs\.coldplug\.modules: kernel 6\.1\.0-test has no module "e1000"'),
        ({"first": ["nope"]}, r'initramfs\.coldplug\.first: .* "nope"'),
        ({"never": ["nope"]}, r'initramfs\.coldplug\.never: .* "nope"'),
        ({"modules": ["mei"], "never": ["ptp"]}, r"initramfs\.coldplug\.modules: mei needs ptp, which never excludes"),
        ({"parameters": {"mei": "x=1"}}, r"initramfs\.coldplug\.parameters: mei is not among the modules"),
    ],
)
def test_what_this_kernel_cannot_do_names_its_key(plan: Plan, keys: dict[str, object], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        plan(_DISK, **keys)


def test_modules_and_never_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="never excludes usb_storage"):
        Coldplug.model_validate({"modules": ["usb-storage"], "never": ["usb_storage"]})


def test_a_list_of_devices_has_comments_and_nothing_but_modaliases(tmp_path: Path) -> None:
    path = tmp_path / "devices"
    path.write_text(f"# mine\n\n{_DISK}  # a disk\n{_CARD}\n{_DISK}\n")
    assert read_devices(path, "initramfs.coldplug.devices") == [_DISK, _CARD]
    path.write_text(f"{_DISK}\nvirtio_blk\n")
    with pytest.raises(InputError, match=r"initramfs\.coldplug\.devices: .*devices:2: virtio_blk: not a modalias"):
        read_devices(path, "initramfs.coldplug.devices")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        read_devices(path, "initramfs.coldplug.devices")
