"""A bootloader's own text, changed: more words for the kernel, another time for which the menu is shown. Pure."""

import re

from bootlab.errors import InputError
from bootlab.system.kernel import add_words

GRUB, ENTRY, LOADER_CONF = "grub.cfg", "entry", "loader.conf"
"""The kinds of text: GRUB's menu, an entry of the Boot Loader Specification, systemd-boot's loader.conf."""
INITRAMFS = "initramfs"
"""What is no text."""

_LINUX = re.compile(r"^(\s*linux(?:16|efi)?[ \t]+\S+)([^\n]*?)[ \t]*$", re.MULTILINE)
_TIMEOUT = re.compile(r"^(\s*set\s+timeout\s*=\s*).*$", re.MULTILINE)
_OPTIONS = re.compile(r"^(options)[ \t]+(.*?)[ \t]*$", re.MULTILINE)
_FOR_INIT = "--"
_NO_LINE = re.compile(r"[^\t -~\x80-\U0010ffff]")
_OF_GRUB = re.compile(r"[{}$;<>|&'\\\\]|(?:^|\s)#")
"""What ends a word in GRUB's language, or begins something else."""
_CONF_TIMEOUT = re.compile(r"^timeout\b.*$\n?", re.MULTILINE)


def changed(kind: str, text: str, *, words: str, menu_s: int | None) -> str:
    """Return `text` with `words` behind those of every kernel in it, and its menu shown for `menu_s` seconds.

    Words behind `--` are init's, and stay behind them.

    "" and None change nothing; neither does what this kind of text does not say. Raises InputError for words that the
    loader would take for something of its own.
    """
    if found := _NO_LINE.search(words) or (kind == GRUB and (_OF_GRUB.search(words) or _odd_quotes(words))):
        raise InputError(
            f"kernel.cmdline: {found[0].strip() or found[0]!r} is the bootloader's own in a line of its menu",
            hint='leave it out, or image.loader = "direct", which asks no bootloader',
        )
    if kind == GRUB:
        return _grub(text, words, menu_s)
    if kind == ENTRY and words:
        lines = list(_OPTIONS.finditer(text))
        if not lines:
            return f"{text.rstrip()}\noptions {words}\n"
        last = next((line for line in lines if _FOR_INIT in line[2].split()), lines[-1])
        return f"{text[: last.start()]}{last[1]} {add_words(last[2], words)}{text[last.end() :]}"
    if kind == LOADER_CONF and menu_s is not None:
        return f"timeout {menu_s}\n{_CONF_TIMEOUT.sub('', text)}"
    return text


def _odd_quotes(words: str) -> re.Match[str] | None:
    return re.search('"', words) if words.count('"') % 2 else None


def _grub(text: str, words: str, menu_s: int | None) -> str:
    if words:
        text = _LINUX.sub(lambda found: f"{found[1]} {add_words(found[2], words)}", text)
    if menu_s is None:
        return text
    if _TIMEOUT.search(text):
        return _TIMEOUT.sub(lambda found: f"{found[1]}{menu_s}", text)
    # A menu that sets none waits for ever.
    return f"{text.rstrip()}\nset timeout={menu_s}\n"
