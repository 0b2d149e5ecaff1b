"""A Debian whose udev is told of few devices first: all others come after multi-user.target, and none is left out."""

from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.sources import EXAMPLES
from bootlab.system import Check, read_system
from bootlab.techniques.changes.root_files import with_root_files
from bootlab.techniques.userspace.udev import CARDS, few

pytestmark = [pytest.mark.boot, pytest.mark.network]

_SAY = """[Unit]
DefaultDependencies=no
{order}

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'udevadm settle; set -- /dev/input/by-path/*-kbd; [ -e $$1 ] || shift; \
echo bootlab: fact {name} $$# >/dev/console'
"""
PROBES = {
    "/etc/systemd/system/early.service": _SAY.format(
        name="early", order="After=selfcheck.service systemd-udev-trigger.service\nBefore=multi-user.target"
    ),
    "/etc/systemd/system/late.service": _SAY.format(name="late", order="After=bootlab-udev-rest.service"),
    "/etc/systemd/system/multi-user.target.d/probes.conf": "[Unit]\nWants=early.service late.service\n",
}
"""Links to the machine's keyboard, which only udev makes, and which its rules in the initramfs do not."""


def test_what_was_left_out_comes_after_the_goal(shop: Workshop, tmp_path: Path) -> None:
    system = read_system(EXAMPLES / "distribution/on-disk.toml")
    changed = with_root_files(system, {**CARDS, **few(None), **PROBES})
    both = Check(console=r"bootlab: fact late \d", deadline_s=600)
    (tmp_path / "boot").mkdir()
    record = boot(prepare(shop, changed.model_copy(update={"check": both})), tmp_path / "boot")
    console = (tmp_path / "boot/console.log").read_text()
    assert record.outcome.value == "ready", f"{record.detail}\n{console[-4000:]}"
    assert "bootlab: check ok" in console, "the server serves its page"
    assert record.facts["early"] == "0", "until then nobody has told udev of it"
    assert int(record.facts["late"]) > 0
