"""Scripts for conversations: oracle, alternatives, near misses and trivial clerks."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["talk_alternatives", "talk_calls", "talk_mutants", "talk_oracle", "talk_policies"]

_Call = tuple[str, dict[str, Any]]


def talk_calls(plan: Mapping[str, Any]) -> int:
    """Return the number of calls of the oracle."""
    return len(plan["looks"]) + len(plan["actions"]) + 1


def talk_oracle(task: Task) -> Script:
    """Look everything up, hear the customer out, book, and close the case."""
    return _played(task, _plan(task)["actions"], _plan(task)["net"], look=True)


def talk_alternatives(task: Task) -> Mapping[str, Script]:
    """Return the bookings without look-ups, and in the opposite order where that is possible."""
    plan = _plan(task)
    return {
        "without looking": _played(task, plan["actions"], plan["net"]),
        "opposite order": _played(task, plan["actions"][::-1], plan["net"]),
    }


def talk_mutants(task: Task) -> Mapping[str, Script]:
    """Return near misses: one thing overlooked, one booking left out, a wrong amount told."""
    plan = _plan(task)
    found = {
        f"overlooked: {label}": _played(task, calls, net) for label, calls, net in plan["wrong"]
    }
    for place, (name, _) in enumerate(plan["actions"]):
        if name != "guide_customer":
            left = [*plan["actions"][:place], *plan["actions"][place + 1 :]]
            found[f"left out: {name} ({place})"] = _played(task, left, plan["net"])
    found["a cent more told"] = _played(task, plan["actions"], plan["net"] + 1)
    return found


def talk_policies(task: Task) -> Mapping[str, Script]:
    """Return trivial clerks."""
    orders = [record for table, _, record in task.params["records"] if table == "orders"]
    draw = generator_for("random desk clerk", task.id)
    some = orders[int(draw.integers(len(orders)))]
    return {
        "first_hit": _played(task, [_whole(orders[0])], _price(orders[0])),
        "buy_random": _played(task, [_whole(some)], _price(some)),
        "majority": _played(task, [], 0),
        "always_refuse": _played(
            task,
            [("decline", {"reason": "not_due", "record": o["id"], "rule": "R1"}) for o in orders],
            0,
        ),
        "dump": _played(task, [_whole(o) for o in orders], sum(_price(o) for o in orders)),
    }


def _whole(order: Mapping[str, Any]) -> _Call:
    lines = [line["line"] for line in order["lines"]]
    return "refund_lines", {
        "order": order["id"], "lines": lines, "gift_cents": 0, "card_cents": _price(order)
    }  # fmt: skip


def _price(order: Mapping[str, Any]) -> int:
    return sum(int(line["cents"]) for line in order["lines"])


def _plan(task: Task) -> Mapping[str, Any]:
    plan: Mapping[str, Any] = task.checks[0].params["plans"][0]
    return plan


def _played(task: Task, calls: Sequence[Any], net: int, *, look: bool = False) -> Script:
    for name, arguments in _plan(task)["looks"] if look else ():
        yield tool_call(name, **arguments)
    for name, arguments in calls:
        yield tool_call(name, **arguments)
    yield tool_call("finish_case", net_cents=net)
