"""A root with the services of many packages, every program of theirs a recorder, for systemd and bootlab-init alike.

The unit files are as shipped, and so is /etc. What is made up is what an installation would have: links that enable,
users, folders. Every service is enabled, static ones and an instance of each template, too.
"""

import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bootlab.build.debian.packages import Package

FOLDERS = ("lib/systemd/system", "usr/lib/systemd/system")
INSTANCE = "one"
_COMMANDS = ("ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost")
_TARGETS = ("sysinit.target", "basic.target", "multi-user.target")
_BASE_PASSWD = "root:x:0:0:root:/root:/bin/bash\n"
_FIRST_ID = 900
_EXTRA_GROUP = 2000
"""A group that every made-up user is a member of, besides its own."""


@dataclass(slots=True)
class Unit:
    """A unit file: key -> its values, as the manual page has them (an empty one takes back what came before)."""

    name: str
    package: str
    keys: dict[str, list[str]] = field(default_factory=dict)

    def words(self, *keys: str) -> list[str]:
        """Return all words of these keys."""
        return [word for key in keys for value in self.keys.get(key, ()) for word in value.split()]

    def last(self, key: str, default: str = "") -> str:
        return self.keys.get(key, [default])[-1]

    @property
    def type(self) -> str:
        """Return its Type=, or what it is without one."""
        if "ExecStart" not in self.keys:
            return "oneshot"
        return self.last("Type", "dbus" if "BusName" in self.keys else "simple")


def read_unit(path: Path, package: str) -> Unit:
    """Return what a unit file says; sections are left out, as no key means two things."""
    unit = Unit(path.name, package)
    text = re.sub(r"\\\n(?:[#;].*\n)*", " ", path.read_text(encoding="utf-8"))
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and not line.lstrip().startswith(("#", ";")):
            values = unit.keys.setdefault(key.strip(), [])
            if value.strip():
                values.append(value.strip())
            else:
                values.clear()
    unit.keys = {key: values for key, values in unit.keys.items() if values}
    return unit


def command_words(value: str) -> tuple[str, str]:
    """Return the program of an Exec line, and what it is told as its own name."""
    flags = re.match(r"[-+!:@]*", value)
    assert flags is not None
    words = shlex.split(value[flags.end() :], posix=True)
    return words[0], words[1] if "@" in flags[0] else words[0]


@dataclass(frozen=True, slots=True)
class Services:
    """What was laid out: service -> its unit, with the names of instances; `left_out`: service -> why."""

    units: Mapping[str, Unit]
    others: Mapping[str, Unit]
    """Sockets, targets and the like."""
    left_out: Mapping[str, str]


def find_services(packages: Iterable[Package]) -> Services:
    """Return the services of these packages that can be started together."""
    found: dict[str, Unit] = {}
    aliases: dict[str, str] = {}
    for package in packages:
        for folder in FOLDERS:
            for path in sorted((package.tree / folder).glob("*.*")):
                if path.is_symlink():
                    aliases[path.name] = Path(path.readlink()).name
                elif path.is_file():
                    found[path.name] = read_unit(path, package.name)
    units: dict[str, Unit] = {}
    left_out: dict[str, str] = {}
    for name, unit in sorted(found.items()):
        if not name.endswith(".service"):
            continue
        if not any(key in unit.keys for key in _COMMANDS):
            left_out[name] = "no command"
            continue
        called = name.replace("@.", f"@{INSTANCE}.")
        names = {called, *unit.words("Alias"), *(one for one, to in aliases.items() if to == name)}
        against = [
            other
            for other, one in units.items()
            if names & set(one.words("Conflicts"))
            or set(unit.words("Conflicts")) & {other, *one.words("Alias")}
            or ("Alias" in unit.keys and set(unit.words("Alias")) & set(one.words("Alias")))
        ]
        socket = found.get(name.replace("@.service", ".socket"))
        if against:
            left_out[name] = f"conflicts with {against[0]}"
        elif any(word.endswith(".device") for word in unit.words("BindsTo", "Requires")):
            left_out[name] = "bound to a device"
        elif "@." in name and socket is not None and socket.last("Accept", "no") in ("yes", "true"):
            left_out[name] = "one for each connection"
        else:
            units[called] = unit
    others = {name: unit for name, unit in found.items() if not name.endswith(".service")}
    return Services(units, others, left_out)


