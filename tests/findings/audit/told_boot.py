"""A boot told by who runs: what each process did is known, so every figure of an audit can be too."""

import json
from pathlib import Path

from bootlab.build.units.plan import InitPlan, PlannedEdge, PlannedUnit
from bootlab.findings.analysis import Analysis, analyse
from bootlab.findings.audit.ipv6 import CALLS
from bootlab.measure.record import BootRecord, Outcome
from bootlab.profile.asked.profiling import FUNCTIONS, functions_text
from bootlab.profile.recorded.about import ABOUT, PROFILE, AboutProfile
from bootlab.profile.recorded.record_types import CallKind, EventKind, Space
from bootlab.system import Booted, Initramfs, Kernel, Machine, MachineType, Rootfs, System
from tests.profile.conftest import ProfileWriter

KERNEL = (
    "start_kernel schedule do_idle cpu_startup_entry entry_SYSCALL_64 __x64_sys_wait4 __x64_sys_nanosleep "
    "load_module do_init_module do_one_initcall really_probe unpack_to_rootfs kernel_init i8042_probe udelay delay_tsc "
    "univ8250_console_write drm_open"
).split()


SYSTEM = System(
    name="made-up",
    machine=Machine(type=MachineType.Q35),
    kernel=Kernel(package="linux-image-cloud-amd64"),
    initramfs=Initramfs(installed=True),
    rootfs=Rootfs(packages=("systemd-sysv",), scripts=True),
    booted=Booted(mark="up"),
)


WAIT = "entry_SYSCALL_64;__x64_sys_wait4;schedule"


class Story(ProfileWriter):
    """A boot told by who runs: `run` is CPU time of a task, `start` a new process, which costs its maker 1000 ns."""

    def __init__(self) -> None:
        super().__init__(tuple(KERNEL))
        self.marks = {"power_on": 0}
        self.labels: dict[int, str] = {}
        self.now = self.task("swapper/0", 0)
        self.idler = self.now
        self.labels[self.now] = "swapper/0-0"
        self.spend("[firmware]", 100_000, space=Space.STAGE)
        self.mark("kernel_entry")
        self.spend("swapper/0-0;start_kernel", 100_000)
        self.mark("start_kernel")

    def mark(self, name: str) -> None:
        self.cut(name)
        self.marks[name] = self.t_ns

    def to(self, task: int, stack: str = "", flags: int = 1) -> None:
        """Give the CPU to another task; the one that had it sleeps (flags 1), is dead (4) or waits for it (0)."""
        if task != self.now:
            label = self.labels[self.now]
            frame = "cpu_startup_entry;do_idle" if self.now == self.idler else stack or WAIT
            self.switch(self.now, task, f"{label};{frame}", 0 if self.now == self.idler else flags)
            self.now = task

    def start(self, maker: int, name: str, pid: int, words: str, path: str = "") -> int:
        self.run(maker, 1_000)
        task = self.task(name, pid, maker)
        self.labels[task] = f"{name}-{pid}"
        self.event(EventKind.FORK, maker, f"{self.labels[maker]};[user]", a=task)
        if words:
            self.execute(task, words, path)
        return task

    def execute(self, task: int, words: str, path: str = "") -> None:
        self.to(task)
        stack = f"{self.labels[task]};[user]"
        self.event(EventKind.EXEC, task, stack, text=path or words.split()[0])
        self.event(EventKind.COMMAND, task, stack, text="\t".join(words.split()))

    def run(self, task: int, ns: int, stack: str = "[user]") -> None:
        self.to(task)
        self.spend(f"{self.labels[task]};{stack}", ns)

    def rest(self, ns: int) -> None:
        self.to(self.idler)
        self.idle("swapper/0-0;cpu_startup_entry;do_idle", ns)

    def wakes(self, wakee: int, waker: int) -> None:
        self.wake(wakee, waker, f"{self.labels[waker]};[user]")

    def exits(self, task: int, then: int) -> None:
        self.event(EventKind.EXIT, task, f"{self.labels[task]};[user]", a=0)
        self.wakes(then, task)
        self.to(then, flags=4 | 1)


def _module(story: Story, task: int, name: str, *, works: bool) -> None:
    begun = story.t_ns
    stack = f"load_module;do_init_module;do_one_initcall;init [{name}]"
    story.run(task, 300_000, "load_module")
    story.run(task, 200_000, stack)
    story.call(CallKind.MODULE, begun, f"{story.labels[task]};load_module;do_init_module", task, text=name, own=200_000)
    story.span(begun, f"{story.labels[task]};load_module", task)
    if works:
        story.run(task, 50_000, f"entry_SYSCALL_64;work [{name}]")


