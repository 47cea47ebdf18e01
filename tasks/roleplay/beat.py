"""One beat of a dialogue: what the visitor says, and what the character must do about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = ["REASONS", "Act", "Beat"]

Act = Literal["say", "answer", "correct", "refuse"]
REASONS = ("not_known", "not_yet", "not_of_my_world", "secret", "against_my_rules")


@dataclass(frozen=True)
class Beat:
    """A line with the one right act.

    Names and numbers are tuples of spellings, the first being the one that the card uses.
    """

    line: str
    """`{other}` in it is replaced by a choice that the character did not make."""

    act: Act
    value: tuple[str, ...] = ()
    """What `answer` gives, or the truth of `correct`."""

    claim: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """Reasons for `refuse` that count."""

    about: str = "knowledge"
    """Groups beats in the verdict's terms."""

    tells: bool = False
    """Whether this reply may hold the secret."""

    guessed: bool = False
    """Whether the line puts a guess at the secret, which must not be confirmed in prose either."""

    choice: str = ""
    """`choose`: any of `options` is right and is held on to; `recall`, `misquote`: the same."""

    options: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    """Words that any other wording of the line must keep."""

    query: Mapping[str, Any] = field(default_factory=dict)
    """What is asked, for the second derivation; holds no answer."""

    def led_in(self, lead: str) -> "Beat":
        """Return the beat with something said before it."""
        return replace(self, line=lead + self.line)

    def expectation(self) -> dict[str, Any]:
        """Return what the verifier needs."""
        return {
            "act": self.act, "value": list(self.value), "claim": list(self.claim),
            "reasons": list(self.reasons), "about": self.about, "tells": self.tells,
            "guessed": self.guessed,
            "choice": self.choice, "options": list(self.options),
        }  # fmt: skip
