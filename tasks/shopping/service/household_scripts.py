"""Scripts for households: oracle, alternatives, near misses and trivial shoppers."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping.world.household.goods import KINDS
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from hexathlon.tasks.tool_calls import tool_call

__all__ = [
    "household_alternatives", "household_calls", "household_mutants", "household_oracle",
    "household_policies",
]  # fmt: skip

_Call = tuple[str, dict[str, Any]]


def household_calls(plans: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of calls of the oracle."""
    return 1 + sum(len(plan["looks"]) + len(plan["actions"]) + 1 for plan in plans)


def household_oracle(task: Task) -> Script:
    """Read the rules, and for each request look, act and finish."""
    return _played(task)


def household_alternatives(task: Task) -> Mapping[str, Script]:
    """Return the month without look-ups, and with the lines of orders in another order."""
    return {
        "without looking": _played(task, look=False),
        "lines reversed": _played(task, look=False, backwards=True),
    }


def household_mutants(task: Task) -> Mapping[str, Script]:
    """Return near misses: the actions of one request replaced, or a wrong remainder told."""
    found: dict[str, Script] = {}
    for number, plan in enumerate(_plans(task)):
        for label, calls in plan["wrong"]:
            found[f"request {number + 1}: {label}"] = _played(
                task, look=False, wrong=(number, [(name, arguments) for name, arguments in calls])
            )
    last = len(_plans(task)) - 1
    found["wrong remainder"] = _played(task, look=False, off=(last, 1))
    found["last request skipped"] = _played(task, look=False, stop=last)
    return found


def household_policies(task: Task) -> Mapping[str, Script]:
    """Return trivial shoppers."""
    return {
        "first_hit": _named(task, lambda offers, _: min(offers, key=lambda o: str(o["id"]))),
        "buy_random": _named(task, lambda offers, draw: offers[int(draw.integers(len(offers)))]),
        "bag_of_words": _named(task, lambda offers, _: min(offers, key=lambda o: int(o["cents"]))),
        "majority": _finishing(task, []),
        "always_refuse": _finishing(
            task, [("decline", {"reason": "over_budget", "record": "budget"})]
        ),
        "dump": _finishing(task, [("place_order", {"lines": _first_of_all(task)})]),
    }


def _plans(task: Task) -> Sequence[Mapping[str, Any]]:
    plans: Sequence[Mapping[str, Any]] = task.checks[0].params["plans"]
    return plans


def _played(
    task: Task,
    *,
    look: bool = True,
    backwards: bool = False,
    wrong: tuple[int, list[_Call]] | None = None,
    off: tuple[int, int] = (0, 0),
    stop: int = 99,
) -> Script:
    if look:
        yield tool_call("read_rules")
    for number, plan in enumerate(_plans(task)):
        if number == stop:
            return
        actions = [(name, arguments) for name, arguments in plan["actions"]]
        if wrong is not None and wrong[0] == number:
            actions = wrong[1]
        looks = [(name, arguments) for name, arguments in plan["looks"]] if look else []
        for name, arguments in [*looks, *actions]:
            if backwards and name == "place_order":
                arguments = {"lines": arguments["lines"][::-1]}
            yield tool_call(name, **arguments)
        left = plan["left"] + (off[1] if number == off[0] else 0)
        yield tool_call("finish_request", left_cents=left)


def _finishing(task: Task, before: Sequence[_Call]) -> Script:
    budget = _budget(task)
    for _ in task.params["requests"]:
        for name, arguments in before:
            yield tool_call(name, **arguments)
        yield tool_call("finish_request", left_cents=budget)


def _named(task: Task, choose: Any) -> Script:
    """Order one pack of each kind that a request names, chosen without reading anything."""
    draw = generator_for("random household shopper", task.id)
    offers = [record for table, _, record in task.params["records"] if table == "offers"]
    left = _budget(task)
    for request in task.params["requests"]:
        lines = []
        for kind in KINDS.values():
            own = [offer for offer in offers if offer["kind"] == kind.slug]
            if own and kind.name(task.params["language"]) in request["says"]:
                offer = choose(own, draw)
                lines.append(f"{offer['id']} x 1")
                left -= offer["cents"]
        if lines:
            yield tool_call("place_order", lines=lines)
            yield tool_call("place_order", lines=lines)
        yield tool_call("finish_request", left_cents=left)


def _first_of_all(task: Task) -> list[str]:
    first: dict[str, str] = {}
    for table, key, record in task.params["records"]:
        if table == "offers":
            first.setdefault(record["kind"], key)
    return list(first.values())


def _budget(task: Task) -> int:
    return next(
        int(record["cents"]) for table, _, record in task.params["records"] if table == "budget"
    )
