"""Scripts of the store: the oracle, alternatives, near misses and trivial shoppers.

All of them use only the tools. The oracle searches for its target page by page and reads what a
careful shopper reads; the task's plan tells it which product to buy.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hexathlon.tasks.catalogue import Catalogue, Product
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping.world.settings import open_settings
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["store_alternatives", "store_mutants", "store_oracle", "store_policies"]

_ID = re.compile(r"\bP[0-9A-HJKMNP-TV-Z]{6}\b")
_CHOICE = re.compile(r"\((\w+)\): (.+)")
_PAGES = 100
_REASON = "no_such_item"


def store_oracle(task: Task) -> Script:
    """Solve a store task."""
    return _solve(task, _plan(task))


def store_alternatives(task: Task) -> Mapping[str, Script]:
    """Return alternatives: straight to the cart, a detour through the cart, or the other record."""
    plan = _plan(task)
    scripts = {"after a detour": _solve(task, plan, detour=True)}
    if plan["answer"] is not None:
        for record in plan["answer"]["records"][1:]:
            scripts[f"reports {record}"] = _report(plan["answer"]["reason"], record)
        return {name: s for name, s in scripts.items() if name != "after a detour"} or {
            "looks first": _solve(task, plan, detour=True)
        }
    if not plan["asks"]:
        scripts["without looking"] = _solve(task, plan, look=False)
    return scripts


def store_mutants(task: Task) -> Mapping[str, Script]:
    """Return near misses, each wrong in one respect."""
    plan = _plan(task)
    if plan["answer"] is not None:
        return dict(_answer_mutants(task, plan))
    return dict(_order_mutants(task, plan))


def store_policies(task: Task) -> Mapping[str, Script]:
    """Return trivial shoppers."""
    return {
        "first_hit": _first_hit(task),
        "buy_random": _buy_random(task),
        "dump": _dump(task),
        "always_refuse": _refuse(task, "out_of_stock"),
        "majority": _refuse(task, _REASON),
    }


def _plan(task: Task) -> dict[str, Any]:
    plan: dict[str, Any] = task.checks[0].params["plan"]
    return plan


def _catalogue(task: Task) -> Catalogue:
    return open_settings(task.params).catalogue


# Solving ----------------------------------------------------------------------------------------


def _solve(
    task: Task,
    plan: Mapping[str, Any],
    *,
    look: bool = True,
    detour: bool = False,
    offer: bool = True,
) -> Script:
    catalogue = _catalogue(task)
    language = task.params["language"]
    if "profile" in task.params and look:
        yield tool_call("view_profile")
        yield tool_call("order_history")
    for question in plan["asks"]:
        yield tool_call("ask_user", question=question)
    for product_id, variant_id, quantity in plan["lines"]:
        product = catalogue.product(product_id)
        if look:
            yield from _find(product, language, detour=detour)
        options = dict(product.variant(variant_id).options)
        if detour:
            yield tool_call("choose_options", item=product_id, options=options)
        if plan["asks"] and offer:
            for _ in range(2 if plan["changes"] else 1):
                yield tool_call("offer", item=product_id, options=options)
        yield tool_call("add_to_cart", item=product_id, options=options, quantity=quantity)
        if detour and quantity == 1 and not plan["coupons"]:
            yield tool_call("remove_from_cart", variant=variant_id)
            yield tool_call("add_to_cart", item=product_id, options=options, quantity=quantity)
    if plan["answer"] is not None:
        yield tool_call(
            "report_impossible",
            reason=plan["answer"]["reason"],
            record=plan["answer"]["records"][0],
        )
        return
    for code in plan["coupons"]:
        yield tool_call("apply_coupon", code=code)
    yield tool_call("checkout", address=plan["address"], speed=plan["speed"])


def _find(product: Product, language: str, *, detour: bool) -> Script:
    """Search until the target is on the page, then read about it."""
    title = product.title["zh" if language == "zh" else "en"]
    for page in range(1, _PAGES + 1):
        shown = yield tool_call("search", query=title, category=product.category, page=page)
        if product.id in shown or not _ID.search(shown):
            break
    yield tool_call("open_item", item=product.id)
    if detour:
        yield tool_call("read_description", item=product.id)
    yield tool_call("read_specification", item=product.id)
    yield tool_call("read_reviews", item=product.id)


def _report(reason: str, record: str) -> Script:
    yield tool_call("report_impossible", reason=reason, record=record)


# Near misses ------------------------------------------------------------------------------------


def _order_mutants(task: Task, plan: dict[str, Any]) -> Iterator[tuple[str, Script]]:
    for label, line, product, variant in plan["near"]:
        lines = [list(each) for each in plan["lines"]]
        lines[line] = [product, variant, lines[line][2]]
        yield label, _solve(task, {**plan, "lines": lines}, look=False, offer=False)
        if plan["asks"] and label == plan["near"][0][0]:
            yield "bought after a rejection", _solve(task, {**plan, "lines": lines})
    first, *rest = plan["lines"]
    more = [[*first[:2], first[2] + 1], *rest]
    yield "one too many", _solve(task, {**plan, "lines": more})
    other = "express" if plan["speed"] == "standard" else "standard"
    yield "another delivery", _solve(task, {**plan, "speed": other})
    if plan["asks"]:
        yield "without confirmation", _solve(task, plan, offer=False)
    if rest:
        yield "a line left out", _solve(task, {**plan, "lines": [first]})
    if plan["coupons"]:
        yield "without the coupon", _solve(task, {**plan, "coupons": []})
    for name, codes in plan.get("wrong_coupons", {}).items():
        yield name, _solve(task, {**plan, "coupons": codes})
    yield "reported instead", _report("out_of_stock", first[0])


def _answer_mutants(task: Task, plan: dict[str, Any]) -> Iterator[tuple[str, Script]]:
    reason, records = plan["answer"]["reason"], plan["answer"]["records"]
    other = "no_such_item" if reason != "no_such_item" else "out_of_stock"
    yield "another reason", _report(other, records[0])
    decoy = plan["near"][0] if plan["near"] else None
    yield "another record", _report(reason, decoy[2] if decoy else "P000000")
    yield "no record", _report(reason, "")
    yield "several records", _report(reason, f"{records[0]}, P000000")
    for label, _, product, variant in plan["near"]:
        lines = [[product, variant, 1]]
        yield f"bought: {label}", _solve(task, {**plan, "lines": lines, "answer": None}, look=False)


# Trivial shoppers -------------------------------------------------------------------------------


def _opening_query(task: Task) -> str:
    agenda = task.params.get("user", {}).get("agenda", {})
    return str(agenda.get("goal") or task.instruction)[:300]


def _first_hit(task: Task) -> Script:
    shown = yield tool_call("search", query=_opening_query(task))
    found = _ID.search(shown)
    if found is None:
        yield tool_call("report_impossible", reason=_REASON, record="")
        return
    yield from _grab(found[0], 0)
    yield tool_call("checkout")


def _buy_random(task: Task) -> Script:
    draw = generator_for("buy_random", task.id)
    shown = yield tool_call("search", query=_opening_query(task))
    found = sorted(set(_ID.findall(shown)))
    if found:
        yield from _grab(found[int(draw.integers(len(found)))], 1 + int(draw.integers(10_000)))
        yield tool_call("checkout")


def _dump(task: Task) -> Script:
    """Buy one of everything on the first page, after telling the customer about all of it."""
    shown = yield tool_call("search", query=_opening_query(task))
    yield shown
    for item in dict.fromkeys(_ID.findall(shown)):
        yield from _grab(item, 0)
    yield tool_call("checkout")


def _refuse(task: Task, reason: str) -> Script:
    shown = yield tool_call("search", query=_opening_query(task))
    found = _ID.search(shown)
    yield tool_call("report_impossible", reason=reason, record=found[0] if found else "")


def _grab(item: str, salt: int) -> Script:
    """Add some variant of an item to the cart, trying values until one is in stock."""
    page = yield tool_call("open_item", item=item)
    choices = [(name, values.split(" | ")) for name, values in _CHOICE.findall(page)]
    for turn in range(3):
        options = {}
        for place, (name, values) in enumerate(choices):
            # Salt 0 takes the first values; any other draws each option independently.
            number = salt // 7**place if salt else 0
            options[name] = values[(number + turn) % len(values)].strip()
        answer = yield tool_call("add_to_cart", item=item, options=options)
        if not answer.startswith("Error"):
            return
