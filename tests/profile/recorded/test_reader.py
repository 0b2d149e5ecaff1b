"""The reader of profiles: what the header says, whole files, files that were cut off, and damaged ones."""

import re
import struct
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bootlab.errors import InputError
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.reader import parse_profile, read_profile
from bootlab.profile.recorded.record_types import (
    MAGIC,
    NONE,
    RECORD,
    CallFlag,
    CallKind,
    ChunkKind,
    EventKind,
    Space,
    SwitchFlag,
    WakeFlag,
)

HEADER = Path(__file__).resolve().parents[3] / "plugin/profile_format.h"
C_TYPES = {"uint16_t": "u2", "uint32_t": "u4", "uint64_t": "u8", "int32_t": "i4", "char": "S"}
FUNCTIONS = ("start_kernel", "schedule", "do_one_initcall", "msleep")


def test_records_are_those_of_the_header() -> None:
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    for kind, record in RECORD.items():
        body = re.search(rf"struct profile_{kind.name.lower()} {{(.*?)}};", text, re.DOTALL)
        assert body, kind
        fields = []
        for c_type, names in re.findall(r"(\w+)\s+([^;]+);", body[1]):
            for name in names.split(","):
                plain, _, size = name.strip().partition("[")
                fields.append((plain, "S" + size.rstrip("]") if size else C_TYPES[c_type]))
        in_c = np.dtype(fields, align=True)
        assert in_c.names == record.names
        for name in record.names or ():
            assert in_c.fields[name][1] == record.fields[name][1], (kind, name)
            assert in_c[name].itemsize == record[name].itemsize, (kind, name)
        assert in_c.itemsize == record.itemsize and record.itemsize % 8 == 0


@pytest.mark.parametrize(
    ("prefix", "enumeration"),
    [
        ("PROFILE_", ChunkKind),
        ("SPACE_", Space),
        ("SWITCH_", SwitchFlag),
        ("WAKE_", WakeFlag),
        ("CALL_", CallKind),
        ("CALL_", CallFlag),
        ("EVENT_", EventKind),
    ],
)
def test_numbers_are_those_of_the_header(prefix: str, enumeration: Any) -> None:
    in_c = dict(re.findall(r"\b(\w+) = (\d+)", HEADER.read_text()))
    for member in enumeration:
        if member not in (Space.KERNEL, Space.LEAF) or enumeration is not Space:
            assert in_c[prefix + member.name] == str(int(member))
    assert f'PROFILE_MAGIC "{MAGIC.decode()}"' in HEADER.read_text()


def a_boot(writer: Any) -> bytes:
    swapper = writer.task("swapper/0", 0)
    writer.spend("[firmware]", 500, space=Space.STAGE)
    writer.cut("kernel_entry")
    writer.spend("swapper/0-0;start_kernel", 1000)
    init = writer.task("swapper/0", 1, swapper)
    writer.event(EventKind.FORK, swapper, "swapper/0-0;start_kernel", a=init)
    writer.switch(swapper, init, "swapper/0-0;schedule", flags=0)
    writer.task("init", 1, number=init)
    start_ns = writer.t_ns
    writer.spend("init-1;do_one_initcall;probe [virtio]", 300)
    writer.call(CallKind.PROBE, start_ns, "init-1;do_one_initcall", init, text="serial0 8250")
    writer.switch(init, swapper, "init-1;msleep;schedule")
    writer.idle("swapper/0-0;schedule", 4000)
    writer.wake(init, swapper, "swapper/0-0;schedule", WakeFlag.IN_INTERRUPT)
    writer.switch(swapper, init, "swapper/0-0;schedule", flags=0)
    writer.span(start_ns, "init-1;do_one_initcall", init)
    writer.syscall(init, "msleep", 2, 4000, 30)
    writer.cut("ready")
    writer.spend("init-1;do_one_initcall", 7)
    writer.event(EventKind.EXIT, init, "init-1;do_one_initcall", a=256)
    return bytes(writer.end())


def parse(data: bytes) -> Profile:
    return parse_profile(data, FUNCTIONS, 0)


def test_a_boot(profile_writer: Any) -> None:
    profile = parse(a_boot(profile_writer))
    assert profile.complete and profile.dropped == 0
    assert [(piece.name, piece.start_ns, piece.end_ns) for piece in profile.slices] == [
        ("kernel_entry", 0, 500),
        ("ready", 500, 5800),
        ("end", 5800, 5807),
    ]
    assert (profile.end_ns, profile.end_instructions, profile.idle_ns) == (5807, 1807, 4000)
    assert [(task.name, task.pid, task.parent, task.started_ns, task.exited_ns) for task in profile.tasks] == [
        ("swapper/0", 0, None, 0, None),
        ("init", 1, 0, 1500, 5807),
    ]
    assert profile.tasks[1].name_at(1500) == "init" and profile.tasks[1].label == "init-1"
    assert profile.calls[0].text == "serial0 8250" and profile.calls[0].start_ns == 1500
    assert profile.path(profile.calls[0].node) == ["init-1", "do_one_initcall"]
    assert profile.syscalls.tolist() == [(1, 3, 2, 4000, 30, 1)]
    assert profile.counts["slice"].tolist() == [0, 1, 2]
    assert profile.spaces[profile.names.index("probe [virtio]")] == Space.MODULE
    assert profile.spaces[0] == Space.KERNEL and profile.kernel_functions == 4
    assert list(profile.up_to("ready")) == [0, 1] and profile.slice_index("panic") is None
    for piece in profile.slices:
        assert piece.weights["instructions"].sum() == piece.end_instructions - piece.start_instructions


