"""Lives in Markdown: a column each, the steps of the first, chance by seed, and nothing of a guest as markup."""

from bootlab.experiments.lives.result import lives_result
from bootlab.report.lives.markdown import lives_markdown
from tests.cli.recorded_runs import boots
from tests.report.lives.test_text import result


def test_each_life_is_a_column_and_each_chance_a_table() -> None:
    found = result()
    markdown = lives_markdown(found)
    assert "2 lives, each with seeds 1, 2; powered off 60 s after power-on; ms:\n" in markdown
    assert "| | life 1 | life 2 |\n|---|---:|---:|\n" in markdown and "| without what is chance |" in markdown
    assert "| 350.00 | 10.00 | 340.00 | **host keys** Generating &lt;b>rsa&lt;/b> keys (and 6 lines more) |" in markdown
    assert "Steps that differ by less, and those not listed: +1.00 ms of life 1 over life 2." in markdown
    assert 'Chance, life 1 (host keys), up to the line "sshd up", ms:' in markdown
    assert (
        "| 1 | 1534.22 | 50.00 | 40.00 |" in markdown
        and "| 2 | 1534.23 | 350.00 | 340.00 |" in markdown
        and "62% of it in BN_mod_exp" in markdown
    )
    assert "virtual clock" in markdown and "\x1b" not in markdown and "<b>" not in markdown


def test_a_mark_within_a_phase_has_a_row_where_every_life_has_it() -> None:
    first, later = boots("series-before.json")[:2]
    first, later = (one.model_copy(update={"marks": {**one.marks, "ssh": 7_000_000}}) for one in (first, later))
    assert "| up to `ssh` | 7.00 | 7.00 |" in lives_markdown(lives_result({1: [first], 2: [later]}, 60, "/run"))
    alone = later.model_copy(update={"marks": {name: t for name, t in later.marks.items() if name != "ssh"}})
    assert "`ssh`" not in lives_markdown(lives_result({1: [first], 2: [alone]}, 60, "/run"))
