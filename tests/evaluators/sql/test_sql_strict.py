"""Our own rule: verdicts on right, wrong, malformed and hostile submissions."""

import json

import pytest

from hexathlon.evaluators.sql.images import describe_content, image_rows
from hexathlon.evaluators.sql.strict import policy_of
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.sql.world.backends.base import WRITE_KINDS, QueryLimits
from hexathlon.tasks.sql.world.backends.sqlite import open_sqlite
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.task import Check
from support.sql_toy import GOLD, WRITE, make_task, shop


def state(sql, **more):
    return {"kind": "sql", "sql": sql, "dialect": "sqlite", **more}


def judged(sql, task=None):
    return verify(task or make_task(), state(sql), [])


def checked(gold, **params):
    return make_task(checks=(Check(name="sql_result", params={"gold": gold, **params}),))


def test_the_gold_itself_scores_one_on_all_databases():
    verdict = judged(GOLD)
    assert verdict.passed and verdict.partial == 1.0
    assert verdict.terms == {"visible": 1.0, "hidden": 1.0}
    assert verdict.evidence == {"databases": 6}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city AS c, SUM(1) FROM customers WHERE city > '' GROUP BY 1 ORDER BY 2 DESC, 1",
        "WITH c AS (SELECT * FROM customers WHERE city NOT NULL) "
        "SELECT city, 1.0 * count(id) FROM c GROUP BY city",
    ],
)
def test_equivalent_query_scores_one(sql):
    assert judged(sql).score == 1.0


def test_constant_answer_fails_on_hidden_databases():
    verdict = judged("SELECT 'Oslo', 10 UNION ALL SELECT 'Rome', 10")
    assert verdict.score == 0.0
    assert verdict.terms["visible"] == 1.0 and verdict.terms["hidden"] == 0.0
    assert verdict.evidence["database"] == "hidden 1"


@pytest.mark.parametrize(
    ("submission", "term"),
    [
        (state("SELECT city FROM customers"), "columns"),
        (state("SELECT city, count(*) FROM customers GROUP BY city"), "rows"),
        (state("SELECT city, count(*) + 1 FROM customers WHERE city > '' GROUP BY 1"), "values"),
        (state("SELECT count(*), city FROM customers WHERE city > '' GROUP BY 2"), "values"),
        (state("SELECT * FROM orders"), "columns"),
        (state("SELECT id, id FROM orders"), "rows"),
        (state("SELEC"), "error_refused"),
        (state("SELECT nope FROM customers"), "error_syntax"),
        (state("SELECT 1, 2; SELECT 3"), "error_statement"),
        (state("DELETE FROM customers"), "error_refused"),
        (state("WITH x AS (SELECT 1) DELETE FROM customers"), "error_refused"),
        (state("PRAGMA table_info(customers)"), "error_refused"),
        (state("SELECT random(), 1"), "error_refused"),
        (state("SELECT 'a\0', 1"), "error_statement"),
        (state(""), "empty"),
        (state("  \n"), "empty"),
        (state(None), "not_text"),
        (state(7), "not_text"),
        (state(["SELECT 1"]), "not_text"),
        (state({"sql": GOLD}), "not_text"),
        (state(float("nan")), "not_text"),
        (state("SELECT " + "1," * 20_000 + "1"), "too_long"),
        ({"kind": "none", "sql": None}, "no_query"),
        ({"kind": "answer", "answer": ["Oslo"]}, "no_query"),
        ({"kind": "impossible", "reason": "missing_data"}, "no_query"),
        ({}, "no_query"),
    ],
)
def test_wrong_and_malformed_submissions_score_zero_with_a_reason(submission, term):
    verdict = verify(make_task(), submission, [])
    assert (verdict.score, verdict.status) == (0.0, "scored")
    assert verdict.terms[term] == 1.0


def test_the_grader_stops_a_runaway_submission():
    task = make_task()
    quick = task.model_copy(update={"limits": task.limits.model_copy(update={"turns": 3})})
    runaway = "SELECT count(*), 1 FROM orders a, orders b, orders c, orders d, orders e"
    verdict = judged(runaway, quick)
    assert verdict.score == 0.0
    assert verdict.terms.keys() & {"error_steps", "error_time"}


def test_evidence_and_terms_never_contain_the_gold():
    for sql in (GOLD, "SELECT 1, 2", "SELECT nope", "SELECT city, 1 FROM customers"):
        text = json.dumps(judged(sql).model_dump())
        assert GOLD not in text and "Oslo" not in text and "Rome" not in text


def test_failing_gold_is_unscored():
    for gold in ("SELECT nothing", "DELETE FROM customers", "SELECT random()"):
        verdict = judged("SELECT 1", checked(gold))
        assert verdict.status == "unscored" and verdict.terms == {"grader_fault": 1.0}


def test_order_counts_only_if_declared():
    gold = "SELECT id FROM customers ORDER BY id DESC"
    assert judged("SELECT id FROM customers", checked(gold)).score == 1.0
    ordered = checked(gold, ordered=True)
    assert judged("SELECT id FROM customers", ordered).terms["order"] == 1.0
    assert judged("SELECT id FROM customers ORDER BY -id", ordered).score == 1.0


def test_ties_are_free_if_the_order_columns_are_declared():
    gold = "SELECT city, id FROM customers WHERE city > '' ORDER BY city, id"
    other = "SELECT city, id FROM customers WHERE city > '' ORDER BY city, id DESC"
    assert judged(other, checked(gold, ordered=True)).score == 0.0
    assert judged(other, checked(gold, ordered=True, order_by=[0])).score == 1.0
    assert judged(gold, checked(gold, ordered=True)).score == 1.0


