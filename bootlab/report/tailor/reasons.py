"""Every option of a tailoring with its reason, as text: a line each, to be searched."""

from typing import Any

from bootlab.report.parts.figures import count, visible

_HEAD = """\
# {system}: every option that was on, and what became of it; a line each, in the order of their names.
# -  is off now. Bytes are those of the objects that are no longer built; instructions those that the boot and its check
#    executed in them, and of what had run for others all that would not have been executed up to ready.
# +  is on now and was not.
# =  stays as it was.
"""


def reasons(document: dict[str, Any]) -> str:
    """Return the text."""
    lines = dict[str, str]()
    for drop in document["dropped"]:
        if drop["value"] == "n":
            saved = f"{count(drop['bytes'])} bytes, {count(drop['instructions'])} instructions"
            lines[drop["option"]] = f"{drop['why']}; {saved}"
            for other in drop["with_it"]:
                lines.setdefault(other, f"went with {drop['option']}")
    for one in document.get("followed", []):
        lines.setdefault(one["option"], one["why"])
    gained = set(document["gained"])
    shown = {option: f"- {option:<32} {why}" for option, why in lines.items()}
    for one in document["kept"]:
        option, turned = one["option"], "turned on: " * (one["kind"] == "turned on")
        shown[option] = f"{'+' if option in gained else '='} {option:<32} {turned}{visible(one['why'])}"
    return _HEAD.format(system=document["system"]) + "".join(f"{shown[option]}\n" for option in sorted(shown))
