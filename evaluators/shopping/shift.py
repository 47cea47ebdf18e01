"""`shopping_shift`: every record right whenever a case was closed, and nothing else changed.

Each close holds the records that changed since the former one, so the records at a close are those
of all closes up to it. A case is right if no record has become wrong with it and its refusals and
its net amount are right; the partial score is the share of such cases.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.shopping.world.tables import same
from hexathlon.tasks.task import Task

__all__ = ["shopping_shift"]

_MOST = 20
"""Largest number of wrong records named in the evidence of a case."""


def shopping_shift(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Grade a day.

    Args:
        task: Not used; everything expected is in `params`.
        params: `closes`, for each case `changes`, `declines` and `net_cents`.
        final_state: The world's `closes` and `outcome`.
        transcript: Not used.
    """
    expected: Sequence[Mapping[str, Any]] = params["closes"]
    closes: Sequence[Mapping[str, Any]] = final_state.get("closes", ())
    due: dict[str, Any] = {}
    actual: dict[str, Any] = {}
    former: set[str] = set()
    right, evidence = 0, []
    met = {"records": True, "declines": True, "amounts": True}
    for number, wanted in enumerate(expected):
        due.update(wanted["changes"])
        if number >= len(closes):
            continue
        found = closes[number]
        actual.update(found["changes"])
        wrong = {
            key
            for key in {*due, *actual}
            if key not in due or key not in actual or not same(due[key], actual[key])
        }
        parts = {
            "records": not wrong,
            "declines": same(found["declines"], wanted["declines"]),
            "amounts": found["net_cents"] == wanted["net_cents"],
        }
        met = {name: met[name] and held for name, held in parts.items()}
        right += bool(wrong <= former and parts["declines"] and parts["amounts"])
        if not all(parts.values()):
            named = sorted(wrong - former)[:_MOST]
            evidence.append({"case": number + 1, "records": named, **_missed(parts)})
        former = wrong
    terms = {
        **met,
        "ended": final_state.get("outcome") == "ended" and len(closes) == len(expected),
    }
    faults = [name for name, held in terms.items() if not held]
    return Verdict(
        score=float(all(terms.values())),
        partial=right / len(expected),
        terms={name: float(held) for name, held in terms.items()},
        evidence={"cases": evidence, "faults": faults},
    )


def _missed(parts: Mapping[str, bool]) -> dict[str, bool]:
    return {f"{name}_wrong": True for name, held in parts.items() if not held and name != "records"}
