"""Output folders on the command line: written as a system file with its other kernel, told apart from runs, refused."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.cli.options.arguments import complete_system, names_system
from bootlab.cli.options.outputs import rebuilt_comment
from bootlab.errors import InputError
from bootlab.system import read_system
from tests.build.outputs.folders import YOCTO_IMAGE, buildroot, buildroot_started, write, yocto


def test_a_system_file_of_an_output_folder_has_both_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "cache"))
    output = buildroot_started(tmp_path)
    file = tmp_path / "system.toml"
    assert run(["boot", str(output), "--write-system", str(file)]) == 0
    said = capsys.readouterr().err
    assert "Buildroot 2026.02.3 (qemu_x86_64_defconfig)" in said and "boots bzImage, rootfs.ext2 on pc" in said
    assert read_system(file).kernel.image == output / "images/bzImage"
    before, _, comment = file.read_text().partition("\n# ")
    start = before.index("[kernel]")
    end = before.index("[rootfs]")
    lines = [line.removeprefix("# ") for line in comment.splitlines()]
    other = write(tmp_path / "other.toml", before[:start] + "\n".join(lines[3:]) + "\n\n" + before[end:])
    build = read_system(other).kernel.build
    assert build is not None and build.source == tmp_path / "dl/linux/linux-6.12.47.tar.xz"


def test_without_a_source_there_is_no_other_kernel(tmp_path: Path) -> None:
    assert rebuilt_comment(buildroot(tmp_path, "bzImage", "rootfs.ext2")) == ""
    assert rebuilt_comment(Path("system.toml")) == ""


def test_a_folder_names_a_system_unless_it_is_a_run(tmp_path: Path) -> None:
    output = buildroot_started(tmp_path / "a")
    assert names_system(str(output)) and names_system(f"yocto:{tmp_path}") and not names_system(str(tmp_path))
    write(output / "run.json", "{}")
    assert not names_system(str(output))


def test_a_conf_is_offered_when_a_name_is_typed(tmp_path: Path) -> None:
    folder = yocto(tmp_path)
    assert f"{folder}/{YOCTO_IMAGE}.qemuboot.conf" in complete_system(f"{folder}/")


@pytest.mark.parametrize("verb", ["boot", "measure", "try", "unused", "tailor", "snapshot"])
def test_every_verb_refuses_a_folder_of_nobody(verb: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder, and not the output of"):
        run([verb, str(tmp_path), "--runs", str(tmp_path / "runs")])
