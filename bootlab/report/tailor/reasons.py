"""Every option of a tailoring with its reason, as text: a line each, to be searched."""

from bootlab.experiments.tailor.result import TailorResult
from bootlab.report.parts.figures import count, visible

_HEAD = """\
# {system}: every option that was on, and what became of it; a line each, in the order of their names.
# -  is off now. Bytes are those of the objects that are no longer built; instructions those that the boot and its check
#    executed in them, and of what had run for others all that would not have been executed up to ready.
# +  is on now and was not.
# =  stays as it was.
# ~  was to be tried with another value.
"""


def reasons(result: TailorResult) -> str:
    """Return the text of reasons.txt: a line for each option."""
    lines = dict[str, str]()
    for drop in result.dropped:
        if drop.value == "n":
            saved = f"{count(drop.bytes)} bytes, {count(drop.instructions)} instructions"
            lines[drop.option] = f"{drop.why}; {saved}"
        for other in drop.with_it:
            lines.setdefault(
                other, f"went with {drop.option}" if drop.value == "n" else f"went for {drop.option}={drop.value}"
            )
    for one in result.followed:
        lines.setdefault(one.option, one.why)
    shown = {option: f"- {option:<32} {why}" for option, why in lines.items()}
    for kept in result.kept:
        sign, turned = "+" if kept.option in result.gained else "=", "turned on: " * (kept.kind == "turned on")
        shown[kept.option] = f"{sign} {kept.option:<32} {turned}{visible(kept.why)}"
    for tried in result.values:
        name = f"{tried.option}={tried.value}"
        became = f"goes, it is {tried.before} again" if tried.outcome == "goes" else tried.outcome
        shown[name] = f"~ {name:<32} {became}: {visible(tried.detail)}"
    return _HEAD.format(system=result.system) + "".join(f"{shown[option]}\n" for option in sorted(shown))
