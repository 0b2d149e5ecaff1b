"""An LSB init script -> a unit of bootlab-init that runs it: the header's order in the unit's own words."""

import re
from dataclasses import dataclass

from bootlab.build.units.unit_text import Converted, UnitText

_BEGIN, _END = "### BEGIN INIT INFO", "### END INIT INFO"
_KEYWORD = re.compile(r"#[ \t]*([A-Za-z][A-Za-z-]*):(.*)")
_START = ("required-start", "should-start", "x-start-after")
_STOP = ("required-stop", "should-stop")
_KNOWN = frozenset({"provides", *_START, *_STOP, "x-start-before", "x-stop-after", "x-interactive"}) | {
    "default-start",
    "default-stop",
    "short-description",
    "description",
}
_TIMEOUT = "5min"
"""As bootlab-init gives a script itself (guest/init/units/lsb_unit.c)."""


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    line: int

    def words(self) -> list[str]:
        return self.text.split()


def convert_script(name: str, path: str, text: str) -> Converted:
    """Return the unit of the script `name` of /etc/init.d. `path` is what a problem is said about."""
    header, begin = _read_header(text)
    provided = (header or {}).get("provides", _Value("", 0)).words()
    # As bootlab-init names it: x.sh is x where it says so, or says nothing.
    plain = name.removesuffix(".sh")
    unit = UnitText(plain if plain in provided or not provided else name, path)
    if header is None:
        unit.say(begin, "no INIT INFO header: nothing says what it is started after; write its unit by hand")
        unit.broken = True
        return unit.converted()
    description = header.get("short-description")
    if description and description.text:
        unit.set("description", description.text)
    script = f"/etc/init.d/{name}"
    unit.add_command("exec", [script, "start"], 0)
    unit.add_command("stop", [script, "stop"], 0, may_fail=True)
    unit.set("ready", "exit")
    unit.set("timeout", _TIMEOUT)
    if not _is_started(header):
        unit.set("enable", "no")
    if header.get("x-interactive", _Value("", 0)).text == "true":
        unit.set("tty", "/dev/console")
        unit.set("serial", "yes")
    unit.refer("provides", *provided)
    if name != unit.name:
        unit.refer("provides", name)
    _order(unit, header)
    for keyword, value in header.items():
        if keyword not in _KNOWN and not re.match(r"x-[a-z]+-", keyword):
            unit.say(value.line, f"{keyword}: unknown keyword; it is left out")
    return unit.converted()


def _read_header(text: str) -> tuple[dict[str, _Value] | None, int]:
    header: dict[str, _Value] = {}
    lines = text.splitlines()
    begin = next((number for number, line in enumerate(lines) if line.rstrip() == _BEGIN), None)
    if begin is None:
        return None, 1
    for number, line in enumerate(lines[begin + 1 :], begin + 2):
        if line.startswith(_END):
            break
        if found := _KEYWORD.match(line):
            header.setdefault(found[1].lower(), _Value(found[2].strip(), number))
    return header, begin + 1


def _is_started(header: dict[str, _Value]) -> bool:
    return bool(set("S2345") & set(header.get("default-start", _Value("", 0)).text.upper()))


def _order(unit: UnitText, header: dict[str, _Value]) -> None:
    for keyword in _START:
        value = header.get(keyword, _Value("", 0))
        for name in value.words():
            if name == "$all":
                unit.say(value.line, "$all: `defer yes` puts it behind the goal; `after $all` would, behind all others")
                unit.set("defer", "yes")
            elif name != "$null":
                unit.refer("after", name.removeprefix("+"))
    before = header.get("x-start-before", _Value("", 0))
    for name in before.words():
        if name == "$all":
            unit.say(before.line, "$all: a unit names what it comes before; left out")
        else:
            unit.refer("before", name.removeprefix("+"))
    # A unit is stopped in the reverse of its order at start: what only the stop has is lost.
    for keyword in _STOP:
        value = header.get(keyword, _Value("", 0))
        lost = [name for name in value.words() if name.lstrip("+") not in unit.names("after") and name != "$null"]
        if lost:
            unit.say(value.line, f"{keyword}: {' '.join(lost)}: stopped in the reverse of its order at start alone")
    stop_after = header.get("x-stop-after")
    lost = [name for name in stop_after.words() if name not in unit.names("before")] if stop_after else []
    if stop_after and lost:
        unit.say(stop_after.line, f"x-stop-after: {' '.join(lost)}: stopped in the reverse of its order at start alone")
    levels = header.get("default-start", _Value("", 0)).text.upper()
    if "S" not in levels and _is_started(header) and not unit.names("after"):
        # A script of runlevel 2 that names nothing was written to come after all of runlevel S.
        unit.refer("after", "$remote_fs", "$syslog")
        line = header["default-start"].line
        unit.say(
            line, "names nothing it comes after, and came after all of runlevel S: now after $remote_fs and $syslog"
        )
