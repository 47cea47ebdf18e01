"""Orders as JSON: truth values, numbers stored as text, nulls beside missing keys, empty lists."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from hexathlon.tasks.sql.draws import ValueDraw, shifted
from hexathlon.tasks.sql.engines.question import (
    EngineDraw,
    EngineQuestion,
    EngineTexts,
    QuestionTable,
    StoredTables,
    in_each_dialect,
)
from hexathlon.tasks.sql.schema import Row

__all__ = ["draw"]

_DAY = "2024-01-01"
_TABLES = (
    QuestionTable("shops", (("id", "INTEGER"), ("name", "TEXT"))),
    QuestionTable(
        "orders", (("id", "INTEGER"), ("shop", "INTEGER"), ("placed", "DATE"), ("body", "JSON"))
    ),
)  # fmt: skip


class _Spec(NamedTuple):
    tier: int
    first: str
    last: str
    hard: bool


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about the orders of each shop."""
    values = drawn.values("spec")
    first = shifted(_DAY, values.between(5, 20))
    spec = _Spec(values.between(10, 12), first, shifted(first, values.between(40, 60)), drawn.hard)
    text = (
        "The column `body` of `orders` holds each order as JSON: the customer with a tier, "
        "the lines with sku, qty and cents (the price of one piece), and, where they apply, "
        "express, gift and discount. The tier is a whole number, which some sources write as "
        "text. A key may be missing or null; express and gift are then false, and discount is 0. "
        "The value of an order is the sum of qty times cents over its lines that are not a gift, "
        "less the discount of the order, in cents; an order without such lines has the value 0 "
        "less its discount.\n\nTake the express orders of customers of tier "
        f"{spec.tier} or higher that were placed from {spec.first} to {spec.last}, both days "
        "included. For every shop that has such orders, give its name, the number of these orders "
        "and the sum of their values."
    )
    if spec.hard:
        text += (
            " In a fourth column, give the sku with the most pieces in these orders, gifts "
            "included, the first in alphabetical order if several have the same number, and NULL "
            "if none of the orders has a line. In a fifth column, give the number of these orders "
            "whose discount is given as null, as opposed to missing."
        )
    return EngineQuestion(
        text, _TABLES, partial(_populate, drawn, spec), partial(_by_hand, spec),
        in_each_dialect((_sqlite, _duckdb, _postgresql), spec),
    )  # fmt: skip


