"""The page of a profile as text: well-formed, escaped, and what it carries for its scripts adds up to the profile."""

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.profile.recorded.profile import Profile
from bootlab.report.parts.console import read_console
from bootlab.report.profile.page import differential_page, profile_page
from tests.report.analysed import analysis_of, small_profile
from tests.report.boots.test_page import HOSTILE, Reader
from tests.report.profile.blocks import read_block, stacks


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return small_profile(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def pages(small: Profile, long_boot: Profile, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("more")
    console = [read_console("console", b"[    0.000001] Linux version\n")]
    analysis = analysis_of(small)
    return {
        "small": profile_page(analysis, console, {"folded stacks": "profile.folded"}),
        "long": profile_page(analysis_of(long_boot)),
        "cut off": profile_page(analysis_of(small_profile(folder, whole=False))),
        "difference": differential_page(analysis, analysis_of(small_profile(folder, extra=4_000), system="longer")),
    }


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
