"""A pruned device tree: what goes, what stays because another one points at it, and what is no tree at all."""

import struct
from pathlib import Path

import pytest

from bootlab.build.board.pruned_tree import needless_nodes, read_tree, turned_on_later, write_pruned
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
KERNEL = b"ELF\0simple-bus\0\0some,gates\0some,pins\0not-ns16550a\0fixed-clock\0some,codec-of-another\0"


def compiled(folder: Path, source: str, *options: str) -> Path:
    (folder / "board.dts").write_text(source)
    out = folder / "board.dtb"
    run(["dtc", "-q", *options, "-I", "dts", "-O", "dtb", "-o", out, folder / "board.dts"])
    return out


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return compiled(tmp_path, SOURCE)


def left_of(tree: Path, *drivers: str, turned_on: frozenset[str] = frozenset()) -> set[str]:
    root = read_tree(tree.read_bytes())
    gone = {below.path for node in needless_nodes(root, drivers.__contains__, turned_on) for below in node.walk()}
    return {node.path for node in root.walk()} - gone


def test_what_has_no_driver_goes_unless_somebody_who_stays_points_at_it(tree: Path) -> None:
    root = read_tree(tree.read_bytes())
    drivers = KERNEL.decode().replace("not-", "").split("\0")
    assert sorted(node.path for node in needless_nodes(root, drivers.__contains__)) == [
        "/soc/clock@200",
        "/soc/codec@600",
        "/soc/i2c@700/camera@40",
        "/soc/pinctrl@300/codec-pins",
        "/soc/serial@500",
    ], "the bus of the expander and of the CPU's regulator stays, and so does what is below a bridge nobody drives"
    everything = needless_nodes(root, lambda text: True)
    assert [node.path for node in everything] == ["/soc/serial@500"], "what is off is nobody's; all pins are asked for"


def test_the_tree_is_written_without_them_and_smaller(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "vmlinux").write_bytes(KERNEL)
    out = tmp_path / "out"
    write_pruned(tree, tmp_path / "vmlinux", out)
    before, after = (read_tree(path.read_bytes()) for path in (tree, out))
    left = {node.path: node.properties for node in after.walk()}
    whole = {node.path: node.properties for node in before.walk()}
    assert "/soc/bridge@800/timer@0" in left, "a linker lets a string lie in the end of a longer one"
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


def test_what_several_properties_point_at_stays(tmp_path: Path) -> None:
    # Each is the only one that points at its nodes, and none of them but the first is where a list of phandles begins.
    text = """/dts-v1/;
/ {
	#address-cells = <1>; #size-cells = <1>;
	one: one { compatible = "gone"; #gpio-cells = <2>; #clock-cells = <1>; };
	two: two { compatible = "gone"; #gpio-cells = <2>; };
	three: three { compatible = "gone"; #clock-cells = <0>; };
	four: four { compatible = "gone"; #mbox-cells = <1>; };
	five: five { compatible = "gone"; #mbox-cells = <1>; };
	six: six { compatible = "gone"; interrupt-controller; #interrupt-cells = <1>; #address-cells = <0>; };
	seven: seven { compatible = "gone"; #iommu-cells = <1>; };
	eight: eight { bias-disable; };
	nine: nine { compatible = "gone"; #cooling-cells = <2>; };
	ten: ten { compatible = "gone"; #cooling-cells = <2>; };
	nobodys { compatible = "gone"; };
	device {
		compatible = "driven";
		cs-gpios = <0>, <&one 0 1>, <&two 0 1>;
		clocks = <0>, <&one 0>, <&three>;
		mboxes = <&four 0>, <&five 0>;
		interrupt-map = <0 0 0 1 &six 99>;
		iommu-map = <0 &seven 0 0x1000>;
		some,pins = <77 99 &eight>;
		map { cooling-device = <&nine 0 88>, <&ten 0 88>; };
	};
};"""
    names = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    wanted = {"/", "/device", "/device/map", *(f"/{name}" for name in names)}
    for form in ("epapr", "legacy"):
        assert left_of(compiled(tmp_path, text, "-H", form), "driven") == wanted, form


