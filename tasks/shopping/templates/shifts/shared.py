"""Steps that cases of different kinds share: records, look-ups, guided steps, events."""

from typing import Any

from hexathlon.tasks.shopping.templates.shifts.day import CounterDay
from hexathlon.tasks.shopping.world.shift.linked import kept_points, linked_start
from hexathlon.tasks.shopping.world.shift.views import PARTS

__all__ = ["confirm", "found", "history", "keep", "namesake", "packed"]


def confirm(day: CounterDay, order: str) -> None:
    """Let the customer confirm an address, twice if she forgets it at first."""
    arguments = {"step": "confirm_address", "order": order}
    while not day.order(order)["confirmed"]:
        day.act("guide_customer", **arguments)


def packed(day: CounterDay, order_id: str) -> None:
    """Let the warehouse pack an order before this case."""
    minutes = day.now - 5
    when = f"{minutes // 60:02}:{minutes % 60:02}"
    log = day.counter.tables.get("logs", order_id)
    entries = dict(log["entries"]) if log else {}
    entries["9"] = {"en": f"today {when}, warehouse: packed", "zh": f"今天{when}，仓库：已打包"}
    day.event("orders", order_id, status="packed")
    day.event("logs", order_id, entries=entries)


def history(day: CounterDay, order: dict[str, Any], en: str, zh: str) -> None:
    """Add a note of the service team to the history of an order that is already recorded."""
    log = day.counter.tables.base.tables["logs"][order["id"]]
    since = order["delivered"] + 1
    log["entries"]["2"] = {
        "en": f"day {since}, service team: {en}",
        "zh": f"第{since}天，客服组：{zh}",
    }


def keep(day: CounterDay, account: dict[str, Any], *orders: dict[str, Any]) -> None:
    """Add an account with its orders to the records."""
    ids = [order["id"] for order in orders]
    account["orders"] = [ids[i] for i in day.rng.permutation(len(ids)).tolist()]
    account["points"] = sum(kept_points(order) for order in orders) + day.span(20, 900)
    gift = list(account["payments"])[1]
    balance = account["payments"][gift].pop("balance_cents")
    day.add("cards", account["id"], {"card": gift, "balance_cents": balance})
    day.add("customers", account["id"], account)
    day.persons[account["id"]] = account["email"]
    for order in orders:
        day.add("orders", order["id"], order)
        slot = {"day": order["promised"], "part": day.pick(list(PARTS))}
        day.add(*linked_start(order, slot))
        day.add("logs", order["id"], {"entries": {"1": {
            "en": f"day {order['placed']}: placed",
            "zh": f"第{order['placed']}天：下单"}}})  # fmt: skip


def namesake(day: CounterDay, account: dict[str, Any]) -> None:
    """Add another person with the same name, in about half of the cases."""
    if day.rng.random() < 0.5:
        other = day.people.account(like=account)
        keep(day, other, day.people.order(other, "delivered", pieces=2, since=day.span(5, 40)))


def found(day: CounterDay, account: dict[str, Any]) -> None:
    """Look an account up by name, since others may have the same one."""
    day.look("find_customer", name=account["name"])
    day.look("show_customer", customer=account["id"])
