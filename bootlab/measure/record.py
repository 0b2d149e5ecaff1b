"""BootRecord: what is kept of one boot. Written once as record.json in the boot's directory, never changed.

The JSON's shape is documented in docs/formats.md and carries a version; a reader refuses one it does not know.
"""

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from bootlab.document import Document
from bootlab.system import BoardModel, Storage
from bootlab.timeline import marks as m
from bootlab.timeline.event import Nanoseconds

SCHEMA: Final = "bootlab.boot/1"


class Outcome(StrEnum):
    """What became of a boot."""

    READY = "ready"
    PANICKED = "panicked"
    NOT_READY = "not ready"
    """The guest ended (powered off, reset, halted) before it was ready."""
    HUNG = "hung"
    """The deadline passed: waiting for ever or spinning."""
    CHECK_FAILED = "check failed"
    """The system no longer does its work: it was ready, or its check said so before."""
    NOT_STARTED = "not started"
    """The target refused this system: the machine never ran."""
    TARGET_DIED = "target died"
    """The machine was lost in mid-boot: QEMU was killed, a line is gone. Nothing is learned about the system."""


class PhaseRecord(Document):
    """A phase of a boot, between two marks."""

    name: str
    start: str
    end: str
    start_ns: Nanoseconds
    duration_ns: Nanoseconds
    read_bytes: int | None = None
    """What was read in it from an emulated board's card, or from all disks that answer at once; None: not counted."""
    charged_ns: int = Field(default=0, exclude_if=lambda value: not value)
    """Of `duration_ns`, what the clock was charged, where a host model was (`clock.host_model`)."""
    price_ns: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """What it costs by that model: its instructions at the model's rate, its idle time, and what was charged."""


class StageRecord(Document):
    """A moment before the kernel: a stage of U-Boot's by its own timer (us since that started, in ns), or a driver.

    U-Boot's timer starts at a board's power-on or in SPL. UEFI's drivers and a card's ROM are on the boot's clock.
    """

    name: str
    t_ns: Nanoseconds


class InitcallRecord(Document):
    """One initcall; times in ns since power-on, duration to the start of the next one."""

    name: str
    start_ns: Nanoseconds
    duration_ns: Nanoseconds


class ChargeRecord(Document):
    """What was charged to the virtual clock for one kind of event up to ready: so often, and so much altogether."""

    count: int
    ns: Nanoseconds


class PriceRecord(Document):
    """What a boot up to ready costs on a host, by the model that its clock was charged by; no time on that clock."""

    model: str
    """The host model's name."""
    identity: str
    """sha256 of its figures and rules."""
    rules: str
    """`svm`, `vmx` or `arm64`: which traps exit."""
    memory: str
    """What backs the guest's memory: `4K`, `2M`."""
    ns_per_instruction: float
    instructions_ns: Nanoseconds
    """Instructions at that rate."""
    idle_ns: Nanoseconds
    charged_ns: Nanoseconds
    """Exits and first touches of memory, and what `clock.charges` says; by class in the record's `charges`."""
    corrections: dict[str, int] = Field(default={}, exclude_if=lambda value: not value)
    """What is taken off because the VMM that `machine.shape` stands for has not got it -> ns, below 0."""
    corrected_exits: int = Field(default=0, exclude_if=lambda value: not value)
    """How many exits are taken off with that; the record's `charges` have them."""

    @property
    def total_ns(self) -> int:
        """Return the whole price, corrected."""
        return self.instructions_ns + self.idle_ns + self.charged_ns + sum(self.corrections.values())


class DiskRecord(Document):
    """What a modelled disk was asked for up to ready, and how long for; a request under way then counts up to there."""

    drive: str
    """`rootfs`, `disk0`, ...: as in `hashes`."""
    model: str
    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    flushes: int
    busy_ns: Nanoseconds
    """Somebody waited for the disk."""
    waited_ns: Nanoseconds
    """The times of all requests, from asking to the answer, added up."""
    longest_ns: Nanoseconds
    passed_bytes: int | None = None
    """What lies between the end of a read and the beginning of the next, added up; None in older records."""


