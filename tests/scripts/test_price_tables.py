"""scripts/price-tables: its systems see KVM, its figures are those of the phases, and bad words are refused."""

from pathlib import Path

import pytest

from bootlab.system import read_system
from scripts.price_tables import LIMIT, PAGE, ROOT, ROWS, STEPS, Row, gathered, kernel_ns, main, meets_at, seen_by_kvm
from scripts.publishing.gathered import gathered_text, read_gathered, unrecorded_lines
from tests.report.priced import priced_boot


def test_every_row_but_those_on_a_shape_is_a_machine_that_kvm_shows_itself_on() -> None:
    ours, stock = ROWS[-2], ROWS[0]
    shaped = seen_by_kvm(ours).machine
    assert (shaped.shape, shaped.hypervisor, shaped.memory_mib) == ("firecracker", "kvm", 128)
    plain = seen_by_kvm(stock).machine
    assert plain.shape is None and plain.hypervisor == "kvm" and plain.cpu.startswith("EPYC")


def test_the_steps_end_at_the_limit() -> None:
    """So that the table's last row is the example, and each of its patches and options is a step."""
    limit, stepped = read_system(ROOT / LIMIT), seen_by_kvm(Row("", "examples/microvm.toml", shape=True))
    for step in STEPS:
        stepped = step.taken(stepped)
    assert stepped.kernel.build is not None and limit.kernel.build is not None
    names = [[patch.name for patch in one.patches] for one in (stepped.kernel.build, limit.kernel.build)]
    assert names[0] == names[1] and stepped.kernel.build.options == limit.kernel.build.options
    assert stepped.kernel.cmdline == limit.kernel.cmdline and stepped.machine == limit.machine
    for part in ("initramfs", "disks", "network", "booted", "check"):
        assert getattr(stepped, part) == getattr(limit, part), part


def test_the_kernels_own_price_has_neither_firmware_nor_user_space() -> None:
    boot = priced_boot()
    assert boot.price is not None
    names = {phase.name for phase in boot.phases}
    others = sum(one.price_ns or 0 for one in boot.phases if one.name in ("firmware", "user space"))
    assert {"firmware"} < names and kernel_ns(boot) == boot.price.total_ns - others


def test_the_rate_at_which_they_meet_makes_them_meet() -> None:
    boot = priced_boot()
    assert boot.price is not None and boot.instructions is not None
    rate = meets_at(boot, 900.0)
    others_ns = kernel_ns(boot) - boot.price.instructions_ns
    assert others_ns + rate * boot.instructions == pytest.approx(900e6)


def test_bad_words_are_refused_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--leave-out", "examples/nothing.toml"]) == 2
    assert "--leave-out examples/nothing.toml: no row of the table" in capsys.readouterr().err


def test_each_table_is_written_as_one_that_a_record_refuses_once_its_files_changed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    table = "| a | ms |\n|---|---:|\n| x | 1.5 |"
    assert gathered_text("price-limit", gathered("price-limit", table)) == f"{table}\n"
    assert list(unrecorded_lines(page)) == []
    records = {name: one for name, one in read_gathered().items() if one.document == str(PAGE.relative_to(ROOT))}
    assert set(records) == {"price-models", "price-limit", "price-published"}
    build = read_system(ROOT / LIMIT).kernel.build
    assert build is not None
    decide = {LIMIT, *(f"patches/linux/{patch.name}" for patch in build.patches)}
    assert all(decide <= set(records[name].inputs) for name in ("price-models", "price-limit"))
    systems = {row.file for row in ROWS}
    assert systems <= set(records["price-models"].inputs)
