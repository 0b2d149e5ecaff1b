"""The page as text: complete in itself, escaped everywhere, every result of the trial in it.

The records under data/report are fixtures with made-up figures; the consoles are real ones.
"""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bootlab.errors import InputError
from bootlab.experiments.family import Family
from bootlab.measure.record import BootRecord
from bootlab.report.boots.page import boot_page, compare_page, series_page, try_page
from bootlab.report.boots.steps_page import steps_page
from bootlab.report.parts.console import Console, read_console
from bootlab.report.parts.markup import Html, join, tag
from bootlab.system import BoardModel
from tests.report.steps import four_steps, four_systems, steps_of, with_a_failure
from tests.report.trials import confirmed_trial, loaded_trial, trial

DATA = Path(__file__).parents[2] / "data" / "report"
HOSTILE = "</script><script>window.stolen=1</script><img src=x onerror=stolen()>\"'&\x00\x1b[31m\u202e\N{SNOWMAN}"


def series(name: str) -> list[BootRecord]:
    return [BootRecord.model_validate(item) for item in json.loads((DATA / name).read_text())]


def consoles() -> list[Console]:
    return [
        read_console("baseline", (DATA / "console-6.1-microvm.log").read_bytes()),
        read_console("with risks", (DATA / "console-6.1-microvm-no-self-tests.log").read_bytes()),
    ]


PAGES = {
    "try": try_page(trial(), consoles()),
    "try with load": try_page(loaded_trial(), consoles()),
    "try with fresh boots": try_page(confirmed_trial(), consoles()),
    "boot": boot_page(series("series-before.json")[0], consoles()[:1]),
    "panicked": boot_page(series("series-panicked.json")[0], consoles()[:1]),
    "series": series_page(series("series-before.json") + series("series-panicked.json"), consoles()[:1]),
    "comparison": compare_page(series("series-before.json"), series("series-after.json"), "shorter", consoles()),
    "steps": steps_page(four_steps(), four_systems(), consoles()),
    "steps with a failure": steps_page(*with_a_failure()),
}


