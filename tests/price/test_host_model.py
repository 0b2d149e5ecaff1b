"""Host models: those that are shipped, a user's own, and figures that no host has, refused by their key."""

import re
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.price.classes import ARM64_CLASSES, CLASSES
from bootlab.price.host_model import ALL_NAMED, NAMED, NAMED_ARM64, expect_arch, read_host_model
from bootlab.price.rules import read_rule_set

SHIPPED = Path(__file__).parents[2] / "bootlab" / "price" / "host_models"


def replaced(folder: Path, old: str, new: str) -> str:
    """Write `lean` with one piece of text replaced; return its path."""
    text = (SHIPPED / "lean.toml").read_text()
    assert old in text
    path = folder / "own.toml"
    path.write_text(text.replace(old, new, 1))
    return str(path)


def test_shipped_ones_have_every_class_and_a_source_for_each_figure() -> None:
    models = [read_host_model(name) for name in NAMED]
    assert [model.name for model in models] == list(NAMED)
    for model in models:
        assert set(model.exit) == set(CLASSES) and model.rules == "svm"
        figures = [model.instruction, *model.exit.values(), model.fault.small, model.fault.huge]
        assert all(len(one.source) > 5 for one in figures)
        assert model.exit["pio_vmm"].ns > model.exit["pio_kvm"].ns >= model.exit["cpuid"].ns
    assert models[0].exit["cpuid"].ns < models[1].exit["cpuid"].ns < models[2].exit["cpuid"].ns
    assert len({model.identity for model in models}) == len(NAMED)


def test_shipped_ones_of_arm64_hosts_have_its_classes() -> None:
    models = [read_host_model(name) for name in NAMED_ARM64]
    assert [model.name for model in models] == list(NAMED_ARM64)
    for model in models:
        assert set(model.exit) == set(ARM64_CLASSES) and model.rules == "arm64" and model.arch == "aarch64"
        figures = [model.instruction, *model.exit.values(), model.fault.small, model.fault.huge]
        assert all(len(one.source) > 5 for one in figures)
        assert model.exit["mmio_vmm"].ns > model.exit["mmio_vgic"].ns > model.exit["hvc"].ns
        lines = model.plugin_lines(read_rule_set("arm64").on("virt"), ((1 << 30, 5 << 28),), "2M")
        assert "price sysreg_read sysreg_read c008 c03f 0 0 306" in lines and lines[-2].startswith(
            "touch fault_2M 40000000"
        )


def test_a_model_of_another_architecture_is_refused_by_name() -> None:
    for name in ALL_NAMED:
        model = read_host_model(name)
        expect_arch(model, model.arch, "mine")
        other = "aarch64" if model.arch == "x86_64" else "x86_64"
        with pytest.raises(
            InputError, match=f"host model {name}: is of {model.arch} hosts .*, and mine is {other}"
        ) as got:
            expect_arch(model, other, "mine")
        assert ("altra" if other == "aarch64" else "lean or ibrs or nested") in str(got.value.hint)
        with pytest.raises(InputError, match="mine is riscv64: the exits of x86-64 and arm64 guests of KVM are known"):
            expect_arch(model, "riscv64", "mine")


def test_the_identity_is_of_figures_and_not_of_words(tmp_path: Path) -> None:
    lean = read_host_model("lean")
    assert read_host_model(replaced(tmp_path, 'name = "lean"', 'name = "mine"')).identity == lean.identity
    assert read_host_model(replaced(tmp_path, "ns = 2500", "ns = 2501")).identity != lean.identity
    assert read_host_model(replaced(tmp_path, 'rules = "svm"', 'rules = "vmx"')).identity != lean.identity
    assert read_host_model(replaced(tmp_path, 'memory = "4K"', 'memory = "2M"')).identity != lean.identity