def _tell() -> Story:
    story = Story()
    init = story.start(story.idler, "init", 1, "/sbin/init")
    story.run(init, 1_000_000, "kernel_init;unpack_to_rootfs")
    udevd = story.start(init, "systemd-udevd", 10, "/lib/systemd/systemd-udevd --daemon")
    story.run(udevd, 100_000)
    worker = story.start(udevd, "(udev-worker)", 11, "")
    story.run(worker, 20_000)
    story.event(EventKind.OPEN, worker, "(udev-worker)-11;[user]", text="/sys/devices/pci0/virtio0/uevent")
    _module(story, worker, "virtio_blk", works=True)
    _module(story, worker, "floppy", works=False)
    story.wakes(udevd, worker)
    story.run(udevd, 30_000)
    story.wakes(worker, udevd)
    story.run(worker, 40_000)
    story.event(EventKind.OPEN, worker, "(udev-worker)-11;[user]", text="/sys/devices/pnp0/ttyS0/uevent")
    helper = story.start(worker, "helper", 12, "/lib/udev/helper ttyS0")
    story.run(helper, 500_000)
    story.exits(helper, worker)
    story.run(worker, 60_000)
    story.wakes(init, worker)
    story.to(init)
    settle = story.start(init, "udevadm", 13, "/bin/udevadm settle --timeout=5")
    story.run(settle, 70_000)
    story.exits(settle, init)
    script = story.start(init, "late", 20, "/bin/sh /etc/init.d/late start", "/etc/init.d/late")
    story.run(script, 80_000)
    sleeper = story.start(script, "sleep", 21, "sleep 1")
    story.run(sleeper, 10_000)
    story.to(story.idler, "entry_SYSCALL_64;__x64_sys_nanosleep;schedule")
    story.rest(5_000_000)
    story.wake(sleeper, story.idler, "swapper/0-0;cpu_startup_entry;do_idle", 1)
    story.run(sleeper, 5_000)
    story.exits(sleeper, script)
    modprobe = story.start(script, "modprobe", 22, "/sbin/modprobe -q snd")
    story.run(modprobe, 400_000)
    story.exits(modprobe, script)
    story.exits(script, init)
    goal = story.start(init, "goal", 30, "/usr/bin/goal")
    story.run(goal, 90_000)
    told = story.start(goal, "bootlab-mark", 31, "bootlab-mark up")
    story.run(told, 15_000)
    story.mark("up")
    story.marks["ready"] = story.t_ns
    story.run(told, 10_000)
    return story


class Chain(ProfileWriter):
    """A boot by UEFI that is told by who runs before the kernel; a driver of that waits 3 ms for its device."""

    def __init__(self, loader_ns: int) -> None:
        super().__init__(tuple(KERNEL))
        self.marks = {"power_on": 0}
        self.spend("[firmware]", 2_000_000, space=Space.STAGE)
        self._mark("dxe_entry")
        self.spend("[firmware];DxeCore@0x10", 5_000_000)
        self.spend("[firmware];DxeCore@0x10;Ps2KeyboardDxe@0x20", 600_000)
        self._mark("loader_entry")
        self.spend("[firmware];DxeCore@0x10;GRUB@0x0", loader_ns)
        self._mark("exit_boot_services")
        self._mark("kernel_entry")
        self.task("swapper/0", 0)
        self.spend("swapper/0-0;start_kernel", 4_000_000)
        self.spend("swapper/0-0;start_kernel;really_probe;i8042_probe;udelay;delay_tsc", 3_000_000, calls=30)
        self._mark("ready")

    def _mark(self, name: str) -> None:
        self.cut(name)
        self.marks[name] = self.t_ns


def analysis_of_the_boot(folder: Path, story: Story | Chain | None = None, system: System = SYSTEM) -> Analysis:
    story = story or _tell()
    (folder / PROFILE).write_bytes(story.end())
    functions = [(0x1000 + 16 * number, "-", name) for number, name in enumerate(KERNEL)]
    (folder / FUNCTIONS).write_text(functions_text(functions))
    (folder / ABOUT).write_text(json.dumps(AboutProfile({}, (), None, CALLS).as_json()))
    (folder / "trace.txt").write_text("bootlab-trace 1\nclock virtual 0\n")
    record = BootRecord(
        system=system.name, clock="virtual", accelerator="tcg", ns_per_instruction=1, cpu="max", seed=1,
        outcome=Outcome.READY, detail="", instructions=story.instructions, idle_ns=story.idle_ns, marks=story.marks,
        phases=[], initcalls=[], kaslr_slide=0, facts={"modules": "virtio_blk floppy"}, console_sha256="0" * 64,
        key="0" * 64, hashes={"kernel": "1" * 64}, host={}, argv=[], started="2026-01-01T00:00:00+00:00", wall_s=1.0,
        run=str(folder),
    )  # fmt: skip
    return analyse(system, record, folder)


def _unit(name: str, *command: str, wanted: bool = True) -> PlannedUnit:
    words = (("start", *command),) if command else ()
    return PlannedUnit(name, f"/etc/{name}", "systemd", True, wanted, False, False, words)


PLAN = InitPlan(
    (_unit("late", "/etc/init.d/late", "start"), _unit("goal", "/usr/bin/goal"), _unit("other", "/bin/other")),
    (PlannedEdge(1, 2, "wants", 1, 1),),
    (),
)


RULES = b'KERNEL=="ttyS*", IMPORT{program}="helper %k"\nKERNEL=="x" "y"\n'
