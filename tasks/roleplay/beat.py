"""One beat of a dialogue: the visitor's line and the character's correct response."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = ["REASONS", "Act", "Beat"]

Act = Literal["say", "answer", "correct", "refuse"]
REASONS = ("not_known", "not_yet", "not_of_my_world", "secret", "against_my_rules")


@dataclass(frozen=True)
class Beat:
    """A visitor's line with its single correct act.

    Names and numbers are tuples of accepted spellings; the first is the card's own.
    """

    line: str
    """The visitor's line; `{other}` in it is replaced by an option that the character did not
    choose."""

    act: Act
    value: tuple[str, ...] = ()
    """The value that `answer` gives, or the true value for `correct`."""

    claim: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """Accepted reasons for `refuse`."""

    about: str = "knowledge"
    """Label by which the verdict's terms group beats."""

    tells: bool = False
    """Whether this reply may contain the secret."""

    guessed: bool = False
    """Whether the line guesses at the secret, which the reply must not confirm in prose either."""

    choice: str = ""
    """`choose`: any of `options` is correct and becomes binding; `recall`, `misquote`: refer back
    to it."""

    options: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    """Words that any rewording of the line must keep."""

    query: Mapping[str, Any] = field(default_factory=dict)
    """The question for the second derivation; contains no answer."""

    def led_in(self, lead: str) -> "Beat":
        """Return the beat with a lead-in before its line."""
        return replace(self, line=lead + self.line)

    def expectation(self) -> dict[str, Any]:
        """Return the data that the verifier needs beside the line, which states the claim."""
        return {
            "act": self.act, "value": list(self.value),
            "reasons": list(self.reasons), "about": self.about, "tells": self.tells,
            "guessed": self.guessed,
            "choice": self.choice, "options": list(self.options),
        }  # fmt: skip
