"""Lives on a terminal and as a page: every life's figures, what only the first said, chance, and none of it unsafe."""

from pathlib import Path

from rich.console import Console

from bootlab.experiments.chance import Chance, ChanceProcess
from bootlab.experiments.lives.result import LivesResult, OnlyFirst, lives_result
from bootlab.measure.record import Outcome
from bootlab.report.lives.page import lives_page
from bootlab.report.lives.text import lives
from tests.cli.recorded_runs import boots

STEP = OnlyFirst(
    after="network",
    until="sshd \x1b[31mup",
    first_ns=350_000_000,
    later_ns=10_000_000,
    kinds=["host keys"],
    said=["Generating <b>rsa</b> keys", "more"],
    said_count=7,
)
KEYGEN = ChanceProcess(
    command="ssh-keygen -t <b>rsa\x1b[0m",
    function="BN_mod_exp",
    share=0.62,
    ran_ns={"1": 40_000_000, "2": 340_000_000},
)
CHANCE = Chance(
    life=1,
    after="network",
    until="sshd up",
    took_ns={"1": 50_000_000, "2": 350_000_000},
    kinds=["host keys"],
    processes=[KEYGEN],
)


def result() -> LivesResult:
    first, later = boots("series-before.json")[:2]
    found = lives_result({1: [first, later], 2: [later, first]}, 60, "/run")
    return found.model_copy(update={"only_first": [STEP], "rest_ns": 1_000_000, "chances": [CHANCE]})


def shown(found: LivesResult) -> str:
    console = Console(width=110, color_system=None)
    with console.capture() as capture:
        console.print(lives(found))
    return capture.get()


def test_each_life_is_a_column_and_what_only_the_first_did_is_told() -> None:
    text = shown(result())
    assert "2 lives, each with seeds 1, 2; powered off 60 s after power-on" in text
    assert "life 1" in text and "life 2" in text and "without what is chance" in text
    assert (
        "350.00" in text and "+340.00" in text and "[host keys] Generating <b>rsa</b> keys (and 6 lines more)" in text
    )
    assert 'chance, life 1 (host keys): 50.00 to 350.00 ms by seed, up to the line "sshd up"' in text
    assert "seed 1: 50.00, seed 2: 350.00" in text and "+1.00 ms of life 1 over life 2" in text
    assert "  ssh-keygen -t <b>rsa" in text and "ran 40.00 with seed 1, 340.00 with seed 2, 62% of it in" in text
    assert "\x1b" not in text


def test_the_page_has_all_of_it_and_no_markup_of_a_guest() -> None:
    page = lives_page(result(), [])
    assert "Generating &lt;b&gt;rsa" in page and "<b>rsa" not in page and "and 5 lines more" in page
    assert "ssh-keygen -t &lt;b&gt;rsa" in page and "62% of it in BN_mod_exp" in page
    assert "What is chance" in page and "seed 2: 350.00" in page and page.count("life 2") >= 3


def test_a_life_that_was_not_ready_says_why() -> None:
    found = result()
    hung = found.lives[1].boots[0].model_copy(update={"outcome": Outcome.HUNG, "detail": "the deadline"})
    lives_of = [found.lives[0], found.lives[1].model_copy(update={"ready": None, "boots": [hung]})]
    text = shown(found.model_copy(update={"lives": lives_of, "only_first": [], "chances": []}))
    assert "life 2, seed 2: hung: the deadline" in text and "not ready" in text and Path("/run").name in text


def test_a_life_that_was_rolled_again_says_with_which_seeds() -> None:
    first, later = boots("series-before.json")[:2]
    again = first.model_copy(update={"seed": 7})
    found = lives_result({1: [first, again], 2: [later]}, 60, "/run", [7])
    assert found.seeds == [first.seed]
    text = shown(found)
    assert f"2 lives, seed {first.seed}, life 1 again with 7; powered off" in text and "longest" in text
