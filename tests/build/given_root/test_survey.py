"""What is found in a root: its init, whether somebody will be asked to log in, whose machine its programs are for."""

import stat
from pathlib import Path

import pytest

from bootlab.build.cache import Cache
from bootlab.build.formats.cpio import Entry
from bootlab.build.given_root.given import ReadRoot, find_root
from bootlab.build.given_root.image_config import ImageConfig
from bootlab.build.given_root.survey import ACTIVATE, RootSurvey, look_through, survey_root
from bootlab.build.image.as_system import LOGIN
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from tests.build.given_root.images import ELF_X86_64, tar

BUSYBOX = ELF_X86_64 + b"BusyBox v1.37.0"
ALPINE = ("# Copyright", "::sysinit:/sbin/openrc sysinit", "tty1::respawn:/sbin/getty 38400 tty1")


def look(files: dict[str, bytes | str], config: ImageConfig | None = None) -> RootSurvey:
    entries = [
        Entry(path, stat.S_IFLNK | 0o777, what.encode())
        if isinstance(what, str)
        else Entry(path, stat.S_IFREG | 0o755, what)
        for path, what in files.items()
    ]
    return look_through(ReadRoot(tuple(entries), config), "root.tar")


_BUSYBOX_INIT = {"sbin/init": "/bin/busybox", "bin/busybox": BUSYBOX}
_SYSTEMD = {"sbin/init": "/lib/systemd/systemd", "lib/systemd/systemd": ELF_X86_64}
_OTHER_SYSTEMD = {"sbin/init": "../usr/lib/systemd/systemd", "usr/lib/systemd/systemd": ELF_X86_64}


def table(*rows: str) -> dict[str, bytes | str]:
    return {"etc/inittab": "".join(f"{row}\n" for row in rows).encode()}


@pytest.mark.parametrize(
    ("files", "init", "login"),
    [
        ({**_SYSTEMD, "sbin/agetty": b""}, "systemd", LOGIN),
        (_OTHER_SYSTEMD, "systemd", ""),
        (_BUSYBOX_INIT, "busybox", ACTIVATE),
        ({**_BUSYBOX_INIT, **table("ttyS0::askfirst:/bin/sh")}, "busybox", ACTIVATE),
        ({**_BUSYBOX_INIT, "sbin/openrc": b"", **table(*ALPINE)}, "busybox and OpenRC", ""),
        ({**_BUSYBOX_INIT, **table(*ALPINE, "ttyS0::respawn:/sbin/getty -L 0 ttyS0")}, "busybox", LOGIN),
        ({"sbin/init": ELF_X86_64, **table("T0:23:respawn:/sbin/getty -L ttyS0 9600")}, "sysvinit", LOGIN),
        ({"sbin/init": ELF_X86_64, **table("#T0:23:respawn:/sbin/getty ttyS0", "1:2:respawn:x tty1")}, "sysvinit", ""),
        ({"bin/sh": ELF_X86_64}, "", ""),
    ],
)
def test_inits_and_their_prompts(files: dict[str, bytes | str], init: str, login: str) -> None:
    found = look(files)
    assert (found.init, found.login, found.arch) == (init, login, "x86_64")
    assert found.starts_command == (not init)


def test_the_architecture_is_that_of_its_programs() -> None:
    arm = ELF_X86_64[:18] + b"\xb7\x00" + ELF_X86_64[20:]
    assert look({"bin/sh": "dash", "bin/dash": arm}).arch == "aarch64"
    assert look({"sbin/init": b"#!/bin/sh\n", "bin/sh": arm}).arch == "aarch64"
    assert look({"usr/bin/app": ELF_X86_64[:18] + b"\xf3\x00" + ELF_X86_64[20:]}).arch == "riscv64"
    with pytest.raises(InputError, match="no program in it, so no root file system"):
        look({"etc/motd": b"hello"})


@pytest.mark.parametrize(
    ("words", "starts"),
    [
        (["/bin/sh"], False),
        (["bash"], False),
        (["/sbin/init"], False),
        (["sh", "-c", "serve"], True),
        (["nginx", "-g", "daemon off;"], True),
        ([], False),
    ],
)
def test_an_image_with_an_init_is_there_for_its_command_if_that_is_more_than_a_shell(
    words: list[str], starts: bool
) -> None:
    document = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Cmd": words, "ExposedPorts": {"80/tcp": {}, "53/udp": {}}},
    }
    files: dict[str, bytes | str] = {"sbin/init": "/bin/busybox", "bin/busybox": BUSYBOX}
    found = look(files, ImageConfig.model_validate(document))
    assert found.starts_command == starts and found.ports == (80,)


def test_it_is_looked_through_once(tmp_path: Path) -> None:
    told: list[str] = []
    shop = Workshop(Cache(tmp_path / "cache"), tell=told.append)
    archive = tmp_path / "root.tar"
    archive.write_bytes(tar({"bin/sh": ELF_X86_64, "etc/os-release": b'PRETTY_NAME="Some Linux 1"\n'}))
    first = survey_root(find_root(shop, archive))
    assert first.os_name == "Some Linux 1" and (first.files, first.bytes) == (2, len(ELF_X86_64) + 27)
    assert survey_root(find_root(shop, archive)) == first and told == ["reading root.tar"]
    (kept,) = [path for path in (tmp_path / "cache/root-surveys").iterdir() if path.is_file() and path.suffix == ""]
    kept.write_text("x" * kept.stat().st_size)
    with pytest.raises(InputError, match="what the cache knows of it is damaged"):
        survey_root(find_root(shop, archive))
