"""Labels of judges, and the decision on one criterion.

A decision has a value only if the judge answered with one of the offered labels and quoted its
evidence. Anything else is *unscored*, with its reason; it is never turned into a number.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

__all__ = ["ABSTAIN", "LABELS", "Decision", "LabelSource", "Why", "majority"]

LABELS = ("not_met", "met")
"""Default labels of a criterion without custom choices, from worst to best."""

ABSTAIN = "cannot_tell"
"""Always a valid answer; has no value and is counted."""

LabelSource = Literal["code", "model", "cache", "panel"]

Why = Literal[
    "",
    "abstained",
    "malformed",
    "off_menu",
    "no_evidence",
    "contradiction",
    "refused",
    "provider",
    "swayed",
    "unstable",
    "tied",
]
"""Why there is no value: the judge could not tell, its reply could not be parsed, its label is not
in the menu, its quote is not in the transcript, it contradicted itself, it refused, its server
failed, it missed planted questions whose answers are known, or a panel was split. `unstable` occurs
only in files of earlier versions, which judged some transcripts twice."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision on one criterion of one transcript."""

    criterion: str
    label: str | None
    """A label of the criterion's menu, `cannot_tell`, or None if no label could be read."""

    value: float | None
    """0 to 1 along the menu from worst to best; None exactly if nothing was decided."""

    quote: str = ""
    """Words of the transcript that support the label; empty if decided by code or undecided."""

    turn: int | None = None
    """Index of the message that contains the quote."""

    why: Why = ""
    """Why there is no value; empty if there is one."""

    source: LabelSource = "model"
    votes: tuple[str | None, ...] = ()
    """Labels of a panel's members, in their order."""

    retries: int = 0
    """Number of repeated questions after unreadable replies."""

    faults: tuple[str, ...] = ()
    """Faults of the unreadable replies, first to last."""

    flags: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.why):
            raise ValueError("a decision has a value or a reason why not, never both or neither")

    def as_json(self) -> dict[str, Any]:
        """Return the decision as plain JSON, without empty fields."""
        data = {name: value for name, value in asdict(self).items() if value not in ((), {}, "")}
        for name in ("votes", "faults", "flags"):
            if name in data:
                data[name] = list(data[name])
        return data


def majority(labels: Sequence[str | None]) -> tuple[str | None, float]:
    """Return a panel's label and its dispersion.

    Members without a label, and those that cannot tell, abstain. The label with most votes wins if
    it is unique; otherwise there is none. Dispersion is 1 - (largest share) among the votes cast,
    0 if there are none.

    >>> majority(["met", "met", "not_met", None])
    ('met', 0.33333333333333337)
    """
    cast = Counter(label for label in labels if label is not None and label != ABSTAIN)
    if not cast:
        return None, 0.0
    (first, most), *rest = cast.most_common()
    dispersion = 1.0 - most / cast.total()
    return (None if rest and rest[0][1] == most else first), dispersion
