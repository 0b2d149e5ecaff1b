"""What a profile does not say itself: levels of initcalls and what the kernel did not tell, kept beside it as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bootlab.errors import StoreError
from bootlab.kept_file import UNREADABLE, damaged, parse_kept, read_kept

PROFILE: Final = "profile.bin"
ABOUT: Final = "profile.json"


@dataclass(frozen=True, slots=True)
class AboutProfile:
    """What a profile does not say itself. Kept beside it."""

    initcall_levels: Mapping[int, str]
    """Link address of an initcall's function -> level."""
    missing: tuple[str, ...]
    """What this kernel does not tell, and what follows from that, in words for a user."""
    payload: str | None
    """How the kernel is compressed in the image that boots; None when nothing unpacks it."""
    calls: tuple[str, ...] = ()
    """Functions whose every call the boot's trace has, of those that were asked for."""

    def as_json(self) -> dict[str, Any]:
        """Return what `read_about` reads."""
        return {
            "initcall_levels": {f"{address:x}": level for address, level in self.initcall_levels.items()},
            "missing": list(self.missing),
            "payload": self.payload,
            "calls": list(self.calls),
        }


def read_about(directory: Path) -> AboutProfile:
    """Return what is kept beside the profile in a boot's directory. Raises StoreError."""
    path = directory / ABOUT
    try:
        document = parse_kept(read_kept(path))
        return AboutProfile(
            initcall_levels={int(address, 16): str(level) for address, level in document["initcall_levels"].items()},
            missing=tuple(map(str, document["missing"])),
            payload=document["payload"],
            calls=tuple(map(str, document.get("calls", ()))),
        )
    except FileNotFoundError as error:
        raise StoreError(f"{directory}: not the boot of a profile: it has no {ABOUT}") from error
    except UNREADABLE as error:
        raise damaged(path, error) from error
