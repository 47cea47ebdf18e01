"""Search tokens, identical for products and queries.

Latin words and numbers are case-folded, joined numbers and units are split ("30h" and "30 h" both
give `30` and `h`), and a plural s is dropped. Chinese runs become overlapping character bigrams; a
run of one character is a separate token.
"""

import re
import unicodedata
from functools import lru_cache

__all__ = ["tokenize"]

_RUN = re.compile(r"[0-9]+(?:\.[0-9]+)?|[a-zà-öø-ÿā-ž]+|[\u3400-\u9fff]+")


@lru_cache(maxsize=16_384)
def tokenize(text: str) -> tuple[str, ...]:
    """Split a text into search tokens, in order, keeping repeats."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    tokens: list[str] = []
    for run in _RUN.findall(folded):
        if run[0] >= "\u3400":
            tokens.extend(run[i : i + 2] for i in range(len(run) - 1)) if len(
                run
            ) > 1 else tokens.append(run)
        else:
            tokens.append(_stem(run))
    return tuple(tokens)


def _stem(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
