"""The jail that a VMM may run in: what its [target] tells Firecracker's jailer, in the jailer's own words."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from bootlab.system.part import LINE, TEXT, Part, matching

_MOST_ID = 2**32 - 2


def _left_out(value: Any) -> bool:
    # A boot without a jail keeps the key that it had before there were any.
    return value is None or value == []


class Jailed(Part):
    """What the jailer is told (docs/vmms.md). Without `jailer` there is no jail, and nothing else may be given."""

    jailer: Annotated[str, LINE] | None = Field(default=None, min_length=1, exclude_if=_left_out)
    """Firecracker's jailer, which root alone may run: a name that PATH finds, or a path."""
    uid: int | None = Field(default=None, ge=0, le=_MOST_ID, exclude_if=_left_out)
    """Whom Firecracker runs as in its jail; required with `jailer`."""
    gid: int | None = Field(default=None, ge=0, le=_MOST_ID, exclude_if=_left_out)
    chroot_base: Annotated[Path, TEXT] | None = Field(default=None, exclude_if=_left_out)
    """The folder that jails are made in, which must be there; /srv/jailer by default."""
    jail_id: (
        Annotated[str, matching(r"[A-Za-z0-9-]{1,64}", "is no id of a jail: 1 to 64 letters, digits and hyphens")]
        | None
    ) = Field(default=None, exclude_if=_left_out)
    """The jail's name; by default one that no other boot has."""
    cgroup_version: Literal[1, 2] | None = Field(default=None, exclude_if=_left_out)
    """Of the hierarchy that `cgroups` and `parent_cgroup` are of."""
    cgroups: list[
        Annotated[str, matching(r"[a-z0-9_]+(\.[a-z0-9_]+)+=[^=\x00]+", "is no setting, as in cpu.weight=100")]
    ] = Field(default=[], exclude_if=_left_out)
    """What is written to the files of a cgroup that is made for this boot alone, and removed behind it."""
    parent_cgroup: (
        Annotated[str, matching(r"(?s)(?!.*(^|/)\.{1,2}(/|$))[^/\x00]+(/[^/\x00]+)*", "is no path below the hierarchy")]
        | None
    ) = Field(default=None, exclude_if=_left_out)
    """Where that cgroup is made; without `cgroups` the one, of version 2, that Firecracker is put into."""
    netns: Annotated[Path, TEXT] | None = Field(default=None, exclude_if=_left_out)
    """The network namespace that Firecracker joins, as in /var/run/netns/NAME; its tap is there."""
    resource_limits: list[
        Annotated[str, matching(r"(fsize|no-file)=\d{1,19}", "is no limit, as in no-file=1024 or fsize=250000000")]
    ] = Field(default=[], exclude_if=_left_out)

    @model_validator(mode="after")
    def _jail_agrees(self) -> Self:
        given = [name for name in Jailed.model_fields if name != "jailer" and not _left_out(getattr(self, name))]
        if self.jailer is None:
            if given:
                raise ValueError(f"{given[0]} is of the jail: give jailer, too")
            return self
        if self.uid is None or self.gid is None:
            raise ValueError("jailer: whom is Firecracker to run as? give uid and gid")
        if self.cgroup_version is None and (self.cgroups or self.parent_cgroup is not None):
            raise ValueError("cgroups and parent_cgroup are of a hierarchy: give cgroup_version")
        if self.parent_cgroup is not None and not self.cgroups and self.cgroup_version == 1:
            raise ValueError("parent_cgroup: of version 1 the jailer uses none without cgroups: give cgroups, too")
        return self
