"""The plugin's config, from symbol tables shaped like those of Debian's kernels."""

from bisect import bisect_right

import pytest

from bootlab.errors import InputError
from bootlab.profile.asked.marks import PluginConfig, expect_ticks, make_plugin_config, marks_looked_for, skip_line
from bootlab.timeline.marks import INITCALLS_START

X86_64 = {
    "startup_64": 0xFFFFFFFF81000000,
    "pvh_start_xen": 0xFFFFFFFF81000850,
    "do_one_initcall": 0xFFFFFFFF81002460,
    "wait_for_initramfs": 0xFFFFFFFF81002BC0,
    "run_init_process": 0xFFFFFFFF819BC42E,
    "panic": 0xFFFFFFFF819C2E58,
    "rest_init": 0xFFFFFFFF819FD680,
    "start_kernel": 0xFFFFFFFF8304CE41,
    "console_on_rootfs": 0xFFFFFFFF8304D561,
    "kernel_init_freeable": 0xFFFFFFFF8304D5B3,
    "do_mount_root": 0xFFFFFFFF8304D82D,
    "cpuset_init_smp": 0xFFFFFFFF8307A4B6,
    "driver_init": 0xFFFFFFFF8309DB4B,
}
AARCH64 = {
    "do_one_initcall": 0xFFFF800008014DA4,
    "console_on_rootfs": 0xFFFF800009381174,
    "run_init_process": 0xFFFF800008B95EE4,
    "start_kernel": 0xFFFF8000093809F4,
    "primary_entry": 0xFFFF800009388D50,
}
RISCV64 = {
    "_start_kernel": 0xFFFFFFFF800010D8,
    "do_one_initcall": 0xFFFFFFFF800028B0,
    "run_init_process": 0xFFFFFFFF80A5E5E2,
    "start_kernel": 0xFFFFFFFF80C0087C,
}


class Table:
    """A symbol table whose functions' code repeats their address."""

    def __init__(self, arch: str, symbols: dict[str, int]) -> None:
        self._arch, self._symbols = arch, symbols
        self._sorted = sorted((address, name) for name, address in symbols.items())

    @property
    def arch(self) -> str:
        return self._arch

    def address(self, name: str) -> int | None:
        return self._symbols.get(name)

    def name_at(self, address: int) -> str | None:
        place = bisect_right(self._sorted, (address, "\x7f"))
        return self._sorted[place - 1][1] if place else None

    def code(self, name: str, size: int) -> bytes | None:
        address = self._symbols.get(name)
        return None if address is None else (address.to_bytes(8, "little") * 2)[:size]


def make(symbols: dict[str, int], arch: str = "x86_64", /, **wanted: object) -> PluginConfig:
    return make_plugin_config(Table(arch, symbols), **wanted)  # type: ignore[arg-type]


def lines_of(config: PluginConfig, mark: str) -> list[str]:
    return [line for line in config.text.splitlines() if line.split()[1:2] == [mark]]


def test_standard_marks_of_a_stock_x86_64_kernel() -> None:
    config = make(X86_64, stop="ready")
    assert config.text.splitlines()[0] == "arch x86_64"
    assert config.text.endswith("\nguestmarks\nuart 3f8\nstop ready\n")
    assert lines_of(config, "start_kernel") == ["mark start_kernel ffffffff8304ce41 41ce0483ffffffff"]
    assert lines_of(config, "first_user_instruction") == ["user first_user_instruction init_exec"]
    assert lines_of(config, "initcall") == ["calls initcall ffffffff81002460 60240081ffffffff"]
    assert config.missing == ()


def test_both_ways_into_an_x86_64_kernel_are_one_mark() -> None:
    config = make(X86_64)
    assert [line.split()[2] for line in lines_of(config, "kernel_entry")] == ["ffffffff81000850", "ffffffff81000000"]
    assert [line.split()[0] for line in lines_of(config, "image_entry")] == ["image", "entry"]
    assert config.symbols["kernel_entry"] == ("pvh_start_xen", "startup_64")


def test_a_config_says_which_marks_it_has_code_for() -> None:
    config = make(X86_64, stop="ready")
    assert {"image_entry", "kernel_entry", "start_kernel"} <= marks_looked_for(config.text)
    assert "ready" not in marks_looked_for(config.text)


