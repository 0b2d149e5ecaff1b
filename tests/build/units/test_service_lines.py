"""Lines of systemd's unit files, by the rules of systemd.syntax(7)."""

import pytest

from bootlab.build.units.service_lines import NotWritten, commands_of, fill_in, read_settings, split_words


def read(text: str) -> list[tuple[str, str, str, int]]:
    return [(one.section, one.key, one.value, one.line) for one in read_settings(text)]


def test_settings_have_their_section_and_first_line() -> None:
    text = "[Unit]\n# x=1\nDescription = a = b \n\n[Service]\n; y=2\nExecStart=/bin/a\nnonsense\nExecStart=\n"
    assert read(text) == [
        ("Unit", "Description", "a = b", 3),
        ("Service", "ExecStart", "/bin/a", 7),
        ("Service", "ExecStart", "", 9),
    ]


def test_a_line_goes_on_behind_a_backslash_past_comments() -> None:
    assert read("[S]\nA=one \\\n# not me\n  two \\\n\nB=3\n") == [("S", "A", "one  two", 2), ("S", "B", "3", 6)]


def test_a_backslash_at_the_end_of_the_file_joins_nothing() -> None:
    assert read("[S]\nA=one \\") == [("S", "A", "one", 2)]
    assert read("[S]\nA=one \\\n# the end\n") == [("S", "A", "one", 2)]


def test_an_escaped_backslash_ends_a_line() -> None:
    assert read("[S]\nA=one \\\\\nB=two\n") == [("S", "A", "one \\\\", 2), ("S", "B", "two", 3)]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a  b\tc", ["a", "b", "c"]),
        ('"a b" \'c d\' e"f g"h', ["a b", "c d", "ef gh"]),
        ('"it\'s" \'say "x"\'', ["it's", 'say "x"']),
        (r"a\sb \x41\102\u00e4\U0001F600", ["a b", "ABä😀"]),
        (r'"\"" \\ \q', ['"', "\\", "q"]),
        ('""', [""]),
        ("", []),
    ],
)
def test_words_of_a_value(value: str, words: list[str]) -> None:
    assert split_words(value) == words


@pytest.mark.parametrize("value", ['"a', "a'b", '"a\\"'])
def test_a_quote_that_is_not_closed(value: str) -> None:
    with pytest.raises(NotWritten, match="a quote is not closed"):
        split_words(value)


def test_specifiers() -> None:
    assert fill_in("%n %N %p %t %S %C %L %E %T %V 100%%n", "web") == (
        "web.service web web /run /var/lib /var/cache /var/log /etc /tmp /var/tmp 100%n"
    )
    for unknown in ("%i", "%h", "%"):
        with pytest.raises(NotWritten, match="is not known before the system runs"):
            fill_in(f"a {unknown}", "web")


def test_a_semicolon_alone_parts_commands() -> None:
    assert list(commands_of(["a", "b;", ";", "c", ";", ";", "d"])) == [["a", "b;"], ["c"], ["d"]]
    assert list(commands_of([";"])) == list(commands_of([])) == []
