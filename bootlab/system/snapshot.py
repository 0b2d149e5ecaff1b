"""What a system says of its snapshots: that its clones are to be told who they are, and where the snapshot belongs."""

from typing import Annotated

from bootlab.system.part import MARK, Part


class Snapshot(Part):
    """A system whose guest can be kept and restored as many machines: it has a device that says who each of them is."""

    at: Annotated[str, MARK] = "snapshot"
    """The mark at which the machine is kept, which `/sbin/bootlab-clone` makes, unless `bootlab snapshot --at` says
    another."""