def test_column_order_is_positional_unless_declared():
    gold = "SELECT id, name FROM customers"
    swapped = "SELECT name, id FROM customers"
    assert judged(swapped, checked(gold)).score == 0.0
    assert judged(swapped, checked(gold, column_order="any")).score == 1.0


def test_the_policy_is_read_from_the_check():
    policy = policy_of({"ordered": True, "order_by": [1], "column_order": "any", "tolerance": 0.5})
    assert (policy.ordered, policy.order_by, policy.any_column_order) == (True, (1,), True)
    assert policy.tolerance == 0.5


@pytest.mark.parametrize(
    ("final", "score"),
    [
        ({"kind": "impossible", "reason": "missing_data", "evidence": " Refunds "}, 1.0),
        ({"kind": "impossible", "reason": "missing_data", "evidence": "orders"}, 0.0),
        ({"kind": "impossible", "reason": "missing_value", "evidence": "refunds"}, 0.0),
        ({"kind": "impossible", "reason": "missing_data", "evidence": "refunds or orders"}, 0.0),
        ({"kind": "impossible", "reason": "missing_data", "evidence": "not refunds"}, 0.0),
        ({"kind": "impossible", "reason": None, "evidence": None}, 0.0),
        ({"kind": "sql", "sql": "SELECT 'refunds'"}, 0.0),
    ],
)
def test_impossible_requires_reason_and_evidence(final, score):
    params = {"reason": "missing_data", "evidence": ["refunds", "refund"]}
    task = make_task(checks=(Check(name="sql_impossible", params=params),))
    assert verify(task, final, []).score == score


# Write tasks --------------------------------------------------------------------------------------


def test_text_of_any_bytes_is_read_and_compared():
    images = []
    for text in ("x'ff41'", "x'fe41'", "x'c3bc'"):
        database = open_sqlite(database_bytes({"database": shop()}), writes=WRITE_KINDS)
        database.run(f"UPDATE customers SET city = CAST({text} AS TEXT)", QueryLimits())
        images.append(database.sqlite_image())
    cities = [{row[2] for row in image_rows(image)["customers"]} for image in images]
    assert cities == [{"\udcffA"}, {"\udcfeA"}, {"ü"}]
    digests = [describe_content(image)["tables"]["customers"]["rows"] for image in images]
    assert len(set(digests)) == 3


def left(*statements, writes=WRITE_KINDS):
    database = open_sqlite(database_bytes({"database": shop()}), writes=writes)
    for statement in statements:
        database.run(statement, QueryLimits())
    content = describe_content(database.sqlite_image())
    return {"kind": "database", "database": json.loads(json.dumps(content))}


@pytest.mark.parametrize(
    "statements",
    [
        (WRITE,),
        ("UPDATE customers SET city = 'Bergen' WHERE id IN (SELECT id FROM customers "
         "WHERE city = 'Oslo')",),
        ("BEGIN", WRITE, "COMMIT"),
        (WRITE, "DELETE FROM orders WHERE id = 5", "INSERT INTO orders VALUES (5, 6, 6.25, "
         "'2024-06-11')"),
        (WRITE, "CREATE TABLE scratch (a)", "DROP TABLE scratch"),
    ],
)  # fmt: skip
def test_correct_change_scores_one_for_any_statements(statements):
    verdict = verify(make_task("write"), left(*statements), [])
    assert verdict.passed, verdict.evidence


@pytest.mark.parametrize(
    ("statements", "differing"),
    [
        ((), ["customers"]),
        (("UPDATE customers SET city = 'Bergen'",), ["customers"]),
        ((WRITE, "DELETE FROM orders WHERE id = 5"), ["orders"]),
        ((WRITE, "INSERT INTO orders (id) VALUES (9999)"), ["orders"]),
        ((WRITE, "CREATE TABLE scratch (a)"), ["scratch"]),
        ((WRITE, "ALTER TABLE orders ADD COLUMN x"), ["orders"]),
        ((WRITE, "CREATE INDEX i ON orders (day)"), ["(indexes, views, triggers)"]),
        ((WRITE, "DROP TABLE orders"), ["orders"]),
        (("BEGIN", WRITE), ["customers"]),
        ((WRITE, "CREATE TABLE o2 AS SELECT * FROM orders", "DROP TABLE orders",
          "ALTER TABLE o2 RENAME TO orders"), ["orders"]),
    ],
)  # fmt: skip
def test_missing_and_collateral_changes_score_zero(statements, differing):
    verdict = verify(make_task("write"), left(*statements), [])
    assert verdict.score == 0.0
    assert verdict.evidence["differing"] == differing


def test_unsubmitted_database_scores_zero():
    final = {**left(WRITE), "kind": "none"}
    assert verify(make_task("write"), final, []).terms == {"not_handed_in": 1.0}
    assert verify(make_task("write"), {"kind": "database", "database": None}, []).score == 0.0


def test_new_tables_are_compared_by_rows_not_declarations():
    gold = ["CREATE TABLE totals (city TEXT, n INTEGER)",
            "INSERT INTO totals SELECT city, count(*) FROM customers GROUP BY city"]  # fmt: skip
    task = make_task("write", checks=(Check(name="sql_write", params={"statements": gold}),))
    same = "CREATE TABLE totals AS SELECT count(*) AS n, city FROM customers GROUP BY 2"
    assert verify(task, left(same), []).passed
    assert not verify(task, left(same.replace("count(*)", "count(id) + 1")), []).passed


def test_a_gold_write_that_fails_is_unscored():
    check = Check(name="sql_write", params={"statements": ["UPDATE nowhere SET a = 1"]})
    assert verify(make_task("write", checks=(check,)), left(), []).status == "unscored"
