"""What customers of a day say, in both languages."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.shopping.world.wording import say

__all__ = ["listed", "place_text", "who"]


def listed(names: Sequence[str], language: Language) -> str:
    """Join names.

    >>> listed(["a", "b", "c"], "en")
    'a, b and c'
    """
    if language == "zh":
        return "和".join(names) if len(names) < 3 else "、".join(names[:-1]) + "和" + names[-1]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def place_text(place: Mapping[str, Any]) -> str:
    """Return an address on one line."""
    return f"{place['street']}, {place['city']}, {place['postcode']}"


def who(account: Mapping[str, Any], language: Language) -> str:
    """Return how a customer introduces herself."""
    code = account["address"]["postcode"]
    return say(language, f"I am {account['name']}, postcode {code}.",
               f"我是{account['name']}，邮编{code}。")  # fmt: skip
