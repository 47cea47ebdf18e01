"""The words in which judges decide, and what one decision on one criterion is.

A decision carries a value only where the judge answered with a label of the menu and quoted what it
rests on. Everything else is *unscored*, with its reason; it is never turned into a number.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = ["ABSTAIN", "LABELS", "Decision", "Source", "Why", "majority"]

LABELS = ("not_met", "met")
"""Labels of a criterion without choices of its own, from worst to best."""

ABSTAIN = "cannot_tell"
"""May always be answered; has no value and is counted."""

Source = Literal["code", "model", "cache", "panel"]

Why = Literal[
    "",
    "abstained",
    "malformed",
    "off_menu",
    "no_evidence",
    "contradiction",
    "refused",
    "provider",
    "unstable",
    "tied",
]
"""Why there is no value: the judge could not tell, its reply was no reply, its label was none of
the menu, its quote does not stand in the transcript, it said two things at once, it refused, its
server failed, hiding text that speaks to the judge changed the verdict and neither reading could be
had, or a panel was split."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided on one criterion of one transcript."""

    criterion: str
    label: str | None
    """A label of the criterion's menu, `cannot_tell`, or None where no label could be read."""

    value: float | None
    """0 to 1 along the menu from worst to best; None exactly where nothing was decided."""

    quote: str = ""
    """Words of the transcript that the label rests on; empty where code decided or nothing was."""

    turn: int | None = None
    """Index of the message that holds the quote."""

    why: Why = ""
    """Why there is no value; empty where there is one."""

    source: Source = "model"
    votes: tuple[str | None, ...] = ()
    """Labels of a panel's members, in their order."""

    retries: int = 0
    """Further questions asked because a reply could not be read."""

    faults: tuple[str, ...] = ()
    """What was wrong with each reply that could not be read, first to last."""

    flags: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.why):
            raise ValueError("a decision has a value or a reason why not, never both or neither")

    def as_json(self) -> dict[str, Any]:
        """Return the decision as plain JSON, without what is empty."""
        data = {name: value for name, value in asdict(self).items() if value not in ((), {}, "")}
        for name in ("votes", "faults", "flags"):
            if name in data:
                data[name] = list(data[name])
        return data


def majority(labels: Sequence[str | None]) -> tuple[str | None, float]:
    """Return a panel's label and its dispersion.

    Members without a label, and those that cannot tell, abstain. The label with most votes wins if
    it alone has most; otherwise there is none. Dispersion is 1 - (largest share) among the votes
    cast, 0 where none was.

    >>> majority(["met", "met", "not_met", None])
    ('met', 0.33333333333333337)
    """
    cast = Counter(label for label in labels if label is not None and label != ABSTAIN)
    if not cast:
        return None, 0.0
    (first, most), *rest = cast.most_common()
    dispersion = 1.0 - most / cast.total()
    return (None if rest and rest[0][1] == most else first), dispersion
