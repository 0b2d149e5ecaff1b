"""One script as init: it must be offered."""

from collections.abc import Callable

from bootlab.system import System
from bootlab.techniques.model.evidence import Effect, Evidence
from tests.techniques.asking import ALL, NOTHING

Make = Callable[..., Evidence]


def test_one_script_must_be_offered(camera: System, system: System, evidence: Make) -> None:
    technique = ALL["userspace_one_script"]
    changed = technique.change.apply(camera, NOTHING)
    assert changed.kernel.cmdline.endswith(" rdinit=/sbin/init-one")
    assert "rdinit= already" in (technique.change.applies(changed, NOTHING) or "")
    assert "offers no script" in (technique.change.applies(system, NOTHING) or "")
    run = evidence("Linux version 6.12", "Run /sbin/init-one as init process")
    assert technique.proof.prove(run, evidence("Linux version 6.12", "Run /init as init process")) is Effect.PROVEN
