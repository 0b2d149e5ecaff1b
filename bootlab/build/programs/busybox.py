"""BusyBox with a few of its applets, built from Debian's source package with the features that Debian's own has.

Its configuration is that of the package busybox-static, with every other applet off; the features of an applet go with
it. Same compiler, C library and options as the package's, so that what is left behaves as it did.
"""

import json
import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from bootlab.build.debian.source_package import SourcePackage, fetch_source
from bootlab.build.programs.cross_build import CrossBuild, CrossCompiler, find_compiler
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.process import run
from bootlab.system import Libc

_FORMAT = 1
_PACKAGE = "busybox"
_CONFIG = "debian/config/pkg/static"
_BUSYBOX, _APPLETS = "busybox", "applets.json"
"""Names in an entry."""
_DEADLINE_S = 1800.0
_APPLET = re.compile(r"^//applet:\s*IF_(\w+)\(\s*(?:IF_\w+\(\s*)*APPLET\w*\(\s*([^,\s]+)\s*,", re.MULTILINE)
"""//applet:IF_INSMOD(IF_NOT_MODPROBE_SMALL(APPLET_NOEXEC(insmod, ...))): the option that an applet is built by."""
_SET = re.compile(r"CONFIG_(\w+)=")
_BUILT = re.compile(r'^"([^"]+)" "\\0"$', re.MULTILINE)
_SECOND = "true"
"""A busybox of one applet is that program whatever it is called, `busybox` included; this makes it two."""
_ITSELF = "busybox"
"""Its option makes `busybox --list` and `busybox APPLET` work; it is an applet only where its shell completes words."""


@dataclass(frozen=True, slots=True)
class ReducedBusybox:
    """A static busybox in the cache. Shared: never to be changed."""

    path: Path
    """Stripped."""
    applets: tuple[str, ...]
    """All that it answers to, sorted."""
    version: str
    """Of the Debian package."""


def build_busybox(shop: Workshop, suite: str | None, arch: str, wanted: Collection[str], *, key: str) -> ReducedBusybox:
    """Return a busybox that has `wanted` applets, from the cache when it was built before.

    `key` is what the system file calls them, for messages. Raises InputError for none at all, or one that this release
    does not have, MissingTool, ProgramBuildFailed, Unreachable (no network), StoreError.
    """
    if not {*wanted} - {_ITSELF}:
        raise InputError(f"{key}: there is no applet for busybox to have", hint="busybox = false leaves busybox out")
    source = fetch_source(shop, _PACKAGE, suite, key=key)
    for note in source.notes:
        shop.tell(note)
    config = source.tree / _CONFIG
    if not config.is_file():
        raise InputError(f"{key}: {_PACKAGE} {source.version} of Debian {source.suite} has no {_CONFIG}")
    names = {*wanted} - {_ITSELF}
    names |= {_SECOND} if len(names) < 2 else set()
    text = reduced_config(config.read_text(encoding="utf-8"), read_applet_options(source.tree), {*names, _ITSELF})
    job = _BusyboxJob(shop, source, find_compiler(Libc.GNU, None, arch), text, key)
    entry = shop.cache.make(
        "busybox", json.dumps([_FORMAT, source.sha256, arch, *job.compiler_identity, text]), job.build
    )
    built = tuple(json.loads((entry / _APPLETS).read_text(encoding="utf-8")))
    if lost := sorted(names - set(built)):
        raise InputError(
            f"{key}: busybox {source.version} of Debian {source.suite} has no {', '.join(lost)}",
            hint=f"it was built with {', '.join(built)}",
        )
    return ReducedBusybox(entry / _BUSYBOX, built, source.version)


def read_applet_options(tree: Path) -> dict[str, set[str]]:
    """Return applet -> the options that build it, as the sources in `tree` say beside each."""
    found: dict[str, set[str]] = {}
    for path in sorted(tree.rglob("*.c")):
        for option, applet in _APPLET.findall(path.read_text(encoding="utf-8", errors="replace")):
            found.setdefault(applet, set()).add(option)
    return found


def reduced_config(text: str, options: dict[str, set[str]], wanted: Iterable[str]) -> str:
    """Return a configuration without the options of applets (`options`) that are not `wanted`."""
    kept = {option for applet in wanted for option in options.get(applet, ())}
    off = {option for several in options.values() for option in several} - kept
    lines = []
    for line in text.splitlines():
        said = _SET.match(line)
        lines.append(f"# CONFIG_{said[1]} is not set" if said is not None and said[1] in off else line)
    for shell in ("SH", "BASH"):
        # One of a choice: with none on, kconfig takes the first.
        if f"{shell}_IS_ASH" in off:
            lines = [line for line in lines if line != f"# CONFIG_{shell}_IS_NONE is not set"]
            lines += [f"CONFIG_{shell}_IS_NONE=y"]
    return "\n".join(dict.fromkeys(lines)) + "\n"


class _BusyboxJob:
    def __init__(self, shop: Workshop, source: SourcePackage, compiler: CrossCompiler, config: str, key: str) -> None:
        self._shop = shop
        self._source = source
        self._compiler = compiler
        self._config = config
        self._key = key
        self.compiler_identity = (compiler.identity, compiler.choices)

    def build(self, out: Path) -> None:
        work = CrossBuild(self._shop.cache, out.parent, self._compiler, _PACKAGE, self._key)
        work.begin(self._source.tree, static=True)
        self._shop.tell(f"building {_PACKAGE} {self._source.version} with the applets that are used")
        (work.objects / ".config").write_text(self._config, encoding="utf-8")
        # As Debian's rules: its version is part of the banner, and the time of the build is not.
        make = ["env", "KCONFIG_NOTIMESTAMP=1", "make", "-C", "../source", f"O={work.objects}"]
        make += [f"CROSS_COMPILE={self._compiler.prefix}", "CC=cc", f"BB_EXTRA_VERSION=Debian {self._source.version}"]
        # It asks about options that the others turned off have left open; empty lines are its own defaults.
        work.run(["sh", "-c", 'yes "" | "$@"', "sh", *make, "oldconfig"], _DEADLINE_S, lambda line: None)
        jobs = f"--jobs={len(os.sched_getaffinity(0))}"
        work.run([*make, jobs, "SKIP_STRIP=y", _BUSYBOX], _DEADLINE_S, lambda line: None)
        table = (work.objects / "include/applet_tables.h").read_text(encoding="utf-8")
        out.mkdir()
        run(
            [
                f"{self._compiler.prefix}strip",
                "--remove-section=.comment",
                "-o",
                out / _BUSYBOX,
                work.objects / _BUSYBOX,
            ]
        )
        (out / _BUSYBOX).chmod(0o755)
        (out / _APPLETS).write_text(json.dumps(sorted(_BUILT.findall(table))) + "\n", encoding="utf-8")
