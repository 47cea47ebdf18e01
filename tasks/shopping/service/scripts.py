"""Scripts of the service desk: oracle, alternatives, near misses and trivial clerks."""

import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping.world.desk.policy import DeskPolicy, paragraph_of
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from hexathlon.tasks.tool_calls import tool_call

__all__ = [
    "service_alternatives",
    "service_mutants",
    "service_one_sided",
    "service_oracle",
    "service_policies",
    "service_thought",
]

_ORDER = re.compile(r"\bO\d{8}\b")
_STANDING = re.compile(rf"{_ORDER.pattern}  \w+")
_MAIL = re.compile(r"[\w.]+@example\.com")
_NAMED = re.compile(r"(\w+ \w+|\w+) ?[(（](?:postcode|邮编) (\d{5})[)）]")
_PAYMENT = re.compile(r"\b(?:card|gift)-\d{4}\b")


def _decline(reason: str, record: str, paragraph: int) -> str:
    return tool_call("report_impossible", reason=reason, record=record, paragraph=paragraph)


def _plan(task: Task) -> dict[str, Any]:
    plan: dict[str, Any] = task.checks[0].params["plan"]
    return plan


def service_oracle(task: Task) -> Script:
    """Solve a service case."""
    return _solve(_plan(task))


def service_thought(task: Task, heard: Sequence[str], action: str) -> str:
    """Quote the grounds for an action: the goods in an order, the list of orders, the policy.

    A clerk who declines goes through the policy up to the paragraph that applies.
    """
    plan, call = _plan(task), json.loads(action)
    read = [line for seen in heard for line in seen.splitlines()]
    quotes = []
    if (standing := _STANDING.match(heard[-1])) and not plan["named"]:
        goods = _goods_in(heard[-1], plan["goods"])
        quotes += [goods, standing[0]] if goods else [f"{plan['goods']}?"]
    if call["name"] == "show_order":
        order = call["arguments"]["order"]
        entry = rf" *\d+\. ({order}  \w+)" if plan["named"] else rf"( *\d+\. {order})"
        found = [match[1] for match in (re.match(entry, line) for line in read) if match]
        quotes.append(found[0] if found else f"{order}?")
    if call["name"] == "report_impossible":
        number = call["arguments"]["paragraph"]
        numbered = [(line, re.match(r"(\d+)\. ", line)) for line in read]
        quotes += [line for line, found in numbered if found and int(found[1]) <= number]
    return "\n".join(quotes)


def _goods_in(order: str, goods: str) -> str:
    """Return the title of an order's line from the name of the goods onwards; empty if absent."""
    titles = [line.split(" (")[0] for line in order.splitlines() if goods in line]
    return titles[0][titles[0].index(goods) :] if titles else ""


def service_alternatives(task: Task) -> Mapping[str, Script]:
    """Return the solution without look-ups, and with the customer found by name."""
    plan = _plan(task)
    return {
        "straight away": _solve(plan, look=False),
        "by name": _solve(plan, by_name=True),
    }


def service_mutants(task: Task) -> Mapping[str, Script]:
    """Return near misses, each wrong in one respect."""
    plan = _plan(task)
    return dict(_declined_wrongly(plan) if plan["answer"] else _served_wrongly(plan))


def service_policies(task: Task) -> Mapping[str, Script]:
    """Return trivial clerks."""
    return {
        "first_hit": _first(task, "cancel"),
        "buy_random": _random(task),
        "dump": _everything(task),
        "first_number": _first(task, "cancel", by=min),
        "always_refuse": _first(task, "window_passed"),
        "majority": _first(task, "already_shipped"),
    }


def service_one_sided(task: Task) -> Mapping[str, Script]:
    """Return clerks who find the order and understand the request, but never apply the policy.

    One does whatever is asked, the other declines for the reason that the action is most often
    declined for. Each solves about half of the twins and never both of a pair.
    """
    plan = _plan(task)
    action, arguments = plan["actions"][0]
    reason = _USUAL_REASONS[action]
    record = str(arguments["order"])
    if reason == "out_of_stock":
        record = arguments["variant"]
    elif reason == "window_passed":
        record = f"{record}/{arguments['lines'][0]}"
    policy = DeskPolicy.from_json(task.params["policy"])
    answer = {
        "reason": reason,
        "records": [record],
        "paragraph": paragraph_of(policy, action, reason),
    }
    return {
        "always_does": _solve({**plan, "answer": None}),
        "always_declines": _solve({**plan, "answer": answer}),
    }


_USUAL_REASONS = {
    "cancel_order": "already_shipped",
    "change_address": "already_shipped",
    "change_item": "already_shipped",
    "return_items": "window_passed",
    "exchange_item": "out_of_stock",
    "refund_delivery": "not_late",
}


