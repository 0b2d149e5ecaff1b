"""The Debian package: it asks for what set-up installs and has every manual page; its command makes its Python once."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.site_pages.manual import PACKAGED_VERSION, write_manual

ROOT = Path(__file__).resolve().parents[2]
DEBIAN = ROOT / "debian"
ESSENTIAL = {"util-linux"}
"""Every Debian has it, so a package may not ask for it."""


def make_wheel(folder: Path, name: str, module: str, *entry_points: str) -> Path:
    """Make a wheel of one module by hand, as pip reads it."""
    path = folder / f"{name}-1-py3-none-any.whl"
    info = f"{name}-1.dist-info"
    files = {
        f"{name}.py": module,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join(["[console_scripts]", *entry_points, ""]),
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return path


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The command as it lies in a root whose bootlab says what it was told, and needs one library."""
    share, links = tmp_path / "share", tmp_path / "links"
    share.mkdir()
    links.mkdir()
    library = make_wheel(links, "told", "def words(argv): return 'told ' + ' '.join(argv)\n")
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    (share / "requirements.lock").write_text(f"told==1 --hash=sha256:{digest}\n")
    program = "import sys, told\ndef main(): print(told.words(sys.argv[1:]))\n"
    make_wheel(share, "bootlab", program, "bootlab = bootlab:main")
    text = (DEBIAN / "bootlab-command").read_text()
    changed = text.replace("share=/usr/share/bootlab", f"share={share}").replace("/usr/bin/python3", sys.executable)
    assert changed.count(str(share)) == 1 and changed.count(sys.executable) == 1
    command = tmp_path / "bootlab"
    command.write_text(changed)
    command.chmod(0o755)
    return command


def environment(command: Path, **changed: str) -> dict[str, str]:
    """Return what the command sees: a cache of its own, pip without an index, and no Python that lies elsewhere."""
    ours = ("PIP_", "BOOTLAB_", "XDG_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    at = {"BOOTLAB_CACHE": str(command.parent / "cache"), "PIP_FIND_LINKS": str(command.parent / "links")}
    return kept | at | {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull} | changed


def call(command: Path, *words: str, **changed: str) -> subprocess.CompletedProcess[str]:
    """Call the command."""
    return subprocess.run(
        [command, *words], env=environment(command, **changed), capture_output=True, text=True, check=False
    )


def test_it_asks_for_what_set_up_installs() -> None:
    script = (ROOT / "scripts/setup").read_text()
    body = script.partition("\nmissing_packages() {")[2].partition("[[ $level == run ]]")[0]
    wanted = set(re.findall(r"echo ([a-z0-9.+-]+)$|printf '([^']*)'", body, re.MULTILINE))
    names = {name for pair in wanted for text in pair for name in text.replace("\\n", " ").split()}
    assert len(names) > 8
    control = (DEBIAN / "control").read_text().partition("\nDepends:\n")[2].partition("\nRecommends:")[0]
    asked = {line.split()[0].strip(",") for line in control.splitlines()} - {"${misc:Depends}"}
    assert asked == names - ESSENTIAL


def test_it_has_the_manual_page_of_every_verb(tmp_path: Path) -> None:
    made = {page.name: page.read_text() for page in write_manual(tmp_path, PACKAGED_VERSION)}
    folder = DEBIAN / "man"
    if os.environ.get("BOOTLAB_GOLDEN") == "write":
        shutil.rmtree(folder)
        folder.mkdir()
        for name, text in made.items():
            (folder / name).write_text(text)
    packaged = {page.name: page.read_text() for page in folder.iterdir()}
    differ = sorted(name for name in made.keys() | packaged.keys() if made.get(name) != packaged.get(name))
    assert not differ, "make golden writes debian/man anew"
    assert (DEBIAN / "bootlab.manpages").read_text() == "debian/man/*.1\n"


def test_a_packaged_page_has_one_place_for_the_version_and_rules_fill_it() -> None:
    for page in (DEBIAN / "man").iterdir():
        assert page.read_text().count(PACKAGED_VERSION) == 1, page
    assert f"s/{PACKAGED_VERSION}/$(DEB_VERSION)/" in (DEBIAN / "rules").read_text()


def test_two_first_calls_install_once_and_half_an_environment_is_made_anew(installed: Path) -> None:
    both = [
        subprocess.Popen(
            [installed, str(n)], env=environment(installed), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for n in range(2)
    ]
    said = [process.communicate(timeout=300) for process in both]
    assert [out for out, _ in said] == ["told 0\n", "told 1\n"], said
    assert sum("first call" in err for _, err in said) == 1
    later = call(installed, "boot", "a b", PIP_FIND_LINKS="/nowhere")
    assert (later.returncode, later.stdout, later.stderr) == (0, "told boot a b\n", "")
    (complete,) = (installed.parent / "cache/python").glob("*/complete")
    complete.unlink()
    (complete.parent / "bin/bootlab").unlink()
    again = call(installed, "x")
    assert (again.stdout, "first call" in again.stderr) == ("told x\n", True)


def test_a_library_of_another_hash_is_an_error_with_a_hint(installed: Path) -> None:
    make_wheel(installed.parent / "links", "told", "def words(argv): return 'something else'\n")
    said = call(installed)
    assert (said.returncode, said.stdout) == (3, "")
    assert "bootlab: error: its Python libraries could not be installed\n  hint: the whole log is in " in said.stderr
    assert "Traceback" not in said.stderr
    assert not list((installed.parent / "cache/python").glob("*/complete"))
