"""systemd's services as bootlab-init reads them: drop-ins, masked ones, files of variables that must be there."""

import os
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.units.plan import read_plan
from tests.boot.init.namespace import InitNamespace

pytestmark = [
    pytest.mark.boot,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a PID namespace of its own"),
]
_VENDOR = "usr/lib/systemd/system"
_OWN = "etc/systemd/system"


def write(root: Path, files: dict[str, str], wanted: tuple[str, ...]) -> None:
    """Write unit files below a root, those that are wanted with their links."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    links = root / _OWN / "multi-user.target.wants"
    links.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        (links / f"{name}.service").symlink_to(f"/{_VENDOR}/{name}.service")


def test_drop_ins_and_masked_units(tmp_path: Path) -> None:
    files = {
        f"{_VENDOR}/a.service": "[Service]\nExecStart=/bin/vendor\n",
        f"{_VENDOR}/a.service.d/10-first.conf": "[Service]\nExecStart=\nExecStart=/bin/first\n",
        f"{_VENDOR}/a.service.d/20-second.conf": "[Service]\nExecStart=\nExecStart=/bin/second\n",
        f"{_OWN}/a.service.d/20-second.conf": "[Service]\nExecStart=\nExecStart=/bin/administrator\n",
        f"{_OWN}/a.service.d/30-note.txt": "nothing\n",
        f"{_VENDOR}/masked.service": "[Service]\nExecStart=/bin/a\n",
        f"{_VENDOR}/refused.service": "[Service]\nExecStart=/bin/a %m\n",
        "etc/bootlab/init.conf": "systemd yes\nlsb no\n",
    }
    write(tmp_path, files, ("a", "masked", "refused"))
    (tmp_path / _OWN / "masked.service").symlink_to("/dev/null")
    plan = read_plan(tmp_path, Cache.default())
    units = {unit.name: unit for unit in plan.units if unit.is_work}
    assert set(units) == {"a", "refused"} and not units["a"].broken and units["refused"].broken
    assert units["a"].commands == (("start", "/bin/administrator"),)
    (problem,) = plan.problems
    assert (problem.path, problem.line) == (f"/{_VENDOR}/refused.service", 2)
    assert "refused is not started" in problem.message


def test_files_of_variables(tmp_path: Path, programs: dict[str, Path]) -> None:
    root = tmp_path / "root"
    service = "[Service]\nType=oneshot\nExecStart=/bin/worker environment\n"
    files = {
        f"{_VENDOR}/two.service": f"{service}EnvironmentFile=/etc/one\nEnvironmentFile=-/etc/none\n"
        "EnvironmentFile=/etc/two\nUMask=0077\n",
        f"{_VENDOR}/missing.service": f"{service}EnvironmentFile=/etc/none\n",
        "etc/one": "OPTS=-a -b\nSECOND=no\n",
        "etc/two": "SECOND=yes\n",
    }
    write(root, files, ("two", "missing"))
    with InitNamespace(root, programs, {}, "systemd yes\n") as init:
        states = init.until_settled()
        assert states == {"two": "up", "missing": "failed"}
        log = init.ask("log two")
        assert "] two: OPTS=-a -b\n" in log and "] two: SECOND=yes\n" in log
        assert "missing.service:3: /bin/worker: environment: No such file" in init.console()