class PictureRecord(Document):
    """What was on the screen at one moment. A mark that says since when something is so has its picture later."""

    mark: str | None
    """Whose picture it is; None: one of the film."""
    t_ns: Nanoseconds
    width: int
    height: int
    pixels_sha256: str
    """Of the pixels, four bytes each: blue, green, red and 0, row by row."""
    file: str
    """A PNG, in the boot's directory."""


class ScreenRecord(Document):
    """How a boot's screen was looked at, from power-on to its end."""

    looks: int
    frames: int
    """How many of them saw another picture than the look before."""
    after: dict[str, str]
    """Each mark of the screen, and each typing -> the mark that it comes behind."""
    frames_up_to: dict[str, str]
    """Mark -> hash of each frame up to the look that made it, and of its time: alike in boots that looked alike."""
    pictures: list[PictureRecord] = []
    lost: int = Field(default=0, exclude_if=lambda value: not value)
    """Pictures that could not be written."""


class GuestClock(Document):
    """How the kernel's own time stamps are read on the boot's clock: add `offset_ns`, good to +- `uncertainty_ns`.

    Holds from `since_ns` (a printk stamp) on: before, the guest's clock stood still or changed its source.
    """

    offset_ns: Nanoseconds
    uncertainty_ns: Nanoseconds
    since_ns: Nanoseconds


class ConsoleStamps(Document):
    """How far a console's stamps may be off: a byte time, and how late the host took them.

    The time since power-on also by where time 0 lies in the command that gave the power.
    """

    byte_ns: Nanoseconds
    """0 where the line's rate is not known."""
    late_ns: Nanoseconds | None = None
    """No stamp of this boot was later than this; None where it cannot be known, and in older records."""
    power_ns: Nanoseconds
    """How long that command took; 0 where time 0 is a console line."""

    @property
    def uncertainty_ns(self) -> int | None:
        """Return how far the time between two marks may be off; None where the host's lateness is not known."""
        return None if self.late_ns is None else self.byte_ns + self.late_ns


class RestoredRecord(Document):
    """What a clone went on from. `kept_ns`: where the machine stood, ns since its own power-on."""

    snapshot: str
    clone: int | None
    """Its number; None for a system whose clones cannot be told who they are."""
    kept_ns: Nanoseconds


class BeganRecord(Document):
    """Where a boot began that went on from the mark of another, with which it has everything before in common."""

    mark: str
    t_ns: Nanoseconds
    """Where the machine stood: everything up to here is the other boot's."""
    boot: str
    """Directory of the other."""


class LaunchRecord(Document):
    """A part of what a VMM does before its guest's first instruction."""

    name: str
    duration_ns: Nanoseconds


class VmmRecord(Document):
    """How a VMM came to let its guest go, on the host's clock; in no mark, for time 0 is when it did."""

    name: str
    version: str
    launch: list[LaunchRecord]
    """In order, the last one ends at power-on."""
    own: dict[str, Nanoseconds] = {}
    """What the VMM says itself, by its own names: Firecracker's `guest_boot` counts from InstanceStart, Cloud
    Hypervisor's events from its event monitor's begin."""

    @property
    def launch_ns(self) -> int:
        """Return the time from the start of the VMM's process to power-on."""
        return sum(step.duration_ns for step in self.launch)


class WakeRecord(Document):
    """How long a device took to wake, by the kernel's own trace events of its driver's callbacks, added up.

    Devices wake at the same time, so these are no parts of a sum.
    """

    device: str
    driver: str
    duration_ns: Nanoseconds


