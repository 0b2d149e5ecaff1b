"""--price charges the clock of what is booted, or says why there is no such price."""

from pathlib import Path

import pytest

from bootlab.cli.options.price import absolute_model, with_price
from bootlab.errors import InputError
from bootlab.price import host_model
from bootlab.system import System

SYSTEM = System.model_validate(
    {"name": "one", "machine": {"type": "q35"}, "kernel": {"image": "bzImage"}, "booted": {"mark": "ready"}}
)


def test_a_model_is_charged_to_the_clock_and_none_leaves_the_system_as_it_is() -> None:
    assert with_price(SYSTEM, None) is SYSTEM
    assert with_price(SYSTEM, "lean").clock.host_model == "lean"
    other = SYSTEM.with_part("clock", host_model="ibrs")
    assert with_price(other, None).clock.host_model == "ibrs"
    assert with_price(other, "nested").clock.host_model == "nested"
    virt = SYSTEM.with_part("machine", type="virt")
    assert with_price(virt, "altra").clock.host_model == "altra"
    with pytest.raises(InputError, match="one is riscv64: the exits of x86-64 and arm64 guests of KVM are known"):
        with_price(virt.with_part("machine", architecture="riscv64"), "altra")


def test_a_file_is_named_by_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(host_model.__file__).parent / "host_models" / "lean.toml"
    (tmp_path / "mine.toml").write_bytes(source.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert with_price(SYSTEM, "mine.toml").clock.host_model == str(tmp_path / "mine.toml")
    assert absolute_model("lean") == "lean" and absolute_model(None) is None


@pytest.mark.parametrize(
    "machine, clock, model, said",
    [
        ("q35", "virtual", "leen", "leen: no host model of this name"),
        ("q35", "virtual", "gone.toml", "gone.toml: No such file or directory"),
        ("q35", "wall", "lean", "--price lean: one is on the wall clock"),
        ("virt", "virtual", "lean", "host model lean: is of x86_64 hosts (rules svm), and one is aarch64"),
        ("q35", "virtual", "altra", "host model altra: is of aarch64 hosts (rules arm64), and one is x86_64"),
    ],
)
def test_what_has_no_price_is_refused_by_name(machine: str, clock: str, model: str, said: str) -> None:
    system = SYSTEM.with_part("machine", type=machine).with_part("clock", kind=clock)
    with pytest.raises(InputError) as caught:
        with_price(system, model)
    assert said in caught.value.message
