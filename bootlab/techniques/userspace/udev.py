"""What waits for udev: the events of all devices, where few are needed; under systemd, and under bootlab-init."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from bootlab.system import System
from bootlab.techniques.changes.root_files import root_files_words, writes_files
from bootlab.techniques.changes.root_image import recipe_of
from bootlab.techniques.changes.when_idle import WHEN_IDLE
from bootlab.techniques.cmdline.audit_findings import GOAL_UNIT
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import fact_is
from bootlab.techniques.model.published import CROZAT_2008, KATO_2016, Published, none_published
from bootlab.techniques.model.technique import Change, Risk, Technique, Text

SETTLED: Final = "settled"
"""The fact that names the services which waited for all of udev's events (guest/facts_system.sh)."""
TRIGGERED: Final = "udev_trigger"
"""The fact with the commands by which udev was told of devices."""
_IFUPDOWN: Final = "ifupdown-pre.service"
# systemd reads $$ as $, and %% as %.
CARDS: Final = {
    f"/etc/systemd/system/{_IFUPDOWN}.d/90-bootlab-cards.conf": """[Service]
ExecStart=
ExecStart=/bin/sh -c 'for card in $$(ifquery --read-environment --list --exclude=lo); do \
[ -e "/sys/class/net/$${card%%%%:*}" ] || udevadm settle --exit-if-exists="/sys/class/net/$${card%%%%:*}"; done'
"""
}
_FIRST: Final = (
    "module block net tpmrm pci virtio usb scsi nvme nvme-subsystem mmc platform vmbus xen hid mtd ubi md dm"
).split()
_ASKED: Final = fact_is(TRIGGERED, "--subsystem-match=net ")
_LATER: Final = re.compile(r"(?:Starting|Finished|Started) (?:\x1b\[[\d;]*m)?bootlab-udev-rest\.service")
_AT_THE_GOAL: Final = ("input", "graphics", "drm")
"""What a goal that shows something opens: without udev's word on them X knows neither keyboard nor mouse."""
_TRIGGER: Final = "/etc/systemd/system/systemd-udev-trigger.service.d/90-bootlab-few.conf"
_REST: Final = "/etc/systemd/system/bootlab-udev-rest.service"
REST: Final = "/etc/bootlab/udev-rest"


def few(goal: str | None) -> dict[str, str]:
    """Return the files by which udev is told of few devices first: all others come behind `goal`, a service.

    And, with a goal, once the machine has been idle for five seconds, since it is up long before what it starts has
    come to rest.
    """
    first = (*_FIRST, *(_AT_THE_GOAL if goal is not None else ()))
    matched = " ".join(f"--subsystem-match={name}" for name in first)
    rest = " ".join(f"--subsystem-nomatch={name}" for name in first)
    trigger = "udevadm trigger --type=%s --action=add"
    brings = "[Unit]\nWants=bootlab-udev-rest.service\n"
    drop_in = "90-bootlab-udev-rest.conf"
    told = (trigger % "subsystems", f"{trigger % 'devices'} {rest}")
    if goal is None:
        starts = "Type=oneshot\nRemainAfterExit=yes\n" + "".join(f"ExecStart=-{command}\n" for command in told)
        later = {}
    else:
        # Type=simple: as a job for as long as it waits it would keep a getty, which waits until no job is left.
        starts = f"Type=simple\nRemainAfterExit=yes\nExecStart=/bin/sh {REST}\n"
        later = {
            REST: f"{WHEN_IDLE}idle || true\n" + "".join(f"{command}\n" for command in told),
            f"/etc/systemd/system/{goal}.service.d/{drop_in}": brings,
        }
    return {
        # systemd waits for the devices of serial consoles, and no other unit for a terminal's.
        _TRIGGER: f"""[Service]
ExecStart=
ExecStart=-udevadm trigger --type=devices --action=add {matched}
ExecStart=-udevadm trigger --type=devices --action=add --subsystem-match=tty --sysname-match=tty[A-Z]* \
--sysname-match=hvc* --sysname-match=console
""",
        _REST: f"""[Unit]
Description=The devices that nothing of the boot waits for
DefaultDependencies=no
After=multi-user.target{f" {goal}.service" if goal is not None else ""}
Conflicts=shutdown.target
Before=shutdown.target

[Service]
{starts}""",
        f"/etc/systemd/system/multi-user.target.d/{drop_in}": brings,
        **later,
    }


LATER: Final = "udev_later"
"""The fact that bootlab-init's later unit prints: of how many devices udev is told only then."""
# What drives nothing: its nodes are the kernel's own (devtmpfs), and its events only fill udev's database.
_UNIT: Final = "/etc/bootlab/units/udev.unit"
_DRIVEN: Final = (*_FIRST, "i2c", "spi", "sdio", "serio", "sound", "input", "drm")
FIXED: Final = {
    f"{_UNIT}.d/90-bootlab-fixed.conf": f"""post
post /bin/udevadm trigger --type=devices --action=add {" ".join(f"--subsystem-match={name}" for name in _DRIVEN)}
""",
    "/etc/bootlab/units/bootlab-udev-later.unit": """# The devices that nothing of the boot waits for.
exec /bin/sh /etc/bootlab/udev-later
ready exit
defer yes
output console
""",
    "/etc/bootlab/udev-later": f"""rest='{" ".join(f"--subsystem-nomatch={name}" for name in _DRIVEN)}'
later() {{
	udevadm trigger --action=add --type=subsystems "$@"
	udevadm trigger --action=add --type=devices $rest "$@"
}}
echo "bootlab: fact {LATER} $(later --dry-run --verbose | wc -l)"
later
""",
}


