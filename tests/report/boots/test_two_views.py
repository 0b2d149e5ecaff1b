"""Priced boots are shown by both figures, apart; others once, on their clock."""

from bootlab.report.boots.page import boot_page, compare_page, series_page, try_page
from bootlab.report.boots.text import boot, comparison, series
from bootlab.report.boots.two_views import side_views, views
from bootlab.report.trial.markdown import try_markdown
from bootlab.report.trial.text import try_result
from tests.report.boots.test_text import printed
from tests.report.boots.test_text import series as plain_series
from tests.report.priced import priced_boot, priced_series, priced_trial


def test_boots_without_a_price_are_shown_as_they_are() -> None:
    boots = plain_series("series-before.json")
    assert views(boots) == [("virtual", boots)]
    assert side_views([boots, boots]) == [("virtual", [boots, boots])]


def test_a_side_without_a_ready_boot_has_both_views_too() -> None:
    failed = plain_series("series-panicked.json")
    shown = side_views([priced_series(), failed])
    assert [what for what, _ in shown] == ["instructions + idle", "price under lean"]
    assert all(len(sides) == 2 and sides[1][0].ready_ns is None for _, sides in shown)


def test_every_form_names_both_figures_and_shows_no_sum_of_them() -> None:
    record = priced_boot()
    assert record.price is not None
    mixed = f"{(record.ready_ns or 0) / 1e6:.2f}"
    counted, price = f"{(record.counted_ns or 0) / 1e6:.2f}", f"{record.price.total_ns / 1e6:.2f}"
    told = [
        printed(boot(record), width=120),
        printed(series([record, *priced_series()[1:]]), width=140),
        printed(comparison([record], priced_series("series-after.json")), width=120),
        boot_page(record),
        series_page([record]).split('id="values"')[0],
        compare_page([record], [record]).split('id="family"')[0],
    ]
    for text in told:
        assert "instructions + idle" in text and "price under lean" in text
        assert counted in text and price in text, text
        assert mixed not in text.split("Raw values")[0].split("Marks, ns")[0], f"{mixed} is neither figure"


def test_a_trial_is_judged_by_price_and_shows_instructions_beside() -> None:
    result = priced_trial()
    first = next(one for one in result.alone if one.saved_ns)
    text = printed(try_result(result), width=160)
    assert "baseline 1380.75 ms price under lean" in " ".join(text.split()), text[:300]
    assert "less price under lean" in text and "fewer instructions" not in text
    assert first.saved_ns is not None and f"{first.saved_ns // 2 / 1e6:.2f}" in text
    for form in (try_page(result), try_markdown(result)):
        assert "price under lean" in form and "instructions + idle" in form
