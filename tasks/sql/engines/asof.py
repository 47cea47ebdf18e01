"""Orders at the prices of their time: many versions of each price, and one is looked up."""

from bisect import bisect_right
from collections import defaultdict
from functools import partial

from hexathlon.tasks.sql.engines.question import (
    EngineDraw,
    EngineQuestion,
    EngineTexts,
    QuestionTable,
    StoredTables,
)
from hexathlon.tasks.sql.schema import Row

__all__ = ["draw"]

_ITEMS = 4


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about orders; at level hard, no index helps."""
    text = (
        "The price of an order is the one that held when it was placed: of the item's prices, the "
        "one with the latest `since` that is not after the `at` of the order (both are minutes; "
        "an item has at most one price a minute). Orders before the first price of their item do "
        "not count. For every region with orders that count, give the region, their number, and "
        "the sum of qty times price"
    )
    if drawn.hard:
        text += (
            "; and in a fourth column, the largest number of minutes for which the price of one "
            "of these orders had held when it was placed"
        )
    index = () if drawn.hard else (("item", "since"),)
    tables = (
        QuestionTable(
            "orders",
            (("id", "INTEGER"), ("region", "TEXT"), ("item", "INTEGER"), ("at", "INTEGER"),
             ("qty", "INTEGER")),
        ),
        QuestionTable(
            "prices",
            (("id", "INTEGER"), ("item", "INTEGER"), ("since", "INTEGER"), ("price", "INTEGER")),
            index,
        ),
    )  # fmt: skip
    return EngineQuestion(
        f"{text}.", tables, partial(_populate, drawn), partial(_by_hand, drawn.hard),
        {"sqlite": _texts(drawn.hard)}, steps=1_200_000 if drawn.hard else 130_000,
    )  # fmt: skip


def _populate(drawn: EngineDraw, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    orders, prices = (1_300, 2_100) if visible else (1_000, 1_700)
    regions = drawn.names("city", 6)
    first = values.rng.integers(0, 1 << 30, (orders, 4)).tolist()
    placed: list[Row] = [
        (own, regions[a % 6], 1 + b % _ITEMS, c % 40_000, 1 + d % 9)
        for own, (a, b, c, d) in enumerate(first, 1)
    ]
    versions: dict[tuple[int, int], int] = {}
    for a, b, c in values.rng.integers(0, 1 << 30, (prices, 3)).tolist():
        # Prices change on the quarter of an hour, and some orders are placed just then.
        since = 400 + 15 * (b % 2_640)
        versions[1 + a % _ITEMS, since] = 100 + c % 900
    listed = [(place + 1, *key, price) for place, (key, price) in enumerate(versions.items())]
    return {"orders": placed, "prices": listed}


def _by_hand(hard: bool, rows: StoredTables) -> list[Row]:
    held: dict[object, list[tuple[int, int]]] = defaultdict(list)
    for _, item, since, price in rows["prices"]:
        held[item].append((int(str(since)), int(str(price))))
    for own in held.values():
        own.sort()
    totals: dict[str, list[int]] = {}
    for _, region, item, at, qty in rows["orders"]:
        place = bisect_right(held[item], (int(str(at)), 1 << 40))
        if place:
            since, price = held[item][place - 1]
            total = totals.setdefault(region, [0, 0, 0])
            total[0] += 1
            total[1] += int(str(qty)) * price
            total[2] = max(total[2], int(str(at)) - since)
    return [(region, *total[: 3 if hard else 2]) for region, total in totals.items()]


def _texts(hard: bool) -> EngineTexts:
    age = ", MAX(at - since)" if hard else ""
    last = f"SELECT region, COUNT(*), SUM(qty * price){age} FROM priced GROUP BY region"
    looked_up = (
        "WITH priced AS (SELECT o.region, o.qty, o.at, p.since, p.price FROM orders o JOIN prices "
        "p ON p.item = o.item AND p.since = (SELECT MAX(q.since) FROM prices q WHERE q.item = "
        f"o.item AND q.since <= o.at)) {last}"
    )
    limited = (
        "WITH found AS (SELECT o.*, (SELECT p.id FROM prices p WHERE p.item = o.item AND "
        "p.since <= o.at ORDER BY p.since DESC LIMIT 1) AS own FROM orders o), priced AS (SELECT "
        f"f.*, p.since, p.price FROM found f JOIN prices p ON p.id = f.own) {last}"
    )
    periods = (
        "WITH periods AS (SELECT item, since, price, LEAD(since, 1, 1000000) OVER (PARTITION BY "
        "item ORDER BY since) AS until FROM prices), priced AS (SELECT o.*, p.since, p.price FROM "
        f"orders o JOIN periods p ON p.item = o.item AND o.at >= p.since AND o.at < p.until) {last}"
    )

    def merged(kind: str = "kind", at: str = "at") -> str:
        return (
            "WITH line AS (SELECT item, since AS at, 0 AS kind, price, NULL AS region, NULL AS qty "
            "FROM prices UNION ALL SELECT item, at, 1, NULL, region, qty FROM orders), grouped AS "
            f"(SELECT *, COUNT(price) OVER (PARTITION BY item ORDER BY {at}, {kind} ROWS UNBOUNDED "
            "PRECEDING) AS k FROM line), priced AS (SELECT region, qty, at, FIRST_VALUE(price) "
            "OVER w AS price, FIRST_VALUE(at) OVER w AS since, k FROM grouped WINDOW w AS "
            f"(PARTITION BY item, k ORDER BY {at}, {kind})) SELECT region, COUNT(*), SUM(qty * "
            f"price){age} FROM priced WHERE region IS NOT NULL AND k > 0 GROUP BY region"
        )

    joined = (
        "WITH priced AS (SELECT region, qty, at, since, price FROM (SELECT o.*, p.since, p.price, "
        "ROW_NUMBER() OVER (PARTITION BY o.id ORDER BY p.since DESC) AS k FROM orders o JOIN "
        f"prices p ON p.item = o.item AND p.since <= o.at) AS ranked WHERE k = 1) {last}"
    )
    wrong = {"all_earlier_prices": joined, "periods": periods}
    if hard:
        own = (
            "WITH line AS MATERIALIZED (SELECT item, since, price, ROW_NUMBER() OVER (PARTITION BY "
            "item ORDER BY since) AS k FROM prices)"
        )
        wrong |= {
            "looked_up": looked_up, "limited": limited,
            "orders_first": merged(kind="kind DESC"),
            "before_the_first_too": merged().replace(" AND k > 0", ""),
            "numbered": f"{own}, priced AS (SELECT o.*, p.since, p.price FROM orders o JOIN line p "
            "ON p.item = o.item AND p.since <= o.at LEFT JOIN line q ON q.item = p.item AND "
            f"q.k = p.k + 1 WHERE q.since IS NULL OR q.since > o.at) {last}",
        }  # fmt: skip
        other = merged().replace("ROWS UNBOUNDED PRECEDING", "RANGE UNBOUNDED PRECEDING")
        return EngineTexts(merged(), {"by_range": other}, wrong)
    wrong |= {
        "before_not_at": looked_up.replace("q.since <= o.at", "q.since < o.at"),
        "latest_price": limited.replace("p.since <= o.at", "p.since <= 1000000"),
        "first_price": limited.replace("p.since DESC", "p.since"),
    }
    return EngineTexts(limited, {"looked_up": looked_up}, wrong)
