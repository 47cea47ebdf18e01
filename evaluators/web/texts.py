"""Comparison of answer texts, by WebArena's own rules and by strict ones.

The strict rules compare whole words. Apart from the reference, an answer may contain only words of
the question and function words, never a negation, a hedge or another candidate.
"""

import re
from collections.abc import Sequence

__all__ = ["clean", "has_words", "includes", "states_only", "tokens", "words_of"]

_COMMA = re.compile(r"([:,])(?=\D|$)")
_SIGN = re.compile(r"""[;@#$%&?!*\]\[(){}<>«“‘»”’`"]|\.{2,}|--""")
_WORD = re.compile(r"[^\W_]+(?:[.,'’:/@+-][^\W_]+)*")
_DENIALS = frozenset(
    "not no nor never neither none n't isn't aren't wasn't weren't don't doesn't didn't cannot "
    "can't without except instead or either maybe perhaps possibly probably might may could "
    "unsure unknown unclear rather unless otherwise false wrong incorrect".split()
)
_SMALL = frozenset(
    "a an the and of in on at by for from to with as is are was were be been has have had it its "
    "this that these those there which who whose they them their i you he she we my your answer "
    "result total value list following found also both all each".split()
)


def clean(text: str, *, strip: bool = True) -> str:
    """Return an answer without surrounding quotes, in lower case."""
    text = text.strip() if strip else text
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            text = text[1:-1]
            break
    return text.lower()


def includes(reference: str, text: str, *, strip: bool = True, by_token: bool = False) -> bool:
    """Whether a text contains a reference, as WebArena tests it.

    Args:
        reference: Text that must occur.
        text: The answer or a page's content.
        strip: Whether surrounding white space is dropped (WebArena) or kept (VisualWebArena).
        by_token: Whether a reference that is one token must be a token of the text.
    """
    wanted, given = clean(reference, strip=strip), clean(text, strip=strip)
    if by_token and tokens(wanted) == [wanted]:
        return wanted in tokens(given)
    return wanted in given


def tokens(text: str) -> list[str]:
    """Split a text by the Treebank rules, on which the original relies.

    Contractions other than `n't` and `'s`, and full stops inside a text, are left alone.
    """
    text = re.sub(r"([^.])(\.)([\])}>\"'»”’ ]*)\s*$", r"\1 \2 \3", text.strip())
    text = _SIGN.sub(r" \g<0> ", _COMMA.sub(r" \1 ", text))
    text = re.sub(r"(\w)(n't|'s|'m|'d|'ll|'re|'ve)\b", r"\1 \2", text)
    text = re.sub(r"(?<!\w)'(?=\w)|(?<=\w)'(?!\w)", " ' ", text)
    return text.split()


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; numbers lose their thousands separators."""
    found = _WORD.findall(text.casefold().replace("’", "'"))
    return [re.sub(r"(?<=\d),(?=\d{3})", "", word) for word in found]


def has_words(reference: str, text: str) -> bool:
    """Whether a text contains the words of a reference, whole and next to each other."""
    return _place(words_of(reference), words_of(text)) is not None


def states_only(references: Sequence[str], text: str, question: str) -> bool:
    """Whether an answer states every reference, denies nothing and adds no other candidate."""
    left = words_of(text)
    for reference in sorted(references, key=len, reverse=True):
        wanted = words_of(reference)
        place = _place(wanted, left) if wanted else None
        if place is None:
            return False
        while place is not None:  # an answer may repeat the reference
            left[place : place + len(wanted)] = [""]
            place = _place(wanted, left)
    rest = [word for word in left if word]
    if any(word in _DENIALS or word.endswith("n't") for word in rest):
        return False
    allowed = _SMALL | set(words_of(question))
    return all(word in allowed for word in rest)


def _place(wanted: Sequence[str], words: Sequence[str]) -> int | None:
    size = len(wanted)
    for place in range(len(words) - size + 1):
        if list(words[place : place + size]) == list(wanted):
            return place
    return None
