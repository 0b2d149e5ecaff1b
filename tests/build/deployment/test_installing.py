"""The script and the package that put carried files into a root, run on a root."""

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from bootlab.build.deployment.applied_files import carried
from bootlab.build.deployment.carried import Carried
from bootlab.build.deployment.installing import install_script, make_debian_package
from bootlab.sources import EXAMPLES
from bootlab.system import Compression, read_system

CLOUD = read_system(EXAMPLES / "debian-cloud.toml")


@pytest.fixture
def made() -> Carried:
    changed = CLOUD.with_cmdline("quiet", 'odd="a', 'b"').with_part("initramfs", compression=Compression.ZSTD)
    return carried(CLOUD, changed)


def installed(made: Carried, tmp_path: Path, root: Path) -> "subprocess.CompletedProcess[str]":
    for path, text in made.files.items():
        (tmp_path / "changes" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "changes" / path).write_text(text)
    script = tmp_path / "changes/apply.sh"
    script.write_text(install_script(made))
    return subprocess.run(["sh", str(script), str(root)], capture_output=True, text=True, check=False)


def test_the_script_writes_what_is_carried_and_is_run_twice_without_harm(made: Carried, tmp_path: Path) -> None:
    root = tmp_path / "a root"
    (root / "etc/kernel").mkdir(parents=True)
    (root / "etc/kernel/cmdline").write_text("ro root=/dev/vda1\n")
    done = installed(made, tmp_path, root)
    assert done.returncode == 0, done.stderr
    assert {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()} == {
        *map(str, made.in_root), "etc/kernel/cmdline",
    }  # fmt: skip
    for path, text in made.in_root.items():
        assert (root / path).read_text() == text
    assert (root / "etc/kernel/cmdline").read_text().split() == ["ro", "root=/dev/vda1", "quiet", 'odd="a', 'b"']
    before = (root / "etc/kernel/cmdline").read_text()
    assert "update-grub, update-initramfs -u" in installed(made, tmp_path, root).stdout
    assert (root / "etc/kernel/cmdline").read_text() == before


def test_a_folder_that_is_no_root_is_refused(made: Carried, tmp_path: Path) -> None:
    done = installed(made, tmp_path, tmp_path)
    assert done.returncode == 2
    assert "no etc/ in it" in done.stderr


def test_the_package_holds_the_same_files_and_is_the_same_twice(made: Carried, tmp_path: Path) -> None:
    package = make_debian_package(made, "bootlab-changes-x", "1.0", tmp_path)
    assert package.name == "bootlab-changes-x_1.0_all.deb"
    subprocess.run(["dpkg-deb", "-x", str(package), str(tmp_path / "root")], check=True)
    for path, text in made.in_root.items():
        assert (tmp_path / "root" / path).read_text() == text
    subprocess.run(["dpkg-deb", "-e", str(package), str(tmp_path / "control")], check=True)
    assert "update-initramfs -u" in (tmp_path / "control/postinst").read_text()
    assert (tmp_path / "control/conffiles").read_text().splitlines() == sorted(
        f"/{path}" for path in made.in_root if path.parts[0] == "etc"
    )
    for name in ("postinst", "postrm"):
        subprocess.run(["sh", "-n", str(tmp_path / "control" / name)], check=True)
    first = package.read_bytes()
    assert make_debian_package(made, "bootlab-changes-x", "1.0", tmp_path).read_bytes() == first


def test_a_script_in_the_root_can_be_executed(tmp_path: Path) -> None:
    text = {PurePosixPath("root/etc/a.conf"): "a\n", PurePosixPath("root/etc/generators/b"): "#!/bin/sh\n"}
    package = make_debian_package(Carried(files=text), "bootlab-changes-x", "1.0", tmp_path)
    subprocess.run(["dpkg-deb", "-x", str(package), str(tmp_path / "root")], check=True)
    modes = {path: (tmp_path / path).stat().st_mode & 0o777 for path in text}
    assert list(modes.values()) == [0o644, 0o755]
