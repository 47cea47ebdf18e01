"""Scripts of a day at the counter: oracle, alternatives, near misses and trivial clerks."""

import re
from collections.abc import Collection, Generator, Iterator, Mapping
from typing import Any

from hexathlon.tasks.catalogue import open_catalogue
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.shift.counter import ShiftCounter
from hexathlon.tasks.shopping.world.shift.linked import LINKED, OF_ACCOUNTS, OF_ORDERS, owner_of
from hexathlon.tasks.shopping.world.shift.policy import PAGES
from hexathlon.tasks.shopping.world.tables import Record, Tables
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["rehearsed", "shift_alternatives", "shift_mutants", "shift_oracle", "shift_policies"]

_Call = tuple[str, dict[str, Any]]
_NAMED = re.compile(r"(?:I'm |我是)(\w+(?: \w+)?)(?:, postcode |，邮编)(\d{5})")
_ORDER = re.compile(r"\bO\d{8}\b")
_AT_ONCE = 6
"""Number of orders that `show_orders` shows."""


class _Clerk:
    """Plays the reference on a mirror of the day and repairs what the system did wrong.

    Args:
        params: Parameters of the day.
        truth: `closes` and `plans` of the check.
    """

    def __init__(self, params: Mapping[str, Any], truth: Mapping[str, Any]) -> None:
        where = params["catalogue"]
        self.mirror = ShiftCounter(params, open_catalogue(where["seed"], where["size"]))
        self._truth = truth
        self._due: dict[str, Any] = {}
        self._touched: list[str] = []
        self.affected: set[str] = set()
        """Records, as `table/key`, that were wrong when some case was about to be closed."""

    def calls(
        self,
        *,
        look: bool = True,
        check: str = "all",
        late_memos: bool = False,
        left: Collection[str] = (),
        wrong: tuple[int, int, list[_Call]] | None = None,
    ) -> Iterator[_Call]:
        """Yield the calls of a whole day.

        Args:
            look: Whether to look things up.
            check: What is set right before a case is closed: `all`, `case` (what belongs to the
                customers of the case), `orders` (orders, baskets and goodwill), or `none`.
            late_memos: Whether memos are read after the look-ups instead of before.
            left: Records, as `table/key`, that are not set right.
            wrong: Case, action and the calls that replace it.
        """
        if look:
            for page in PAGES:
                yield from self._made("read_policy", {"page": page})
        for number, plan in enumerate(self._truth["plans"]):
            self._due.update(self._truth["closes"][number]["changes"])
            looks = [(name, arguments) for name, arguments in plan["looks"]]
            memos: list[_Call] = [("read_memos", {})]
            for name, arguments in looks + memos if late_memos else memos + looks:
                if look:
                    yield from self._made(name, arguments)
            actions = [(name, arguments) for name, arguments in plan["actions"]]
            touched = list(left)
            if wrong is not None and wrong[0] == number:
                taken = actions[wrong[1]]
                touched += self._named_in([taken, *wrong[2]])
                actions[wrong[1] : wrong[1] + 1] = wrong[2]
            *before, last = actions
            for name, arguments in before:
                yield from self._made(name, arguments)
            if check != "none":
                yield from self._checked(before, {*touched, *self._unseen(number, check)}, look)
            yield from self._made(*last)

    def _made(self, name: str, arguments: dict[str, Any]) -> Iterator[_Call]:
        yield name, arguments
        try:
            self.mirror.call(name, arguments)
        except DeskProblem:
            pass

    def _named_in(self, calls: Collection[_Call]) -> Iterator[str]:
        """Yield the records that calls are about, and those that belong to them."""
        for _, arguments in calls:
            named = (arguments.get(name, "") for name in ("order", "record", "customer"))
            for key in (str(name).split("/")[0] for name in named):
                yield from (f"{table}/{key}" for table in (*OF_ORDERS, *OF_ACCOUNTS))
                order = self.mirror.tables.get("orders", key)
                if order is not None:
                    yield from (f"{table}/{order['customer']}" for table in OF_ACCOUNTS)

    def _unseen(self, number: int, check: str) -> Iterator[str]:
        """Yield the records that a clerk does not look at, by what is checked (see `calls`)."""
        if check == "all":
            return
        present = self.mirror.cases[number]["accounts"]
        tables = self.mirror.tables
        for table in (*OF_ORDERS, *OF_ACCOUNTS):
            for key in tables.keys(table):
                other = owner_of(tables, table, key) not in present
                if table in LINKED if check == "orders" else other:
                    yield f"{table}/{key}"

    def _checked(self, actions: list[_Call], left: Collection[str], look: bool) -> Iterator[_Call]:
        """Look at all records of the day so far and set right what differs."""
        named = [arguments["order"] for _, arguments in actions if "order" in arguments]
        self._touched = list(dict.fromkeys([*self._touched, *named]))
        if look:
            yield from self._shown(self._touched)
            for name, arguments in self._looks_at_linked():
                yield from self._made(name, arguments)
        for _ in range(6):
            self.affected |= {name for name, _, _ in self._wrong(())}
            repairs = [call for wrong in self._wrong(left) for call in _repair(*wrong)]
            if not repairs:
                return
            for name, arguments in repairs:
                yield from self._made(name, arguments)
            if look:
                orders = dict.fromkeys(a["order"] for _, a in repairs if "order" in a)
                yield from self._shown(list(orders))

    def _shown(self, orders: list[str]) -> Iterator[_Call]:
        for place in range(0, len(orders), _AT_ONCE):
            yield from self._made("show_orders", {"orders": orders[place : place + _AT_ONCE]})

    def _looks_at_linked(self) -> Iterator[_Call]:
        """Yield the look-ups of everything that belongs to the orders so far."""
        tables, state = self.mirror.tables, self.mirror.state
        served = dict.fromkeys(
            account for case in self.mirror.cases[: state.case + 1] for account in case["accounts"]
        )
        names = {(tables.get("customers", key) or {})["name"] for key in served}
        for key in tables.keys("customers"):
            account = tables.get("customers", key) or {}
            if account["name"] in names:
                yield "show_customer", {"customer": key}
            for order in account["orders"] if key in served else ():
                if (tables.get("orders", order) or {})["status"] == "pending":
                    yield "show_parcel", {"order": order}
        for order in self._touched:
            if tables.get("warranties", order):
                yield "show_warranty", {"order": order}
        if any(key.startswith("goodwill/") for key in self._due):
            yield "show_goodwill", {}

    def _wrong(self, left: Collection[str]) -> Iterator[tuple[str, Any, Any]]:
        """Yield records that differ from the reference; only orders and goodwill if any of them do.

        What belongs to an order follows it, so it is compared once the orders are right.
        """
        tables: Tables = self.mirror.tables
        found: list[tuple[str, Any, Any]] = []
        for table in (*OF_ORDERS, *OF_ACCOUNTS):
            base = tables.base.tables.get(table, {})
            known = dict.fromkeys([*base, *tables.keys(table)])
            agreed = (name for name in self._due if name.startswith(f"{table}/"))
            for key in known | dict.fromkeys(name.partition("/")[2] for name in agreed):
                name = f"{table}/{key}"
                due, actual = self._due.get(name, base.get(key)), tables.get(table, key)
                if name not in left and actual != due:
                    found.append((name, actual, due))
        first = [wrong for wrong in found if wrong[0].startswith(("orders/", "goodwill/"))]
        yield from first or found


