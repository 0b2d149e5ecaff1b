"""Whole desktops of Debian's packages: their timings, and a session in which what is typed is printed back."""

from pathlib import Path

import pytest

from bootlab.build.root.preload import HABITS
from bootlab.build.root.readahead import PACKS
from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.sources import EXAMPLES
from bootlab.system import Check, Preload, ReadAhead, System, read_system

pytestmark = [pytest.mark.boot, pytest.mark.network]


@pytest.mark.parametrize("model", ["hdd", "ssd"])
def test_three_boots_are_alike_to_the_pixel_up_to_the_desktop(model: str, shop: Workshop, tmp_path: Path) -> None:
    system = read_system(EXAMPLES / "desktop" / "on-hdd.toml").with_part("rootfs", model=model)
    prepared = prepare(shop, system)
    told = []
    for number in (1, 2, 3):
        (folder := tmp_path / str(number)).mkdir()
        record = boot(prepared, folder)
        assert record.outcome.value == "ready" and record.screen is not None, record.detail
        pictures = [(one.mark, one.t_ns, one.pixels_sha256) for one in record.screen.pictures]
        told.append((record.marks, record.timings_ns, record.instructions, record.screen.frames_up_to, pictures))
    assert len(told[0][-1]) > 10 and told[0] == told[1] == told[2]


@pytest.mark.parametrize("name", ["on-hdd", "as-installed", "fonts", "prepared", "tuned", "units", "xfce", "gnome"])
def test_a_login_a_desktop_and_what_is_typed_into_its_terminal(name: str, shop: Workshop, tmp_path: Path) -> None:
    record = boot(prepare(shop, read_system(EXAMPLES / "desktop" / f"{name}.toml")), tmp_path)
    # The check is the picture of what the terminal printed.
    assert record.outcome.value == "ready", record.detail
    order = ["login-window", "name", "perceived", "password", "desktop"]
    assert sorted(order, key=record.marks.__getitem__) == order
    assert record.timings_ns.keys() == {"full-boot", "perceived", "desktop"}
    seen = {path.name.partition("-")[2] for path in (tmp_path / "screen").glob("*.png")}
    assert {f"{mark}.png" for mark in (*order, "printed")} <= seen


def learning(name: str, *, last: str = "preload", **record: ReadAhead | Preload) -> System:
    """Return a desktop whose boot learns, and is over when it has printed what its session taught, or its `last`."""
    system = read_system(EXAMPLES / "desktop" / f"{name}.toml").with_part("rootfs", **record)
    return system.model_copy(update={"check": Check(console=rf"fact {last}\.end", deadline_s=1200)})


def test_a_default_target_that_is_no_more_than_the_login_window_learns_both(shop: Workshop, tmp_path: Path) -> None:
    system = learning("tuned", readahead=ReadAhead(record=True), preload=Preload(record=True))
    record = boot(prepare(shop, system), tmp_path)
    assert record.outcome.value == "ready", record.detail
    assert "\nf usr/lib/xorg/Xorg\n" in PACKS.of_facts(record.facts)
    assert "usr/bin/openbox\n" in HABITS.of_facts(record.facts)


def test_what_bootlab_init_defers_is_in_the_pack_of_its_boot(shop: Workshop, tmp_path: Path) -> None:
    # The unit comes behind all others, which so slow a disk keeps longer than the session needs.
    system = learning("units", last="readahead", readahead=ReadAhead(record=True), preload=Preload(record=True))
    record = boot(prepare(shop, system), tmp_path)
    assert record.outcome.value == "ready", record.detail
    assert "usr/bin/openbox\n" in HABITS.of_facts(record.facts)
    pack = PACKS.of_facts(record.facts)
    # The goal's own, and then what each deferred unit that says when it is ready has read.
    for path in ("usr/lib/xorg/Xorg", "usr/sbin/sshd", "usr/sbin/rsyslogd", "usr/sbin/cupsd"):
        assert f"\nf {path}\n" in pack, path


def test_a_session_that_nobody_watched_ends_a_boot_that_was_to_learn_of_it(shop: Workshop, tmp_path: Path) -> None:
    system = learning("on-hdd", preload=Preload(record=True)).with_cmdline("systemd.mask=bootlab-preload.service")
    check = Check(console=r"fact preload\.end", fail=r"fact preload\.missed ", deadline_s=1200)
    record = boot(prepare(shop, system.model_copy(update={"check": check})), tmp_path)
    assert record.outcome.value == "check failed"
    assert "it was not there yet when a session of guest began" in record.detail
