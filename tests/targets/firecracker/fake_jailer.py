"""A jailer whose jail is real, and that then is the program of fake.py, for no interpreter lies in a jail.

It takes the jailer's command line and no other, makes the same root (a copy of the program, folders, the id of its
process), goes there by chroot(2) and becomes its user. What it cannot do it says as the real one was recorded to
(tests/data/firecracker).
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.targets.firecracker.fake import Fake

JAILER = Path(__file__).parents[2] / "data" / "firecracker" / "jailer-1.15.1.json"
ONCE = {"--id", "--exec-file", "--uid", "--gid", "--chroot-base-dir", "--cgroup-version", "--parent-cgroup", "--netns"}
OFTEN = {"--cgroup", "--resource-limit"}


def read_words(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the jailer's options, and what it hands on."""
    at = words.index("--")
    options: dict[str, list[str]] = {}
    for name, value in zip(words[:at:2], words[1:at:2], strict=True):
        assert name in ONCE | OFTEN, name
        options.setdefault(name, []).append(value)
    assert all(len(values) == 1 for name, values in options.items() if name in ONCE)
    return options, words[at + 1 :]


class JailedFake(Fake):
    """The program in its jail."""

    def __init__(self, options: dict[str, list[str]], words: list[str]) -> None:
        self._options = options
        assert "--id" not in words and "--start-time-us" not in words, "the jailer adds them"
        super().__init__(words)

    def enter(self) -> None:
        program = Path(self._options["--exec-file"][0]).resolve()
        base = Path(self._options["--chroot-base-dir"][0]).resolve(strict=True)
        root = base / program.name / self._options["--id"][0] / "root"
        root.mkdir(parents=True, exist_ok=True)
        (root / program.name).write_bytes(program.read_bytes())
        uid, gid = (int(self._options[name][0]) for name in ("--uid", "--gid"))
        os.chroot(root)
        os.chdir("/")
        for folder in ("/", "/dev", "/dev/net", "/run"):
            Path(folder).mkdir(mode=0o700, exist_ok=True)
            os.chmod(folder, 0o700)
            os.chown(folder, uid, gid)
        with open(f"/{program.name}.pid", "x") as file:
            file.write(str(os.getpid()))
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)


def main() -> None:
    recorded: dict[str, Any] = json.loads(JAILER.read_text())
    if "--version" in sys.argv:
        print(recorded["version"], end="")
        return
    options, words = read_words(sys.argv[1:])
    for name in [one for one, option in (("controller", "--cgroup"), ("netns", "--netns")) if option in options]:
        sys.stderr.write(recorded["wrong"][name]["stderr"])
        raise SystemExit(recorded["wrong"][name]["code"])
    JailedFake(options, words).run()


if __name__ == "__main__":
    main()
