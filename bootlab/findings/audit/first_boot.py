"""Finds what a cloud's image does to become this machine: cloud-init, host keys, a disk that is grown."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Final

from bootlab.findings.audit.audited_boot import AuditedBoot
from bootlab.findings.audit.finding import Finding, Item, finding, process_item
from bootlab.findings.audit.process_costs import TaskCost, command_of, program_of, words_of
from bootlab.profile.tables.processes import Process

_CLOUD_INIT: Final = frozenset({"cloud-init", "ds-identify"})
_GROWERS: Final = re.compile(
    r"growpart|sfdisk|sgdisk|parted|partx|resize2fs|xfs_growfs|btrfs|systemd-growfs|systemd-makefs|systemd-repart"
)
_TABLE_PROGRAMS: Final = frozenset({"sfdisk", "sgdisk", "parted", "partx"})
_LOOKS: Final = frozenset("-l --list -d --dump -J --json -p --print print -s --show".split())
"""Their words that change nothing."""
_SOURCES: Final = re.compile(
    r"^datasource_list[ \t]*:\s*(?:\[([^\]]*)\]|((?:^[ \t]*-[ \t]*\w+[^\n]*\n?)+))", re.MULTILINE
)
"""A list of YAML's in either form."""
_TECHNIQUES: Final = ("userspace_cloud_init_one_source", "userspace_cloud_init_late", "userspace_cloud_init_once")
_IN_VAIN: Final = re.compile(
    r"Calling '(?:(http[^']*)|None|url)' failed(?:[^\n]*?host='([^']+)', port=(\d+)[^\n]*?with url: (\S+))?"
)
"""Of its url_helper.py, on the console; 22.4 has the address in what its library says alone, 25.1 loses some."""
_SOURCE_FILES: Final = re.compile(r"etc/cloud/cloud\.cfg(?:\.d/[^/]+\.cfg)?")


def find_cloud_init(evidence: AuditedBoot) -> Finding | None:
    """cloud-init's stages, each a Python that starts and looks for its data, and the data sources it may look at."""
    costs = evidence.costs
    stages = _outermost(evidence, _is_cloud_init)
    if not stages:
        return None
    families = {one.task: costs.family(one.task) for one in stages}
    items = []
    for one in stages:
        cost, own = costs.cost(families[one.task]), costs.cost([one.task])
        items.append(
            Item(
                what=_stage_name(one),
                cost_ns=cost.ns,
                lasted_ns=costs.end_ns(one) - one.started_ns,
                detail=f"{cost.idle_ns / 1e6:.1f} ms of it idle, {own.idle_ns / 1e6:.1f} in its own waits; with "
                f"{len(families[one.task]) - 1} that it started",
            )
        )
    listed = _sources(evidence)
    if listed is not None and len(listed[1]) > 1:
        items.append(
            Item(what=f"may ask {len(listed[1])} data sources", detail=f"{', '.join(listed[1])}: /{listed[0]}")
        )
    items += [
        Item(what=f"asked {url} in vain", detail=f"{count} times")
        for url, count in _in_vain(evidence.console).most_common()
    ]
    named = [name for name in _TECHNIQUES if evidence.technique(name)]
    return finding(
        "cloud-init",
        f"cloud-init ran {len(stages)} times before ready",
        sum((costs.cost(family) for family in families.values()), TaskCost()),
        items,
        technique=next(iter(named), None),
        by_hand="datasource_list with the one source that there is, in /etc/cloud/cloud.cfg.d; without it in an image "
        "that is of one machine" + (f"; {', '.join(named[1:])}" if named[1:] else ""),
    )


def find_host_keys(evidence: AuditedBoot) -> Finding | None:
    """Host keys that are made while the boot goes on; an RSA key's primes are a matter of chance."""
    makers = [one for one in evidence.costs.processes.values() if program_of(one) == "ssh-keygen" and _makes_key(one)]
    if not makers:
        return None
    return finding(
        "host keys",
        f"ssh's host keys were made: {len(makers)} calls of ssh-keygen. RSA's two primes are searched for, seconds by "
        "chance; Ed25519 takes 32 random bytes",
        sum((evidence.costs.cost([one.task]) for one in makers), TaskCost()),
        [process_item(evidence, one, "") for one in makers],
        technique=evidence.technique("userspace_cloud_init_ed25519"),
        by_hand="ssh_genkeytypes: [ed25519] in /etc/cloud/cloud.cfg.d; ssh-keygen -t ed25519 in place of ssh-keygen -A",
    )


