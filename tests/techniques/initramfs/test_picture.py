"""An opening picture from the initramfs: its program must be offered, and the kernel says that it starts it."""

from collections.abc import Callable

from bootlab.sources import EXAMPLES
from bootlab.system import System, read_system
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, applied, why_not


def test_the_picture_is_painted_by_the_first_process(system: System, evidence: Callable[..., Evidence]) -> None:
    car = read_system(EXAMPLES / "ivi.toml")
    changed = applied("initramfs_opening_picture", car)
    assert changed.kernel.cmdline.endswith(" rdinit=/sbin/init-picture")
    assert "rdinit= already" in why_not("initramfs_opening_picture", changed)
    assert "offers no program as /sbin/init-picture" in why_not("initramfs_opening_picture", system)
    run = evidence("Linux version 6.1", "Run /sbin/init-picture as init process")
    prove = ALL["initramfs_opening_picture"].proof.prove
    assert prove(run, evidence("Linux version 6.1", "Run /init as init process")) is Effect.PROVEN
