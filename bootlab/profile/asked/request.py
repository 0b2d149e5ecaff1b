"""What a user asks of a profile, and how large a machine it can be of."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bootlab.profile.asked.profiling import DEFAULT_SPAN_NS

MOST_VCPUS: Final = 64
"""What the plugin keeps stacks for (plugin/profile/profile.h, PROFILE_VCPUS_MAX)."""


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """What a user asks of a profile.

    `span_ns`: the shortest call that is recorded one by one. `programs`: ELF files with symbols, or debug files, of
    programs that the system's own files carry without. `paths`: record every file that is opened or looked up.
    `calls`: kernel functions whose every call is recorded with its first argument, where the kernel has them.
    `traps`: count what would leave a guest of KVM for its host, and the pages that it touches.
    """

    span_ns: int = DEFAULT_SPAN_NS
    programs: tuple[Path, ...] = ()
    paths: bool = False
    traps: bool = False
    calls: tuple[str, ...] = ()