def _solve(
    plan: Mapping[str, Any],
    *,
    look: bool = True,
    by_name: bool = False,
    propose: bool = True,
) -> Script:
    for question in plan["asks"]:
        yield tool_call("ask_user", question=question)
    if look:
        yield tool_call("read_policy")
        who = plan["customer"]
        if by_name:
            yield tool_call("find_customer", name=who["name"], postcode=who["postcode"])
        else:
            yield tool_call("find_customer", email=who["email"])
        shown = yield tool_call("show_customer", customer=who["id"])
        for order in _looked_through(plan, shown):
            yield tool_call("show_order", order=order)
    if plan["answer"] is not None:
        answer = plan["answer"]
        yield _decline(answer["reason"], answer["records"][0], answer["paragraph"])
        return
    for name, arguments in plan["actions"]:
        if plan["asks"] and propose:
            yield tool_call("propose", action=name, arguments=arguments)
        yield tool_call(name, **arguments)
    if not plan["actions"]:
        yield tool_call("finish_case")  # warned
    yield tool_call("finish_case")


def _looked_through(plan: Mapping[str, Any], shown: str) -> Iterator[str]:
    """Yield the orders that a careful clerk opens: those named, otherwise all in order."""
    if plan["named"]:
        yield from plan["named"]
        return
    sought = {arguments["order"] for _, arguments in plan["actions"]}
    for order in _ORDER.findall(shown):
        yield order
        sought.discard(order)
        if not sought:
            return


def _served_wrongly(plan: dict[str, Any]) -> Iterator[tuple[str, Script]]:
    yield "nothing done", _solve({**plan, "actions": []})
    for label, actions in plan["wrong"].items():
        yield label, _solve({**plan, "actions": actions}, propose=False)
    refused = {"reason": "window_passed", "records": [plan["orders"][0] + "/1"], "paragraph": 4}
    yield "declined", _solve({**plan, "answer": refused})
    if plan["extra"] is not None:
        yield "one thing more", _solve({**plan, "actions": [*plan["actions"], plan["extra"]]})
    if plan["asks"]:
        yield "without confirmation", _solve(plan, propose=False)
        first = next(iter(plan["wrong"].values()), None)
        if first:
            yield "after a refusal", _solve({**plan, "actions": first})


def _declined_wrongly(plan: dict[str, Any]) -> Iterator[tuple[str, Script]]:
    answer = plan["answer"]
    other = "not_owner" if answer["reason"] != "not_owner" else "already_shipped"
    yield "another reason", _solve({**plan, "answer": {**answer, "reason": other}})
    yield "another record", _solve({**plan, "answer": {**answer, "records": [plan["bystander"]]}})
    paragraph = answer["paragraph"] % 8 + 1
    yield "another paragraph", _solve({**plan, "answer": {**answer, "paragraph": paragraph}})
    yield "no record", _solve({**plan, "answer": {**answer, "records": [""]}})
    yield "done all the same", _solve({**plan, "answer": None})
    yield "nothing said", _solve({**plan, "answer": None, "actions": []})
    if plan["extra"] is not None:
        extra = [plan["extra"]]
        yield "something else done", _solve({**plan, "answer": None, "actions": extra})


def _orders(task: Task) -> Generator[str, str, str]:
    """Find the customer, if the opening identifies them, and yield the list of their orders."""
    text = task.instruction
    mail, named = _MAIL.search(text), _NAMED.search(text)
    who = {"name": named[1], "postcode": named[2]} if named else {}
    found = yield tool_call("find_customer", **({"email": mail[0]} if mail else who))
    shown = yield tool_call("show_customer", customer=found)
    return f"{text}\n{shown}"


def _first(
    task: Task, what: str, by: Callable[[Sequence[str]], str] = lambda orders: orders[0]
) -> Script:
    shown = yield from _orders(task)
    order = by(_ORDER.findall(shown) or [""])
    if what == "cancel":
        yield tool_call("cancel_order", order=order, reason="not_needed")
        yield tool_call("finish_case")
    else:
        line = "/1" if what == "window_passed" else ""
        yield _decline(what, order + line, 4)


def _random(task: Task) -> Script:
    draw = generator_for("random clerk", task.id)
    shown = yield from _orders(task)
    orders = _ORDER.findall(shown) or [""]
    payments = _PAYMENT.findall(shown) or [""]
    order = orders[int(draw.integers(len(orders)))]
    refund = payments[int(draw.integers(len(payments)))]
    # One of the desk's six writes; three of them need information that a clerk must look up first.
    match int(draw.integers(6)):
        case 0:
            reason = ("not_needed", "mistake")[int(draw.integers(2))]
            yield tool_call("cancel_order", order=order, reason=reason)
        case 1:
            yield tool_call("return_items", order=order, lines=["1"], refund_to=refund)
        case 2:
            cents = 390 + 100 * int(draw.integers(6))
            yield tool_call("refund_delivery", order=order, cents=cents, refund_to=refund)
        case 3:
            yield tool_call("exchange_item", order=order, line="1", variant="P000000-02")
        case 4:
            yield tool_call("change_item", order=order, line="1", variant="P000000-02")
        case _:
            yield tool_call("change_address", order=order, street="1", city="A", postcode="10000")
    yield tool_call("finish_case")


def _everything(task: Task) -> Script:
    shown = yield from _orders(task)
    yield shown
    for order in dict.fromkeys(_ORDER.findall(shown)):
        yield tool_call("cancel_order", order=order, reason="mistake")
        for payment in dict.fromkeys(_PAYMENT.findall(shown)):
            yield tool_call("return_items", order=order, lines=["1"], refund_to=payment)
    yield tool_call("finish_case")
