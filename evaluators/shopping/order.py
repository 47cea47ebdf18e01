"""`shopping_order`: the final order ledger equals the request, and nothing else changed.

The verdict's terms locate a failure: the share of the conditions on category, attributes, options
and price that the purchase meets, and `fault_…` terms, 1 if the fault occurred: a wrong category,
attribute, option or price, personal facts ignored or overused, bought without opening the page,
bought after a rejection, bought without the required confirmation.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.catalogue.constraint import Constraint
from hexathlon.tasks.shopping.world.facts import GROUPS, group_of, holds_on
from hexathlon.tasks.shopping.world.tables import canonical, same
from hexathlon.tasks.task import Task

__all__ = ["FAULTS", "group_terms", "matched_lines", "shopping_order"]

FAULTS = (
    "category",
    "attribute",
    "option",
    "price",
    "personal_ignored",
    "personal_overused",
    "bought_unseen",
    "bought_after_rejection",
    "unconfirmed",
    "nothing_done",
    "other_change",
    "wrong_answer",
)
_ORDER_FIELDS = ("lines", "coupons", "address", "speed", "total_cents")
Line = Mapping[str, Any]


def shopping_order(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Grade a purchase, a service case or a reasoned refusal.

    Args:
        task: Not used; everything expected is in `params`.
        params: `orders`, `changes`, `answer` (`reason`, `records` of which any will do and, at
            the desk, `paragraph`) as required at the end; `wanted`, a list of conditions for each
            requested line; `lures`, conditions that personal facts suggest and the request
            overrides; `confirm`, whether purchases need an accepted offer.
        final_state: The final state of the environment's store or service world.
        transcript: Not used.
    """
    orders = [_ledger(order) for order in final_state.get("orders", ())]
    expected = [_ledger(order) for order in params.get("orders", ())]
    answer = final_state.get("answer")
    rules = _dialogue_faults(params, final_state)
    terms = {
        "ledger": _sorted(orders) == _sorted(expected),
        "unchanged": same(final_state.get("changes", {}), params.get("changes", {})),
        "answer": _answered(answer, params.get("answer")),
        "dialogue": not any(rules.values()),
        "ended": final_state.get("outcome") == "ended",
    }
    groups = group_terms(params, final_state)
    faults = {**_purchase_faults(params, final_state), **rules}
    acted = bool(orders) or answer is not None or bool(final_state.get("changes"))
    faults["nothing_done"] = not acted and not all(terms.values())
    faults["other_change"] = (
        acted
        and not (terms["ledger"] and terms["unchanged"])
        and not any(faults[name] for name in ("category", "attribute", "option", "price"))
    )
    faults["wrong_answer"] = answer is not None and not terms["answer"]
    values = {name: float(met) for name, met in terms.items()}
    return Verdict(
        score=float(all(terms.values())),
        partial=_partial(params, final_state, groups),
        terms={**values, **groups, **{f"fault_{name}": float(faults[name]) for name in FAULTS}},
        evidence={"faults": [name for name in FAULTS if faults[name]], "orders": len(orders)},
    )


def matched_lines(
    wanted: Sequence[Sequence[Mapping[str, Any]]], lines: Sequence[Line]
) -> list[Line | None]:
    """Assign to each requested line the purchased one that meets most of its conditions, once."""
    free = list(range(len(lines)))
    matched: list[Line | None] = []
    for wish in wanted:
        constraints = [Constraint.from_json(item["constraint"]) for item in wish]
        best = max(
            free,
            key=lambda i: sum(holds_on(lines[i]["facts"], c) for c in constraints),
            default=None,
        )
        matched.append(None if best is None else lines[best])
        if best is not None:
            free.remove(best)
    return matched


def group_terms(params: Mapping[str, Any], final_state: Mapping[str, Any]) -> dict[str, float]:
    """Return, for category, attribute, option and price, the share of conditions met."""
    met = dict.fromkeys(GROUPS, 0)
    total = dict.fromkeys(GROUPS, 0)
    requested = params.get("wanted", ())
    lines = matched_lines(requested, _lines(final_state))
    for wish, line in zip(requested, lines, strict=True):
        for item in wish:
            constraint = Constraint.from_json(item["constraint"])
            group = group_of(constraint)
            total[group] += 1
            met[group] += line is not None and holds_on(line["facts"], constraint)
    bought = all(line is not None for line in lines)
    return {name: met[name] / total[name] if total[name] else float(bought) for name in GROUPS}


def _partial(
    params: Mapping[str, Any], final_state: Mapping[str, Any], groups: Mapping[str, float]
) -> float | None:
    """Return the mean of the parts, reduced for buying more than requested."""
    requested = len(params.get("wanted", ()))
    if not requested:
        return None
    return sum(groups.values()) / len(GROUPS) * requested / max(requested, len(_lines(final_state)))


def _purchase_faults(params: Mapping[str, Any], final_state: Mapping[str, Any]) -> dict[str, bool]:
    faults = dict.fromkeys(FAULTS, False)
    requested = params.get("wanted", ())
    for wish, line in zip(requested, matched_lines(requested, _lines(final_state)), strict=True):
        if line is None:
            continue
        for item in wish:
            constraint = Constraint.from_json(item["constraint"])
            if not holds_on(line["facts"], constraint):
                faults[group_of(constraint)] = True
                faults["personal_ignored"] |= item.get("source") == "profile"
                faults["personal_overused"] |= _lured(params, constraint, line)
    opened = set(final_state.get("opened", ()))
    faults["bought_unseen"] = any(line["product"] not in opened for line in _lines(final_state))
    return faults


def _lured(params: Mapping[str, Any], missed: Constraint, line: Line) -> bool:
    """Whether the line follows a personal fact instead of the request."""
    lures = [Constraint.from_json(record) for record in params.get("lures", ())]
    same = (lure for lure in lures if (lure.kind, lure.name) == (missed.kind, missed.name))
    return any(holds_on(line["facts"], lure) for lure in same)


def _dialogue_faults(params: Mapping[str, Any], final_state: Mapping[str, Any]) -> dict[str, bool]:
    last: dict[str, bool] = {}
    for offer in final_state.get("offers", ()):
        last[str(offer["subject"])] = bool(offer["accepted"])
    subjects = [line["variant"] for line in _lines(final_state)]
    subjects += list(final_state.get("writes", ()))
    return {
        "bought_after_rejection": any(last.get(subject) is False for subject in subjects),
        "unconfirmed": bool(params.get("confirm"))
        and any(subject not in last for subject in subjects),
    }


def _answered(answer: Any, expected: Mapping[str, Any] | None) -> bool:
    """Whether the typed answer is the expected one; any of the expected records suffices."""
    if expected is None or not isinstance(answer, Mapping):
        return expected is None and answer is None
    right = all(answer.get(key) == expected.get(key) for key in ("reason", "paragraph"))
    return right and answer.get("record") in expected["records"]


def _lines(final_state: Mapping[str, Any]) -> list[Line]:
    return [line for order in final_state.get("orders", ()) for line in order["lines"]]


def _ledger(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return the business content of an order: no ids, no facts, lines in canonical order."""
    plain = {name: order.get(name) for name in _ORDER_FIELDS}
    plain["lines"] = sorted(
        [line["product"], line["variant"], int(line["quantity"])] for line in order["lines"]
    )
    plain["coupons"] = sorted(order.get("coupons") or ())
    return plain


def _sorted(orders: list[dict[str, Any]]) -> list[str]:
    return sorted(repr(canonical(order)) for order in orders)