def _repair(name: str, actual: Record | None, due: Record | None) -> Iterator[_Call]:
    """Yield the calls that turn one record into another."""
    table, _, key = name.partition("/")
    if table == "goodwill":
        yield "pay_goodwill", {"order": key, "cents": due["cents"] if due else 0}
    elif due is None or actual is None:
        return  # a basket that should not be: there is no call for it
    elif table == "orders":
        yield from _repair_order(actual, due)
    elif table == "baskets":
        yield "place_order", {"customer": key, **due}
    elif table == "customers":
        yield "set_points", {"customer": key, "points": due["points"]}
    elif table == "cards":
        yield "set_card", {"customer": key, "cents": due["balance_cents"]}
    elif table == "warranties":
        for line, variant in due["lines"].items():
            if actual["lines"][line] != variant:
                yield "set_warranty", {"order": key, "line": line, "variant": variant}
    else:
        if actual["slot"] != due["slot"]:
            yield "set_appointment", {"order": key, **due["slot"]}
        if actual["label"] != due["label"]:
            yield "print_label", {"order": key}


def _repair_order(actual: Record, due: Record) -> Iterator[_Call]:
    """Yield the calls that turn one record of an order into another."""
    order = actual["id"]
    back = [
        line["line"] for line, other in zip(actual["lines"], due["lines"], strict=True)
        if line["state"] != other["state"] == "ordered"
    ]  # fmt: skip
    if back:
        yield "restore_lines", {"order": order, "lines": back}
    moved = actual["address"] != due["address"]
    if moved:
        yield "change_address", {"order": order, **due["address"]}
    if due["confirmed"] and (moved or not actual["confirmed"]):
        yield "guide_customer", {"step": "confirm_address", "order": order}
    if actual["carrier"] != due["carrier"]:
        yield "set_carrier", {"order": order, "carrier": due["carrier"]}
    if actual["note"] != due["note"]:
        yield "set_note", {"order": order, "note": due["note"]}
    if actual["coupons"] != due["coupons"]:
        yield "set_coupons", {"order": order, "codes": list(due["coupons"])}
    for method in sorted({*actual["refunds"], *due["refunds"]}):
        cents = due["refunds"].get(method, 0)
        if actual["refunds"].get(method, 0) != cents:
            yield "set_refund", {"order": order, "refund_to": method, "cents": cents}


