"""HTML as values: text is escaped where it enters, and only here, so a hostile console cannot become markup.

`Html` is text that is already markup. Everything else that is put into a tag is escaped and made visible.
"""

import html
import re
from collections.abc import Iterable

from bootlab.report.parts.figures import visible

# Most of a page is figures and names, in which nothing is to be escaped.
_PLAIN = re.compile(r"[\w .,:;%+/=()#-]*", re.ASCII)
_VOID = frozenset({"rect", "line", "circle", "path", "br", "hr", "col", "img", "input"})


class Html(str):
    """Markup. Made by `tag`, `text` and `join` only."""

    __slots__ = ()


Content = Html | str | int | None


def text(content: Content) -> Html:
    """Return `content` as markup: escaped unless it is markup already; empty for None."""
    if isinstance(content, Html):
        return content
    if content is None:
        return Html("")
    told = str(content)
    return Html(told) if _PLAIN.fullmatch(told) else Html(html.escape(visible(told), quote=True))


def join(parts: Iterable[Content], between: Html | str = "") -> Html:
    """Return the parts one after the other, each escaped unless it is markup."""
    return Html(text(between).join(text(part) for part in parts))


def tag(name: str, /, *children: Content, **attributes: str | int | float | bool | None) -> Html:
    """Return one element. In attribute names a trailing `_` is dropped and other `_` become `-`.

    An attribute that is None or False is left out, one that is True has no value.
    """
    written = "".join(
        _attribute(key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def _attribute(name: str, value: str | int | float | bool) -> str:
    if value is True:
        return f" {name}"
    shown = f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{text(shown)}"'
