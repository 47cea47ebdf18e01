"""Names of keys in the text that an agent types into the full-screen terminal.

Names are those of tmux, in angle brackets within text (`:wq<Enter>`) or alone (`C-c`). Whatever is
not the name of a key is typed as it stands.
"""

import re

__all__ = ["key_codes"]

_ESCAPE = "\x1b"
_NAMED = {
    "Enter": "\r", "Return": "\r", "CR": "\r", "Tab": "\t", "BTab": "\x1b[Z", "S-Tab": "\x1b[Z",
    "Escape": _ESCAPE, "Esc": _ESCAPE, "Space": " ",
    "BSpace": "\x7f", "Backspace": "\x7f", "BS": "\x7f",
    "Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D", "Home": "\x1b[H",
    "End": "\x1b[F", "Insert": "\x1b[2~", "IC": "\x1b[2~", "Delete": "\x1b[3~", "DC": "\x1b[3~",
    "PageUp": "\x1b[5~", "PgUp": "\x1b[5~", "PPage": "\x1b[5~",
    "PageDown": "\x1b[6~", "PgDn": "\x1b[6~", "NPage": "\x1b[6~",
    "F1": "\x1bOP", "F2": "\x1bOQ", "F3": "\x1bOR", "F4": "\x1bOS", "F5": "\x1b[15~",
    "F6": "\x1b[17~", "F7": "\x1b[18~", "F8": "\x1b[19~", "F9": "\x1b[20~", "F10": "\x1b[21~",
    "F11": "\x1b[23~", "F12": "\x1b[24~",
}  # fmt: skip
_CONTROL = {chr(code + 64).lower(): chr(code) for code in range(1, 32)} | {
    "@": "\0", "Space": "\0", "?": "\x7f",
}  # fmt: skip
_BRACKETED = re.compile(r"<((?:[CM]-)*[^<>\s]{1,9})>")


def key_codes(text: str) -> str:
    """Replace the names of keys in a text by what a terminal sends for them.

    Args:
        text: Text to type; `<Enter>`, `<C-c>`, `<M-x>`, `<Up>`, `<F5>` and the like are keys, and
            so is a text that consists of one key's name of at least two characters.
    """
    alone = _code(text) if len(text) > 1 else None
    if alone is not None:
        return alone
    return _BRACKETED.sub(lambda match: _code(match[1]) or match[0], text)


def _code(name: str) -> str | None:
    """Return what a key sends; None if there is no such key."""
    if name in _NAMED:
        return _NAMED[name]
    if name.startswith("C-"):
        return _CONTROL.get(name[2:].lower() if len(name) == 3 else name[2:])
    if name.startswith("M-"):
        rest = name[2:] if len(name) == 3 else _code(name[2:])
        return None if rest is None else _ESCAPE + rest
    return None
