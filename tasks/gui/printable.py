"""Removal of characters that no keyboard types and no screen shows."""

__all__ = ["printable"]


def printable(text: str) -> str:
    r"""Return a text without control, format and lone surrogate characters; line breaks stay.

    >>> printable("a\x00b\tc\r\nd")
    'ab c\nd'
    """
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join([char for char in text if char.isprintable() or char == "\n"])
