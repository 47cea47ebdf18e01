"""Query programs: golden texts, and three backends that must agree."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.programs import Style, evaluate, sql_text
from hexathlon.tasks.sql.programs.expressions import (
    And,
    Binary,
    Case,
    Compare,
    FunctionCall,
    InList,
    IsNull,
    Literal,
    Misreadable,
    Not,
    Or,
    Ref,
    Scalar,
)
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import (
    Aggregate,
    Combine,
    Distinct,
    Extend,
    Filter,
    GroupBy,
    Join,
    Limit,
    Match,
    OrderBy,
    Project,
    Scan,
    Window,
    is_ordered,
)
from hexathlon.tasks.sql.programs.text import GOLD, OTHER
from hexathlon.tasks.sql.screening import same_answer

Database = tuple[dict[str, list[tuple]], sqlite3.Connection]
COLUMNS = {
    "shops": ["id", "name", "town", "rank"],
    "sales": ["id", "shop_id", "kind", "amount", "day"],
}
STYLES = {
    "gold": GOLD,
    "other": OTHER,
    "exists": Style(match="exists", having=False),
    "correlated": replace(OTHER, windows="correlated", match="exists"),
    "list": Style(ctes=True, match="in", condition="filter"),
}


def shops() -> Scan:
    return Scan("shops", "s", tuple(COLUMNS["shops"]))


def sales(alias: str = "a") -> Scan:
    return Scan("sales", alias, tuple(COLUMNS["sales"]))


def joined(kind: str = "inner") -> Join:
    return Join(sales(), shops(), (("a.shop_id", "s.id"),), kind)


@pytest.fixture(scope="module")
def databases() -> Iterator[list[Database]]:
    made = [database(seed) for seed in range(10)]
    yield made
    for _, connection in made:
        connection.close()


def database(seed: int) -> Database:
    rng = generator_for("test-programs", seed)
    rows = {"shops": _shops(rng), "sales": _sales(rng)}
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE shops (id INTEGER PRIMARY KEY, name TEXT, town TEXT, rank INT)"
    )
    connection.execute(
        "CREATE TABLE sales (id INTEGER PRIMARY KEY, shop_id INT, kind TEXT, amount REAL, day TEXT)"
    )
    connection.executemany("INSERT INTO shops VALUES (?, ?, ?, ?)", rows["shops"])
    connection.executemany("INSERT INTO sales VALUES (?, ?, ?, ?, ?)", rows["sales"])
    return rows, connection


def _shops(rng: np.random.Generator) -> list[tuple]:
    towns = ("Aby", "Bor", None)
    return [
        (n, f"shop {n}", towns[int(rng.integers(3))], int(rng.integers(1, 5))) for n in range(1, 9)
    ]


def _sales(rng: np.random.Generator) -> list[tuple]:
    kinds = ("web", "till", " Web ", None)
    return [
        (
            n,
            None if rng.random() < 0.1 else int(rng.integers(1, 11)),
            kinds[int(rng.integers(4))],
            None if rng.random() < 0.1 else int(rng.integers(1, 80)) / 4,
            f"202{int(rng.integers(3))}-0{int(rng.integers(1, 10))}-1{int(rng.integers(10))}",
        )
        for n in range(1, 60)
    ]


def test_golden_text_of_a_grouped_join():
    groups = GroupBy(
        Filter(joined(), Compare(">", Ref("a.amount"), Literal(2))),
        ("s.town",),
        (Aggregate("total", "sum", Ref("a.amount")),),
    )
    kept = Filter(groups, Compare(">=", Ref("total"), Literal(10)))
    program = OrderBy(
        Project(kept, (("town", Ref("s.town")), ("total", Ref("total")))), (("total", True),)
    )
    assert sql_text(program) == (
        "SELECT s.town, SUM(a.amount) AS total\n"
        "FROM sales AS a\n"
        "JOIN shops AS s ON a.shop_id = s.id\n"
        "WHERE a.amount > 2\n"
        "GROUP BY s.town\n"
        "HAVING SUM(a.amount) >= 10\n"
        "ORDER BY SUM(a.amount) DESC"
    )
    assert is_ordered(program)


def test_golden_text_of_an_anti_join_in_three_styles():
    program = Project(
        Match(shops(), sales(), (("s.id", "a.shop_id"),), negated=True), (("name", Ref("s.name")),)
    )
    start = "SELECT s.name\nFROM shops AS s\n"
    assert sql_text(program, Style(match="exists")) == (
        start + "WHERE NOT EXISTS (SELECT 1 FROM sales AS a WHERE a.shop_id = s.id)"
    )
    assert sql_text(program) == (
        start + "WHERE (s.id IS NULL OR s.id NOT IN "
        "(SELECT a.shop_id FROM sales AS a WHERE a.shop_id IS NOT NULL))"
    )
    assert "LEFT JOIN" in sql_text(program, Style(match="join"))
    assert not is_ordered(program)


def test_dialects_differ_in_dates_and_types_only():
    days = FunctionCall("days_between", (Ref("a.day"), Literal("2020-01-01")))
    program = Project(sales(), (("days", days), ("text", FunctionCall("real", (Ref("a.day"),)))))
    sqlite, duckdb, postgresql = (
        sql_text(program, dialect=name) for name in ("sqlite", "duckdb", "postgresql")
    )
    assert "JULIANDAY" in sqlite
    assert "AS DOUBLE)" in duckdb and "JULIANDAY" not in duckdb
    assert "DOUBLE PRECISION" in postgresql


def test_identifiers_that_need_quotes_get_them():
    program = Project(Scan("order", "o", ("group",)), (("group", Ref("o.group")),))
    assert sql_text(program) == 'SELECT o."group"\nFROM "order" AS o'


def shapes() -> dict[str, Relation]:
    """One program for each node and idiom."""
    amount = Ref("a.amount")
    named = (("name", Ref("s.name")), ("amount", amount))
    monthly = GroupBy(
        Extend(
            sales(), (("month", FunctionCall("substr", (Ref("a.day"), Literal(1), Literal(7)))),)
        ),
        ("month",),
        (Aggregate("total", "sum", FunctionCall("coalesce", (amount, Literal(0)))),),
    )
    known = Filter(sales(), IsNull(amount, negated=True))
    mean = GroupBy(sales("b"), (), (Aggregate("mean", "avg", Ref("b.amount")),))
    cleaned = FunctionCall("lower", (FunctionCall("trim", (Ref("a.kind"),)),))
    by_day = (("a.day", False), ("a.id", False))
    web = Compare("=", cleaned, Literal("web"))
    big = Compare(">", amount, Literal(9))
    either = Misreadable(Or((big, IsNull(amount))), big, "test")
    names = Project(joined(), (("name", Ref("s.name")),))
    return {
        "inner": Project(joined(), named),
        "left": Project(joined("left"), named),
        "left filtered": Project(
            Join(
                sales(),
                Filter(shops(), Compare("=", Ref("s.town"), Literal("Aby"))),
                (("a.shop_id", "s.id"),),
                "left",
            ),
            named,
        ),
        "logic": Project(
            Filter(
                sales(),
                And(
                    (
                        Or((web, Compare("<", amount, Literal(5)))),
                        Not(InList(Ref("a.kind"), ("till",))),
                    )
                ),
            ),
            (("id", Ref("a.id")),),
        ),
        "case": Project(
            sales(),
            (
                ("id", Ref("a.id")),
                ("size", Case(((big, Literal("big")),), Ref("a.kind"))),
                ("half", Binary("/", amount, Literal(2))),
                ("none", Binary("/", amount, Binary("-", Ref("a.id"), Literal(3)))),
            ),
        ),
        "variant": Project(
            Filter(Filter(sales(), either), Or((web, IsNull(Ref("a.kind"))))),
            (("id", Ref("a.id")),),
        ),
        "conditional": GroupBy(
            sales(),
            ("a.shop_id",),
            (
                Aggregate("web", "count", None, False, web),
                Aggregate("web_total", "sum", amount, False, web),
                Aggregate("kinds", "count", Ref("a.kind"), True),
                Aggregate("least", "min", amount),
            ),
        ),
        "whole": GroupBy(sales(), (), (Aggregate("n", "count"), Aggregate("mean", "avg", amount))),
        "having": Filter(
            GroupBy(joined(), ("s.town",), (Aggregate("n", "count"),)),
            Compare(">", Ref("n"), Literal(5)),
        ),
        "nested": GroupBy(
            GroupBy(sales(), ("a.shop_id",), (Aggregate("total", "sum", amount),)),
            (),
            (Aggregate("mean", "avg", Ref("total")),),
        ),
        "scalar": Project(
            Filter(sales(), Compare(">", amount, Scalar(mean))), (("id", Ref("a.id")),)
        ),
        "semi": Project(
            Match(shops(), Filter(sales(), web), (("s.id", "a.shop_id"),)),
            (("name", Ref("s.name")),),
        ),
        "anti grouped": Project(
            Match(
                shops(),
                Filter(
                    GroupBy(sales(), ("a.shop_id",), (Aggregate("n", "count"),)),
                    Compare(">", Ref("n"), Literal(6)),
                ),
                (("s.id", "a.shop_id"),),
                negated=True,
            ),
            (("name", Ref("s.name")),),
        ),
        "distinct": Distinct(Project(sales(), (("kind", cleaned),))),
        "union": Combine("union", names, Project(shops(), (("name", Ref("s.town")),))),
        "union all": Combine("union_all", names, names),
        "intersect": Combine("intersect", names, Project(shops(), (("n", Ref("s.name")),))),
        "except": Combine(
            "except",
            Project(shops(), (("name", Ref("s.name")),)),
            Project(Filter(joined(), web), (("name", Ref("s.name")),)),
        ),
        "rank": Filter(
            Window(known, "place", "rank", None, ("a.shop_id",), (("a.amount", True),)),
            Compare("<=", Ref("place"), Literal(2)),
        ),
        "dense": Window(known, "place", "dense_rank", None, (), (("a.amount", False),)),
        "number": Window(sales(), "place", "row_number", None, ("a.shop_id",), by_day),
        "running": Window(monthly, "so_far", "sum", "total", (), (("month", False),), "running"),
        "frame": Window(monthly, "mean", "avg", "total", (), (("month", False),), 2),
        "share": Window(monthly, "whole", "sum", "total", ()),
        "lag": Window(sales(), "before", "lag", "a.day", ("a.shop_id",), by_day),
        "days": Project(
            sales(),
            (
                ("days", FunctionCall("days_between", (Literal("2023-03-01"), Ref("a.day")))),
                ("later", FunctionCall("add_days", (Ref("a.day"), Literal(30)))),
                ("fixed", FunctionCall("nullif", (Ref("a.kind"), Literal("till")))),
                ("length", FunctionCall("length", (Ref("a.kind"),))),
            ),
        ),
        "limit": Limit(
            OrderBy(
                Project(known, (("id", Ref("a.id")), ("amount", amount))),
                (("amount", True), ("id", False)),
            ),
            5,
            2,
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", shapes())
def test_every_shape_means_the_same_everywhere(name: str, databases: list[Database]):
    program = shapes()[name]
    ordered = is_ordered(program)
    for rows, connection in databases:
        right = evaluate(program, rows, COLUMNS)
        for style_name, style in STYLES.items():
            text = sql_text(program, style)
            found = connection.execute(text).fetchall()
            assert same_answer(found, right.rows, ordered), (style_name, text)


def random_program(rng: np.random.Generator) -> Relation:
    """A program of random parts: filters, joins, groups, windows, sets, order."""
    source = joined("left" if rng.random() < 0.3 else "inner")
    tests = (
        Compare(">", Ref("a.amount"), Literal(int(rng.integers(1, 15)))),
        Compare("<>", Ref("s.town"), Literal("Aby")),
        IsNull(Ref("a.kind"), negated=bool(rng.integers(2))),
        InList(Ref("s.rank"), (1, 2, int(rng.integers(3, 5)))),
        Compare(
            "=", FunctionCall("lower", (FunctionCall("trim", (Ref("a.kind"),)),)), Literal("web")
        ),
    )
    relation: Relation = source
    for place in rng.permutation(len(tests))[: int(rng.integers(0, 3))]:
        relation = Filter(relation, tests[int(place)])
    if rng.random() < 0.3:
        other = Filter(sales("b"), Compare("<", Ref("b.amount"), Literal(int(rng.integers(3, 9)))))
        relation = Match(relation, other, (("s.id", "b.shop_id"),), bool(rng.integers(2)))
    return _finished(relation, rng)


def _finished(relation: Relation, rng: np.random.Generator) -> Relation:
    shape = int(rng.integers(4))
    if shape == 0:
        items = (("id", Ref("a.id")), ("town", Ref("s.town")), ("amount", Ref("a.amount")))
        program: Relation = Project(relation, items)
        return Distinct(program) if rng.random() < 0.5 else program
    keys = [("s.town",), ("a.shop_id", "s.town"), ("a.kind",)][int(rng.integers(3))]
    function = ("sum", "avg", "min", "max", "count")[int(rng.integers(5))]
    figure = Aggregate("figure", function, Ref("a.amount"), function == "count")
    groups = GroupBy(relation, keys, (Aggregate("n", "count"), figure))
    if shape == 1:
        return Filter(groups, Compare(">=", Ref("n"), Literal(int(rng.integers(1, 4)))))
    if shape == 2:
        partition = keys[:1] if rng.random() < 0.5 else ()
        return Window(groups, "place", "rank", None, partition, (("n", True),))
    items = tuple((name.replace(".", "_"), Ref(name)) for name in groups.columns)
    ordered = OrderBy(
        Project(groups, items), (("n", True), *((name, False) for name, _ in items[: len(keys)]))
    )
    return Limit(ordered, 3)


def test_three_backends_agree_on_400_random_programs(databases: list[Database]):
    rng = generator_for("test-random-programs")
    distinct = set()
    for number in range(400):
        rows, connection = databases[number % 10]
        program = random_program(rng)
        right = evaluate(program, rows, COLUMNS)
        for name, style in STYLES.items():
            text = sql_text(program, style)
            found = connection.execute(text).fetchall()
            assert same_answer(found, right.rows, is_ordered(program)), (name, text)
        distinct.add(sql_text(program))
    assert len(distinct) > 200


def test_evaluation_notices_answers_that_depend_on_the_last_digits():
    rows = {"sales": [(1, 1, "web", 0.1 + 0.2, "2020-01-01"), (2, 1, "web", 0.3, "2020-01-02")]}
    ordered = OrderBy(Project(sales(), (("amount", Ref("a.amount")),)), (("amount", False),))
    assert evaluate(ordered, rows, COLUMNS).fragile
    near = Filter(sales(), Compare(">", Ref("a.amount"), Literal(0.3)))
    assert evaluate(near, rows, COLUMNS).fragile
    apart = Filter(sales(), Compare(">", Ref("a.amount"), Literal(0.25)))
    assert not evaluate(apart, rows, COLUMNS).fragile