def test_what_is_no_device_of_its_own_stays_with_what_it_is_of(tmp_path: Path) -> None:
    text = """/dts-v1/;
/ {
	#address-cells = <1>; #size-cells = <1>;
	cpus { #address-cells = <1>; #size-cells = <0>; cpu@0 { compatible = "unknown"; reg = <0>; }; };
	reserved-memory {
		#address-cells = <1>; #size-cells = <1>; ranges;
		firmware@100 { compatible = "some,firmware"; reg = <0x100 4>; no-map; };
		off@200 { compatible = "some,firmware"; reg = <0x200 4>; status = "disabled"; };
	};
	leds { compatible = "gpio-leds"; led-0 { function = "power"; gpios = <0 0>; }; };
	port@300 {
		compatible = "some,type-c"; reg = <0x300 4>;
		connector { compatible = "usb-c-connector"; };
		gone@1 { compatible = "unknown"; reg = <1>; };
	};
	bus { compatible = "simple-bus"; gone { compatible = "unknown"; }; };
	host@400 {
		compatible = "some,host"; reg = <0x400 4>; #address-cells = <1>; #size-cells = <0>;
		ethernet@1 { compatible = "usb424,ec00"; reg = <1>; };
		bridge@2 { compatible = "pci1b21,1182"; reg = <2>; };
		thermometer@3 { compatible = "maker,named-only", "unknown"; reg = <3>; };
		gone@4 { compatible = "maker,unknown", "maker,named-only"; reg = <4>; };
	};
};"""
    drivers = ("gpio-leds", "some,type-c", "simple-bus", "some,host", "named-only")
    assert left_of(compiled(tmp_path, text), *drivers) == {
        "/", "/cpus", "/cpus/cpu@0", "/reserved-memory", "/reserved-memory/firmware@100", "/leds", "/leds/led-0",
        "/port@300", "/port@300/connector", "/bus", "/host@400", "/host@400/ethernet@1", "/host@400/bridge@2",
        "/host@400/thermometer@3",
    }  # fmt: skip


def test_pins_stay_whole_and_devices_keep_their_numbers(tmp_path: Path) -> None:
    text = """/dts-v1/;
/ {
	#address-cells = <1>; #size-cells = <1>;
	aliases { i2c0 = "/i2c@100"; mmc1 = "/mmc@200"; serial1 = "/serial@300"; };
	i2c@100 { compatible = "gone"; reg = <0x100 4>; };
	mmc@200 { compatible = "driven"; reg = <0x200 4>; status = "disabled"; };
	serial@300 { compatible = "driven"; reg = <0x300 4>; status = "disabled"; };
	pins {
		compatible = "driven";
		asked: uart-0 { one { pinmux = <1>; bias-disable; }; two { pinmux = <2>; }; };
		uart-1 { one { pinmux = <3>; }; };
		mux { groups = "a"; function = "a"; };
	};
	device { compatible = "driven"; pinctrl-0 = <&asked>; };
};"""
    assert left_of(compiled(tmp_path, text), "driven") == {
        "/", "/aliases", "/i2c@100", "/mmc@200", "/pins", "/pins/uart-0", "/pins/uart-0/one", "/pins/uart-0/two",
        "/device",
    }  # fmt: skip


def test_what_a_bootloader_turns_on_stays_where_somebody_drives_it(tmp_path: Path) -> None:
    name = "simple-framebuffer"
    screen = f'framebuffer {{ compatible = "allwinner,{name}", "{name}"; status = "disabled"; }};'
    tree = compiled(tmp_path, f"/dts-v1/; / {{ chosen {{ {screen} }}; }};")
    for driver, stays in (("FB_SIMPLE", True), ("DRM_SIMPLEDRM", True), ("DRM", False)):
        left = left_of(tree, name, turned_on=turned_on_later({driver: "y"}))
        assert left == {"/", "/chosen", *(["/chosen/framebuffer"] if stays else [])}, driver


def test_a_node_goes_by_its_whole_name_and_the_others_stay_as_they_are(tmp_path: Path) -> None:
    lines = r'gpio-line-names = "NC", "32KHz", "\0";'
    nodes = f'codec@0 {{ compatible = "ns16550a"; {lines} }}; codec {{ compatible = "gone"; }};'
    tree = compiled(tmp_path, f"/dts-v1/; /memreserve/ 0x1000 0x2000; / {{ {nodes} }};")
    (tmp_path / "vmlinux").write_bytes(KERNEL)
    write_pruned(tree, tmp_path / "vmlinux", tmp_path / "out")
    content = (tmp_path / "out").read_bytes()
    assert [node.path for node in read_tree(content).walk()] == ["/", "/codec@0"]
    assert b"\0NC\x0032KHz\0\0\0" in b"\0" + read_tree(content).children[0].properties["gpio-line-names"]
    assert bytes.fromhex("00000000000010000000000000002000") in content, "memory that is set aside stays so"


def test_a_tree_deeper_than_linux_reads_is_refused(tmp_path: Path) -> None:
    for levels, deep in ((63, False), (64, True), (5_000, True)):
        tree = struct.pack(">10I", 0xD00DFEED, 0, 40, 0, 40, 17, 16, 0, 0, 0)
        tree += struct.pack(">2I", 1, 0) + b"\0\0\0\1n\0\0\0" * levels + b"\0\0\0\2" * (levels + 1)
        if deep:
            with pytest.raises(ValueError, match="64 deep"):
                read_tree(tree)
        else:
            assert len(list(read_tree(tree).walk())) == 64
