"""Amounts of money: whole cents in rows, with a currency on screens."""

import re

__all__ = ["cents_of", "cents_text", "plain_cents"]

_AMOUNT = re.compile(r"^[$¥]?(\d{1,6})(?:[.,](\d{1,2}))?$")


def plain_cents(cents: int) -> str:
    """Return an amount without its currency, as forms show it.

    >>> plain_cents(1250), plain_cents(-5)
    ('12.50', '-0.05')
    """
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def cents_text(cents: int, language: str) -> str:
    """Return an amount with the currency of a language.

    >>> cents_text(-123456, "en"), cents_text(900, "zh")
    ('-$1,234.56', '¥9.00')
    """
    sign = "-" if cents < 0 else ""
    mark = "¥" if language == "zh" else "$"
    return f"{sign}{mark}{abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def cents_of(text: str) -> int | None:
    """Return the cents of an amount that was typed; None if it is not a positive amount.

    >>> cents_of("12.5"), cents_of("$3"), cents_of("0"), cents_of("ten")
    (1250, 300, None, None)
    """
    match = _AMOUNT.match(text.strip().replace("\uffe5", "¥"))
    if match is None:
        return None
    cents = int(match[1]) * 100 + int((match[2] or "0").ljust(2, "0"))
    return cents or None
