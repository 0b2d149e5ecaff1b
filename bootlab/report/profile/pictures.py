"""The flame graph and the flame chart as the page carries them: their tools, an empty canvas, what to do with it.

Scripts fill them in; without scripts they stay hidden, and a line says where the same figures are.
"""

from collections.abc import Sequence

from bootlab.report.parts.markup import Content, Html, join, tag

SCRIPTS = (
    "elements.js",
    "profile_data.js",
    "profile_tree.js",
    "profile_canvas.js",
    "flame_graph.js",
    "flame_words.js",
    "flame_chart.js",
    "flame_chart_input.js",
    "profile_page.js",
)
"""The page's scripts in the order they need each other."""

_LEGEND = (
    ("stage", "firmware, decompressor"),
    ("task", "task"),
    ("kernel", "kernel"),
    ("module", "module"),
    ("entry", "interrupt, exception, system call"),
    ("user", "user space"),
    ("wait", "waiting"),
    ("runnable", "could run, another did"),
    ("idle", "idle"),
    ("other", "unknown or summed up"),
)
_WEIGHTS = (
    ("instructions", "instructions"),
    ("elapsed", "time, waits included"),
    ("life", "time, idle kernel threads too"),
)
_TIMED_LEGEND = (("task", "thread"), ("kernel", "call"), ("wait", "waiting"), ("other", "summed up"))
_TRACK_LEGEND = (("stage", "phase"), ("kernel", "initcall, call"), ("module", "driver probe"), ("task", "all else"))
_ORDERS = (("time", "first entered first"), ("size", "largest first"))
_GRAPH_KEYS = "Arrow keys walk the frames, Enter zooms in, Escape zooms out, Home shows everything, / searches."
_CHART_KEYS = (
    "Plus and minus zoom, A and D move along, arrow keys walk lanes, rows and spans, Enter opens a lane or zooms to a "
    "span, Home shows everything."
)


def flame_graph(*, both: bool = False, timed: bool = False) -> Html:
    """Return the flame graph's figure. `both`: it compares two boots, in one tree. `timed`: of times alone."""
    choices = [
        _search(),
        _choice("weight", "Width", [("elapsed", "time")] if timed else _WEIGHTS),
        _choice("side", "of", [("1", "the boot after"), ("0", "the boot before")]) if both else Html(),
        _choice("task", "Task", []),
        # Two boots enter their functions in two orders.
        _choice("order", "Order", _ORDERS[::-1] if both else _ORDERS),
        _choice("direction", "Root", [("down", "at the top"), ("up", "at the bottom")]),
    ]
    hint = tag(
        "p",
        "Tasks wait beside each other, so their time together is more than the boot's. Choose one task to see its own.",
        class_="hint",
        hidden=True,
    )
    canvas = _canvas("Flame graph: frames from the root, as wide as their weight", "flame graph", _GRAPH_KEYS)
    return _figure(
        tag("div", *choices, class_="tools"),
        tag("div", class_="slices", role="group", aria_label="Phases shown"),
        hint,
        tag("ol", class_="crumbs", aria_label="Zoomed to"),
        tag("p", "Nothing of this was executed in the phases chosen.", class_="empty-view", hidden=True),
        canvas,
        tag("p", class_="found", role="status"),
        tag("div", class_="details", role="status"),
        _change_legend() if both else _legend(_TIMED_LEGEND if timed else _LEGEND),
        tag(
            "figcaption",
            "Click or tap a frame to zoom to it; frames narrower than a pixel are drawn together. A phase's button "
            "shows it alone, with Shift it adds it or takes it away. ", _GRAPH_KEYS, " ",
            tag("button", "Save as folded stacks", type="button", name="save", class_="plain"),
            " writes what is shown to a file.",
        ) if not both else tag(
            "figcaption",
            "Click or tap a frame to zoom to it. What is gone has a width in the boot before only. ", _GRAPH_KEYS,
        ),
        kind="flame",
    )  # fmt: skip


def flame_chart(lanes: Sequence[tuple[int, str]], *, timed: bool = False) -> Html:
    """Return the flame chart's figure. `lanes`: choices of (least ns that a task ran to be shown, words).

    `timed`: of somebody else's recording, which has times alone.
    """
    buttons = [
        ("closer", "Zoom in"),
        ("further", "Zoom out"),
        ("earlier", "Earlier"),
        ("later", "Later"),
        ("fit", "All"),
    ]
    tools = [tag("button", words, type="button", name=name) for name, words in buttons]
    shown = _choice("lanes", "Tasks", [(str(least), words) for least, words in lanes])
    return _figure(
        tag("div", _search(), shown, tag("div", *tools, class_="group"), tag("output", class_="range"), class_="tools"),
        _canvas("Flame chart: one lane a task, time from left to right", "flame chart", _CHART_KEYS),
        tag("div", class_="details", role="status"),
        _legend(_TRACK_LEGEND if timed else _LEGEND),
        tag("figcaption", "Drag to move, Ctrl and wheel or two fingers to zoom, double-click a span to zoom to it, "
            "click a task to open or close it. ", _CHART_KEYS),
        kind="chart",
    )  # fmt: skip


def without_scripts(words: Content) -> Html:
    """Return what stands in a picture's place when scripts do not run."""
    return tag("noscript", tag("p", words, class_="caution"))


def _figure(*content: Content, kind: str) -> Html:
    return tag("figure", *content, class_=f"{kind} wide needs-script", hidden=True)


def _search() -> Html:
    field = tag(
        "input", type="search", name="search", placeholder="function, or /regular expression/", spellcheck="false",
        autocomplete="off",
    )  # fmt: skip
    return tag("label", "Search ", field, class_="search")


def _choice(name: str, title: str, options: Sequence[tuple[str, str]]) -> Html:
    return tag(
        "label", title, " ", tag("select", *(tag("option", words, value=value) for value, words in options), name=name)
    )


def _canvas(label: str, role: str, keys: str) -> Html:
    canvas = tag("canvas", tabindex=0, role="application", aria_roledescription=role, aria_label=f"{label}. {keys}")
    return tag("div", canvas, tag("div", class_="spacer"), class_="canvas-box")


def _legend(kinds: Sequence[tuple[str, str]]) -> Html:
    swatches = [tag("span", words, class_=f"kind {kind}") for kind, words in kinds]
    return tag("p", join(swatches, " "), class_="kinds")


def _change_legend() -> Html:
    kinds = (("more", "more after"), ("same", "as before"), ("less", "less after"))
    return _legend(kinds)
