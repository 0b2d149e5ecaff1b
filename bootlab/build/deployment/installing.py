"""Ways to put carried files into a system's root: a shell script, and a Debian package."""

import os
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bootlab.build.deployment.carried import Carried
from bootlab.process import run
from bootlab.system.disk_image import written_mode

_DEADLINE_S: Final = 60.0
_REMADE: Final = """\
if command -v update-grub >/dev/null && [ -e /boot/grub/grub.cfg ]; then update-grub; fi
"""
_INITRAMFS: Final = """\
if command -v update-initramfs >/dev/null; then update-initramfs -u -k all
elif command -v dracut >/dev/null; then dracut --force --regenerate-all
fi
"""


def install_script(made: Carried) -> str:
    """Return the script that puts the files into a root, and makes what is made of them."""
    lines = [
        "#!/bin/sh",
        "# usage: sh apply.sh [ROOT]     ROOT: the folder that holds etc/; / where none is given",
        "set -eu",
        'here=$(cd "$(dirname "$0")" && pwd)',
        "root=${1:-/}",
        '[ -d "$root/etc" ] || { echo "apply.sh: $root: no etc/ in it: name the root of a system" >&2; exit 2; }',
    ]
    for path in sorted(made.in_root):
        place = shlex.quote(str(path))
        lines += [
            f'mkdir -p "$root"/{shlex.quote(str(path.parent))}',
            f'cp "$here"/root/{place} "$root"/{place}',
            f"echo written: {place}",
        ]
    if made.words:
        # systemd-boot's entries and UKIs are made with the words in this file.
        lines += [
            "words=$root/etc/kernel/cmdline",
            'if [ -f "$words" ]; then',
            f"    for word in {shlex.join(made.words)}; do",
            '        case " $(tr \'\\n\' \' \' < "$words") " in *" $word "*) continue ;; esac',
            "        said=$(tr '\\n' ' ' < \"$words\")",
            '        printf \'%s\\n\' "$said $word" > "$words"',
            "    done",
            "    echo written: etc/kernel/cmdline",
            "fi",
        ]
    steps = (_REMADE + (_INITRAMFS if made.remakes_initramfs else "")).splitlines()
    lines += [
        'if [ "$(cd "$root" && pwd)" = / ]; then',
        *(f"    {line}" for line in steps),
        "else",
        '    echo "then, in that root: update-grub, update-initramfs -u, or what its bootloader and initramfs need"',
        "fi",
    ]
    return "\n".join(lines) + "\n"


def make_debian_package(made: Carried, name: str, version: str, out: Path) -> Path:
    """Make a package of the files, and return its path in the folder `out`. Raises MissingTool (dpkg).

    `name` is what the package is called; installing it also makes GRUB's configuration and the initramfs anew.
    """
    package = out / f"{name}_{version}_all.deb"
    with TemporaryDirectory(prefix="bootlab-package-") as folder:
        tree = Path(folder) / "package"
        _fill(tree, made, name, version)
        argv: list[str | Path] = ["dpkg-deb", "--root-owner-group", "--build", tree, package]
        run(argv, deadline_s=_DEADLINE_S, package="dpkg", env={"SOURCE_DATE_EPOCH": "0"})
    return package


def _fill(tree: Path, made: Carried, name: str, version: str) -> None:
    for path, text in made.in_root.items():
        _write(tree / path, text, written_mode(text.encode()))
    control = [
        f"Package: {name}",
        f"Version: {version}",
        "Architecture: all",
        f"Maintainer: {_maintainer()}",
        "Section: admin",
        "Priority: optional",
        "Description: what makes this system boot sooner, as bootlab measured it",
        " Drop-in files for the bootloader and the initramfs; removing it takes them away.",
    ]
    _write(tree / "DEBIAN/control", "\n".join(control) + "\n")
    own = sorted(f"/{path}" for path in made.in_root if path.parts[0] == "etc")
    if own:
        _write(tree / "DEBIAN/conffiles", "".join(f"{path}\n" for path in own))
    steps = _REMADE + (_INITRAMFS if made.remakes_initramfs else "")
    for when, called in (("postinst", "configure"), ("postrm", "remove")):
        _write(tree / "DEBIAN" / when, f'#!/bin/sh\nset -e\n[ "$1" = {called} ] || exit 0\n{steps}', 0o755)


def _maintainer() -> str:
    name, mail = os.environ.get("DEBFULLNAME", "bootlab"), os.environ.get("DEBEMAIL", "root@localhost")
    return f"{name} <{mail}>".replace("\n", " ")


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    # dpkg-deb takes the modes as they are, whatever the umask.
    path.chmod(mode)
    for folder in path.parents:
        if folder.name == "package":
            break
        folder.chmod(0o755)