def _populate(drawn: EngineDraw, spec: _Spec, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    shops = [(own + 1, name) for own, name in enumerate(drawn.names("place", 6))]
    skus = [f"{letter}{number}" for letter in "KMR" for number in (104, 220, 318)]
    orders: list[Row] = []
    for own in range(1, values.between(200, 240)):
        body = _body(values, skus)
        placed = spec.last if values.chance(0.05) else shifted(_DAY, values.below(90))
        orders.append((own, values.between(1, len(shops)), placed, json.dumps(body)))
    return {"shops": shops, "orders": orders}


def _body(values: ValueDraw, skus: list[str]) -> dict[str, Any]:
    tier: int | str = values.between(7, 14)
    body: dict[str, Any] = {"customer": {"tier": str(tier) if values.chance(0.4) else tier}}
    if values.chance(0.85):
        body["express"] = True if values.chance(0.75) else values.pick((False, None))
    if values.chance(0.6):
        body["discount"] = None if values.chance(0.4) else 10 * values.between(1, 30)
    lines = []
    for sku in values.sample(skus, values.pick((0, 1, 2, 3))):
        line: dict[str, Any] = {
            "sku": sku, "qty": values.between(1, 12), "cents": 5 * values.between(20, 200),
        }  # fmt: skip
        if values.chance(0.4):
            line["gift"] = values.pick((True, True, False, None))
        lines.append(line)
    body["lines"] = lines
    return body


def _by_hand(spec: _Spec, rows: StoredTables) -> list[Row]:
    answer: list[Row] = []
    for shop, name in rows["shops"]:
        number = total = nulls = 0
        pieces: dict[str, int] = {}
        for _, own, placed, text in rows["orders"]:
            body = json.loads(str(text))
            if own != shop or not spec.first <= str(placed) <= spec.last:
                continue
            if not body.get("express") or int(body["customer"]["tier"]) < spec.tier:
                continue
            number += 1
            total -= body.get("discount") or 0
            nulls += "discount" in body and body["discount"] is None
            for line in body["lines"]:
                pieces[line["sku"]] = pieces.get(line["sku"], 0) + line["qty"]
                if not line.get("gift"):
                    total += line["qty"] * line["cents"]
        if number:
            most = min(pieces, key=lambda sku: (-pieces[sku], sku), default=None)
            row = (name, number, total)
            answer.append((*row, most, nulls) if spec.hard else row)
    return answer


class _Means(NamedTuple):
    """How a dialect reads the JSON, as parts of the query; `l` is a line."""

    express: str
    tier: str
    discount: str
    lines: str
    """The lines of o.body as a relation with qty, cents, sku and gift."""
    gift: str
    null: str


class _Paths(NamedTuple):
    """The texts at keys of o.body, in a dialect with types."""

    express: str
    tier: str
    discount: str


def _query(
    spec: _Spec, means: _Means, *, fanned: bool = False, until: str = "<=", limit: str = "",
    ties: str = ", sku",
) -> str:  # fmt: skip
    start = (
        f"WITH chosen AS (SELECT * FROM orders o WHERE {means.express} AND {means.tier} >= "
        f"{limit or spec.tier} AND placed >= '{spec.first}' AND placed {until} '{spec.last}'), "
        f"lines AS (SELECT o.id, o.shop, l.* FROM chosen o {means.lines}), "
        f"sums AS (SELECT id, SUM(qty * cents) AS value FROM lines WHERE {means.gift} GROUP BY id)"
    )
    extra = ""
    if spec.hard:
        start += (
            ", ranked AS (SELECT shop, sku, ROW_NUMBER() OVER (PARTITION BY shop ORDER BY SUM(qty) "
            f"DESC{ties}) AS k FROM lines GROUP BY shop, sku)"
        )
        extra = (
            ", (SELECT r.sku FROM ranked r WHERE r.shop = s.id AND r.k = 1), "
            f"SUM(CASE WHEN {means.null} THEN 1 ELSE 0 END)"
        )
    joined = "JOIN" if fanned else "LEFT JOIN"
    return (
        f"{start} SELECT s.name, COUNT(*), SUM(COALESCE(v.value, 0) - {means.discount}){extra} "
        f"FROM chosen o JOIN shops s ON s.id = o.shop {joined} sums v ON v.id = o.id "
        "GROUP BY s.id, s.name"
    )


def _common(spec: _Spec, means: _Means, query: Callable[..., str]) -> dict[str, str]:
    """Return near misses that every dialect has."""
    wrong = {
        "without_empty_orders": query(means, fanned=True),
        "gifts_paid": query(means._replace(gift="1 = 1")),
        "last_day_missing": query(means, until="<"),
        "above_the_tier": query(means, limit=str(spec.tier + 1)),
    }
    if spec.hard:
        wrong["nulls_and_missing"] = query(means._replace(null=f"{means.discount} = 0"))
    return wrong


def _typed(paths: _Paths, lines: str, null: str) -> _Means:
    """Return the parts of the query in a dialect with types."""
    return _Means(
        express=f"COALESCE(CAST({paths.express} AS BOOLEAN), FALSE)",
        tier=f"CAST({paths.tier} AS INTEGER)",
        discount=f"COALESCE(CAST({paths.discount} AS BIGINT), 0)", lines=lines,
        gift="NOT COALESCE(gift, FALSE)", null=null,
    )  # fmt: skip


def _typed_misses(
    spec: _Spec, means: _Means, paths: _Paths, query: Callable[..., str]
) -> dict[str, str]:
    """Return near misses that dialects with types have."""
    return _common(spec, means, query) | {
        "tier_as_text": query(means._replace(tier=paths.tier), limit=f"'{spec.tier}'"),
        "express_given": query(means._replace(express=f"{paths.express} IS NOT NULL")),
        "gift_must_be_false": query(means._replace(gift="gift = FALSE")),
        "discount_must_be_given": query(
            means._replace(discount=f"CAST({paths.discount} AS BIGINT)")
        ),
    }


def _sqlite(spec: _Spec) -> EngineTexts:
    lines = (
        "JOIN (SELECT x.id AS own, j.value ->> '$.qty' AS qty, j.value ->> '$.cents' AS cents, "
        "j.value ->> '$.sku' AS sku, j.value ->> '$.gift' AS gift FROM orders x, "
        "json_each(x.body, '$.lines') j) l ON l.own = o.id"
    )
    means = _Means(
        express="COALESCE(o.body ->> '$.express', 0)",
        tier="CAST(o.body ->> '$.customer.tier' AS INTEGER)",
        discount="COALESCE(o.body ->> '$.discount', 0)", lines=lines,
        gift="COALESCE(gift, 0) = 0", null="json_type(o.body, '$.discount') = 'null'",
    )  # fmt: skip
    extracted = means._replace(
        express="json_type(o.body, '$.express') = 'true'",
        tier="json_extract(o.body, '$.customer.tier') + 0",
        discount="IFNULL(json_extract(o.body, '$.discount'), 0)",
        gift="IFNULL(gift, 0) <> 1",
        null="o.body -> '$.discount' = 'null'",
    )
    query: Callable[..., str] = partial(_query, spec)
    wrong = _common(spec, means, query) | {
        "tier_as_stored": query(means._replace(tier="o.body ->> '$.customer.tier'")),
        "true_as_text": query(means._replace(express="o.body ->> '$.express' = 'true'")),
        "express_given": query(means._replace(express="o.body ->> '$.express' IS NOT NULL")),
        "discount_must_be_given": query(means._replace(discount="o.body ->> '$.discount'")),
        "gift_must_be_false": query(means._replace(gift="gift = 0")),
    }
    return EngineTexts(query(means), {"extracted": query(extracted)}, wrong)


def _duckdb(spec: _Spec) -> EngineTexts:
    lines = (
        "JOIN (SELECT own, CAST(j ->> '$.qty' AS BIGINT) AS qty, CAST(j ->> '$.cents' AS BIGINT) "
        "AS cents, j ->> '$.sku' AS sku, CAST(j ->> '$.gift' AS BOOLEAN) AS gift FROM (SELECT "
        "id AS own, unnest(from_json(body -> '$.lines', '[\"JSON\"]')) AS j FROM orders) AS x) l "
        "ON l.own = o.id"
    )
    paths = _Paths(
        "o.body ->> '$.express'", "o.body ->> '$.customer.tier'", "o.body ->> '$.discount'"
    )
    means = _typed(paths, lines, "json_type(o.body, '$.discount') = 'NULL'")
    extracted = means._replace(
        express="o.body ->> 'express' = 'true'",
        tier="TRY_CAST(json_extract_string(o.body, '$.customer.tier') AS DOUBLE)",
        gift="gift IS NOT TRUE",
    )
    query: Callable[..., str] = partial(_query, spec)
    wrong = _typed_misses(spec, means, paths, query)
    return EngineTexts(query(means), {"extracted": query(extracted)}, wrong)


def _postgresql(spec: _Spec) -> EngineTexts:
    lines = (
        "CROSS JOIN LATERAL (SELECT CAST(j ->> 'qty' AS BIGINT) AS qty, CAST(j ->> 'cents' AS "
        "BIGINT) AS cents, j ->> 'sku' AS sku, CAST(j ->> 'gift' AS BOOLEAN) AS gift FROM "
        "jsonb_array_elements(o.body -> 'lines') AS x(j)) AS l"
    )
    paths = _Paths("o.body ->> 'express'", "o.body #>> '{customer,tier}'", "o.body ->> 'discount'")
    means = _typed(paths, lines, "jsonb_typeof(o.body -> 'discount') = 'null'")
    extracted = means._replace(
        express="o.body @> '{\"express\": true}'",
        tier="CAST(o.body -> 'customer' ->> 'tier' AS NUMERIC)",
        gift="gift IS NOT TRUE",
        null="o.body -> 'discount' = 'null'",
        lines="CROSS JOIN LATERAL jsonb_to_recordset(o.body -> 'lines') AS l(qty BIGINT, cents "
        "BIGINT, sku TEXT, gift BOOLEAN)",
    )
    query: Callable[..., str] = partial(_query, spec)
    wrong = _typed_misses(spec, means, paths, query)
    if spec.hard:
        wrong["null_as_missing"] = query(means._replace(null="o.body ->> 'discount' IS NULL"))
    return EngineTexts(query(means), {"extracted": query(extracted)}, wrong)