def test_what_the_plugin_is_told() -> None:
    lean, spans = read_host_model("lean"), ((0x200000, 0x8000000),)
    rules = read_rule_set("svm").on("microvm")
    small, huge = (lean.plugin_lines(rules, spans, memory) for memory in ("4K", "2M"))
    assert "price pio_vmm out 20 21 0 0 2500" in small and "price pio_kvm out 20 21 0 0 900" in small
    assert small.index("price pio_vmm out 20 21 0 0 2500") < small.index("price pio_kvm out 20 21 0 0 900")
    assert small[-1] == huge[-1] == f"touch fault_4K 0 ffffffffffffffff 12 {lean.fault.small.ns}"
    assert [line for line in huge if line not in small] == [f"touch fault_2M 200000 8000000 21 {lean.fault.huge.ns}"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("ns = 0.33", "ns = 0", "instruction.ns: input should be greater than or equal to 0.001, got 0"),
        ("ns = 0.33", "ns = nan", "instruction.ns: "),
        ("ns = 0.33", "ns = inf", "instruction.ns: "),
        ("ns = 0.33", "ns = 101", "instruction.ns: input should be less than or equal to 100, got 101"),
        ("ns = 2500", "ns = -1", "exit.pio_vmm.ns: input should be greater than or equal to 10, got -1"),
        ("ns = 2500", "ns = 10_000_001", "exit.pio_vmm.ns: input should be less than or equal to 10000000"),
        ("ns = 2500", "ns = 2.5", "exit.pio_vmm.ns: "),
        ("ns = 2500", 'ns = "2500"', "exit.pio_vmm.ns: "),
        ("ns = 60000", "ns = 1000", "fault: 2M: 1000 ns, less than a fault of 4K"),
        ("[exit.cpuid]", "[exit.cpu_id]", "exit.cpu_id: no class of exit by the rules svm: pio_vmm"),
        ('rules = "svm"', 'rules = "arm64"', "exit.pio_vmm: no class of exit by the rules arm64: mmio_vmm"),
        ('rules = "svm"', 'rules = "arm"', "rules: "),
        ('memory = "4K"', 'memory = "1G"', "memory: "),
        ('name = "lean"', 'name = "../lean"', "name: "),
        ("[instruction]", "[instructions]", "instructions: unknown key"),
        ("[instruction]", "[instruction", "not TOML"),
    ],
)
def test_a_bad_one_is_refused_by_its_key(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    path = replaced(tmp_path, old, new)
    with pytest.raises(InputError, match=re.escape(complaint)) as raised:
        read_host_model(path)
    assert raised.value.message.startswith(path)


def test_a_figure_without_a_source_and_one_that_is_missing(tmp_path: Path) -> None:
    path = replaced(tmp_path, "[exit.cpuid]\nns = 700\nsource", "[exit.cpuid]\nns = 700\nsauce")
    with pytest.raises(InputError) as raised:
        read_host_model(path)
    assert "exit.cpuid.source: missing" in raised.value.message
    text = (SHIPPED / "lean.toml").read_text()
    begin, end = text.index("[exit.hlt]"), text.index("[exit.xsetbv]")
    (tmp_path / "own.toml").write_text(text[:begin] + text[end:])
    with pytest.raises(InputError, match=re.escape("exit.hlt: missing (HLT)")):
        read_host_model(str(tmp_path / "own.toml"))


def test_names_and_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="lena: no host model of this name") as raised:
        read_host_model("lena")
    assert "lean, ibrs, nested, altra" in str(raised.value.hint)
    for name in (str(tmp_path / "none.toml"), "a\0.toml", "\x1b[31m.toml"):
        with pytest.raises(InputError, match="expected a host model"):
            read_host_model(name)
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InputError, match="expected a host model"):
        read_host_model(str(tmp_path / "folder.toml"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_host_model(str(tmp_path / "bytes.toml"))
    with (tmp_path / "large.toml").open("wb") as file:
        file.truncate(2 << 20)
    with pytest.raises(InputError, match="more than 1 MiB"):
        read_host_model(str(tmp_path / "large.toml"))
