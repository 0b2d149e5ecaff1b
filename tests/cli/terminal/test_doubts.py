"""Why a boot may not be exact is said before it, on stderr, and by systems that have no doubt nothing is said."""

from pathlib import Path

import pytest

from bootlab.cli.terminal.doubts import tell_not_identical, warn_of_doubts
from bootlab.system import Attachment, read_system

EXAMPLE = Path(__file__).parents[3] / "examples" / "debian-cloud.toml"


def test_a_doubt_is_a_warning_that_names_its_key(capsys: pytest.CaptureFixture[str]) -> None:
    system = read_system(EXAMPLE)
    warn_of_doubts(system)
    assert capsys.readouterr() == ("", "")
    # A disk on virtio answers at once, so the firmware may read it as it likes.
    warn_of_doubts(system.with_part("kernel", cmdline="console=ttyS0"))
    assert capsys.readouterr() == ("", "")
    sata = system.disks[0].model_copy(update={"attach": Attachment.AHCI})
    warn_of_doubts(system.model_copy(update={"disks": (sata,)}))
    out, err = capsys.readouterr()
    assert out == "" and err.startswith('bootlab: warning: disks.0.attach = "ahci": an AHCI port takes up to 32')


def test_boots_that_differ_where_the_host_answers_may_be_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    system = read_system(EXAMPLE)
    tell_not_identical(system)
    said = capsys.readouterr().err
    assert 'network.peer = "bootlab" does it exactly' in said and "If it does not, please report it" in said
    tell_not_identical(system.model_copy(update={"network": None}))
    assert capsys.readouterr().err.endswith("are not identical: please report it with the run's directory\n")
