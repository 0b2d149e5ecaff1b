"""`bootlab build kernel`: wrong use is told in the user's own words, before anything is built."""

from pathlib import Path

import pytest

from bootlab.cli.app import run
from bootlab.errors import BootlabError, InputError

FILES = {
    "linux/Makefile": "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 0\n",
    "linux/Kconfig": "",
    "linux/scripts/kconfig/Makefile": "",
    "linux/init/main.c": "",
    "linux/arch/x86/configs/x86_64_defconfig": "",
    "a.config": "CONFIG_SMP=y\n",
    "b.config": "CONFIG_SMP=n\n",
    "bad.config": "SMP=y\n",
    "bad.patch": "--- a/init/main.c\n+++ b/init/main.c\n@@ -1,1 +1,1 @@\n-int one;\n+int two;\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with what looks like a kernel tree."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOOTLAB_CACHE", str(tmp_path / "cache"))
    for name, text in FILES.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "give exactly one of --source (a tree or tarball) and --package (linux-source-...)"),
        ("--source linux --package linux-source-6.12", "give exactly one of --source"),
        (
            "--source linux --base tinyconfig --config a.config",
            "give at most one of --base, --config and --config-package",
        ),
        ("--source linux --suite trixie", "--suite says where --package and --config-package come from"),
        ("--source linux --set SMP", "--set SMP: expected NAME=VALUE"),
        ("--source linux --set SMP=n --set CONFIG_SMP=y", "--set SMP: asked for as n and as y"),
        ("--source linux --set smp=n", "--set smp=n: 'smp' is no option's name"),
        ("--source linux --base nice", "--base: no configuration target of a kernel tree, as tinyconfig"),
        ("--source linux -o linux/out", "--output linux/out: lies in --source (linux)"),
        ("--source linux -o a.config", "--output a.config: a file is there"),
        ("--source linux --arch mips", "no kernel can be built for mips"),
        ("--source linux --base nice_defconfig", '--base: Linux 6.12.0 has no "nice_defconfig" for x86'),
        ("--source linux --fragment gone.config", "--fragment gone.config: no such file"),
        ("--source linux --config linux", "--config linux: no such file"),
        ("--source gone", "--source gone: no such file"),
        ("--source cache", "--source cache: no such file"),
        ("--source a.config", "--source: a.config: neither a kernel tree nor a tarball"),
        ("--source linux/arch", "--source: linux/arch: not a tree of the Linux kernel: it has no Makefile"),
        ("--source linux --fragment a.config --fragment b.config", "--fragment: CONFIG_SMP: a.config:1 says y"),
        ("--source linux --fragment bad.config", "--fragment: bad.config:1: not a line of a configuration"),
        ("--source linux --config linux/init/main.c", "--config: linux/init/main.c: not a kernel configuration"),
        ("--source linux --patch bad.patch", "--patch: bad.patch: does not apply to this source"),
        ("system.toml --set SMP=n --base tinyconfig", "--base, --set cannot be given with it"),
        ("system.toml --arch armv7", "--arch cannot be given with it"),
    ],
)
def test_wrong_use_is_told(words: str, message: str) -> None:
    with pytest.raises(BootlabError) as caught:
        run(["build", "kernel", *words.split()])
    assert message in caught.value.message
    assert caught.value.exit_code == 2
    assert caught.value.hint or "no such file" in caught.value.message


def test_a_system_that_builds_no_kernel() -> None:
    text = '[machine]\ntype = "q35"\n[kernel]\nimage = "a.config"\n[booted]\nmark = "ready"\n'
    Path("system.toml").write_text(text)
    with pytest.raises(InputError, match=r"system\.toml:kernel: this system builds none"):
        run(["build", "kernel", "system.toml"])


def test_missing_tools_are_named_all_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("bootlab.build.source.toolchain._INCLUDES", ())
    with pytest.raises(BootlabError) as caught:
        run(["build", "kernel", "--source", "linux", "--arch", "armv7"])
    assert caught.value.exit_code == 3
    hint = caught.value.hint
    assert hint is not None and hint.startswith("apt-get install make gcc binutils flex bison bc perl")
    assert "gcc-arm-linux-gnueabihf binutils-arm-linux-gnueabihf" in hint
