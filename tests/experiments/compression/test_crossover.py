"""Where the best choice changes: against a table worked out by hand, the board seed's, and brute force."""

import random

from bootlab.experiments.compression.crossover import Best, Choice, best_choices, crossing_mb_s

# M. Opdenacker, Timing Boot Time Reduction Techniques (Bootlin, 2019): kernel on TI AM335x, Linux 5.1. Size in bytes,
# copy and time to user space in ms with the slower card.
AM335X = {
    "gzip": (2350336, 208, 1451),
    "lzma": (1777000, 158, 2167),
    "xz": (1720120, 154, 1999),
    "lzo": (2533872, 224, 1416),
    "lz4": (2716752, 241, 1462),
}


def test_two_lines_cross_where_they_are_equal() -> None:
    small, large = Choice("small", 1_000_000, 200_000_000), Choice("large", 3_000_000, 100_000_000)
    crossing = crossing_mb_s(small, large)
    assert crossing == 20
    assert small.total_ns(crossing) == large.total_ns(crossing) == 250_000_000
    assert best_choices([large, small]) == [Best("small", 0, 20), Best("large", 20, None)]


def test_a_choice_that_is_larger_and_slower_is_never_best() -> None:
    good, bad = Choice("good", 10, 10), Choice("bad", 11, 11)
    assert crossing_mb_s(good, bad) is None
    assert crossing_mb_s(bad, good) is None, "the larger one never overtakes: the smaller was ahead all the time"
    assert best_choices([bad, good]) == [Best("good", 0, None)]
    assert best_choices([]) == []


def test_equal_sizes_and_equal_choices() -> None:
    assert best_choices([Choice("a", 10, 20), Choice("b", 10, 5), Choice("c", 10, 5)]) == [Best("b", 0, None)]


def test_three_lines_through_one_point_leave_out_the_middle() -> None:
    choices = [Choice("a", 1000, 3000), Choice("b", 2000, 2000), Choice("c", 3000, 1000)]
    assert best_choices(choices) == [Best("a", 0, 1000), Best("c", 1000, None)]


def test_the_boards_table() -> None:
    choices = [Choice(name, size, (total - copy) * 10**6) for name, (size, copy, total) in AM335X.items()]
    found = best_choices(choices)
    # The talk's finding at its card's 11.3 MB/s: lzo, with gzip close; a slower store turns to gzip and then to xz.
    assert [one.name for one in found] == ["xz", "gzip", "lzo"]
    (now,) = [one for one in found if one.from_mb_s <= 11.3 and (one.to_mb_s is None or one.to_mb_s > 11.3)]
    assert now.name == "lzo"


def test_agrees_with_trying_every_speed() -> None:
    generator = random.Random(1)
    for _ in range(200):
        choices = [
            Choice(str(number), generator.randrange(1, 10**8), generator.randrange(10**10))
            for number in range(generator.randrange(1, 9))
        ]
        found = best_choices(choices)
        assert found[0].from_mb_s == 0 and found[-1].to_mb_s is None
        assert all(one.to_mb_s == other.from_mb_s for one, other in zip(found, found[1:], strict=False))
        by_name = {choice.name: choice for choice in choices}
        for one in found:
            high = one.to_mb_s if one.to_mb_s is not None else one.from_mb_s * 2 + 1
            speed = (max(one.from_mb_s, high / 1e6) + high) / 2
            least = min(choice.total_ns(speed) for choice in choices)
            assert by_name[one.name].total_ns(speed) <= least + 1
