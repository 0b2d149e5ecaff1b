"""Services that the goal does not need, behind it and when the machine is idle; in systems that systemd starts.

They are not ordered behind anything: a service that waits for its turn keeps whoever asks it by its socket, or by its
name on D-Bus, waiting as well, X of logind, say. They are taken out of what systemd's targets want, and started by
name.
"""

import shlex
from typing import Final

from bootlab.system import System
from bootlab.techniques.changes.root_files import writes_files
from bootlab.techniques.changes.when_idle import WHEN_IDLE
from bootlab.techniques.cmdline.audit_findings import (
    GOAL_DEVICES,
    GOAL_UNIT,
    NEEDLESS_UNITS,
    NEEDLESS_WANTED,
)
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import CROZAT_2008, Published, none_published
from bootlab.techniques.model.technique import Risk, Technique, Text

LATE: Final = "units_late"
"""The fact that the gate prints as it begins: which of the services had not been started yet."""
LEFT: Final = "units_left"
"""The fact that it prints of those that it did not start, for they were disabled or masked since."""
GATE: Final = "/etc/bootlab/late"
UNIT: Final = "/etc/systemd/system/bootlab-late.service"
UNWANTED: Final = "/etc/systemd/system.control"
"""Where systemd looks first (systemd.unit(5)): an empty file there masks a dependency of that name (load-dropin.c)."""
OPENED: Final = "/run/bootlab-late"
"""There once the gate has opened, so that a goal which starts anew does not start what was stopped since."""
_STARTED: Final = "InactiveExitTimestampMonotonic"
"""When a unit was started last, 0: never. One that has done its work and ended is inactive again (Type=oneshot)."""
_PROGRAM: Final = f"""{WHEN_IDLE}
# Says which services are yet to come, and ends when the machine has had little to do for five seconds.
if [ "$1" = open ]; then
	# bootlab-late.service calls this however the waiting ended. Who disabled or masked one of them meant it.
	: >{OPENED}
	set --
	unit='' left=''
	while read -r line; do
		case $line in
		Id=*) unit=${{line#Id=}} ;;
		UnitFileState=disabled | UnitFileState=masked*) left="$left $unit" unit= ;;
		{_STARTED}=0) ;;
		{_STARTED}=*) unit= ;;
		'') [ -z "$unit" ] || set -- "$@" "$unit" ;;
		esac
	done <<END
$(systemctl show -p Id -p UnitFileState -p {_STARTED} UNITS)

END
	[ "$left" ] && printf '%s\\n' "bootlab: fact LEFT$left" >/dev/console
	exec systemctl --no-block start "$@"
fi
late=
while read -r line; do
	case $line in
	Id=*) unit=${{line#Id=}} ;;
	{_STARTED}=0) late="$late ${{unit%.service}}" ;;
	esac
done <<END
$(systemctl show -p Id -p {_STARTED} UNITS)
END
printf '%s\\n' "bootlab: fact FACT$late" >/dev/console
idle || true
"""
# Type=simple: as a job for as long as it waits it would keep a getty, which waits until no job is left. No default
# dependencies: a target that wants it would wait for it, and with it for the goal (systemd.target(5)).
_SERVICE: Final = f"""[Unit]
Description=Starts services once the goal is up and the machine has little to do
DefaultDependencies=no
After=sysinit.target %s.service
Conflicts=shutdown.target
Before=shutdown.target
ConditionPathExists=!{OPENED}

[Service]
Type=simple
RuntimeMaxSec=120
ExecStart=/bin/sh {GATE}
ExecStopPost=-/bin/sh {GATE} open
"""
_BRINGS: Final = "[Unit]\nWants=bootlab-late.service\n"
# It begins sooner than it did, and udev may have come as far as its device or not.
_DEVICES_FIRST: Final = "\n[Service]\nExecStartPre=-/bin/udevadm wait --timeout=10 %s\n"


def _files(measured: Measured) -> dict[str, str]:
    """Return the gate, what brings it along, and what masks who wants the services; empty where no audit said which."""
    units, goal = measured.facts.get(NEEDLESS_UNITS, "").split(), measured.facts.get(GOAL_UNIT, "")
    wanted = measured.facts.get(NEEDLESS_WANTED, "").split()
    if not units or not goal or not wanted:
        return {}
    devices = measured.facts.get(GOAL_DEVICES, "")
    names = " ".join(shlex.quote(f"{unit}.service") for unit in units)
    drop_in = "90-bootlab-late.conf"
    return {
        # The names last: one of them may have such a word in it.
        GATE: _PROGRAM.replace("FACT", LATE).replace("LEFT", LEFT).replace("UNITS", names),
        UNIT: _SERVICE % goal,
        # A machine that is started without the goal, in text mode, has its services, too.
        f"/etc/systemd/system/multi-user.target.d/{drop_in}": _BRINGS,
        f"/etc/systemd/system/{goal}.service.d/{drop_in}": _BRINGS + (_DEVICES_FIRST % devices if devices else ""),
        **{f"{UNWANTED}/{place}": "" for place in wanted},
    }


def _applies(system: System, measured: Measured) -> str | None:
    if not _files(measured):
        return "no audit said which units the goal does not need: bootlab try --audit RUN, of bootlab audit"
    if mask := _masked(system, measured):
        return f"the command line masks {mask}, so nothing is left to start later"
    return None


def _masked(system: System, measured: Measured) -> str:
    words = system.kernel.cmdline.split()
    found = [f"{unit}.service" for unit in measured.facts[NEEDLESS_UNITS].split()]
    return ", ".join(name for name in found if f"systemd.mask={name}" in words)


def _come_later(after: Evidence, before: Evidence) -> Effect:
    late = after.facts.get(LATE)
    if late is None or LATE in before.facts:
        return Effect.NOT_SHOWN
    return Effect.PROVEN if late else Effect.NONE


TECHNIQUES = (
    Technique(
        name="userspace_units_late",
        text=Text(
            summary="starts those services that the goal of the audited boot does not need behind it, and when idle",
            mechanism=(
                "A service that the goal does not wait for takes the processor and the disk from those that it does. "
                "An empty file masks each dependency of systemd's targets on it, and a unit that comes behind the "
                "goal starts it by name once the machine has had little to do for five seconds: a login window that "
                "waits for its user is such a time, and a session at rest. Who asks for one before, by its socket or "
                "on D-Bus, has systemd start it at once. A goal "
                "that opens a graphics card waits for it by name, since it begins sooner than before."
            ),
            cost=(
                "they come seconds later, and systemd's targets are reached without them: who asks one that has "
                "neither a socket nor a name on D-Bus finds nobody; a machine that is never idle starts them after a "
                "minute; `systemctl isolate` and the rescue mode stop them for good, since no target wants them: "
                "`systemctl start` each, or boot"
            ),
            risk=Risk.FUNCTION,
            published=(
                none_published(f"comments to {CROZAT_2008}: services one by one, when no disk is waited for"),
                Published("3 s for harddrake and 2 to 4 s for dkms, moved out of the parallel start", CROZAT_2008),
            ),
        ),
        change=writes_files(_files, _applies, knob=f"an empty file in {UNWANTED}/TARGET.wants for each, and {UNIT}"),
        proof=Proof(_come_later),
    ),
)
