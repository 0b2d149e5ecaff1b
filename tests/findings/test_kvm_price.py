"""The price of a boot: which exits and pages count, where, and what each model makes of them."""

import pytest

from bootlab.findings.kvm_price import KvmPrice, price_document, price_profile
from bootlab.price.host_model import read_host_model
from bootlab.price.traps import TrapKind
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile
from bootlab.profile.recorded.record_types import ChunkKind, PageUse
from bootlab.system import Booted, Kernel, Machine, MachineType, System
from tests.profile.conftest import ProfileWriter

MODELS = tuple(read_host_model(name) for name in ("lean", "ibrs"))
PHASES = [("early", 0, 100), ("late", 100, 1300)]
SYSTEM = System(
    name="made-up",
    machine=Machine(type=MachineType.Q35, memory_mib=128),
    kernel=Kernel(package="linux-image-cloud-amd64"),
    booted=Booted(mark="ready"),
)


def trap(writer: ProfileWriter, stack: str, kind: TrapKind, number: int, count: int) -> None:
    """Count traps at the end of a stack."""
    writer.add(ChunkKind.TRAP, writer.node(stack), kind, 0, number, 0, count)


def page(writer: ProfileWriter, stack: str, number: int) -> None:
    """Touch a page first."""
    writer.add(ChunkKind.PAGE, number, writer.node(stack), PageUse.WRITTEN, 0)


@pytest.fixture
def profile() -> Profile:
    writer = ProfileWriter(("start_kernel", "serial", "clear"))
    writer.spend("swapper/0-0;start_kernel", 60)
    writer.spend("swapper/0-0;start_kernel;serial", 40)
    trap(writer, "swapper/0-0;start_kernel;serial", TrapKind.OUT, 0x3F8, 10)
    trap(writer, "swapper/0-0;start_kernel", TrapKind.WRMSR, 0xC0000082, 5)  # not an exit on SVM
    trap(writer, "swapper/0-0;start_kernel", TrapKind.IN, 0x61, 3)
    for number in (0x1, 0x201, 0x202):
        page(writer, "swapper/0-0;start_kernel;clear", number)
    writer.cut("early")
    writer.spend("swapper/0-0;start_kernel", 200)
    writer.idle("swapper/0-0;start_kernel", 1000)
    trap(writer, "swapper/0-0;start_kernel", TrapKind.CPUID, 1, 2)
    page(writer, "swapper/0-0;start_kernel", 0x203)
    page(writer, "swapper/0-0;start_kernel", 0x400)
    writer.cut("ready")
    writer.spend("swapper/0-0;start_kernel", 7)
    trap(writer, "swapper/0-0;start_kernel", TrapKind.CPUID, 1, 100)
    trap(writer, "swapper/0-0;start_kernel", TrapKind.LOST, 0, 4)
    return parse_profile(writer.end(), writer.functions, 0)


def priced(profile: Profile, charged: str | None = None) -> KvmPrice:
    """Return the price up to ready."""
    found = price_profile(profile, SYSTEM, profile.up_to("ready"), PHASES, MODELS, charged)
    assert found is not None
    return found


def test_what_counts_up_to_ready(profile: Profile) -> None:
    account = priced(profile).account
    assert account.by_class == {"pio_vmm": 10, "pio_kvm": 3, "cpuid": 2}
    assert account.time_bound_by_class == {"pio_kvm": 3}
    assert (account.n_exits, account.n_pages, int(account.chunks.sum()), int(account.small.sum())) == (15, 5, 2, 1)
    assert account.n_huge_faults == 3 and account.not_counted == 0
    whole = price_profile(profile, SYSTEM, range(len(profile.slices)), PHASES, MODELS)
    assert whole is not None and whole.account.by_class["cpuid"] == 102 and whole.account.not_counted == 4


def test_the_price_is_figures_times_counts(profile: Profile) -> None:
    price = priced(profile, MODELS[1].identity)
    assert (price.instructions, price.idle_ns) == (300, 1000)
    for one in price.prices:
        exits = one.model.exit_ns
        wanted = 10 * exits["pio_vmm"] + 3 * exits["pio_kvm"] + 2 * exits["cpuid"]
        assert (one.small.exits_ns, one.small.faults_ns) == (wanted, 5 * one.model.fault.small.ns)
        assert one.huge.faults_ns == 2 * one.model.fault.huge.ns + one.model.fault.small.ns
        assert one.small.instructions_ns == round(300 * one.model.instruction.ns)
        assert one.small.total_ns == one.small.instructions_ns + 1000 + wanted + one.small.faults_ns
        assert int(price.node_ns(one.model).sum()) == wanted + one.small.faults_ns
    assert [one.charged for one in price.prices] == [False, True]


def test_phases_add_up_to_the_whole(profile: Profile) -> None:
    price = priced(profile)
    early, late = price.phases
    assert (early.exits, early.pages, early.huge_faults) == ({"pio_vmm": 10, "pio_kvm": 3}, 3, 2)
    # The chunk of page 0x203 was touched in the phase before.
    assert (late.exits, late.pages, late.huge_faults, late.idle_ns) == ({"cpuid": 2}, 2, 1, 1000)
    for one in price.prices:
        total = sum(phase.costs[one.model.name].total_ns for phase in price.phases)
        assert abs(total - one.small.total_ns) <= len(price.phases)  # each is rounded to ns


def test_who_exits(profile: Profile) -> None:
    functions = priced(profile).functions
    assert [(one.name, one.exits, one.pages) for one in functions] == [
        ("serial", {"pio_vmm": 10}, 0),
        ("start_kernel", {"pio_kvm": 3, "cpuid": 2}, 2),
        ("clear", {}, 3),
    ]


def test_the_document(profile: Profile) -> None:
    document = price_document(priced(profile))
    assert document["exits"] == {"pio_vmm": 10, "pio_kvm": 3, "cpuid": 2}
    assert (document["pages_4K"], document["chunks_2M"], document["pages_4K_beside_chunks"]) == (5, 2, 1)
    assert [one["model"] for one in document["prices"]] == ["lean", "ibrs"]
    assert document["functions"][0]["name"] == "serial"
    assert document["rules"]["name"] == "svm"


def test_a_boot_that_was_not_counted_has_no_price() -> None:
    writer = ProfileWriter()
    writer.spend("swapper/0-0;start_kernel", 10)
    writer.cut("ready")
    profile = parse_profile(writer.end(), writer.functions, 0)
    assert price_profile(profile, SYSTEM, range(len(profile.slices)), PHASES, MODELS) is None
