"""Whole desktops of Debian's packages: their timings, and a session in which what is typed is printed back."""

from pathlib import Path

import pytest

from bootlab.build.workshop import Workshop
from bootlab.measure.boot import boot
from bootlab.measure.prepare import prepare
from bootlab.sources import EXAMPLES
from bootlab.system import read_system

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


@pytest.mark.parametrize("name", ["on-hdd", "as-installed", "fonts", "prepared", "tuned", "units", "xfce"])
def test_a_login_a_desktop_and_what_is_typed_into_its_terminal(name: str, shop: Workshop, tmp_path: Path) -> None:
    record = boot(prepare(shop, read_system(EXAMPLES / "desktop" / f"{name}.toml")), tmp_path)
    # The check is the picture of what the terminal printed.
    assert record.outcome.value == "ready", record.detail
    order = ["login-window", "name", "perceived", "password", "desktop"]
    assert sorted(order, key=record.marks.__getitem__) == order
    assert record.timings_ns.keys() == {"full-boot", "perceived", "desktop"}
    seen = {path.name.partition("-")[2] for path in (tmp_path / "screen").glob("*.png")}
    assert {f"{mark}.png" for mark in (*order, "printed")} <= seen
