"""cloud-init on a disk image: what waits for it, how often it runs, and which keys of ssh's it makes."""

import re
from collections.abc import Mapping
from dataclasses import replace

from bootlab.system import System
from bootlab.techniques.changes.root_files import with_root_files
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.published import none_published
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_SAYS = r"Cloud-init v\. "
_RUNS, _FINISHED = re.compile(rf"{_SAYS}\S+ running"), re.compile(rf"{_SAYS}\S+ finished")
_SSHD = re.compile(r"Started (?:\x1b\[[\d;]*m)?ssh\.service")
_RSA = re.compile(r"Generating public/private rsa|cloud-init: \d+ SHA256:\S+ .*\(RSA\)")
"""25.1, Debian 13's, no longer passes on what ssh-keygen says; each shows the fingerprints of what there is then."""
_FOUND = re.compile(rf"{_SAYS}\S+ finished.*Datasource DataSource(\w+)")
"""The name of the class, which is that of the list and where it looks: Ec2Local, NoCloudNet."""
_IN_VAIN = re.compile(r"Calling '(?:http[^']*|None|url)' failed")
_GREW = re.compile(r"EXT4-fs \(\S+\): resized filesystem to \d+")
_MANUAL = "cloud-init's documentation, boot stages and ssh module"

KEY_TYPES = {
    "/etc/cloud/cloud.cfg.d/90-bootlab-ssh-keys.cfg": "ssh_genkeytypes: [ed25519]\nssh_deletekeys: false\n",
    "/etc/systemd/system/ssh.service.d/90-bootlab-key.conf": """[Service]
ExecStartPre=
ExecStartPre=/bin/sh -c '[ -e /etc/ssh/ssh_host_ed25519_key ] || exec ssh-keygen -q -t ed25519 -N "" \
-f /etc/ssh/ssh_host_ed25519_key'
ExecStartPre=/usr/sbin/sshd -t
""",
}
# A drop-in cannot take an order away, so the units are written anew of those that the package brought.
LATE = {
    "/etc/systemd/system-generators/bootlab-cloud-init-late": """#!/bin/sh
# cloud-init's first two stages behind sshd, and nothing but shutdown behind them.
for unit in cloud-init-local cloud-init cloud-init-main cloud-init-network; do
    from=/usr/lib/systemd/system/$unit.service
    [ -e "$from" ] || continue
    sed -e '/^Before=shutdown/!{/^Before=/d}' -e 's/^\\[Unit\\]/&\\nAfter=ssh.service/' "$from" > "$2/$unit.service"
done
""",
}
ONCE = {
    "/etc/systemd/system/cloud-final.service.d/90-bootlab-once.conf": (
        "[Service]\nExecStartPost=/bin/touch /etc/cloud/cloud-init.disabled\n"
    ),
}
# The last list that is read counts: files of cloud.cfg.d in the order of their names.
_SOURCE_FILE = "/etc/cloud/cloud.cfg.d/99-bootlab-source.cfg"
NO_GROWTH = {
    "/etc/cloud/cloud.cfg.d/90-bootlab-no-growth.cfg": "growpart: {mode: 'off'}\nresize_rootfs: false\n",
}


def _with_files(files: Mapping[str, str]) -> Change:
    def applies(system: System, measured: Measured) -> str | None:
        if system.image is None:
            return "the system boots no disk image ([image])"
        if files.items() <= system.image.files.items():
            return "image.files has these files already"
        if not _RUNS.search(measured.console):
            return "the console of the baseline boot tells of no cloud-init"
        if files is LATE and not KEY_TYPES.items() <= system.image.files.items() and _RSA.search(measured.console):
            return "cloud-init makes sshd's host keys: with userspace_cloud_init_ed25519 sshd makes its own"
        if files is ONCE and system.image.life == 1:
            return "a first boot runs cloud-init: image.life = 2 is a later one"
        return None

    return Change(
        Layer.USERSPACE,
        f"image.files: {', '.join(files)}",
        lambda system, measured: with_root_files(system, files),
        applies,
    )


def _source(console: str) -> str | None:
    """Return which data source cloud-init found, by its name in datasource_list; None where it does not say."""
    found = _FOUND.search(console)
    return found[1].removesuffix("Local").removesuffix("Net") if found is not None else None


def _with_source(system: System, measured: Measured) -> System:
    source = _source(measured.console)
    assert source is not None
    listed = source if source == "None" else f"{source}, None"
    return with_root_files(system, {_SOURCE_FILE: f"datasource_list: [ {listed} ]\n"})


def _asks_in_vain(system: System, measured: Measured) -> str | None:
    if system.image is None:
        return "the system boots no disk image ([image])"
    if _SOURCE_FILE in system.image.files:
        return "image.files has this file already"
    if not _IN_VAIN.search(measured.console):
        return "the console of the baseline boot tells of no data source that cloud-init asked in vain"
    if _source(measured.console) is None:
        return "the baseline boot ended before cloud-init said which data source it found: a check waits for that"
    return None


def _asks_no_more(after: Evidence, before: Evidence) -> Effect:
    if len(_IN_VAIN.findall(after.console)) >= len(_IN_VAIN.findall(before.console)) > 0:
        return Effect.NONE
    found = _source(after.console)
    is_same = found is not None and found == _source(before.console)
    return Effect.PROVEN if is_same and not _IN_VAIN.search(after.console) else Effect.NOT_SHOWN


