"""What customers of a day say, in both languages."""

import re
from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.shopping.world.wording import say

__all__ = ["other_number", "who"]


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