def test_every_cut_off_file_gives_what_there_is(profile_writer: Any) -> None:
    data = a_boot(profile_writer)
    whole = parse(data)
    kept = []
    for size in range(len(data)):
        try:
            profile = parse(data[:size])
        except InputError as error:
            assert "ended before" in error.message or "not a profile" in error.message
            assert size < 400
            continue
        assert not profile.complete and profile.end_ns <= whole.end_ns
        kept.append(sum(int(piece.weights["instructions"].sum()) for piece in profile.slices))
        assert profile.end_instructions == kept[-1]
        assert all(piece.end_ns >= piece.start_ns for piece in profile.slices)
        reached = [piece.name for piece in profile.slices]
        assert reached[:-1] == [piece.name for piece in whole.slices][: max(len(reached) - 1, 0)]
    assert kept == sorted(kept) and kept[-1] == 1807


def test_zeros_at_the_end_are_a_cut(profile_writer: Any) -> None:
    data = a_boot(profile_writer)
    profile = parse(data[:-32] + bytes(4096))
    assert not profile.complete and profile.end_instructions == 1807


def test_records_ahead_of_their_nodes_are_dropped_from_a_cut_off_file(profile_writer: Any) -> None:
    profile_writer.task("a", 1)
    profile_writer.flush()
    profile_writer.add(ChunkKind.SPAN, 0, 5, 77, 0)
    profile_writer.add(ChunkKind.SPAN, 0, 5, 0, 9)
    profile_writer.add(ChunkKind.SPAN, 0, 5, 0, NONE)
    profile_writer.flush()
    profile = parse(profile_writer.data())
    assert len(profile.spans) == 1 and profile.dropped == 2
    with pytest.raises(InputError, match="span 0 refers to what is not there"):
        parse(profile_writer.end())


def test_damage_is_one_clear_line(profile_writer: Any) -> None:
    data = a_boot(profile_writer)
    messages: dict[str, int] = defaultdict(int)
    for at in range(len(data)):
        for value in (0xFF,) if at % 2 else (data[at] ^ 1,):
            spoiled = data[:at] + bytes([value]) + data[at + 1 :]
            try:
                profile = parse(spoiled)
                assert len(profile.nodes)
            except InputError as error:
                messages[error.message.split(":")[1].split()[0]] += 1
    # "not a profile", "profile version", "damaged", "no stacks": nothing else, and no other error.
    assert set(messages) == {"not", "profile", "damaged", "no"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "p: empty: the boot ended before the plugin wrote anything"),
        (b"bootlab-profile2", "p: profile version '2', this bootlab reads '1'"),
        (b"bootlab-trace 1\nclock virtual 0\n", "p: not a profile of the plugin"),
        (MAGIC, "p: no stacks: the boot ended before the plugin wrote any"),
        (MAGIC + b"\x63\0\0\0\x08\0\0\0", "p: damaged at byte 16: no chunk begins like this: kind 99, 8 bytes"),
        (MAGIC + b"\x02\0\0\0\x07\0\0\0", "p: damaged at byte 16: no chunk begins like this: kind 2, 7 bytes"),
        (MAGIC + b"\x04\0\0\0\x08\0\0\0" + bytes(8), "p: damaged at byte 16: a cut of 8 bytes instead of 24"),
        (MAGIC + b"\x02\0\0\0\x08\0\0\0" + bytes(8), "p: damaged: its first node is not the root of all"),
    ],
)
def test_bad_files(data: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_profile(data, FUNCTIONS, 0, "p")
    assert caught.value.message == message


def test_another_functions_file(profile_writer: Any) -> None:
    with pytest.raises(InputError, match="another functions file") as caught:
        try:
            parse_profile(a_boot(profile_writer), FUNCTIONS[:-1], 0)
        except InputError as error:
            raise InputError(error.hint or "") from error
    assert caught.value.exit_code == 2


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_profile(tmp_path / "profile.bin", FUNCTIONS, 0)


def test_random_boots_add_up(make_boot: Callable[[int], Any]) -> None:
    for seed in range(20):
        boot = make_boot(seed)
        profile = parse(boot.finish())
        found: dict[tuple[int, str], int] = defaultdict(int)
        for number, piece in enumerate(profile.slices):
            assert piece.weights["instructions"].sum() == piece.end_instructions - piece.start_instructions
            for node, _, instructions, _ in piece.weights.tolist():
                found[number, ";".join(profile.path(node))] += instructions
        assert found == dict(boot.truth.instructions)


@pytest.mark.bench
def test_speed_on_20_mb(profile_writer: Any) -> None:
    dice, nodes = np.random.default_rng(1), 500_000
    profile_writer.task("swapper/0", 0)
    profile_writer.flush()
    head = profile_writer.data()
    tree = np.zeros(nodes, dtype=RECORD[ChunkKind.NODE])
    tree["parent"][1:] = dice.integers(0, np.arange(1, nodes))
    weights = np.zeros(nodes, dtype=RECORD[ChunkKind.WEIGHT])
    weights["node"], weights["instructions"] = dice.permutation(nodes), 1
    spans = np.zeros(350_000, dtype=RECORD[ChunkKind.SPAN])
    chunks = [(ChunkKind.NODE, tree[1:]), (ChunkKind.WEIGHT, weights), (ChunkKind.SPAN, spans)]
    data = head + b"".join(struct.pack("<II", kind, rows.nbytes) + rows.tobytes() for kind, rows in chunks)
    start = time.process_time()
    profile = parse(data)
    taken = time.process_time() - start
    print(f"{len(data):,} bytes: {taken:.3f} s")
    assert len(profile.nodes) == nodes and profile.dropped == 0 and taken < 1
