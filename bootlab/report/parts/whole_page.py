"""One self-contained HTML page per result: no request leaves it, and it reads the same from a disk or a web server.

The page carries a content security policy that allows its own style and script by hash and nothing else, so even text
that slipped through escaping could not run. It is written for phone and desktop, light and dark, mouse and keyboard.
"""

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from string import Template

from bootlab import __version__
from bootlab.report.parts.markup import Content, Html, join, tag, text


def page_header(what: str, name: str, clock: str, keys: Content, hashes: Content) -> Html:
    """Return the head of a page: its kind, the system's name, key figures, what its clock means, hashes of inputs."""
    return tag(
        "header",
        tag("p", tag("b", "bootlab"), f" {what}", class_="kicker"),
        tag("h1", name),
        keys,
        tag("p", clock[0].upper() + clock[1:] + ".", class_="clock"),
        hashes,
    )


def shell(
    title: str,
    header: Html,
    sections: Sequence[Html],
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    data: Sequence[Html] = (),
) -> str:
    """Return a whole page as HTML: its header, its sections, and all that it carries.

    `styles`, `scripts`: files of report/scripts that it needs beyond those of every page.
    `data`: blocks for the scripts.
    """
    style = "\n".join(_asset(name) for name in ("page.css", *styles))
    script = "\n".join(_asset(name) for name in ("page.js", *scripts))
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    footer = tag("footer", f"bootlab {__version__}. This page is complete in itself and makes no requests.")
    return Template(_asset("page.html")).substitute(
        title=text(title), policy=policy, style=style, script=script, header=header, main=join(sections),
        footer=join([footer, *data]),
    )  # fmt: skip


def _asset(name: str) -> str:
    return files("bootlab.report.scripts").joinpath(name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
