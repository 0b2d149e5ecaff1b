"""Units of bootlab-init made of systemd's services and of init scripts: what is said in each, and what is left out."""

from pathlib import Path

import pytest

from bootlab.build.units.convert import read_and_convert, write_units
from bootlab.errors import InputError
from tests.build.units.converted import SCRIPT, SERVICE


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "web.service").write_text(SERVICE)
    (tmp_path / "web").write_text(SCRIPT)
    service, script = (read_and_convert(tmp_path / name) for name in ("web.service", "web"))
    with pytest.raises(InputError, match=r"another file has become web\.unit already"):
        write_units([service, script], tmp_path / "units")
    assert not (tmp_path / "units").exists()
    assert write_units([service], tmp_path / "units")["web"].read_text() == service.text
    with pytest.raises(InputError, match="it is there already"):
        write_units([script], tmp_path / "units")
    with pytest.raises(InputError, match=r"neither a \.service file nor a script"):
        read_and_convert(tmp_path / "units/web.unit")
