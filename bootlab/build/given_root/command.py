"""A container image's command as bootlab-init's one unit: what an engine would start, with what it would give it.

An engine sets up the network, the names and the folders before; so do the unit's settings and the files beside it.
"""

import re
import stat
from collections.abc import Iterable, Sequence
from typing import Final

from bootlab.build.formats.cpio import Entry
from bootlab.build.given_root.image_config import ImageProcess
from bootlab.build.root.followed_paths import FollowedPaths
from bootlab.errors import InputError
from bootlab.system.part import brief

UNIT: Final = "command"
MARK: Final = "ready"
SHELLS: Final = ("sh", "ash", "bash", "dash", "zsh")
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_MOST_WORDS: Final = 64
"""Of one command, and of one unit's environment (guest/init/units/units.h)."""
_LONGEST_LINE: Final = 4096
_ADDRESS, _ROUTER, _NAMES = "10.0.2.15", "10.0.2.2", "10.0.2.3"
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*=.*", re.DOTALL)


def command_entries(
    entries: Iterable[Entry], process: ImageProcess, words: Sequence[str], key: str, *, network: bool
) -> list[Entry]:
    """Return the files by which bootlab-init starts a command in a root of `entries`.

    `words`: the program and its arguments, instead of the image's own; `key` begins messages. Raises InputError for a
    command that is not there, and for what a unit cannot say.
    """
    paths = FollowedPaths(entries)
    words = tuple(words) or process.words
    if not words:
        raise InputError(
            f"{key}: nothing is said of what is to be started in it",
            hint='rootfs.command = ["/path/of/program"], or rootfs.start = "init" for its own init',
        )
    environment = {name: value for name, _, value in (one.partition("=") for one in _variables(process, key))}
    environment.setdefault("PATH", _PATH)
    user, group = _user(paths, process.user, key)
    if not user:
        environment.setdefault("HOME", "/root")
    folder = process.directory or "/"
    program = _program(paths, words[0], environment["PATH"], folder, key)
    lines = ["description What the container image starts.", f"exec {_line([program, *words[1:]], key)}"]
    lines += [f"env {_line([f'{name}={value}'], key)}" for name, value in environment.items()]
    if folder != "/":
        # Not parted into words: the rest of its line.
        _line([folder], key)
        lines.append(f"directory {folder}")
    lines += [f"user {user}"] if user else []
    lines += [f"group {group}"] if group else []
    lines += [f"stop-signal {process.stop_signal}"] if process.stop_signal else []
    lines += ["output console", f"mark {MARK}", *(["after $network"] if network else [])]
    conf = [f"goal {UNIT}", "lsb no", "systemd no", "fstab no"]
    conf += [f"address eth0 {_ADDRESS}/24 {_ROUTER}"] if network else []
    files = {f"etc/bootlab/units/{UNIT}.unit": lines, "etc/bootlab/init.conf": conf}
    files["etc/hosts"] = ["127.0.0.1 localhost", "::1 localhost"]
    if network:
        files["etc/resolv.conf"] = [f"nameserver {_NAMES}"]
    found = [
        Entry(path, stat.S_IFREG | 0o644, "".join(f"{one}\n" for one in text).encode(errors="surrogateescape"))
        for path, text in files.items()
    ]
    if paths.target(folder) is None and folder != "/":
        # An engine makes it.
        found.append(Entry(folder.strip("/"), stat.S_IFDIR | 0o755))
    return found


def _variables(process: ImageProcess, key: str) -> list[str]:
    given = list(process.env or ())
    wrong = next((one for one in given if _VARIABLE.fullmatch(one) is None or "\n" in one), None)
    if wrong is not None:
        raise InputError(
            f"{key}: the variable {brief(wrong)!r} of its configuration cannot be one of a unit of bootlab-init",
            hint="a NAME, = and one line; make the image again without it",
        )
    if len(given) > _MOST_WORDS - 2:
        raise InputError(f"{key}: {len(given)} variables in its configuration, and a unit takes {_MOST_WORDS - 2}")
    return given


def _line(words: Sequence[str], key: str) -> str:
    if len(words) > _MOST_WORDS:
        raise InputError(
            f"{key}: its command has {len(words)} words, and a unit takes {_MOST_WORDS}",
            hint="rootfs.files can bring a script that has them, and rootfs.command start it",
        )
    wrong = next((one for one in words if re.search(r"[\r\n\0]", one)), None)
    if wrong is not None:
        raise InputError(
            f"{key}: a line break in {brief(wrong)!r}, which no unit of bootlab-init can have",
            hint="rootfs.files can bring a script that has it, and rootfs.command start it",
        )
    text = " ".join('"' + one.replace("\\", "\\\\").replace('"', '\\"') + '"' for one in words)
    if len(text.encode(errors="surrogateescape")) > _LONGEST_LINE - 16:
        raise InputError(
            f"{key}: a command or variable of {len(text):,} characters, and a unit's line has {_LONGEST_LINE:,}",
            hint="rootfs.files can bring a script that has it, and rootfs.command start it",
        )
    return text


def _program(paths: FollowedPaths, name: str, search: str, folder: str, key: str) -> str:
    places = [f"{one.rstrip('/')}/{name}" for one in search.split(":") if one.startswith("/")]
    if "/" in name:
        places = [name if name.startswith("/") else f"{folder.rstrip('/')}/{name}"]
    for place in places:
        found = paths.target(place)
        if found is not None and stat.S_ISREG(paths.entries[found].mode) and paths.entries[found].mode & 0o111:
            return place
    where = places[0] if "/" in name else search
    raise InputError(
        f"{key}: its command {brief(name)!r} is not there as a program: {where}",
        hint='rootfs.command = ["/path/of/program"] names another one',
    )


def _user(paths: FollowedPaths, given: str, key: str) -> tuple[str, str]:
    user, _, group = given.partition(":")
    if user in ("", "0", "root"):
        return "", "" if group in ("0", "root") else group
    for name, file in ((user, "/etc/passwd"), (group, "/etc/group")):
        found = paths.target(file)
        data = paths.entries[found].data if found is not None else b""
        known = {row.partition(":")[0] for row in data.decode(errors="replace").splitlines()}
        if name and not name.isdigit() and name not in known:
            raise InputError(
                f"{key}: its command is to be started as {brief(given)!r}, and {file} has no {brief(name)!r}",
                hint="make the image again with that user",
            )
    return user, group
