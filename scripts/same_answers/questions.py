"""What is asked of a revision: calls of bootlab, small and cheap enough that all of them take minutes.

In the words of a call `{tree}` is the revision's own checkout, `{samples}` the recordings of tests/data/importers, and
`{run:NAME}` the run that the call NAME left. A reading is asked of runs that another revision may have recorded.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_STILL: Final = """\
# Debian's cloud kernel without disk and network: its check never waits for this host.
name = "{name}"
[machine]
type = "q35"
cpu = "max"
memory_mib = 256
[clock]
kind = "virtual"
[kernel]
package = "linux-image-cloud-amd64"
suite = "bookworm"
cmdline = "console=ttyS0 panic=-1 edd=off cryptomgr.notests{cmdline}"
[initramfs]
init = "same-answers-init"
compression = "gzip"
modules = ["loop", "squashfs", "nls_ascii"]
[booted]
mark = "ready"
deadline_s = 900
[check]
console = "bootlab: check ok"
deadline_s = 900
"""

_INIT: Final = """\
#!/bin/busybox sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
bootlab-mark ready
bootlab-facts
read -r first </etc/bootlab/modules
insmod "$first"
echo "bootlab: check ok"
reboot -f
"""

SYSTEMS: Final = {
    "same-answers-still.toml": _STILL.format(name="still", cmdline=""),
    "same-answers-quiet.toml": _STILL.format(name="quiet", cmdline=" quiet"),
    "same-answers-init": _INIT,
}
"""Files that are put beside the examples of each revision."""

PATIENT: Final = "same-answers-debian-cloud.toml"
"""Made of the revision's own examples/debian-cloud.toml by `patient`."""

_DEBIAN: Final = f"{{tree}}/examples/{PATIENT}"
_STILL_FILE: Final = "{tree}/examples/same-answers-still.toml"
_QUIET_FILE: Final = "{tree}/examples/same-answers-quiet.toml"
_DEMO: Final = ("--plan", "demo", "--seeds", "3", "--nulls", "3")
_SWEPT: Final = ("--memory", "256M,512M", "--seeds", "2")
_TWO_BOOTS: Final = ("debian-13/dmesg.txt.xz", "debian-13-dracut/dmesg.txt.xz")
_IMPORTS_IN_FULL: Final = ("import-several", "import-compared")


def patient(system: str) -> str:
    """Return the text of a system file with deadlines that a busy host keeps: a boot ended early answers otherwise."""
    return re.sub(r"^(deadline_s = ).*$", r"\g<1>900", system, flags=re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """One call of bootlab."""

    name: str
    words: tuple[str, ...]
    form: str = "json"
    """`json` asks with --json; `text` for what a terminal is told."""
    boots: bool = False
    """Boots guests: two at once would be four."""
    may_fail: bool = False
    """An error is an answer, too: a file that no importer knows."""
    host_ended: bool = False
    """Tells also of what the guest did until the host had read its last line and ended it, which never repeats."""
    costly: bool = False
    """Takes many minutes: asked only when it is named, or with --costly."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The calls whose runs this one reads."""
        return tuple(name for word in self.words for name in re.findall(r"\{run:([^}]+)\}", word))


def asked(samples: Path) -> list[Question]:
    """Return the calls that are asked of each revision; each leaves its run in a folder of its own."""
    return [
        _boots("boot", "boot", "--quiet", _DEBIAN),
        _boots("measure", "measure", _DEBIAN, "-n", "2"),
        _boots("measure-still", "measure", _STILL_FILE, "-n", "2"),
        _boots("measure-quiet", "measure", _QUIET_FILE, "-n", "2"),
        _boots("compare", "compare", _STILL_FILE, _QUIET_FILE, "-n", "3"),
        Question("profile", ("profile", _STILL_FILE), boots=True, host_ended=True),
        _boots("profile-sweep", "profile", _STILL_FILE, "--memory", "256M,512M"),
        # The check of this system reads a disk, which takes its time on the host: what comes up to ready repeats.
        _boots("advise", "advise", _DEBIAN),
        _boots("audit", "audit", _DEBIAN),
        _boots("unused", "unused", _STILL_FILE),
        _boots("coldplug", "coldplug", _STILL_FILE),
        _boots("sweep", "sweep", _STILL_FILE, *_SWEPT),
        _boots("study", "study", "compression", _STILL_FILE, "--what", "initramfs", "--seeds", "1", "--speeds", "5,50"),
        _boots("try", "try", _DEBIAN, *_DEMO),
        _boots("audit-distribution", "audit", "{tree}/examples/distribution.toml", costly=True),
        _boots("tailor", "tailor", "{tree}/examples/microvm.toml", "--builds", "2", costly=True),
        _boots("boot-board", "boot", "--quiet", "{tree}/examples/board.toml", costly=True),
        Question("compare-steps", ("compare", "{run:measure}", "{run:measure-still}", "{run:measure-quiet}")),
        Question("techniques", ("techniques",)),
        Question("techniques-text", ("techniques",), form="text"),
        Question("plans", ("techniques", "--plans"), form="text"),
        Question("init-check", ("init", "check", "{tree}/examples/services/root"), may_fail=True),
        Question("build-initramfs", ("build", "initramfs", _STILL_FILE)),
        Question("formats", ("import", "--formats")),
        Question("import-several", ("import", *_both("debian-13/dmesg.txt.xz", "debian-13/systemd-analyze-plot.json"))),
        Question("import-compared", ("import", "--compare", *_both(*_TWO_BOOTS))),
        *(
            Question(f"import:{name}", ("import", f"{{samples}}/{name}"), may_fail=True)
            for name in sorted(str(path.relative_to(samples)) for path in samples.rglob("*") if path.is_file())
        ),
    ]


def readings(questions: list[Question]) -> list[Question]:
    """Return the calls that read the runs which `questions` left, as JSON and as a terminal shows them."""
    found = []
    for one in questions:
        if one.boots or one.name in _IMPORTS_IN_FULL:
            found += _both_forms(f"report {one.name}", "report", f"{{run:{one.name}}}", costly=one.costly)
        elif one.words[0] == "import" and one.name != "formats":
            words = ("report", f"{{run:{one.name}}}")
            found.append(Question(f"report {one.name}", words, form="text", may_fail=True))
    return [
        *found,
        *_both_forms("report compare-steps", "report", "{run:compare-steps}"),
        *_both_forms("profile RUN", "profile", "{run:advise}"),
        *_both_forms("profile RUN --against", "profile", "{run:advise}", "--against", "{run:profile}"),
        *_both_forms("advise RUN", "advise", "{run:profile}"),
        *_both_forms("audit RUN", "audit", "{run:profile}"),
        *_both_forms("compare RUN RUN", "compare", "{run:measure-still}", "{run:measure-quiet}"),
        # As text these tell how long this call took.
        Question("try --resume", ("try", _DEBIAN, "--resume", "{run:try}")),
        Question("sweep --resume", ("sweep", _STILL_FILE, "--resume", "{run:sweep}")),
    ]


def _boots(name: str, *words: str, costly: bool = False) -> Question:
    return Question(name, words, boots=True, costly=costly)


def _both(*names: str) -> tuple[str, ...]:
    return tuple(f"{{samples}}/{name}" for name in names)


def _both_forms(name: str, *words: str, costly: bool = False) -> list[Question]:
    return [
        Question(name, words, costly=costly),
        Question(f"{name}, as text", words, form="text", costly=costly),
    ]