class EarlyWakeRecord(Document):
    """What woke a machine that slept, when, and what that was good for when somebody came."""

    by: str
    at: str = m.SUSPENDING
    """The mark that the system counts the wake and the ignition from, `wake.at`."""
    at_to_wake_ns: Nanoseconds | None = None
    """From that mark to the mark `wake`; None in older records."""
    slept_ns: Nanoseconds
    """From the mark `suspending` to the mark `wake`."""
    ignition_ns: Nanoseconds | None = None
    """From the mark `wake` until somebody comes; None where the system states no ignition."""
    ignition_to_ready_ns: Nanoseconds | None = None
    """What he waits: 0 where the machine was ready before."""
    idle_awake_ns: Nanoseconds | None = None
    """What it was awake up to ignition or ready, the later one, and executed nothing: beside `instructions` what waking
    it costs if nobody comes. Falling asleep again is not in it."""
    fell_asleep_ns: Nanoseconds | None = Field(default=None, exclude_if=lambda value: value is None)
    """From the mark `suspending` to `asleep`: what it took to fall asleep before, and would take again. Of S3 alone."""


class PowerOnRecord(Document):
    """What a boot found as it was switched on, and what was wrong with that."""

    kind: str
    fault: str | None = None
    fault_file: str | None = None
    """The file in which a bit was turned."""
    source: str | None = None
    """What it went on from, as the guest says: its root in `kept-ram` or on `disk`, or its hibernation `image`; of a
    board kernel and root in `kept-ram` or on its `card`, as its SPL says."""
    refused: str | None = None
    """Why it did not take what it found, as the guest says; None where it did."""
    changes_taken: int | None = Field(default=None, exclude_if=lambda value: value is None)
    """The generation of what was written over a root in kept RAM that it has begun with; None where it took none."""
    changes_refused: str | None = Field(default=None, exclude_if=lambda value: value is None)
    """Why it did not take the newest of that; None where it did, and where there was none."""
    devices: list[WakeRecord] = Field(default=[], exclude_if=lambda value: not value)
    """Of a machine that slept, with `power_on.devices`: what took longest to wake first."""
    devices_untold: str = Field(default="", exclude_if=lambda value: not value)
    """What of them is not told, and why; empty where all is, and where none was asked for."""
    wake: EarlyWakeRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """Of a machine that slept, and that `[wake]` had woken."""


