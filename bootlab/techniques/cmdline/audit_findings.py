"""What `bootlab audit` found to be for nothing, refused by name: modules and systemd's units."""

import re

from bootlab.system import System
from bootlab.techniques.changes.command_line import measured_words, word_value
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import modules_refused
from bootlab.techniques.model.published import CROZAT_2008, Published
from bootlab.techniques.model.technique import Risk, Technique, Text

IDLE_MODULES = "audit_idle_modules"
"""Modules that were loaded and did nothing up to ready, as `bootlab audit` found."""
ARCHIVE_MODULES = "audit_archive_modules"
"""Modules of the initramfs that were loaded up to ready."""
NEEDLESS_UNITS = "audit_needless_units"
"""Services that the boot's goal needs neither directly nor through others, as `bootlab audit` found."""
NEEDLESS_WANTED = "audit_needless_wanted"
"""What brings those services along: TARGET.wants/NAME.service, or .requires, as it lies in a folder of systemd's."""
GOAL_UNIT = "audit_goal_unit"
"""The boot's goal, a service, for which they are not needed."""
GOAL_DEVICES = "audit_goal_devices"
"""Devices that the goal opened and does not wait for by itself: a display manager's graphics card."""
MODPROBE_UNITS = "audit_modprobe_units"
"""Modules that a unit modprobe@NAME.service of systemd's was started for."""


def _blacklist(system: System, measured: Measured) -> str | None:
    names = measured.facts.get(IDLE_MODULES, "").split()
    return f"module_blacklist={','.join(names)}" if names else None


def _masks(system: System, measured: Measured) -> str | None:
    units = measured.facts.get(NEEDLESS_UNITS, "").split()
    return " ".join(f"systemd.mask={unit}.service" for unit in units) if units else None


def _one_process(system: System, measured: Measured) -> str | None:
    # A name without a module would make systemd-modules-load.service fail, where modprobe -q is silent.
    # So would one that the command line refuses.
    there = {name.replace("-", "_") for name in measured.facts.get("modules", "").split()}
    refused = (word_value(system, "module_blacklist") or "").split(",")
    there -= {name.replace("-", "_") for name in refused}
    names = measured.facts.get(MODPROBE_UNITS, "").split()
    loaded = [name for name in names if name.replace("-", "_") in there]
    if not loaded:
        return None
    return " ".join([f"modules_load={','.join(loaded)}", *(f"systemd.mask=modprobe@{name}.service" for name in names)])


def _masked_stay_down(after: Evidence, before: Evidence) -> Effect:
    if not {"units_masked", "units_started"} <= after.facts.keys() or "units_started" not in before.facts:
        return Effect.NOT_SHOWN
    masked, started, was = (
        set(text.split())
        for text in (after.facts["units_masked"], after.facts["units_started"], before.facts["units_started"])
    )
    if not masked or masked & started:
        return Effect.NONE
    # A unit that would not have started by then spared nothing, and shows nothing.
    return Effect.PROVEN if masked & was else Effect.NOT_SHOWN


def _masked_and_loaded(after: Evidence, before: Evidence) -> Effect:
    # systemd forgets a unit of a template when it has ended: that it was started shows nowhere, that it cannot be does.
    asked = re.search(r"\bmodules_load=(\S+)", after.facts.get("cmdline", ""))
    if asked is None or not {"units_masked", "modules"} <= after.facts.keys():
        return Effect.NOT_SHOWN
    wanted = [name.replace("-", "_") for name in asked[1].split(",")]
    masked = all(f"modprobe@{name}.service" in after.facts["units_masked"].split() for name in asked[1].split(","))
    if not masked or not set(wanted) <= set(after.facts["modules"].split()):
        return Effect.NONE
    return Effect.NOT_SHOWN if "modprobe@" in before.facts.get("units_masked", "") else Effect.PROVEN


TECHNIQUES = (
    Technique(
        name="cmdline_module_blacklist",
        text=Text(
            summary="lets the kernel refuse those modules that the audited boot loaded and made no use of",
            mechanism=(
                "A module is read, checked, linked and initialised whether or not anything will use it; "
                "some test algorithms or make devices, which udev is then told of. A refused one costs a "
                "failed system call."
            ),
            cost="what would use these modules after ready finds them refused, until the word is taken off",
            risk=Risk.FUNCTION,
            published=(Published("2 s, floppy alone, where there is no drive", CROZAT_2008),),
        ),
        change=measured_words(
            "module_blacklist=MODULE,...",
            _blacklist,
            "no audit said which modules are loaded for nothing: bootlab try --audit RUN, of bootlab audit",
        ),
        proof=modules_refused(),
    ),
    Technique(
        name="cmdline_units_masked",
        text=Text(
            summary="lets systemd start only those services that the goal of the audited boot needs or waits for",
            mechanism=(
                "A service that the goal does not wait for takes the processor and the disk from those "
                "that it does. Masked on the command line (systemd-debug-generator) it is not there for "
                "this boot; nothing on the disk changes."
            ),
            cost="these services do not run at all: start them after ready instead, where the product needs them",
            risk=Risk.FUNCTION,
            published=(
                Published("3 s for harddrake and 2 to 4 s for dkms, moved out of the parallel start", CROZAT_2008),
            ),
        ),
        change=measured_words(
            "systemd.mask=UNIT.service ...",
            _masks,
            "no audit said which units the goal does not need: bootlab try --audit RUN, of bootlab audit",
        ),
        proof=Proof(_masked_stay_down),
    ),
    Technique(
        name="cmdline_modules_load",
        text=Text(
            summary="has one process load the modules that systemd starts a modprobe each for",
            mechanism=(
                "systemd starts modprobe@NAME.service for each of a handful of modules, and each modprobe opens and "
                "searches the indexes of all modules anew. systemd-modules-load loads all names of modules_load= in "
                "one process; the units are masked for this boot."
            ),
            cost="a module that a unit starts to need later, and that is not in the list, is not loaded for it",
            risk=Risk.FUNCTION,
            published=(
                Published('no gain, and sometimes a loss: "modprobe --all", and a daemon for modprobe', CROZAT_2008),
            ),
        ),
        change=measured_words(
            "modules_load=MODULE,... systemd.mask=modprobe@MODULE.service ...",
            _one_process,
            (
                "no audit said which modules systemd starts a modprobe for: bootlab try --audit RUN, of bootlab audit; "
                "or none of them is loaded"
            ),
        ),
        proof=Proof(_masked_and_loaded),
    ),
)