def lay_out(packages: Sequence[Package], services: Services, root: Path) -> None:
    """Fill `root`: unit files, links that enable, /etc, users, folders, and links to the recorder."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    for package in packages:
        for folder in FOLDERS:
            _copy_over(package.tree / folder, root / FOLDERS[0])
        _copy_over(package.tree / "etc", root / "etc")
    for name in ("etc/init.d", "etc/rcS.d", "etc/machine-id", "etc/fstab"):
        if (root / name).is_dir():
            shutil.rmtree(root / name)
    for name in services.left_out:
        (root / FOLDERS[0] / name).unlink()
    _enable(services, root)
    _without_bus(services, root)
    _make_users(services, root)
    _make_folders(services, root)
    _place_programs(services, root)
    (root / "records").mkdir(mode=0o755)
    (root / "records/behaviour").write_text("".join(f"{row}\n" for row in behaviour(services)))
    (root / "etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    (root / "etc/hostname").write_text("compared\n")
    (root / "etc/nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files\n")
    (root / "etc/systemd").mkdir(exist_ok=True)
    (root / "etc/systemd/system.conf").write_text(
        "[Manager]\nDefaultTimeoutStartSec=6s\nDefaultTimeoutStopSec=5s\nShowStatus=no\nLogTarget=null\n"
    )
    (root / "etc/bootlab").mkdir()
    (root / "etc/bootlab/init.conf").write_text("lsb no\nsystemd yes\nconsole quiet\nshutdown-timeout 30s\n")


def add_systemd(packages: Iterable[Package], root: Path) -> None:
    """Put systemd and its libraries below a root that is laid out; of its own units only targets and slices."""
    for package in packages:
        for folder in ("bin", "sbin", "lib", "lib64", "usr"):
            for path in sorted((package.tree / folder).rglob("*")):
                place = (
                    root / (folder if folder == "usr" else f"usr/{folder}") / path.relative_to(package.tree / folder)
                )
                is_unit = path.parent.name == "system" and path.parent.parent.name == "systemd"
                skipped = is_unit and (not path.name.endswith((".target", ".slice")) or place.exists())
                if path.is_dir() and not path.is_symlink() or skipped or "system-generators" in path.parts:
                    continue
                if not {"doc", "man", "locale", "bash-completion", "zsh"} & set(path.parts):
                    place.parent.mkdir(parents=True, exist_ok=True)
                    if not (place.is_symlink() or place.exists()):
                        shutil.copy2(path, place, follow_symlinks=False)


def _copy_over(source: Path, to: Path) -> None:
    """Copy what is below a folder; of one name the last one stays, as on a disk."""
    for path in sorted(source.rglob("*")):
        place = to / path.relative_to(source)
        if path.is_dir() and not path.is_symlink():
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        shutil.copy2(path, place, follow_symlinks=False)


def _enable(services: Services, root: Path) -> None:
    system = root / "etc/systemd/system"
    shutil.rmtree(system, ignore_errors=True)
    for name, unit in services.units.items():
        target = next((one for one in unit.words("WantedBy", "RequiredBy") if one in _TARGETS), _TARGETS[-1])
        folder = system / f"{target}.wants"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(f"/{FOLDERS[0]}/{unit.name}")
        for alias in unit.words("Alias"):
            if alias != name and "@" not in alias and "%" not in alias:
                (system / alias).symlink_to(f"/{FOLDERS[0]}/{unit.name}")
    (system / "default.target").symlink_to("/lib/systemd/system/multi-user.target")
    folder = system / "sockets.target.wants"
    folder.mkdir()
    for name in services.others:
        if name.endswith(".socket") and "@" not in name:
            (folder / name).symlink_to(f"/{FOLDERS[0]}/{name}")


def _without_bus(services: Services, root: Path) -> None:
    """There is no bus, and so no name on it to be ready by: Type=dbus is simple, for both."""
    for name, unit in services.units.items():
        if unit.type == "dbus":
            folder = root / "etc/systemd/system" / f"{name}.d"
            folder.mkdir()
            (folder / "type.conf").write_text("[Service]\nType=simple\n")


def _make_users(services: Services, root: Path) -> None:
    users = {name for unit in services.units.values() for name in unit.words("User")}
    groups = users | {name for unit in services.units.values() for name in unit.words("Group", "SupplementaryGroups")}
    sockets = {name for unit in services.others.values() for name in unit.words("SocketUser", "SocketGroup")}
    made = sorted((groups | sockets) - {"root"})
    made = [name for name in made if "%" not in name and not name.isdigit()]
    ids = {name: _FIRST_ID + place for place, name in enumerate(made)}
    homes = "".join(f"{name}:x:{number}:{number}::/var/lib/{name}:/usr/sbin/nologin\n" for name, number in ids.items())
    (root / "etc/passwd").write_text(_BASE_PASSWD + homes)
    rows = "".join(f"{name}:x:{number}:\n" for name, number in ids.items())
    (root / "etc/group").write_text(f"root:x:0:\n{rows}extra:x:{_EXTRA_GROUP}:{','.join(ids)}\n")
    for name in ids:
        (root / "var/lib" / name).mkdir(parents=True, exist_ok=True)


def _make_folders(services: Services, root: Path) -> None:
    for unit in services.units.values():
        for word in unit.words("WorkingDirectory"):
            path = word.lstrip("-")
            if path.startswith("/") and "%" not in path:
                (root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)


def _place_programs(services: Services, root: Path) -> None:
    for unit in services.units.values():
        for key in (*_COMMANDS, "ExecStop", "ExecStopPost", "ExecReload"):
            for value in unit.keys.get(key, ()):
                program = command_words(value)[0].replace("//", "/")
                path = root / (program.lstrip("/") if program.startswith("/") else f"usr/bin/{program}")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                path.symlink_to("/records/recorder")


def behaviour(services: Services) -> list[str]:
    """Return for each service what its programs are to do, as /records/behaviour has it: NAME PROGRAM=WHAT..."""
    rows = []
    for name, unit in services.units.items():
        words = []
        for key in _COMMANDS:
            for value in unit.keys.get(key, ()):
                what = "exit" if key != "ExecStart" else _behaviour_of(unit)
                words.append(f"{command_words(value)[1]}={what}")
        rows.append(" ".join([name.removesuffix(".service"), *words]))
    return rows


def _behaviour_of(unit: Unit) -> str:
    if unit.type == "forking":
        path = unit.last("PIDFile").replace("%i", INSTANCE).replace("%I", INSTANCE).replace("%t", "/run")
        return f"fork:{path if not path or path.startswith('/') else f'/run/{path}'}"
    return {"oneshot": "exit", "notify": "notify", "notify-reload": "notify"}.get(unit.type, "stay")