def _asks_for_few(after: Evidence, before: Evidence) -> Effect:
    if TRIGGERED in after.facts or not _LATER.search(after.console):
        return _ASKED.prove(after, before)
    # A disk image's system says no facts; its console tells of the unit that the same files bring.
    return Effect.NOT_SHOWN if _LATER.search(before.console) else Effect.PROVEN


def _few(measured: Measured) -> dict[str, str]:
    return few(measured.facts.get(GOAL_UNIT) or None)


def _files(
    files: Mapping[str, str] | Callable[[Measured], Mapping[str, str]],
    fact: str,
    word: str,
    missing: str,
    *,
    knob: str | None = None,
) -> Change:
    def applies(system: System, measured: Measured) -> str | None:
        if fact not in measured.facts:
            return f"the baseline boot did not say what systemd started (fact {fact})"
        return None if word in measured.facts[fact] else missing

    return writes_files(files, applies, knob=knob)


def _waits_no_more(after: Evidence, before: Evidence) -> Effect:
    new, old = (side.facts.get(SETTLED) for side in (after, before))
    if new is None or old is None or _IFUPDOWN not in after.facts.get("units_started", ""):
        return Effect.NOT_SHOWN
    if _IFUPDOWN in new.split():
        return Effect.NONE
    return Effect.PROVEN if _IFUPDOWN in old.split() else Effect.NOT_SHOWN


def _tells_of_all(system: System, measured: Measured) -> str | None:
    recipe = recipe_of(system)
    if recipe is None or not recipe.runs_bootlab_init:
        return "bootlab-init does not start udev here (userspace_bootlab_init); of systemd's it is userspace_udev_few"
    unit = recipe.file_at(_UNIT)
    if unit is None:
        return f"the system file offers no {_UNIT} in rootfs.files"
    # The drop-in takes back all of them, to say its own.
    for line in unit.read_text(encoding="utf-8", errors="replace").splitlines():
        if re.match(r"post\s", line) and not re.search(r"/udevadm\s+trigger\b", line):
            return f"{_UNIT} runs another command than udevadm trigger when udev is up, which would be lost: {line}"
    return None


def _some_come_later(after: Evidence, before: Evidence) -> Effect:
    if LATER not in after.facts or LATER in before.facts:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if after.facts[LATER] != "0" else Effect.NONE


TECHNIQUES = (
    Technique(
        name="userspace_cards_awaited",
        text=Text(
            summary="has Debian's network wait for its cards by name, and for no other device",
            mechanism=(
                "ifupdown-pre.service runs `udevadm settle`, which waits for the events of all devices, and everything "
                "that is ordered after the network waits with it. With --exit-if-exists it ends when the interfaces "
                "of /etc/network/interfaces are there; where one never comes it still ends with the last event."
            ),
            cost=(
                "rules for a card may still be at work when it is configured: programs that they start, settings of "
                ".link files where the kernel's name is kept"
            ),
            risk=Risk.FUNCTION,
            published=(Published("1 s, dbus and display manager no longer after the network", CROZAT_2008),),
        ),
        change=_files(CARDS, SETTLED, _IFUPDOWN, f"the baseline boot has not waited in {_IFUPDOWN}"),
        proof=Proof(_waits_no_more),
    ),
    Technique(
        name="userspace_udev_few",
        text=Text(
            summary="has udev handle disks, cards and buses first, and all other devices behind the goal",
            mechanism=(
                "At every boot udev is told of some hundred devices anew, each an event with all rules: processors, "
                "ACPI's objects, virtual terminals, memory. They take the processor from those that start services. "
                "Told by subsystem, udev looks only there. The others come after multi-user.target, and of an audit "
                "with a goal behind that, once the machine has had little to do for five seconds, or after a minute."
            ),
            cost=(
                "what only udev gives comes later: modules for processors, sound and sensors, owners and links of "
                "their devices; a service before multi-user.target that needs one must wait for it by a .device unit, "
                "or bring its subsystem into the drop-in; a machine that never starts multi-user.target, or starts it "
                "on demand, has them then or never"
            ),
            risk=Risk.FUNCTION,
            published=(
                none_published(f"{CROZAT_2008}: udev is not slow, telling it of everything and waiting for it is"),
            ),
        ),
        change=_files(
            _few,
            TRIGGERED,
            "udevadm trigger",
            "the baseline boot has not told udev of its devices",
            knob=f"{root_files_words(few(None))}; of an audit with a goal {REST}",
        ),
        proof=Proof(_asks_for_few),
    ),
    Technique(
        name="userspace_udev_fixed",
        text=Text(
            summary="has udev, started by bootlab-init, handle only devices that may need a driver before the goal",
            mechanism=(
                "udev is told of some hundred devices anew at every boot, each an event with all rules. Those that are "
                "always there and need no module (memory, terminals, processors, clocks) have their nodes from the "
                "kernel: of them udev is told once the goal is up."
            ),
            cost=(
                "names, links, owners and permissions that udev's rules give those devices come behind the goal, and "
                "so do modules for devices on buses that the drop-in does not name; a service of the goal that needs "
                "one must bring its subsystem into the drop-in"
            ),
            risk=Risk.FUNCTION,
            published=(
                Published("0.3 s: events of the system's fixed devices are not handled, 20 to 40 ms each", KATO_2016),
            ),
        ),
        change=writes_files(FIXED, _tells_of_all),
        proof=Proof(_some_come_later),
    ),
)
