"""A spoken reply with its typed act, as the checks of prose read it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hexathlon.evaluators.roleplay import cues
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.text import fold

__all__ = ["SpokenAct"]


@dataclass(frozen=True)
class SpokenAct:
    """One reply with its typed act and what the character could know."""

    act: str
    """`say`, `answer`, `correct` or `refuse`; in games `offer`, `confront` or `speak`.

    The speakers of games may introduce numbers and guests themselves.
    """

    reply: str
    """Without the phrases that the rules of speech prescribe."""

    language: Language
    known: Sequence[str]
    """The card, and what the visitor has said."""

    line: str
    """The visitor's last words."""

    values: Sequence[str] = ()
    claims: Sequence[str] = ()
    reasons: Sequence[str] = ()
    about: str = ""
    text: str = field(init=False)
    """The folded reply, in English with contractions written out."""

    def __post_init__(self) -> None:
        text = fold(self.reply)
        object.__setattr__(self, "text", cues.expanded(text) if self.language == "en" else text)