def _grew(system: System, measured: Measured) -> str | None:
    why = _with_files(NO_GROWTH).applies(system, measured)
    if why is None and not _GREW.search(measured.console):
        return "the kernel of the baseline boot tells of no file system that grew"
    return why


def _grows_no_more(after: Evidence, before: Evidence) -> Effect:
    if _GREW.search(after.console):
        return Effect.NONE
    # It would have grown before cloud-init's last words.
    return Effect.PROVEN if _GREW.search(before.console) and _FINISHED.search(after.console) else Effect.NOT_SHOWN


def _waits_no_more(after: Evidence, before: Evidence) -> Effect:
    new, old = _sshd_is_first(after.console), _sshd_is_first(before.console)
    if new is None or old is None:
        return Effect.NOT_SHOWN
    return Effect.NONE if not new else Effect.PROVEN if not old else Effect.NOT_SHOWN


def _sshd_is_first(console: str) -> bool | None:
    """Say whether sshd was started before cloud-init ran; None where the console does not tell."""
    sshd, runs = _SSHD.search(console), _RUNS.search(console)
    return None if sshd is None or runs is None else sshd.start() < runs.start()


def _makes_no_rsa(after: Evidence, before: Evidence) -> Effect:
    if _RSA.search(after.console):
        return Effect.NONE
    # Its keys come before its last words.
    return Effect.PROVEN if _RSA.search(before.console) and _FINISHED.search(after.console) else Effect.NOT_SHOWN


def _runs_no_more(after: Evidence, before: Evidence) -> Effect:
    if _RUNS.search(after.console):
        return Effect.NONE
    return Effect.PROVEN if _RUNS.search(before.console) and _SSHD.search(after.console) else Effect.NOT_SHOWN


TECHNIQUES = (
    Technique(
        name="userspace_cloud_init_ed25519",
        text=Text(
            summary="gives ssh an Ed25519 host key alone, which sshd's own start makes where there is none",
            mechanism=(
                "cloud-init makes a key of each type in a first boot, and sshd waits for it. An RSA key is two large "
                "primes, which are searched for: seconds, by chance. An Ed25519 key is 32 random bytes."
            ),
            cost=(
                "clients that know RSA and ECDSA alone, older than OpenSSH 6.5, cannot connect; host keys that lie in "
                "the image already are kept"
            ),
            risk=Risk.FUNCTION,
            published=(none_published(_MANUAL),),
        ),
        change=_with_files(KEY_TYPES),
        proof=Proof(_makes_no_rsa),
    ),
    Technique(
        name="userspace_cloud_init_late",
        text=Text(
            summary="starts sshd before cloud-init, which then runs as before",
            mechanism=(
                "cloud-init's first stage comes before the network, and its second before basic services and sshd: "
                "on every boot, each a Python that starts, reads its modules and looks for its data source. A "
                "generator takes the order away; sshd then waits for its own key and an address."
            ),
            cost=(
                "sshd answers before cloud-init has made users and keys, so a login may be refused for seconds; a "
                "network that the instance's data describe is set up by the next boot; what else relies on being "
                "started behind cloud-init is not"
            ),
            risk=Risk.FUNCTION,
            published=(none_published(_MANUAL),),
        ),
        change=_with_files(LATE),
        proof=Proof(_waits_no_more),
    ),
    Technique(
        name="userspace_cloud_init_no_growth",
        text=Text(
            summary="leaves the root's partition and file system as large as the image was made",
            mechanism=(
                "On every boot cloud-init runs growpart and resize2fs; where the disk is larger than its image the "
                "first one writes the partition table anew, which udev hears of, and the other has the kernel make "
                "and write the metadata of each group of blocks that is new."
            ),
            cost="the rest of a larger disk is not used: for images that are as large as their disks are to be",
            risk=Risk.FUNCTION,
            published=(none_published("cloud-init's documentation, growpart and resizefs modules"),),
        ),
        change=replace(_with_files(NO_GROWTH), applies=_grew),
        proof=Proof(_grows_no_more),
    ),
    Technique(
        name="userspace_cloud_init_one_source",
        text=Text(
            summary="lists the one data source that cloud-init finds, so that it asks no other in vain",
            mechanism=(
                "cloud-init asks each data source of its list in turn whether it is there. One that it asks over the "
                "network answers after a timeout, and then again: a minute or two by default, with the network, the "
                "keys and sshd behind it."
            ),
            cost="the image works in that cloud alone; in another its cloud-init gets no data, so no keys and no users",
            risk=Risk.FUNCTION,
            published=(none_published("cloud-init's documentation, datasource_list"),),
        ),
        change=Change(
            Layer.USERSPACE,
            f"image.files: {_SOURCE_FILE}, with the source that the baseline boot found",
            _with_source,
            _asks_in_vain,
        ),
        proof=Proof(_asks_no_more),
    ),
    Technique(
        name="userspace_cloud_init_once",
        text=Text(
            summary="lets cloud-init run in a machine's first boot alone",
            mechanism=(
                "In later boots cloud-init's four stages find that their work is done. Its last stage leaves "
                "/etc/cloud/cloud-init.disabled behind, by which its generator starts none of them again."
            ),
            cost=(
                "what changes in the instance's data after its first boot is not seen, nor that a disk is another "
                "instance's now: remove the file in an image that is made of a machine that has run"
            ),
            risk=Risk.FUNCTION,
            published=(none_published(_MANUAL),),
        ),
        change=_with_files(ONCE),
        proof=Proof(_runs_no_more),
    ),
)
