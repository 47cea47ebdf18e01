"""What customers of a day say, in both languages."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.shopping.world.wording import say

__all__ = ["listed", "other_number", "who"]


def listed(names: Sequence[str], language: Language) -> str:
    """Join names.

    >>> listed(["a", "b", "c"], "en")
    'a, b and c'
    """
    if language == "zh":
        return "和".join(names) if len(names) < 3 else "、".join(names[:-1]) + "和" + names[-1]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def other_number(street: str, more: int) -> str:
    """Return a street with another house number.

    >>> other_number("12 Mill Lane", 3), other_number("人民路12号", 3)
    ('15 Mill Lane', '人民路15号')
    """
    return re.sub(r"\d+", lambda found: str(int(found[0]) + more), street)


def who(account: Mapping[str, Any], language: Language) -> str:
    """Return how a customer introduces herself."""
    code = account["address"]["postcode"]
    return say(language, f"Hello, I'm {account['name']}, postcode {code}.",
               f"你好，我是{account['name']}，邮编{code}。")  # fmt: skip
