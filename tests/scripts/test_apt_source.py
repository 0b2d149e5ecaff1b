"""The apt source of backports is copied from the machine's own, in whichever of apt's two forms that is written."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/apt-source"

ONE_LINE = """\
# deb http://commented.invalid/debian bookworm main
deb-src http://source.invalid/debian bookworm main
deb [arch=amd64,arm64 signed-by=/k.gpg] http://mirror.invalid/debian bookworm main contrib # a remark
deb http://other.invalid/debian bookworm contrib
"""
FROM_ONE_LINE = """\
Types: deb
URIs: http://mirror.invalid/debian
Architectures: amd64 arm64
signed-by: /k.gpg
Suites: bookworm-backports
Components: main

"""
DEB822 = """\
# A remark.
types: deb deb-src
URIs: http://mirror.invalid/debian
suites: bookworm
 bookworm-updates
Components: main non-free
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----

Enabled: no
Types: deb
URIs: http://disabled.invalid/debian
Suites: bookworm
Components: main
"""
FROM_DEB822 = """\
Types: deb
URIs: http://mirror.invalid/debian
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----
Suites: bookworm-backports
Components: main

"""


def _apt_source(etc: Path, suite: str) -> subprocess.CompletedProcess[str]:
    configuration = etc / "apt.conf"
    configuration.write_text(f'Dir::Etc::sourcelist "{etc}/sources.list";\nDir::Etc::sourceparts "{etc}/parts";\n')
    (etc / "parts").mkdir(exist_ok=True)
    environment = {**os.environ, "APT_CONFIG": str(configuration)}
    argv = [str(SCRIPT), suite, "bookworm-backports"]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)


pytestmark = pytest.mark.skipif(shutil.which("apt-config") is None, reason="needs apt")


def test_one_line_source(tmp_path: Path) -> None:
    """Mirror and options of a one-line source survive; remarks, source packages and other components do not."""
    (tmp_path / "sources.list").write_text(ONE_LINE)
    assert _apt_source(tmp_path, "bookworm").stdout == FROM_ONE_LINE


def test_deb822_source(tmp_path: Path) -> None:
    """A deb822 source keeps its embedded key; a disabled one is left out."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/debian.sources").write_text(DEB822)
    assert _apt_source(tmp_path, "bookworm").stdout == FROM_DEB822


def test_no_source_is_an_error(tmp_path: Path) -> None:
    """A machine that offers no such suite gets an error, not an empty source."""
    (tmp_path / "sources.list").write_text(ONE_LINE)
    done = _apt_source(tmp_path, "trixie")
    assert (done.returncode, done.stdout) == (1, "")
    assert "offers trixie main" in done.stderr
