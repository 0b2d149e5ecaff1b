"""The page of a profile as text: well-formed, escaped, and what it carries for its scripts adds up to the profile."""

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bootlab.errors import InputError
from bootlab.profile.recorded.profile import Profile
from bootlab.report.parts.console import read_console
from bootlab.report.parts.html_tables import Cell
from bootlab.report.parts.markup import Html
from bootlab.report.profile.cells import columns_of
from bootlab.report.profile.charts import ChartSpan, areas, strip
from bootlab.report.profile.downloads import csv_link, data_link, file_links
from bootlab.report.profile.number_columns import Pack, varints
from bootlab.report.profile.page import differential_page, profile_page
from bootlab.report.profile.shown_parts import parts_of
from bootlab.report.profile.tree_blocks import number_tree, tree_block
from bootlab.timeline import marks as m
from tests.report.analysed import analysis_of, small_profile
from tests.report.boots.test_page import HOSTILE, Reader
from tests.report.long_boot import LongBoot


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return small_profile(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def long_boot() -> Profile:
    return LongBoot(nodes=4000, length_ns=40_000_000, span_ns=2000).run()


@pytest.fixture(scope="module")
def pages(small: Profile, long_boot: Profile, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("more")
    console = [read_console("console", b"[    0.000001] Linux version\n")]
    analysis = analysis_of(small)
    return {
        "small": profile_page(analysis, console, {"folded stacks": "profile.folded"}),
        "long": profile_page(analysis_of(long_boot)),
        "cut off": profile_page(analysis_of(small_profile(folder, whole=False))),
        "difference": differential_page(analysis, analysis_of(small_profile(folder, extra=4_000), system="slower")),
    }


def read_block(page: str, name: str = "profile-tree") -> dict[str, Any]:
    """Return a block's facts, and its columns as lists."""
    found = re.search(rf'<script type="application/octet-stream" id="{name}">([^<]*)</script>', page)
    assert found
    raw = zlib.decompress(base64.b64decode(found[1]))
    length = int.from_bytes(raw[:4], "little")
    head: dict[str, Any] = json.loads(raw[4 : 4 + length])
    columns = {
        key: read_column(raw[4 + length + one["start"] : 4 + length + one["end"]], one)
        for key, one in head["columns"].items()
    }
    return {**head, "columns": columns}


def read_column(data: bytes, column: dict[str, Any]) -> list[Any]:
    if column["form"] == "text":
        return data.decode().split("\n") if column["count"] else []
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    if column["form"] == "differences":
        steps = [(one >> 1) ^ -(one & 1) for one in values]
        values = np.cumsum(steps).tolist() if steps else []
    assert len(values) == column["count"]
    return values


def stacks(block: dict[str, Any], side: int, what: str) -> dict[str, int]:
    """Return stack -> weight over all slices of one side."""
    columns = block["columns"]
    paths: list[str] = []
    open_names: list[str] = []
    for level, name in zip(columns["level"], columns["name"], strict=True):
        open_names[level:] = [columns["names"][name]]
        paths.append(";".join(open_names[1:]))
    sums: dict[str, int] = {}
    for index in range(len(block["slices"])):
        part = [columns[f"{side}.{index}.{column}"] for column in ("nodes", what)]
        for node, weight in zip(*part, strict=True):
            sums[paths[node]] = sums.get(paths[node], 0) + weight
    return {path: weight for path, weight in sums.items() if weight}


@pytest.mark.parametrize("kind", ["small", "long", "cut off", "difference"])
def test_is_complete_in_itself_and_well_formed(pages: dict[str, str], kind: str) -> None:
    reader = Reader(pages[kind])
    assert reader.open == []
    identifiers = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    for name, attributes in reader.tags:
        assert "src" not in attributes and "style" not in attributes
        assert not [key for key in attributes if key.startswith("on")]
        if "href" in attributes:
            href = attributes["href"] or ""
            assert href.startswith(("#", "data:", "./")), name
            assert not href.startswith("#") or href == "#main" or href[1:] in identifiers


@pytest.mark.parametrize("kind", ["small", "difference"])
def test_policy_allows_its_own_style_and_script_only(pages: dict[str, str], kind: str) -> None:
    page = pages[kind]
    tags = Reader(page).tags
    policy = next(one["content"] or "" for _, one in tags if one.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    for name in ("style", "script"):
        content = page[page.index(f"<{name}>") + len(name) + 2 : page.rindex(f"</{name}>")]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("kind", ["small", "long", "difference"])
def test_every_table_of_figures_names_its_clock(pages: dict[str, str], kind: str) -> None:
    captions = re.findall(r"<caption>(.*?)</caption>", pages[kind])
    assert captions
    for caption in captions:
        assert "virtual clock" in re.sub(r"<[^>]*>", "", caption)


def test_carries_every_instruction_call_and_wait(pages: dict[str, str], small: Profile) -> None:
    block = read_block(pages["small"])
    tree = analysis_of(small).whole_tree
    assert stacks(block, 0, "instructions") == dict(tree.folded("instructions"))
    assert stacks(block, 0, "instructions")["init-1;outer;inner;outer"] == 2_000
    assert stacks(block, 0, "calls")["init-1;outer;inner;outer"] == 4
    assert stacks(block, 0, "waited")["swapper/0-0;start_kernel;[idle]"] == 30_000
    assert stacks(block, 0, "waited")["init-1;msleep;[wait]"] == 31_000 + 25_000
    assert [(one["name"], one["ns"], one["shown"]) for one in block["slices"]] == [
        ("firmware", 10_000, True),
        ("decompressor + kernel head", 20_000, True),
        ("kernel core + initcalls + before init + exec of init + user space", 60_000, True),
        ("after ready", 10_000, False),
    ]


def test_a_long_boot_adds_up_slice_by_slice(pages: dict[str, str], long_boot: Profile) -> None:
    columns = read_block(pages["long"])["columns"]
    for index, piece in enumerate(long_boot.slices):
        assert sum(columns[f"0.{index}.instructions"]) == piece.end_instructions - piece.start_instructions


def test_what_is_summed_up_keeps_its_sum(long_boot: Profile) -> None:
    analysis = analysis_of(long_boot)
    numbering = number_tree(long_boot, analysis.whole_tree, most=500)
    assert len(numbering.drawn) < 1200 < len(analysis.whole_tree)
    block = read_block(tree_block(long_boot, numbering, parts_of(long_boot, analysis.record.marks)))
    assert "[pruned]" in block["columns"]["names"]
    for what, whole in (("instructions", "instructions"), ("waited", "elapsed")):
        drawn, exact = (
            {path: weight for path, weight in found if "[pruned]" not in path}
            for found in (stacks(block, 0, what).items(), numbering.drawn.folded(whole))
        )
        if what == "instructions":
            assert drawn == exact
        total = int(analysis.whole_tree.own(whole).sum()) - (what == "waited") * long_boot.end_instructions
        assert sum(stacks(block, 0, what).values()) == total


def test_spans_are_frames_and_waits_in_the_order_of_time(pages: dict[str, str]) -> None:
    tree, time = read_block(pages["small"])["columns"], read_block(pages["small"], "profile-time")
    columns = time["columns"]
    lanes = dict(zip(columns["lane.title"], columns["lane.ran"], strict=True))
    assert lanes["init-1"] == 14_000 and lanes["helper-2"] == 25_000
    names = [tree["names"][tree["name"][node]] for node in columns["span.node"]]
    spans = set(zip(names, columns["span.start"], columns["span.took"], strict=True))
    assert {("outer", 30_000, 10_000), ("msleep", 40_000, 31_000), ("[wait]", 40_000, 31_000)} <= spans
    notes = [columns["notes"][note - 1] for note in columns["span.note"] if note]
    assert any("woken by" in note for note in notes)
    assert [track["title"] for track in time["tracks"]] == ["Critical path", "Initcalls, modules, probes"]
    assert [mark["name"] for mark in time["marks"]] == ["image_entry", "start_kernel", "ready"]


def test_two_boots_are_in_one_tree(pages: dict[str, str]) -> None:
    block = read_block(pages["difference"])
    before, after = (stacks(block, side, "instructions") for side in (0, 1))
    assert before["init;outer;inner"] == 3_000
    assert after["init;outer;inner"] == 7_000
    assert {path: weight for path, weight in after.items() if before[path] != weight} == {"init;outer;inner": 7_000}
    assert block["sides"] == 2


def test_boots_with_different_instructions_are_refused(small: Profile) -> None:
    other = replace(small, shift=3)
    with pytest.raises(InputError):
        differential_page(analysis_of(small), analysis_of(other))


def test_a_profile_that_was_cut_off_says_so(pages: dict[str, str]) -> None:
    said = "".join(Reader(pages["cut off"]).said)
    assert "The profile was cut off" in said
    assert "The profile was cut off" not in pages["small"]
    assert "up to ready" in "".join(Reader(pages["small"]).said)


def test_a_boot_that_was_never_ready_says_where_its_figures_end(tmp_path: Path) -> None:
    profile = small_profile(tmp_path)
    failed = replace(profile, slices=[replace(one, name="halfway") for one in profile.slices])
    said = "".join(Reader(profile_page(analysis_of(failed))).said)
    assert "up to where it ended" in said and "up to ready" not in said


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    profile = small_profile(tmp_path, name=HOSTILE[:60].replace("\x00", ""))
    page = profile_page(analysis_of(profile, system=HOSTILE, hostile=HOSTILE), [], {HOSTILE: HOSTILE})
    reader = Reader(page)
    names = [name for name, _ in reader.tags]
    # The page's own script and two blocks of data.
    assert names.count("script") == 3
    assert "img" not in names
    assert "window.stolen=1" in "".join(reader.said)
    assert not set(page) & {"\x00", "\x1b", "\u202e"}
    columns = read_block(page)["columns"]
    assert any("window.stolen" in name for name in columns["names"])
    assert not [name for name in columns["names"] if "\n" in name or "\x1b" in name]


def test_numbers_of_any_size_survive() -> None:
    numbers = np.array([0, 1, 127, 128, 16_383, 16_384, 2**31, 2**53, 2**63], dtype=np.uint64)
    assert read_column(varints(numbers), {"form": "numbers", "count": len(numbers)}) == numbers.tolist()
    assert varints(np.zeros(0, dtype=np.uint64)) == b""
    pack = Pack()
    signed = np.array([5, 2, -9, 1 << 40, 0], dtype=np.int64)
    pack.differences("a", signed)
    pack.texts("b", ["one\ntwo", "\N{SNOWMAN}"])
    columns = read_block(pack.block("profile-tree", {}))["columns"]
    assert columns["a"] == signed.tolist()
    assert columns["b"] == ["one\\x0atwo", "\N{SNOWMAN}"]


def test_many_slices_are_put_together_by_phase(long_boot: Profile) -> None:
    piece = long_boot.slices[4]
    step = (piece.end_ns - piece.start_ns) // 30
    lines = [
        replace(piece, name="console", start_ns=piece.start_ns + n * step, end_ns=piece.start_ns + (n + 1) * step,
                weights=piece.weights[:0])
        for n in range(30)
    ]  # fmt: skip
    many = replace(long_boot, slices=[*long_boot.slices[:4], *lines, *long_boot.slices[4:]])
    marks = analysis_of(long_boot).record.marks
    parts = parts_of(many, marks)
    assert [part.name for part in parts] == [
        "firmware", "decompressor", "kernel head", "kernel core", "initcalls", "before init", "exec of init",
        "user space", "after ready",
    ]  # fmt: skip
    assert [index for part in parts for index in part.slices] == list(range(len(many.slices)))
    assert [part.shown for part in parts] == [True] * 8 + [False]


def test_two_marks_at_one_moment_make_no_empty_part(long_boot: Profile) -> None:
    last = long_boot.slices[-1]
    empty = replace(last, name="ready", start_ns=last.end_ns, weights=last.weights[:0])
    parts = parts_of(replace(long_boot, slices=[*long_boot.slices, empty]), analysis_of(long_boot).record.marks)
    assert [part.name for part in parts] == [
        part.name for part in parts_of(long_boot, analysis_of(long_boot).record.marks)
    ]
    assert parts[-1].slices == range(8, 10)


def test_a_mark_of_the_user_cuts_its_phase(long_boot: Profile) -> None:
    marks = {name: t_ns for name, t_ns in analysis_of(long_boot).record.marks.items() if name != m.INIT_EXEC}
    names = [part.name for part in parts_of(long_boot, marks)]
    assert names[5:7] == [
        "before init + exec of init, to init_exec",
        "before init + exec of init, to first_user_instruction",
    ]


def test_tables_are_saved_with_exact_values_and_no_formulas() -> None:
    columns = columns_of("name`", "took, ms>", "what")
    rows = [[Cell("x", "=cmd()"), Cell("1.50", 1_500_000), Cell("a, b")], [Cell("y", "y"), Cell("", None), Cell("")]]
    found = re.search(r"base64,([^\"]*)", csv_link("x.csv", columns, rows))
    assert found
    assert base64.b64decode(found[1]).decode().splitlines() == [
        'name,"took, ns",what',
        '\'=cmd(),1500000,"a, b"',
        "y,,",
    ]


def test_large_files_are_left_to_lie_beside_the_page() -> None:
    assert data_link("x.txt", "a" * 300_000) == ""
    links = file_links({"folded stacks": "boots/1/pro file.folded", "elsewhere": "/tmp/x.json"})
    assert 'href="./boots/1/pro%20file.folded"' in links
    assert links.count("href") == 1 and "/tmp/x.json" in links


def test_charts_leave_out_what_cannot_be_seen() -> None:
    drawn = strip([ChartSpan(0, 900, "kernel", "<long>", "note"), ChartSpan(900, 900, "wait", "short", "")], 0, 1000)
    assert isinstance(drawn, Html) and "&lt;long&gt;" in drawn and "short" not in drawn
    assert 'width="90%"' in drawn or 'width="90.000%"' in drawn
    path = areas((("run", (10, 10, 0)), ("wait", (0, 0, 5))), (0, 10, 20, 30))
    assert 'd="M0 16v-16h2v16z"' in path and 'd="M2 16v-8h1v8z"' in path
