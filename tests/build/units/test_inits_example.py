"""examples/inits: one guest and six inits, so whatever is not the init must be the same in all of them."""

from pathlib import Path

import pytest

from bootlab.system import System, read_system

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
INITS = {path.stem: read_system(path) for path in sorted((EXAMPLES / "inits").glob("*.toml"))}
COMMON = {
    "cron", "dbus", "e2fsprogs", "ifupdown", "iproute2", "kmod", "nginx", "openssh-server", "procps", "rsyslog", "udev",
}  # fmt: skip


def the_rest(system: System) -> dict[str, object]:
    """Return all of a system but its name and what is in its root."""
    value = system.model_dump(mode="json", exclude={"name": True, "description": True, "rootfs": True})
    assert system.rootfs is not None and system.initramfs is not None and system.initramfs.init is not None
    # finit 4.2 does not get its root remounted, so it finds it mounted for writing.
    value["initramfs"]["init"] = system.initramfs.init.read_text().replace("mount -t ext4 -o rw", "mount -t ext4 -o ro")
    own = {"packages", "directory", "run", "bootlab_init", "files", "without"}
    return value | {"rootfs": system.rootfs.model_dump(mode="json", exclude=own)}


def test_there_are_six_systemd_and_ours_twice() -> None:
    assert set(INITS) == {"systemd", "systemd-tuned", "sysvinit", "openrc", "runit", "finit", "bootlab", "units"}


@pytest.mark.parametrize("name", INITS)
def test_they_differ_in_the_init_alone(name: str) -> None:
    one, ours = INITS[name].rootfs, INITS["bootlab"].rootfs
    assert the_rest(INITS[name]) == the_rest(INITS["bootlab"])
    assert one is not None and ours is not None
    assert set(one.packages) >= COMMON
    assert ours.files.items() <= one.files.items()
    assert set(ours.without) <= set(one.without)