class BootRecord(Document):
    """One boot. Times are ns since power-on on `clock`."""

    schema_: Literal["bootlab.boot/1"] = Field(default=SCHEMA, alias="schema")
    system: str
    clock: str
    """`virtual`, `wall` or `console`."""
    accelerator: str
    """`tcg`, `kvm`, `board` for a real one, or `replay` for a boot on record that answered again."""
    ns_per_instruction: int | None
    cpu: str
    seed: int
    outcome: Outcome
    detail: str
    """One line for a reader: why the outcome is not `ready`, else empty."""
    remarks: list[str] = []
    """What a reader should know whatever the outcome: a board that left Falcon mode, say."""
    instructions: int | None
    """Instructions executed up to ready (virtual clock)."""
    idle_ns: Nanoseconds | None
    """Virtual time up to ready in which no instruction ran, and nothing was charged."""
    charged_ns: Nanoseconds = Field(default=0, exclude_if=lambda value: not value)
    """Virtual time up to ready that was charged for events (`clock.charges`, `clock.host_model`)."""
    charges: dict[str, ChargeRecord] = Field(default={}, exclude_if=lambda value: not value)
    """What for: a kernel function of `clock.charges`, or a class of exit or fault of `clock.host_model`."""
    ticks_moved_ns: Nanoseconds = Field(default=0, exclude_if=lambda value: not value)
    """How far the kernel's ticks were moved against its work (`clock.tick_us`); no time holds it."""
    price: PriceRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """What it costs up to ready on the host of `clock.host_model`; None where no model was charged."""
    marks: dict[str, Nanoseconds]
    timings_ns: dict[str, Annotated[Nanoseconds, Field(ge=0)] | None] = Field(
        default={}, exclude_if=lambda value: not value
    )
    """The system's `[timings]` by name; None where one of the two marks never came, or the second came first."""
    read_up_to: dict[str, int] = Field(default={}, exclude_if=lambda value: not value)
    """Mark that bounds no phase -> bytes that all disks were asked for before it, where phases have theirs."""
    phases: list[PhaseRecord]
    bootstage: list[StageRecord] = []
    """U-Boot's own stages, where it printed them (CONFIG_BOOTSTAGE_REPORT)."""
    drivers: list[StageRecord] = Field(default=[], exclude_if=lambda value: not value)
    """UEFI's programs by the names they have in its firmware, and a card's `option-ROM`, each as it began to run."""
    initcalls: list[InitcallRecord]
    guest_clock: GuestClock | None = None
    """None when the console holds too few stamped lines."""
    stamps: ConsoleStamps | None = None
    """How far a board's console stamps may be off; None for an emulated machine."""
    exact_disks: bool | None = Field(default=None, exclude_if=lambda value: value is None)
    """Whether its disks answered at once, as they were to; None where there was none to, and in older records."""
    disks: list[DiskRecord] = Field(default=[], exclude_if=lambda value: not value)
    """What its modelled disks did; left out where none is modelled."""
    screen: ScreenRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """What was seen on the screen; None for a system without `[screen]`."""
    restored: RestoredRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """Of a machine that went on from a snapshot: its times are ns since then. None for one that was powered on."""
    began: BeganRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """Of a boot that was not powered on: it went on from a mark that another one had reached, and is a whole boot."""
    vmm: VmmRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """What came before power-on; None where the host's time counts nothing, or no VMM was started."""
    power_on: PowerOnRecord | None = Field(default=None, exclude_if=lambda value: value is None)
    """Of a system that may find something as it is switched on; None for others."""
    kaslr_slide: int | None
    facts: dict[str, str]
    console_sha256: str
    """Hash of the console up to and including the line that says ready: what repeats exactly."""
    key: str
    """sha256 of everything that decides this boot; two boots on the virtual clock with one key are identical."""
    hashes: dict[str, str]
    """sha256 of kernel, initramfs, qemu, firmware, plugin; one per input that there is."""
    sizes: dict[str, int] = {}
    """Bytes of kernel, initramfs, rootfs and disks: one per input that there is. `found`: what a boot before left."""
    load_ns: Nanoseconds = 0
    """Time to load kernel and initramfs by the system's storage model; comes before power-on, and is in no mark."""
    storage: Storage | None = None
    """The model that `load_ns` comes from; without one loading costs nothing."""
    board_model: BoardModel | None = None
    """What a board's storage, line and camera take, in these times; the guest's facts say how much (board_terms)."""
    host: dict[str, Any]
    argv: list[str]
    started: str
    """Host time, ISO 8601, UTC."""
    wall_s: float
    """Host seconds from start to end of the boot; not a measure of the guest."""
    run: str
    """Directory of this boot."""

    @property
    def ready_ns(self) -> int | None:
        """Return the time from power-on to ready; None for a boot that was not ready and well."""
        return self.marks.get("ready") if self.outcome is Outcome.READY else None

    @property
    def judged_ns(self) -> int | None:
        """Return what a boot is judged by: its price where it has one, else its time to ready; None as `ready_ns`."""
        return self.ready_ns if self.price is None or self.ready_ns is None else self.price.total_ns

    @property
    def counted_ns(self) -> int | None:
        """Return instructions and idle time up to ready, without what was charged; None as `ready_ns`."""
        return None if self.ready_ns is None else self.ready_ns - self.charged_ns

    @property
    def total_ns(self) -> int | None:
        """Return the ns to load and `judged_ns`: what a system with a storage model is judged by; None as that."""
        return None if self.judged_ns is None else self.load_ns + self.judged_ns

    @property
    def board_model_label(self) -> str:
        """Return the board model's hash and words, or `none`: of two boots with different ones no figures compare."""
        return "none" if self.board_model is None else self.board_model.label

    @property
    def user_space_ns(self) -> int | None:
        """Return the ns to user space: to its first instruction, or the exec of init where that is not seen.

        None where neither was.
        """
        return self.marks.get(m.FIRST_USER_INSTRUCTION, self.marks.get(m.INIT_EXEC))
