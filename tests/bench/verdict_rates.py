"""The tables of docs/measuring.md on how often a verdict is wrong: `python -m tests.bench.verdict_rates`, minutes.

Trials of useless techniques, drawn from laws of noise and from real boots, judged by the rule's own code.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bootlab.report.parts.markdown import markdown_table, prose
from tests.bench.real_boots import read_real_boots
from tests.simulated_boots import LAWS, Noise, RealNoise, Sizes, useless_techniques

REAL: Final = Path(__file__).parents[1] / "data" / "real-boots.json"
TECHNIQUES: Final = 50
TRIALS: Final = 2000
SIZES: Final[Mapping[str, Sizes]] = {
    "alone: 3 seeds, 5 null changes": Sizes(),
    "alone, the fewest: 3 seeds, 3 null changes": Sizes(nulls=3),
    "a step on a stack: 3 seeds, 1 null change, of the baseline 5": Sizes(nulls=1, known_nulls=5),
    "the same, of the baseline 3": Sizes(nulls=1, known_nulls=3),
}
"""What a trial asks for by default, the fewest that it takes, and a stack on either."""
BASELINES: Final = 500
TECHNIQUES_OF_ONE: Final = 500
ABOVE: Final = (0.001, 0.01, 0.05)


def real_noise() -> RealNoise | None:
    """Return the noise of real boots; None, and a word of it, where nobody has booted them yet."""
    if not REAL.exists():
        print(f"\nno real boots: python -m tests.bench.real_boots {REAL.relative_to(REAL.parents[2])} boots them")
        return None
    real = read_real_boots(REAL)
    return RealNoise(f"{sum(map(len, real.ready_ns))} real boots, drawn again and again", real.ready_ns)


def noises() -> list[Noise]:
    """Return all laws, and the real boots where there are any."""
    real = real_noise()
    return [*LAWS, *([real] if real is not None else [])]


def wrong_verdicts(noise: Noise, sizes: Sizes) -> list[int]:
    """Return for each trial how many of its useless techniques got a verdict."""
    return useless_techniques(noise, trials=TRIALS, techniques=TECHNIQUES, seed=11, sizes=sizes)


def rates(wrong: Sequence[int]) -> tuple[float, float]:
    """Return the share of all techniques that got a verdict, and of trials in which any did."""
    return sum(wrong) / len(wrong) / TECHNIQUES, sum(one > 0 for one in wrong) / len(wrong)


def whole_trials() -> str:
    """Return the table of trials of many techniques, by noise and by sizes."""
    rows = []
    for noise in noises():
        cells = [noise.name]
        for sizes in SIZES.values():
            wrong = wrong_verdicts(noise, sizes)
            rate, trials = rates(wrong)
            cells.append(f"{rate:.3%}, {trials:.1%}, {max(wrong)}")
        rows.append(cells)
    said = (
        f"{TRIALS:,} trials of each, of {TECHNIQUES} techniques that do nothing and share one baseline: the share of "
        "all techniques that got a verdict, of trials in which any did, and the most in one trial."
    )
    return f"{prose(said)}\n\n{markdown_table(['noise', *(f'{name}>' for name in SIZES)], rows)}"


def one_baseline() -> str:
    """Return the table of how often a verdict is wrong given the baseline that a trial happens to have."""
    rows = []
    for noise in noises():
        wrong = useless_techniques(noise, trials=BASELINES, techniques=TECHNIQUES_OF_ONE, seed=17)
        given = sorted(one / TECHNIQUES_OF_ONE for one in wrong)
        above = [f"{sum(rate > most for rate in given) / BASELINES:.1%}" for most in ABOVE]
        rows.append([noise.name, *above, f"{given[-1]:.1%}"])
    said = (
        f"Given its baseline: {BASELINES} baselines of 3 seeds and 5 null changes, each with {TECHNIQUES_OF_ONE} "
        "techniques that do nothing. Shares of the baselines of whose techniques more than so many got a verdict, and "
        "the rate of the unluckiest."
    )
    titles = ["noise", *(f"more than {most:.1%}>" for most in ABOVE), "unluckiest>"]
    return f"{prose(said)}\n\n{markdown_table(titles, rows)}"


if __name__ == "__main__":
    print(f"{whole_trials()}\n\n{one_baseline()}")
