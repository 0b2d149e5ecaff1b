"""Where a system boots when no machine is emulated for it: a board, a host, a rented machine, boots on record."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from bootlab.system.part import LINE, TEXT, Part, expect_pattern, matching
from bootlab.system.target.asked_machine import AskedMachine
from bootlab.system.target.cloud_hypervisor import CloudHypervisor
from bootlab.system.target.command import Command, words_of
from bootlab.system.target.firecracker import Firecracker
from bootlab.system.target.shell_access import ShellAccess
from bootlab.system.target.vmm import VmmProgram


class SerialLine(Part):
    """A board on a serial line. Commands run on this host; the board is off while `deliver` runs."""

    is_real: ClassVar[bool] = True

    kind: Literal["serial"]
    port: str = Field(min_length=1)
    """A tty, a socket or a url (docs/serial.md)."""
    baud: int | None = Field(default=None, ge=50)
    """By default 115200 where there is a line to set; given, it is also the rate of what is behind a pty or socket."""
    format: Annotated[str, matching(r"[5-8][NEOMS](1|1\.5|2)", "is not data bits, parity and stop bits, as in 8N1")] = (
        "8N1"
    )
    flow: Literal["none", "xonxoff", "rtscts"] = "none"
    power_on: Command | None = None
    power_off: Command | None = None
    labgrid: Annotated[str, matching(r"[A-Za-z0-9][A-Za-z0-9._/-]*", "is no name of a labgrid place")] | None = None
    """A place of labgrid's, which is acquired, switched and released instead."""
    power_deadline_s: float = Field(default=60.0, gt=0, le=3600)
    """Of each command for the power."""
    off_s: float = Field(default=1.0, ge=0, le=600)
    """How long the board stays off, so that what holds a charge loses it."""
    deliver: Command | None = None
    """Puts what is to be booted where the board finds it: BOOTLAB_KERNEL, _INITRAMFS, _ROOTFS, _DISK0, _CMDLINE."""
    deliver_deadline_s: float = Field(default=600.0, gt=0, le=86400)
    zero: str | None = None
    """Time 0 is the first byte of the first line with this, instead of the start of the command `power_on`."""
    marks: dict[str, str] = {}
    """Mark -> the pattern of its console line."""
    shell: ShellAccess | None = None
    """What `bootlab profile` asks, once the board is ready."""

    @field_validator("zero", "marks")
    @classmethod
    def _compile(cls, value: str | dict[str, str] | None) -> str | dict[str, str] | None:
        texts = value if isinstance(value, dict) else {"zero": value} if value is not None else {}
        for name, text in texts.items():
            try:
                expect_pattern(text)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        return value

    @model_validator(mode="after")
    def _one_switch(self) -> Self:
        if (self.power_on is None) == (self.labgrid is None):
            raise ValueError(
                "give exactly one of power_on (a command that switches the board on) and labgrid (a place)"
            )
        if self.labgrid is not None and self.power_off is not None:
            raise ValueError("power_off is for power_on: labgrid switches its places off itself")
        return self

    @property
    def delivers(self) -> bool:
        """Whether what is to be booted is brought to the board."""
        return self.deliver is not None

    def words(self, command: Command) -> list[str]:
        """Return the words of a command, as a process takes them."""
        return words_of(command)


class Replay(Part):
    """Boots on record, which answer again for the emulated machine that they were recorded of."""

    is_real: ClassVar[bool] = False
    delivers: ClassVar[bool] = False

    kind: Literal["replay"]
    boots: Annotated[Path, TEXT]
    """The folder of recorded boots, with or without a script (docs/systems.md)."""


class HostMachine(AskedMachine):
    """A machine on a network, switched by commands and asked from outside. Commands run on this host."""

    kind: Literal["host"]
    host: Annotated[str, matching(r"[!-~]{1,253}", "is no host: an address or a name")]
    power_on: Command | None = None
    """Without one nothing is switched: time 0 is when the first question is asked."""
    power_off: Command | None = None
    power_deadline_s: float = Field(default=60.0, gt=0, le=3600)
    off_s: float = Field(default=1.0, ge=0, le=600)
    """How long the machine stays off, so that what holds a charge loses it."""
    shell: ShellAccess | None = None
    """What `bootlab profile` asks, once the machine has answered."""

    @model_validator(mode="after")
    def _is_switched_on_again(self) -> Self:
        if self.power_off is not None and self.power_on is None:
            raise ValueError("power_off without power_on: nothing would switch it on again")
        if self.shell is not None and self.shell.command is None:
            raise ValueError("shell.prompt is of a serial line: give shell.command, as ssh")
        return self


