"""What `bootlab audit` and `bootlab packages` look at besides a profile: the files that were booted, and the goal."""

from dataclasses import replace
from typing import Annotated

import typer

from bootlab.build import boot_files
from bootlab.build.formats.cpio import Entry
from bootlab.build.image.files import find_booted_image
from bootlab.build.source.config_text import read_config
from bootlab.build.workshop import Workshop
from bootlab.errors import InputError
from bootlab.findings.analysis import Analysis
from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.kinds import gather
from bootlab.system import System

Goal = Annotated[
    str | None,
    typer.Option("--goal", metavar="UNIT", help="What the boot is for. [default: the unit that runs bootlab-mark]"),
]


def gather_evidence(shop: Workshop, analysis: Analysis, goal: str | None) -> AuditedBoot:
    """Return a profiled boot beside the files that it booted from. Raises as preparing the system does."""
    system = analysis.system
    config = boot_files.prepare(shop, system).kernel_config
    evidence = gather(
        analysis,
        shop.cache,
        initramfs=_entries(shop, system, "initramfs"),
        rootfs=_entries(shop, system, "rootfs"),
        kernel_config=read_config(config) if config is not None else {},
        goal=goal,
    )
    return evidence if system.image is None else replace(evidence, menu_s=find_booted_image(shop, system)[1].wait_s)


def expect_goal(evidence: AuditedBoot, goal: str | None) -> None:
    """Raise InputError where the user named a goal that is no unit of the system."""
    if goal is not None and (evidence.plan is None or goal not in {unit.name for unit in evidence.plan.units}):
        known = sorted(unit.name for unit in evidence.plan.units if unit.wanted) if evidence.plan else []
        raise InputError(
            f"--goal {goal}: no such unit",
            hint=f"there are {', '.join(known)}" if known else "its root file system has no units that are known",
        )


def _entries(shop: Workshop, system: System, part: str) -> tuple[Entry, ...] | None:
    """Return the files of one part; None where there is none, or it cannot be listed, which is said."""
    recipe = system.initramfs if part == "initramfs" else system.rootfs
    if recipe is None and system.image is None:
        return None
    try:
        return boot_files.root_entries_of(shop, system, part)
    except InputError as error:
        if recipe is not None and recipe.path is None:
            raise
        shop.tell(f"{part}: {error.message}")
        return None