class Reader(HTMLParser):
    """Collects tags, attributes and text, and checks that every element is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said.append(data)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_is_complete_in_itself_and_well_formed(page: str) -> None:
    reader = Reader(page)
    assert reader.open == []
    names = [name for name, _ in reader.tags]
    assert names.count("script") == names.count("style") == names.count("main") == names.count("h1") == 1
    for name, attributes in reader.tags:
        assert "src" not in attributes
        assert "style" not in attributes
        assert not [key for key in attributes if key.startswith("on")]
        if "href" in attributes:
            assert attributes["href"] in ("#main", "data:,"), name
    identifiers = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_policy_allows_its_own_style_and_script_only(page: str) -> None:
    policy = next(
        attributes["content"] or ""
        for name, attributes in Reader(page).tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        content = page[page.index(f"<{name}>") + len(name) + 2 : page.rindex(f"</{name}>")]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_every_table_of_figures_names_its_clock(page: str) -> None:
    captions = re.findall(r"<caption>(.*?)</caption>", page)
    assert captions
    for caption in captions:
        assert "virtual clock" in re.sub(r"<[^>]*>", "", caption)
    assert "not speed" in page


def test_every_technique_step_and_boot_is_there() -> None:
    page, result = PAGES["try"], trial()
    said = "".join(Reader(page).said)
    for one in [*result.alone, *result.stack]:
        assert one.technique in said
        for member in one.members:
            assert member.run in said
            if member.ready_ns is not None:
                assert f"{member.ready_ns:,}" in said
    for digest in result.hashes.values():
        assert digest in said


def test_a_fresh_boot_is_there_once_whoever_was_confirmed_by_it() -> None:
    said, result = "".join(Reader(PAGES["try with fresh boots"]).said), confirmed_trial()
    for one in (*result.alone[0].fresh_before, *result.alone[0].fresh_members, *result.alone[1].fresh_members):
        assert said.count(one.run) == 1
    assert "baseline, fresh" in said and f"{result.alone[0].technique}, fresh" in said
    before = len([*trial().baseline.members, *trial().baseline.null_members])
    rows = [*trial().alone, *trial().stack, result.stack[-1]]
    assert f"All {before + sum(len(row.members) for row in rows) + 10} boots" in said
    assert "fresh" not in "".join(Reader(PAGES["try"]).said).replace("fresh boots confirm it", "")


def test_a_stack_that_is_not_steady_and_a_step_that_broke_on_it_say_why() -> None:
    said = "".join(Reader(PAGES["try with fresh boots"]).said)
    assert "fails with a change that means nothing: runs/1/boots/stack-null4-s1: panicked" in said
    assert "with a change that means nothing: hung: not ready after 5 s (runs/1/boots/stack-null1-s1); not kept" in said


def test_verdicts_have_their_colour_in_the_words_of_either_clock() -> None:
    style = PAGES["try"][PAGES["try"].index("<style>") : PAGES["try"].index("</style>")]
    for word in ("shorter", "longer", "faster", "slower", "broke-it"):
        assert f".verdict.{word}" in style
    assert 'class="verdict shorter"' in PAGES["try"] and 'class="verdict longer"' in PAGES["try"]
    assert 'class="verdict faster"' not in PAGES["try"] and 'class="verdict slower"' not in PAGES["try"]


def test_a_ladder_climbed_alone_has_no_table_of_techniques_alone() -> None:
    page = try_page(trial().model_copy(update={"alone": []}))
    assert "What each technique saves alone" in PAGES["try"]
    assert "What each technique saves alone" not in page and 'href="#techniques"' not in page


def test_hostile_text_stays_text_wherever_it_comes_from() -> None:
    result = trial()
    nasty = result.model_copy(
        update={
            "cpu": HOSTILE,
            "hashes": {HOSTILE: HOSTILE},
            "host": {HOSTILE: {HOSTILE: [HOSTILE]}},
            "run": HOSTILE,
            "alone": [one.model_copy(update={"technique": HOSTILE, "detail": HOSTILE}) for one in result.alone],
        }
    )
    page = try_page(nasty, [read_console(HOSTILE, HOSTILE.encode() * 3)])
    record = series("series-before.json")[0].model_copy(
        update={"detail": HOSTILE, "facts": {HOSTILE: HOSTILE}, "argv": [HOSTILE], "system": HOSTILE}
    )
    for made in (page, boot_page(record, [])):
        reader = Reader(made)
        names = [name for name, _ in reader.tags]
        assert names.count("script") == 1
        assert "img" not in names
        assert "window.stolen=1" in "".join(reader.said)
        assert not set(made) & {"\x00", "\x1b", "\u202e"}
        assert "\N{SNOWMAN}" in made


def test_sides_on_different_clocks_are_refused() -> None:
    before = series("series-before.json")
    with pytest.raises(InputError):
        compare_page(before, [record.model_copy(update={"clock": "wall"}) for record in before])


def test_the_page_of_steps_holds_every_system_saving_and_boot() -> None:
    said = " ".join("".join(Reader(PAGES["steps"]).said).split())
    result, systems = four_steps(), four_systems()
    for number, (boots, step) in enumerate(zip(systems, [None, *result.steps], strict=True), 1):
        assert f"{number} {boots[0].system}" in said
        if step is not None:
            assert step.detail in said
        for record in boots:
            assert f"{record.marks['ready']:,}" in said
    assert "\N{MINUS SIGN}90.00" in said
    assert "2.06x fewer instructions + idle" in said


def test_a_trial_in_which_nothing_helped_still_makes_a_page() -> None:
    empty = trial().model_copy(update={"alone": [], "stack": [], "final": {}})
    assert "1534.16" in try_page(empty)


def test_sizes_ablation_and_storage_are_shown_where_they_were_recorded() -> None:
    page = try_page(loaded_trial())
    said = " ".join("".join(Reader(page).said).split())
    assert "load + ready, ms" in said
    assert "ready incl. load at 20 MB/s + 500 us a file" in said
    assert "Before power-on, load at 20 MB/s + 500 us a file: baseline 500.00 ms" in said
    assert "What each adds to the whole" in said
    assert "kernel, KiB" in said and "9,766" in said
    for absent in ("kernel, KiB", "What each adds", "incl. load"):
        assert absent not in PAGES["try"]


def test_a_board_model_stands_beside_the_hashes_of_every_page() -> None:
    slow, quick = BoardModel(storage_mib_s=14.9), BoardModel(storage_mib_s=57)
    before, after = (
        [record.model_copy(update={"board_model": model}) for record in series(name)]
        for name, model in (("series-before.json", slow), ("series-after.json", quick))
    )
    trial_page = try_page(trial().model_copy(update={"board_model": slow}))
    for page in (trial_page, boot_page(before[0]), series_page(before)):
        head = page[page.index("<header") : page.index("</header")]
        assert f"board model <code>{slow.identity}</code> (storage 14.9 MiB/s)" in head
    said = "".join(Reader(compare_page(before, after)).said)
    assert f"The board models differ, {slow.label} and {quick.label}" in said
    sides = [before, after, after]
    steps = "".join(Reader(steps_page(steps_of([Family(tuple(side)) for side in sides]), sides)).said)
    assert f"board model: {slow.label} -> {quick.label}" in steps
    assert "board model" not in PAGES["try"] + PAGES["comparison"]


def test_markup_escapes_once_and_only_what_is_not_markup() -> None:
    assert tag("b", "<&>", tag("i", "x"), class_="a", data_key=1.50, hidden=True, title=None) == (
        '<b class="a" data-key="1.5" hidden>&lt;&amp;&gt;<i>x</i></b>'
    )
    assert join(["<", Html("<br/>")], "&") == "&lt;&amp;<br/>"
