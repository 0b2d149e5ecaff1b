"""What a bootloader would boot, as its own files say it: GRUB's menu, and entries of the Boot Loader Specification.

Pure: text in, entries out. GRUB's language is not run, only read: of a menu the entries in their order, and the last
value that each variable is set to.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

_SET = re.compile(r"^\s*set\s+(\w+)\s*=\s*(.*?)\s*$")
_ENTRY = re.compile(r"""^\s*(menuentry|submenu)\s+(?:'([^']*)'|"([^"]*)"|(\S+))(.*)$""")
_IDENTITY = re.compile(
    r"""--id[= ]\s*(?:'([^']*)'|"([^"]*)"|(\S+))|\$menuentry_id_option\s+(?:'([^']*)'|"([^"]*)"|(\S+))"""
)
_LINUX = ("linux", "linux16", "linuxefi")
_INITRD = ("initrd", "initrd16", "initrdefi")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


@dataclass(frozen=True, slots=True)
class BootEntry:
    """A system that can be chosen: its kernel and initramfs by path, and the kernel's command line."""

    title: str
    kernel: str = ""
    initrds: tuple[str, ...] = ()
    words: str = ""
    identity: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class BootMenu:
    """`wait_s`: how long it is shown before the default is booted; None where it is not said, -1 for ever."""

    entries: tuple[BootEntry, ...] = ()
    wait_s: float | None = None
    default: str = ""
    reads_entries: bool = False
    """GRUB's `blscfg`: the entries are files beside it."""
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def chosen(self) -> BootEntry | None:
        """Return the default entry: by its number, its name or its id; the first where that is of no entry."""
        if not self.entries:
            return None
        if self.default.isdigit() and int(self.default) < len(self.entries):
            return self.entries[int(self.default)]
        for one in self.entries:
            if self.default and self.default in (one.identity, one.title):
                return one
        return self.entries[0]


def parse_grub_menu(text: str, environment: Mapping[str, str] | None = None) -> BootMenu:
    """Return the menu of a grub.cfg; `environment` are the variables of its grubenv."""
    variables: dict[str, str] = dict(environment or {})
    entries: list[BootEntry] = []
    in_entry: BootEntry | None = None
    wait_s: float | None = None
    reads_entries = False
    for line in text.splitlines():
        if found := _ENTRY.match(line):
            title = next(word for word in found.groups()[1:4] if word is not None)
            if found[1] == "menuentry":
                told = _IDENTITY.search(found[5])
                identity = next((word for word in told.groups() if word), "") if told else ""
                in_entry = BootEntry(title, identity=identity)
                entries.append(in_entry)
            continue
        if found := _SET.match(line):
            value = _unquoted(found[2])
            # A variable set from itself, as in default="${next_entry}", says nothing here.
            if "$" not in value:
                variables[found[1]] = value
            if found[1] == "timeout" and re.fullmatch(r"-?\d+(\.\d+)?", value):
                wait_s = float(value)
            continue
        words = _words(line)
        if not words:
            continue
        if words[0] == "blscfg":
            reads_entries = True
        elif in_entry is not None and words[0] in _LINUX and len(words) > 1:
            kernel, *rest = (_filled(word, variables) for word in words[1:])
            in_entry = replace(in_entry, kernel=_bare(kernel), words=" ".join(rest).strip())
            entries[-1] = in_entry
        elif in_entry is not None and words[0] in _INITRD:
            paths = tuple(_bare(_filled(word, variables)) for word in words[1:])
            in_entry = replace(in_entry, initrds=paths)
            entries[-1] = in_entry
    bootable = tuple(entry for entry in entries if entry.kernel)
    default = variables.get("default", "")
    if default == "saved" or not default:
        default = variables.get("saved_entry", default)
    # The number counts entries that start no Linux, too.
    if default.isdigit() and int(default) < len(entries):
        chosen = entries[int(default)]
        default = str(bootable.index(chosen)) if chosen in bootable else ""
    return BootMenu(bootable, wait_s, default, reads_entries, variables)


def parse_grub_environment(text: str) -> dict[str, str]:
    """Return the variables of a grubenv file."""
    lines = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name: value for name, equals, value in lines if equals}


def parse_entry(text: str, name: str, variables: Mapping[str, str] | None = None) -> BootEntry:
    """Return an entry of the Boot Loader Specification; `name` is its file's, without .conf."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, _, value = line.strip().partition(" ")
        if key and not key.startswith("#"):
            found.setdefault(key, []).append(_filled(value.strip(), variables or {}))
    initrds = [path for value in found.get("initrd", []) for path in value.split()]
    return BootEntry(
        title=" ".join(found.get("title", [name])),
        kernel=next(iter(found.get("linux", found.get("efi", [""])))),
        initrds=tuple(initrds),
        words=" ".join(found.get("options", [])).strip(),
        identity=name,
        version=next(iter(found.get("version", [""]))),
    )


def newest_first(entries: Sequence[BootEntry]) -> list[BootEntry]:
    """Return the entries in the order in which they are shown: the newest version first, by numbers where it has."""
    return sorted(entries, key=lambda one: _version_key(one.version or one.identity), reverse=True)


def parse_loader_conf(text: str) -> tuple[float | None, str]:
    """Return how long systemd-boot shows its menu (s), None for what it does by itself, and its default entry."""
    keys = dict(line.strip().split(None, 1) for line in text.splitlines() if len(line.split(None, 1)) == 2)
    told = keys.get("timeout", "").strip()
    wait_s = float(told) if re.fullmatch(r"\d+", told) else -1.0 if told == "menu-force" else None
    return wait_s, keys.get("default", "").strip()


def _version_key(text: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"\d+|[A-Za-z]+", text)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return line.split()


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _filled(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: variables.get(found[1], ""), text)


def _bare(path: str) -> str:
    # ($root)/boot/vmlinuz, or (hd0,gpt2)/vmlinuz
    return re.sub(r"^\([^)]*\)", "", path)
