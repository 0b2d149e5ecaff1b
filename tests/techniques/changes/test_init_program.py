"""A program that the system file offers is started as init, unless it offers none or another one is asked for."""

from pathlib import Path

from bootlab.system import System
from bootlab.techniques.changes.init_program import starts_offered
from bootlab.techniques.model.technique import Layer
from tests.techniques.asking import NOTHING


def test_it_is_started_where_it_is_offered_and_nothing_else_is_asked_for(system: System) -> None:
    change = starts_offered(Layer.INITRAMFS, "/sbin/init-mine", "program")
    assert change.applies(system, NOTHING) == "the system file offers no program as /sbin/init-mine in initramfs.files"
    offering = system.with_part("initramfs", files={"/sbin/init-mine": Path("mine")})
    assert change.applies(offering, NOTHING) is None
    changed = change.apply(offering, NOTHING)
    assert changed.kernel.cmdline == f"{system.kernel.cmdline} rdinit=/sbin/init-mine".strip()
    for asked in (changed, offering.with_cmdline("rdinit=/bin/other")):
        assert change.applies(asked, NOTHING) == "the command line has rdinit= already"
