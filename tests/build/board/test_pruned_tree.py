"""A pruned device tree: what goes, what stays because another one points at it, and what is no tree at all."""

from pathlib import Path

import pytest

from bootlab.build.board.pruned_tree import needless_nodes, read_tree, write_pruned
from bootlab.errors import InputError
from bootlab.process import run

SOURCE = """/dts-v1/;
/ {
	compatible = "some,board";
	#address-cells = <1>;
	#size-cells = <1>;
	chosen { stdout-path = "serial0"; };
	cpus {
		#address-cells = <1>;
		#size-cells = <0>;
		cpu@0 { compatible = "arm,cortex-a7"; device_type = "cpu"; reg = <0>; cpu-supply = <&regulator>; };
	};
	oscillator: oscillator { compatible = "fixed-clock"; #clock-cells = <0>; };
	soc {
		compatible = "simple-bus";
		#address-cells = <1>;
		#size-cells = <1>;
		ranges;
		gates: clock@100 {
			compatible = "some,gates"; reg = <0x100 4>; #clock-cells = <1>; clocks = <&oscillator>;
		};
		unused: clock@200 { compatible = "some,unused-gates"; reg = <0x200 4>; #clock-cells = <1>; };
		pins: pinctrl@300 {
			compatible = "some,pins"; reg = <0x300 4>; gpio-controller; #gpio-cells = <2>;
			line_pins: line-pins { pins = "PA4"; function = "uart"; };
			codec_pins: codec-pins { pins = "PB4"; function = "codec"; };
		};
		serial@400 {
			compatible = "some,uart", "ns16550a"; reg = <0x400 4>;
			clocks = <&gates 5>; pinctrl-0 = <&line_pins>; reset-gpios = <&expander 1 0>;
		};
		serial@500 { compatible = "ns16550a"; reg = <0x500 4>; status = "disabled"; clocks = <&unused 5>; };
		codec@600 {
			compatible = "some,codec"; reg = <0x600 4>; clocks = <&unused 1>; pinctrl-0 = <&codec_pins>;
			ports { port { endpoint { }; }; };
		};
		i2c@700 {
			compatible = "some,i2c"; reg = <0x700 4>; #address-cells = <1>; #size-cells = <0>;
			expander: gpio@20 { compatible = "some,expander"; reg = <0x20>; #gpio-cells = <2>; };
			regulator: regulator@30 { compatible = "some,regulator"; reg = <0x30>; };
			camera@40 { compatible = "some,camera"; reg = <0x40>; };
		};
		bridge@800 {
			compatible = "some,bridge"; reg = <0x800 4>;
			timer@0 { compatible = "ns16550a"; };
		};
	};
};
"""
KERNEL = b"ELF\0simple-bus\0\0some,gates\0some,pins\0ns16550a\0fixed-clock\0not-some,codec\0some,codec-of-another\0"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "board.dts").write_text(SOURCE)
    out = tmp_path / "board.dtb"
    run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", out, tmp_path / "board.dts"])
    return out


def test_what_has_no_driver_goes_unless_somebody_who_stays_points_at_it(tree: Path) -> None:
    root = read_tree(tree.read_bytes())
    drivers = KERNEL.decode().split("\0")
    assert sorted(needless_nodes(root, drivers.__contains__)) == [
        "/soc/clock@200",
        "/soc/codec@600",
        "/soc/i2c@700/camera@40",
        "/soc/pinctrl@300/codec-pins",
        "/soc/serial@500",
    ], "the bus of the expander and of the CPU's regulator stays, and so does what is below a bridge nobody drives"
    everything = needless_nodes(root, lambda text: True)
    assert sorted(everything) == ["/soc/serial@500"], "what is off is nobody's; all pins are asked for"


def test_the_tree_is_written_without_them_and_smaller(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "vmlinux").write_bytes(KERNEL)
    out = tmp_path / "out"
    write_pruned(tree, tmp_path / "vmlinux", out)
    before, after = (read_tree(path.read_bytes()) for path in (tree, out))
    left = {node.path: node.properties for node in after.walk()}
    whole = {node.path: node.properties for node in before.walk()}
    assert "/soc/codec@600" not in left and "/soc/codec@600/ports/port/endpoint" not in left
    assert left == {path: properties for path, properties in whole.items() if path in left}
    assert out.stat().st_size < tree.stat().st_size
    write_pruned(out, tmp_path / "vmlinux", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == out.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "board.dtb", "board.dts", "out", "vmlinux"]


def test_what_is_no_tree_or_is_cut_short_is_said(tree: Path, tmp_path: Path) -> None:
    content = tree.read_bytes()
    (tmp_path / "vmlinux").write_bytes(KERNEL)
    for number, bad in enumerate((b"", b"\xd0\x0d\xfe\xed", content[:200], b"\0" * 4096, content[:-400])):
        file = tmp_path / f"bad-{number}"
        file.write_bytes(bad)
        with pytest.raises(InputError, match=r"card.device_tree_pruned: .*bad-\d: no device tree"):
            write_pruned(file, tmp_path / "vmlinux", tmp_path / "out")


@pytest.mark.parametrize("at", range(0, 1600, 37))
def test_a_damaged_tree_is_read_or_refused(tree: Path, at: int) -> None:
    content = bytearray(tree.read_bytes())
    content[at % len(content)] ^= 0xFF
    try:
        needless_nodes(read_tree(bytes(content)), lambda text: False)
    except ValueError as error:
        assert "no device tree" in str(error)
