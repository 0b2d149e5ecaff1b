"""Tables and sentences in Markdown: columns of figures stand to the right, no text of a run becomes markup."""

from bootlab.report.parts.markdown import bold, code, markdown_table, plain, prose


def test_a_table_with_figures_to_the_right_and_empty_cells() -> None:
    assert markdown_table(["what", "ms>"], [["a", "1.00"], ["b", ""]]).splitlines() == [
        "| what | ms |",
        "|---|---:|",
        "| a | 1.00 |",
        "| b | |",
    ]
    assert markdown_table(["a", "b", "c"], [["", "", ""]]).splitlines()[2] == "| | | |"


def test_text_of_a_run_is_no_markup() -> None:
    assert plain("a|b `c` <d>\x1b[31m\n") == "a\\|b 'c' &lt;d>\\x0a"
    assert (code("x"), code(""), bold(""), bold("y")) == ("`x`", "", "", "**y**")


def test_a_sentence_is_broken_between_words_only() -> None:
    hashed = "a" * 130
    lines = prose(f"{'word ' * 30}{hashed} end-of-line").splitlines()
    assert all(len(line) <= 120 or line == hashed for line in lines)
    assert lines[-1] == "end-of-line"
