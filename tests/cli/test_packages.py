"""`bootlab packages` where it boots nothing: what is refused, and whose package databases it does not read."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import InputError
from bootlab.experiments.store import Run
from tests.build.debian.debian_root_files import DebianRootFiles, Installed

SYSTEM = """
[machine]
type = "q35"
[kernel]
image = "bzImage"
cmdline = "console=ttyS0 root=/dev/vda"
[rootfs]
directory = "root"
busybox = false
[booted]
console = "login:"
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a system file in it, and the folder that is its root."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "system.toml").write_text(SYSTEM)
    (tmp_path / "bzImage").write_bytes(b"\0" * 1024)
    (tmp_path / "root/etc").mkdir(parents=True)
    (tmp_path / "root/etc/motd").write_text("hello\n")
    return tmp_path / "root"


def _lay(root: Path, debian: DebianRootFiles) -> None:
    for entry in debian.entries():
        if entry.mode & 0o170000 == 0o100000:
            (root / entry.path).parent.mkdir(parents=True, exist_ok=True)
            (root / entry.path).write_bytes(entry.data)


def test_a_profile_of_a_system_without_a_root_tells_nothing_of_packages(profile_run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no root file system whose files are known"):
        run(["packages", "1", "--runs", str(tmp_path)])
    assert [path.name for path in tmp_path.glob("0*")] == [profile_run.path.name], "no run is begun for it"


def test_what_is_asked_twice_is_refused() -> None:
    with pytest.raises(InputError, match="--prove chooses the packages and --remove names them"):
        run(["packages", "1", "--prove", "2", "--remove", "cron"])


@pytest.mark.parametrize(
    ("path", "told"),
    [("lib/apk/db/installed", "a database of apk"), ("etc/issue", "no database of packages in it")],
)
def test_a_root_without_dpkg_is_refused_before_anything_boots(root: Path, path: str, told: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("")
    with pytest.raises(InputError, match=rf"system\.toml:system: .*{told}"):
        run(["packages", "system.toml"])


def test_only_packages_that_are_there_are_left_out_and_only_of_a_root_that_is_installed(root: Path) -> None:
    _lay(root, DebianRootFiles({"rsyslog": Installed(["/usr/sbin/rsyslogd"])}))
    with pytest.raises(InputError, match="system: its packages cannot be left out"):
        run(["packages", "system.toml", "--remove", "rsyslog"])