class Ec2Instance(AskedMachine):
    """An instance of EC2 that is launched for each boot and terminated behind it (docs/outside.md)."""

    kind: Literal["ec2"]
    launch: dict[str, Any]
    """What RunInstances is asked for, in its own words: ImageId, InstanceType, SubnetId, ..."""
    region: Annotated[str, matching(r"[a-z0-9-]{1,40}", "is no name of a region")] | None = None
    """By default what the standard chain says (AWS_REGION, ~/.aws/config)."""
    profile: Annotated[str, LINE] | None = None
    """A profile of ~/.aws/config; credentials come from the standard chain only, and are in no file of bootlab's."""
    address: Literal["public", "private", "ipv6"] = "public"
    """Which of its addresses is asked."""
    boot: Literal["first", "later"] = "first"
    """A new instance's first boot, or the one after it was stopped and started again."""
    usd_per_hour: Annotated[float, TEXT] | None = Field(default=None, ge=0, le=1000)
    """For the estimate; without one the price list is asked."""
    most_usd: Annotated[float, TEXT] = Field(default=5.0, gt=0, le=100_000)
    """A run whose estimate is higher is not begun."""
    lifetime_min: int = Field(default=30, ge=2, le=1440)
    """How long an instance may live: whatever is older, `bootlab ec2 reap` and the next boot terminate."""
    poll_ms: int = Field(default=50, ge=20, le=60_000)
    """How long until EC2 is asked again for the state of the instance."""

    @field_validator("launch")
    @classmethod
    def _names_an_image(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in ("ImageId", "InstanceType"):
            if not isinstance(value.get(name), str) or not value[name]:
                raise ValueError(f"it has no {name}: a text, as RunInstances takes it")
        for name in ("MinCount", "MaxCount", "ClientToken", "TagSpecifications", "DryRun"):
            if name in value:
                raise ValueError(f"{name} is bootlab's own to give")
        return value


class CommandCloud(AskedMachine):
    """A machine of any other cloud, by four commands of this host. Each finds BOOTLAB_NAME in its environment."""

    kind: Literal["cloud"]
    create: Command
    """Begins to make a machine of the name BOOTLAB_NAME."""
    address: Command
    """Prints its address; fails, or prints nothing, while there is none."""
    delete: Command
    """Deletes it; is called again until it succeeds, and must succeed where there is nothing to delete."""
    console: Command | None = None
    """Prints what its console has said."""
    command_deadline_s: float = Field(default=120.0, gt=0, le=3600)
    """Of each command."""
    poll_ms: int = Field(default=500, ge=50, le=60_000)
    """How long until its address is asked for again."""


Target = Annotated[
    SerialLine | HostMachine | Ec2Instance | CommandCloud | Firecracker | CloudHypervisor | Replay,
    Field(discriminator="kind"),
]
"""`is_real`: a machine that bootlab cannot make; its only clock is its console, or its answers.

`delivers`: what is to be booted is brought to it.
"""

_KINDS: Final[dict[str, Any]] = {
    "serial": SerialLine,
    "host": HostMachine,
    "ec2": Ec2Instance,
    "cloud": CommandCloud,
    "firecracker": Firecracker,
    "cloud-hypervisor": CloudHypervisor,
    "replay": Replay,
}


def is_real_target(given: Any) -> bool:
    """Return whether a [target], as a table or as its value, is a real machine; one of no known kind counts as such."""
    if isinstance(given, dict):
        kind = given.get("kind")
        return _KINDS[kind].is_real if isinstance(kind, str) and kind in _KINDS else True
    return bool(getattr(given, "is_real", False))


def is_asked_target(given: Any) -> bool:
    """Return whether a [target], as a table or as its value, is a machine that is only asked from outside."""
    if isinstance(given, dict):
        kind = given.get("kind")
        return isinstance(kind, str) and issubclass(_KINDS.get(kind, Replay), AskedMachine)
    return isinstance(given, AskedMachine)


def vmm_of(given: Any) -> type[VmmProgram] | None:
    """Return the class of a [target], as a table or as its value, that is a VMM of this host; None for any other."""
    kind = given.get("kind") if isinstance(given, dict) else getattr(given, "kind", None)
    found = _KINDS.get(kind) if isinstance(kind, str) else None
    return found if found is not None and issubclass(found, VmmProgram) else None
