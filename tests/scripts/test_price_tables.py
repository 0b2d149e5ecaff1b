"""scripts/price-tables: its systems see KVM, its figures are those of the phases, and bad words are refused."""

import pytest

from bootlab.system import read_system
from scripts.price_tables import (
    LIMIT,
    PUBLISHED_MS,
    ROOT,
    ROWS,
    STEPS,
    Row,
    booted_on,
    kernel_ns,
    limit_table,
    main,
    meets_at,
    prices_table,
    published_table,
    rate_words,
    seen_by_kvm,
)
from scripts.publishing.tables import read_published
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


def test_a_step_saves_what_the_one_before_it_cost_more() -> None:
    boot = priced_boot()
    assert boot.price is not None
    cheaper = boot.model_copy(
        update={"price": boot.price.model_copy(update={"charged_ns": boot.price.charged_ns - 2_500_000})}
    )
    rows = limit_table({"ours": boot, **{step.what: cheaper for step in STEPS}}).splitlines()[2:]
    assert len(rows) == 1 + len(STEPS) and rows[0].endswith(f"| {boot.price.total_ns / 1e6:.2f} | |")
    assert rows[1].endswith("| 2.50 |") and all(row.endswith("| 0.00 |") for row in rows[2:])


def test_each_model_has_its_price_and_its_ratio_to_the_published_one() -> None:
    boot = priced_boot()
    under = dict.fromkeys(("lean", "ibrs", "nested"), boot)
    table = prices_table({"ours": under, ROWS[3].what: under})
    assert boot.price is not None and "published" in ROWS[3].what
    for model in under:
        assert f"| **price under `{model}`, ms** | {boot.price.total_ns / 1e6:.2f} |" in table
        assert f"| times the published one, `{model}` | 1.00 | 1.00 |" in table
    assert "times the published one" not in prices_table({"ours": under})


def test_what_would_make_both_meet_is_of_huge_pages_alone() -> None:
    boot = priced_boot()
    assert boot.instructions is not None
    found = dict.fromkeys(PUBLISHED_MS, boot)
    rates = [meets_at(boot, published) for (_, pages), published in PUBLISHED_MS.items() if pages == "2M"]
    assert f"{min(rates):.2f} to {max(rates):.2f} ns an instruction" in " ".join(rate_words(found).split())
    table = published_table(found)
    assert all(f"| {mib} MiB, {pages} | {published:.2f} |" in table for (mib, pages), published in PUBLISHED_MS.items())


def test_boots_in_huge_pages_are_named_below_a_table() -> None:
    small = priced_boot()
    assert small.price is not None and small.price.memory == "4K"
    huge = small.model_copy(update={"price": small.price.model_copy(update={"memory": "2M"})})
    assert booted_on({"one": small, "two": huge}).endswith("\n\nIn pages of 2M: two.")
    assert "In pages of" not in booted_on({"one": small})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["models", "--leave-out", "examples/nothing.toml"], "--leave-out examples/nothing.toml: no row of the table"),
        (["limit", "--leave-out", LIMIT], "--leave-out is for models, and not for limit"),
        (["models", *(word for row in ROWS for word in ("--leave-out", row.file))], "no row of the table is left"),
    ],
)
def test_bad_words_are_refused_by_name(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_record_refuses_each_table_once_the_files_that_decide_it_changed() -> None:
    tables = ("price-models", "price-limit", "price-published")
    records = {name: one for name, one in read_published().items() if name in tables}
    assert len(records) == len(tables)
    build = read_system(ROOT / LIMIT).kernel.build
    assert build is not None
    decide = {LIMIT, *(f"patches/linux/{patch.name}" for patch in build.patches)}
    assert all(decide <= set(records[name].inputs) for name in ("price-models", "price-limit"))
    assert {row.file for row in ROWS} <= set(records["price-models"].inputs)
    assert all("scripts/price_tables.py" in one.inputs for one in records.values())