def find_disk_growth(evidence: AuditedBoot) -> Finding | None:
    """Programs that grow a partition or file system to the disk's size, or look whether they have to."""
    costs = evidence.costs
    found = _outermost(evidence, _grows)
    if not found:
        return None
    families = {one.task: costs.family(one.task) for one in found}
    items = [
        process_item(evidence, one, f"with {len(families[one.task]) - 1} that it started").model_copy(
            update={"cost_ns": costs.cost(families[one.task]).ns}
        )
        for one in found
    ]
    return finding(
        "disk is grown",
        f"{len(found)} programs grew a partition or a file system, or looked whether they have to",
        sum((costs.cost(family) for family in families.values()), TaskCost()),
        items,
        technique=evidence.technique("userspace_cloud_init_no_growth"),
        by_hand="an image that is as large as its disk; growpart: {mode: off} and resize_rootfs: false in "
        "/etc/cloud/cloud.cfg.d, or resize_rootfs: noblock, which does it behind the boot",
    )


def _outermost(evidence: AuditedBoot, is_one: Callable[[Process], bool]) -> list[Process]:
    """Return the processes that are such and that none of these started."""
    found = {one.task for one in evidence.costs.processes.values() if is_one(one) and not one.is_thread}
    return [
        evidence.costs.processes[task]
        for task in sorted(found)
        if found.isdisjoint(maker.task for maker in evidence.costs.makers(task))
    ]


def _program(process: Process) -> str:
    """Return the file name of what runs: of a script its own, where an interpreter runs it."""
    words = words_of(process)
    names = [PurePosixPath(word).name for word in words[:2]]
    is_script = len(words) > 1 and words[1].startswith("/") and names[0].startswith(("python", "sh", "dash", "bash"))
    return names[1] if is_script else names[0]


def _grows(process: Process) -> bool:
    """Say whether a process grows a partition or a file system, or looks whether it must: by its command line."""
    program, words = _program(process), set(words_of(process)[1:])
    if program == "btrfs":
        # It has a program for all that it can do: udev and initramfs look for devices with it.
        return "resize" in words
    return _GROWERS.fullmatch(program) is not None and not (program in _TABLE_PROGRAMS and words & _LOOKS)


def _is_cloud_init(process: Process) -> bool:
    return _program(process) in _CLOUD_INIT


def _stage_name(process: Process) -> str:
    words = words_of(process)
    place = next(number for number, word in enumerate(words) if PurePosixPath(word).name in _CLOUD_INIT)
    return " ".join([PurePosixPath(words[place]).name, *words[place + 1 :]]) or command_of(process)


def _makes_key(process: Process) -> bool:
    words = words_of(process)
    return "-A" in words or "-t" in words and any("ssh_host" in word for word in words)


def _in_vain(console: str) -> Counter[str]:
    """Return how often each address did not answer cloud-init, as the console has it."""
    found = Counter[str]()
    for url, host, port, path in _IN_VAIN.findall(console):
        found[url or (f"http://{host}:{port}{path}" if host else "an address that it does not name")] += 1
    return found


def _sources(evidence: AuditedBoot) -> tuple[str, list[str]] | None:
    """Return the data sources that the image's configuration lists, and the file that has the last word on them."""
    told: list[tuple[str, list[str]]] = []
    for path, text in sorted(_configuration(evidence)):
        for flow, block in _SOURCES.findall(text):
            told.append((path, re.findall(r"\w+", flow) or re.findall(r"^[ \t]*-[ \t]*(\w+)", block, re.MULTILINE)))
    return told[-1] if told else None


def _configuration(evidence: AuditedBoot) -> Iterable[tuple[str, str]]:
    return (
        (entry.path, entry.data.decode(errors="replace"))
        for entry in evidence.rootfs or ()
        if _SOURCE_FILES.fullmatch(entry.path)
    )
