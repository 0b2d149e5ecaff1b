"""What a bootloader would boot, as its own files say it: GRUB's menu, and entries of the Boot Loader Specification.

Pure: text in, entries out. GRUB's language is not run, only read: of a menu the entries in their order, menus in it
too, and the last value that each variable is set to.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial

_SET = re.compile(r"^\s*set\s+(\w+)\s*=\s*(.*?)\s*$")
_ENTRY = re.compile(r"""^\s*(menuentry|submenu)\s+(?:'([^']*)'|"([^"]*)"|(\S+))(.*)$""")
_IDENTITY = re.compile(
    r"""--id[= ]\s*(?:'([^']*)'|"([^"]*)"|(\S+))|\$menuentry_id_option\s+(?:'([^']*)'|"([^"]*)"|(\S+))"""
)
_LINUX = ("linux", "linux16", "linuxefi")
_INITRD = ("initrd", "initrd16", "initrdefi")
_SECONDS = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")
_NUMBER = re.compile(r"[0-9]{1,9}")
TRIES = re.compile(r"\+(\d{1,9})(?:-\d{1,9})?$")
"""How often systemd-boot may still try an entry, at the end of its name."""
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
    file: str = ""
    """Of an entry that is a file: its name, without .conf."""
    sort_key: str = ""
    machine_id: str = ""


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
        """Return the default entry: by its number, name, id or a pattern of ids; the first where it is of no entry."""
        if not self.entries:
            return None
        if _NUMBER.fullmatch(self.default) and int(self.default) < len(self.entries):
            return self.entries[int(self.default)]
        for one in self.entries:
            if self.default and (self.default in (one.identity, one.title) or fnmatchcase(one.identity, self.default)):
                return one
        return self.entries[0]


def parse_grub_menu(text: str, environment: Mapping[str, str] | None = None) -> BootMenu:
    """Return the menu of a grub.cfg; `environment` are the variables of its grubenv."""
    variables: dict[str, str] = dict(environment or {})
    outline = _Outline()
    wait_s: float | None = None
    reads_entries = False
    for line in text.splitlines():
        if outline.take(line):
            continue
        if found := _SET.match(line):
            value = _unquoted(found[2])
            # A variable set from itself, as in default="${next_entry}", says nothing here.
            if "$" not in value:
                variables[found[1]] = value
            if found[1] == "timeout" and _SECONDS.fullmatch(value):
                wait_s = float(value)
            continue
        words = _words(line)
        if not words:
            continue
        if words[0] == "blscfg":
            reads_entries = True
        elif words[0] in _LINUX and len(words) > 1:
            kernel, *rest = (_filled(word, variables) for word in words[1:])
            outline.change(partial(replace, kernel=_bare(kernel), words=" ".join(rest).strip()))
        elif words[0] in _INITRD:
            outline.change(partial(replace, initrds=tuple(_bare(_filled(word, variables)) for word in words[1:])))
    default = variables.get("default", "")
    if default == "saved" or not default:
        default = variables.get("saved_entry", default)
    bootable = tuple(entry for entry in outline.entries.values() if entry.kernel)
    if not reads_entries:
        chosen = outline.find(default)
        default = str(bootable.index(chosen)) if chosen in bootable else ""
    return BootMenu(bootable, wait_s, default, reads_entries, variables)


@dataclass(slots=True)
class _Outline:
    """A menu's entries, each under its numbers: (1, 0) is the first one in the second of the menu, which is a menu."""

    entries: dict[tuple[int, ...], BootEntry] = field(default_factory=dict)
    _menus: dict[tuple[int, ...], BootEntry] = field(default_factory=dict)
    _open: list[tuple[int, ...] | None] = field(default_factory=list)
    """What the braces that are open belong to; None: something else, a function say."""
    _counts: dict[tuple[int, ...], int] = field(default_factory=dict)

    def take(self, line: str) -> bool:
        """Take a line that begins or ends something in braces; return whether it was one."""
        if found := _ENTRY.match(line):
            within = next((place for place in reversed(self._open) if place in self._menus), ())
            number = self._counts.get(within or (), 0)
            self._counts[within or ()] = number + 1
            place = (*(within or ()), number)
            title = next(word for word in found.groups()[1:4] if word is not None)
            told = _IDENTITY.search(found[5])
            identity = next((word for word in told.groups() if word), "") if told else ""
            kind = self.entries if found[1] == "menuentry" else self._menus
            kind[place] = BootEntry(title, identity=identity)
            self._open.append(place)
            return True
        if line.rstrip().endswith("{") and line.strip() != "{":
            self._open.append(None)
        elif line.strip() == "}" and self._open:
            self._open.pop()
        else:
            return False
        return True

    def change(self, to: Callable[[BootEntry], BootEntry]) -> None:
        """Say more of the entry whose braces are open, if any is."""
        place = next((one for one in reversed(self._open) if one in self.entries), None)
        if place is not None:
            self.entries[place] = to(self.entries[place])

    def find(self, default: str) -> BootEntry | None:
        """Return the entry that GRUB takes for `default`: numbers, titles or ids, one for each menu, with > between."""
        place: tuple[int, ...] = ()
        for part in default.split(">"):
            items = {at: one for at, one in {**self.entries, **self._menus}.items() if at[:-1] == place}
            number = int(part) if _NUMBER.fullmatch(part) else None
            found = next(
                (at for at, one in items.items() if at[-1] == number or part in (one.identity, one.title)), None
            )
            if found is None or not part:
                break
            place = found
        # Where it leads to no entry the first is taken; of a menu the first in it.
        within = [one for at, one in sorted(self.entries.items()) if at[: len(place)] == place]
        return within[0] if within else None


def parse_grub_environment(text: str) -> dict[str, str]:
    """Return the variables of a grubenv file."""
    lines = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name: value for name, equals, value in lines if equals}


def parse_entry(text: str, name: str, variables: Mapping[str, str] | None = None) -> BootEntry:
    """Return an entry of the Boot Loader Specification; `name` is its file's, without .conf."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, *value = line.split(None, 1)[:2] or [""]
        if key and not key.startswith("#"):
            found.setdefault(key, []).append(_filled(" ".join(value).strip(), variables or {}))
    initrds = [path for value in found.get("initrd", []) for path in value.split()]
    return BootEntry(
        title=" ".join(found.get("title", [name])),
        kernel=next(iter(found.get("linux", found.get("efi", [""])))),
        initrds=tuple(initrds),
        words=" ".join(found.get("options", [])).strip(),
        identity=TRIES.sub("", name),
        version=next(iter(found.get("version", [""]))),
        file=name,
        sort_key=next(iter(found.get("sort-key", [""]))),
        machine_id=next(iter(found.get("machine-id", [""]))),
    )


def newest_first(entries: Sequence[BootEntry]) -> list[BootEntry]:
    """Return the entries in GRUB's order: the newest version first, by numbers where it has."""
    return sorted(entries, key=lambda one: version_key(one.version or one.identity), reverse=True)


def tries_left(name: str) -> int | None:
    """Return how often systemd-boot may still try the entry of a file of this name; None where nothing counts it."""
    tries = TRIES.search(name)
    return None if tries is None else int(tries[1])


def version_key(text: str) -> list[tuple[int, int, str]]:
    """Return what orders versions, the oldest first."""
    # A number by its length and its digits: int() takes some thousands of these at most.
    parts = re.findall(r"0*([0-9]+)|([A-Za-z]+)", text)
    return [(1, len(digits), digits) if digits else (0, 0, letters) for digits, letters in parts]


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
