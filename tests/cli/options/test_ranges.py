"""Lists on the command line, as they are typed."""

import pytest

from bootlab.cli.options.ranges import parse_sizes, parse_speeds, parse_words
from bootlab.errors import InputError


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("128M,1G,2G", [128, 1024, 2048]),
        ("128", [128]),
        ("128,256", [128, 256]),
        ("512m, 1g", [512, 1024]),
        ("1GiB,1024MB", [1024]),
        ("128M,256", [128, 256]),
    ],
)
def test_sizes_of_memory(text: str, sizes: list[int]) -> None:
    assert parse_sizes("--memory", text, 16, 1 << 20) == sizes


@pytest.mark.parametrize("text", ["1T", "M", "-1G", "128M;1G", "8M", "2000G", "1.5G", ",", "128M,"])
def test_sizes_that_cannot_be(text: str) -> None:
    with pytest.raises(InputError, match="--memory"):
        parse_sizes("--memory", text, 16, 1 << 20)


def test_words_are_spelled_as_known() -> None:
    assert parse_words("--page-size", "4k, 2M,4K", ["auto", "4K", "2M"]) == ["4K", "2M"]
    with pytest.raises(InputError, match="'1g' is none of auto, 4K, 2M"):
        parse_words("--page-size", "4K,1G", ["auto", "4K", "2M"])


def test_speeds_are_sorted_and_positive() -> None:
    assert parse_speeds("--speeds", "100,1,0.5,1") == [0.5, 1, 100]
    for text in ("0", "nan", "-1", "fast", "1,,2", "inf"):
        with pytest.raises(InputError, match="no speed in MB/s"):
            parse_speeds("--speeds", text)
