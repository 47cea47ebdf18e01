"""Shopping constraints: a shopper's typed, comparable conditions on a product.

A constraint states a condition, never the products that satisfy it. It is evaluated in
`hexathlon.tasks.catalogue.matching` and phrased in `phrases`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

__all__ = ["Constraint", "ConstraintKind", "Operator"]

ConstraintKind = Literal[
    "category",
    "attribute",
    "specification",
    "review",
    "option",
    "price",
    "rating",
    "seller",
    "shipping",
    "returns",
]
Operator = Literal["==", "<=", ">="]


@dataclass(frozen=True, slots=True)
class Constraint:
    """A condition on a purchase.

    | kind | name | op | value |
    |---|---|---|---|
    | category | `category`, `kind` | == | slug |
    | attribute | `brand`, `series`, or an attribute shown in title or features | any | slug |
    | specification | an attribute shown only in the specification table | any | slug |
    | review | an attribute revealed only in reviews | any | slug |
    | option | an option of the category | == | slug |
    | price | `price` | <= or >= | integer cents of the chosen variant |
    | rating | `rating` | >= | tenths of a star: 45 is 4.5 |
    | seller | `seller` | == | the seller's id |
    | shipping | `days` | <= | days until delivery |
    | returns | `days` | >= | days in which the goods may be returned |
    """

    kind: ConstraintKind
    name: str
    op: Operator
    value: str | int
    """A slug for named values (ordered ones compare by rank), an integer for numbers."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(ConstraintKind):
            raise ValueError(f"{self.kind!r} is not a kind of constraint")
        if self.op not in get_args(Operator):
            raise ValueError(f"{self.op!r} is not an operator; expected ==, <= or >=")

    def as_json(self) -> dict[str, str | int]:
        """Return a plain mapping that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Constraint":
        """Rebuild a constraint from `as_json`."""
        return cls(record["kind"], record["name"], record["op"], record["value"])
