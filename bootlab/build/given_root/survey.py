"""What is in a root that was handed over, as far as it decides how it boots; kept in the cache under its content."""

import re
import stat
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bootlab.build.given_root.command import SHELLS
from bootlab.build.given_root.given import GivenRoot, ReadRoot
from bootlab.build.given_root.image_config import arch_of
from bootlab.build.image.as_system import LOGIN
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.document import Document
from bootlab.errors import InputError

ACTIVATE: Final = "Please press Enter to activate this console"
"""What busybox's init says where a shell waits for somebody."""
INIT: Final = "/sbin/init"
_FORMAT: Final = 1
_MACHINES: Final = {3: "i386", 21: "ppc64", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
_ELF: Final = b"\x7fELF"
_SERIAL: Final = {"x86_64": "ttyS0", "aarch64": "ttyAMA0"}
_SSH_SERVERS: Final = ("/usr/sbin/sshd", "/usr/sbin/dropbear", "/usr/bin/dropbear")
_NAME: Final = re.compile(r'^PRETTY_NAME=["\']?([^"\'\n]{1,200})', re.MULTILINE)
_PROGRAMS: Final = ("bin/", "sbin/", "usr/bin/", "usr/sbin/", "usr/local/bin/")


class RootSurvey(Document):
    """What was found."""

    arch: str
    """As bootlab calls it, or the name of one that is not booted here."""
    os_name: str
    image: str
    """Which image of its archive; empty for what is no container image."""
    init: str
    """What /sbin/init is; empty where there is none."""
    login: str
    """Pattern of what that says on the first serial line when somebody can log in; empty where it will not."""
    has_sshd: bool
    words: tuple[str, ...]
    """What the image's configuration starts."""
    ports: tuple[int, ...]
    files: int
    bytes: int
    remarks: tuple[str, ...]

    @property
    def starts_command(self) -> bool:
        """Whether it is there for its command: it has no init, or a command that is more than a shell."""
        if not self.init:
            return True
        name = self.words[0].rpartition("/")[2] if self.words else ""
        return bool(name) and name not in ("init", "systemd") and not (name in SHELLS and len(self.words) == 1)


def survey_root(root: GivenRoot) -> RootSurvey:
    """Return what is in a root, from the cache when it was looked through before. Raises InputError as it is read."""
    shop = root.shop
    key = f"{_FORMAT} {root.identity()} {root.choice} {root.arch}"
    place = shop.cache.find("root-surveys", key)
    if place is not None:
        try:
            return RootSurvey.model_validate_json(place.read_text(encoding="utf-8"))
        except (OSError, ValueError, ValidationError) as error:
            raise InputError(f"{root.path}: what the cache knows of it is damaged", hint=f"remove {place}") from error
    shop.tell(f"reading {root.path.name}")
    found = look_through(root.read(), str(root.path))
    text = found.model_dump_json(indent=1) + "\n"

    def keep(out: Path) -> None:
        out.write_text(text, encoding="utf-8")

    shop.cache.make("root-surveys", key, keep)
    return found


def look_through(read: ReadRoot, where: str) -> RootSurvey:
    """Return what is in a root that was read."""
    paths = FollowedPaths(read.entries)
    config = read.config
    arch = arch_of(config.os, config.architecture, where) if config is not None else _arch(paths, where)
    init = _init(paths)
    return RootSurvey(
        arch=arch,
        os_name=_os_name(paths),
        image=read.image,
        init=init,
        login=_login(paths, init, _SERIAL.get(arch, "ttyS0")),
        has_sshd=any(paths.target(path) is not None for path in _SSH_SERVERS),
        words=config.started.words if config is not None else (),
        ports=config.started.ports if config is not None else (),
        files=sum(stat.S_ISREG(one.mode) for one in read.entries),
        bytes=sum(one.size for one in read.entries if stat.S_ISREG(one.mode)),
        remarks=read.remarks,
    )


def _data(paths: FollowedPaths, path: str) -> bytes:
    found = paths.target(path)
    return paths.entries[found].data if found is not None else b""


def _os_name(paths: FollowedPaths) -> str:
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        if found := _NAME.search(_data(paths, path).decode(errors="replace")):
            return found[1].strip()
    return ""


def _init(paths: FollowedPaths) -> str:
    target = paths.target(INIT)
    if target is None or not stat.S_ISREG(paths.entries[target].mode):
        return ""
    name, data = target.rpartition("/")[2], paths.entries[target].data
    if name == "systemd":
        return "systemd"
    kind = "busybox" if name == "busybox" or b"BusyBox v" in data else name if name != "init" else "sysvinit"
    has_openrc = paths.target("/sbin/openrc") is not None
    return f"{kind} and OpenRC" if has_openrc and "openrc" not in kind else kind


def _login(paths: FollowedPaths, init: str, line: str) -> str:
    if init == "systemd":
        # Its generator starts one on the kernel's console.
        return LOGIN if paths.target("/sbin/agetty") is not None else ""
    if not init:
        return ""
    table = _data(paths, "/etc/inittab").decode(errors="replace")
    if not table:
        return ACTIVATE if init.startswith("busybox") else ""
    for row in table.splitlines():
        where, _, action, program = ([one.strip() for one in row.split(":", 3)] + [""] * 4)[:4]
        if row.lstrip().startswith("#") or not action:
            continue
        on_console = where in ("", "console", line) or re.search(rf"\b(console|{line})\b", program) is not None
        if on_console and "getty" in program:
            return LOGIN
        if action == "askfirst" and where in ("", "console", line):
            return ACTIVATE
    return ""


def _arch(paths: FollowedPaths, where: str) -> str:
    for path in _candidates(paths):
        data = _data(paths, path)
        if data.startswith(b"#!"):
            data = _data(paths, data[2:200].split(b"\n")[0].split()[0].decode(errors="replace") if data[2:3] else "")
        if data.startswith(_ELF) and len(data) > 20:
            order = "<" if data[5] == 1 else ">"
            (machine,) = struct.unpack_from(f"{order}H", data, 18)
            return _MACHINES.get(machine, f"ELF machine {machine}")
    raise InputError(
        f"{where}: no program in it, so no root file system: neither {INIT} nor anything in /bin and /usr/bin",
        hint="name the folder, or pack it, so that bin, etc, usr are at its top",
    )


def _candidates(paths: FollowedPaths) -> Iterator[str]:
    yield from (INIT, "/bin/sh", "/bin/busybox")
    yield from (path for path in sorted(paths.entries) if path.startswith(_PROGRAMS))
