"""`bootlab init`: units read as the guest reads them, mistakes with their places, and units made of a service.

Among the boot tests because its reader is a guest program: zig compiles its C library on first use, half a minute.
"""

import json
from pathlib import Path

import pytest

from bootlab.cli.app import run

pytestmark = pytest.mark.boot

ROOT = Path(__file__).parents[3]
SERVICE = "[Service]\nExecStart=/usr/sbin/web\nPrivateTmp=yes\n[Install]\nWantedBy=multi-user.target\n"


@pytest.mark.promise("bootlab init check")
def test_what_the_goal_needs_is_told_and_a_mistake_has_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["init", "check", str(ROOT / "examples/services/root"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [unit["name"] for unit in found["units"] if unit["goal"]] == ["application"]
    assert all(unit["started"] for unit in found["units"]) and found["problems"] == []

    units = tmp_path / "etc/bootlab/units"
    units.mkdir(parents=True)
    (units / "web.unit").write_text("exec /usr/sbin/web\nneeds database\n")
    assert run(["init", "check", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "/etc/bootlab/units/web.unit:2: " in said and "database" in said


@pytest.mark.promise("bootlab init convert")
def test_a_service_becomes_a_unit_and_what_is_left_out_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service, units = tmp_path / "web.service", tmp_path / "root/etc/bootlab/units"
    service.write_text(SERVICE)
    assert run(["init", "convert", str(service), "--to", str(units), "--json"]) == 1
    (unit,) = json.loads(capsys.readouterr().out)["units"]
    assert (unit["name"], unit["file"]) == ("web", str(units / "web.unit"))
    assert [(problem["line"], "PrivateTmp" in problem["message"]) for problem in unit["problems"]] == [(3, True)]
    assert "exec /usr/sbin/web\n" in (units / "web.unit").read_text()
    assert run(["init", "check", str(tmp_path / "root"), "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["units"]] == ["web"]