def rehearsed(params: Mapping[str, Any], truth: Mapping[str, Any]) -> tuple[int, set[str]]:
    """Return the number of calls that the oracle needs, and the records that it sets right."""
    clerk = _Clerk(params, truth)
    return sum(1 for _ in clerk.calls()), clerk.affected


def shift_oracle(task: Task) -> Script:
    """Serve every customer, looking things up first and at the records afterwards."""
    return _played(task)


def shift_alternatives(task: Task) -> Mapping[str, Script]:
    """Return the day without look-ups, and with memos read at another time."""
    return {
        "without looking": _played(task, look=False),
        "memos read last": _played(task, late_memos=True),
    }


def shift_mutants(task: Task) -> Mapping[str, Script]:
    """Return near misses: a gap left, a reference action replaced, nothing checked."""
    found: dict[str, Script] = {}
    for number, defect in enumerate(task.params["defects"]):
        label = f"left: {defect['kind']} ({number})"
        found[label] = _played(task, left=defect["affects"])
        if len(defect["affects"]) > 1:
            found[f"half {label}"] = _played(task, left=defect["affects"][1:])
    for number, plan in enumerate(_truth(task)["plans"]):
        for label, (place, calls) in plan["wrong"].items():
            changed: list[_Call] = [(name, arguments) for name, arguments in calls]
            if label.endswith(": method") and _misrouted(task, changed):
                continue
            found[f"case {number + 1}: {label}"] = _played(task, wrong=(number, place, changed))
    found["nothing checked"] = _played(task, check="none")
    found["closed cases not checked"] = _played(task, check="case")
    found["only orders checked"] = _played(task, check="orders")
    return found


def _misrouted(task: Task, calls: Collection[_Call]) -> bool:
    """Whether the system swaps the payment methods of a refund, which would make it right."""
    routed = {d["order"] for d in task.params["defects"] if d["kind"] == "route"}
    return any(arguments.get("order") in routed for _, arguments in calls)


def shift_policies(task: Task) -> Mapping[str, Script]:
    """Return trivial clerks."""
    refusal = ("decline", {"reason": "window_passed", "record": "O10000000/1", "rule": "R1"})
    return {
        "first_hit": _guessing(task, first=True),
        "buy_random": _guessing(task),
        "dump": _everything(task),
        "majority": _closing(task, []),
        "always_refuse": _closing(task, [refusal]),
    }


def _closing(task: Task, before: list[_Call]) -> Script:
    for _ in range(2 * len(task.params["cases"])):
        for name, arguments in before:
            yield tool_call(name, **arguments)
        yield tool_call("finish_case", net_cents=0)


def _orders_of(heard: str) -> Generator[str, str, list[str]]:
    """Find the account of the customer who has just spoken, and return its orders."""
    found = _NAMED.findall(heard)
    name, code = next(((n, c) for n, c in found[-1:]), ("", ""))
    account = yield tool_call("find_customer", name=name, postcode=code)
    shown = yield tool_call("show_customer", customer=account[:9])
    return _ORDER.findall(shown) or [""]


def _guessing(task: Task, *, first: bool = False) -> Script:
    """Take back or cancel the first line of the customer's first order, or of a random one."""
    draw = generator_for("random counter clerk", task.id)
    heard = task.params["cases"][0]["says"]
    for _ in range(2 * len(task.params["cases"])):
        orders = yield from _orders_of(heard)
        order = orders[0 if first else int(draw.integers(len(orders)))]
        yield tool_call("return_lines", order=order, lines=["1"])
        if not first:
            yield tool_call("cancel_lines", order=order, lines=["1"])
        heard = yield tool_call("finish_case", net_cents=0)


def _everything(task: Task) -> Script:
    heard = task.params["cases"][0]["says"]
    for _ in range(2 * len(task.params["cases"])):
        orders = yield from _orders_of(heard)
        for order in orders:
            yield tool_call("return_lines", order=order, lines=["1"])
            yield tool_call("cancel_lines", order=order, lines=["1"])
        heard = yield tool_call("finish_case", net_cents=0)


def _truth(task: Task) -> Mapping[str, Any]:
    truth: Mapping[str, Any] = task.checks[0].params
    return truth


def _played(task: Task, **ways: Any) -> Script:
    for name, arguments in _Clerk(task.params, _truth(task)).calls(**ways):
        yield tool_call(name, **arguments)