def test_initcalls_end_counts_only_the_call_from_the_init_thread() -> None:
    (line,) = lines_of(make(X86_64), "initcalls_end")
    assert line.endswith(" from ffffffff8304d5b3 ffffffff8304d82d")
    assert "# initcalls_end: wait_for_initramfs\n" in make(X86_64).text


def test_without_the_first_choice_the_next_symbol_is_taken_and_named() -> None:
    no_wait = {name: at for name, at in X86_64.items() if name not in ("wait_for_initramfs", "cpuset_init_smp")}
    config = make(no_wait)
    assert config.symbols["initcalls_end"] == ("console_on_rootfs",)
    assert config.symbols["initcalls_start"] == ("driver_init",)
    no_thread = {name: at for name, at in X86_64.items() if name != "kernel_init_freeable"}
    assert make(no_thread).symbols["initcalls_end"] == ("console_on_rootfs",)


def test_arm64_has_an_image_header_and_longer_code() -> None:
    config = make(AARCH64, "aarch64")
    assert [line.split()[2] for line in lines_of(config, "image_entry")] == ["40200000", "40080000"]
    (line,) = lines_of(config, "kernel_entry")
    assert line.startswith("entry kernel_entry ffff800009388d50 ") and len(line.split()[3]) == 32
    assert config.missing == ("panic",)


def test_riscv64_begins_behind_its_firmware() -> None:
    config = make(RISCV64, "riscv64")
    assert config.text.startswith("arch riscv64\n")
    assert lines_of(config, "image_entry") == ["image image_entry 80200000 ????????????????0000200000000000"]
    (line,) = lines_of(config, "kernel_entry")
    assert line.startswith("entry kernel_entry ffffffff800010d8 ") and len(line.split()[3]) == 32


def test_own_marks_and_watched_symbols() -> None:
    config = make(X86_64, marks={"scheduler": "rest_init"}, watch=["driver_init"])
    assert lines_of(config, "scheduler") == ["mark scheduler ffffffff819fd680 80d69f81ffffffff"]
    assert len(lines_of(config, "watch:driver_init")) == 1


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"marks": {"mine": "no_such_function"}}, "^marks.mine: this kernel has no function 'no_such_function'"),
        ({"marks": {"start_kernel": "rest_init"}}, "^marks.start_kernel: bootlab has a mark of this name"),
        ({"marks": {"ready": "rest_init"}}, "^marks.ready: bootlab has a mark of this name"),
        ({"marks": {"two words": "rest_init"}}, '^marks."two words": .*printable ASCII'),
        ({"watch": ["no_such_function"]}, "no function 'no_such_function'"),
    ],
)
def test_what_cannot_be_is_refused(wanted: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(X86_64, **wanted)


def test_every_wrong_mark_is_named_by_its_key() -> None:
    with pytest.raises(InputError) as caught:
        make(X86_64, marks={"one": "gone", "fine": "rest_init", "ready": "rest_init", "three": "gone"})
    assert [line.split(":")[0] for line in caught.value.message.splitlines()] == [
        "marks.one",
        "marks.ready",
        "marks.three",
    ]


def test_an_architecture_the_plugin_does_not_know_is_refused() -> None:
    with pytest.raises(InputError, match="loongarch64"):
        make({}, "loongarch64")


def test_charges_are_lines_of_their_own_and_an_unknown_function_is_named() -> None:
    config = make(X86_64, charges={"start_kernel": 2500})
    assert f"charge start_kernel {X86_64['start_kernel']:x} " in config.text and " 2500\n" in config.text
    assert "charge" not in make(X86_64).text
    with pytest.raises(InputError, match=r"clock\.charges\.no_such: this kernel has no function 'no_such'"):
        make(X86_64, charges={"no_such": 1})


def test_ticks_are_moved_as_initcalls_begin() -> None:
    expect_ticks(make(X86_64))
    with pytest.raises(InputError, match=r"clock\.tick_us: this kernel's symbols do not say where its initcalls"):
        expect_ticks(make({"startup_64": X86_64["startup_64"]}))
    assert skip_line(1_500_000) == f"skip {INITCALLS_START} 1500000\n" and skip_line(0) == ""
