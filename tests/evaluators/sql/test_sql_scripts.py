"""Scripts of changes: what they must do on every database, and nothing else."""

import pytest

from hexathlon.evaluators.sql.scripts import statements_of
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.task import Check
from support.sql_toy import WRITE, make_task, shop

HIDDEN = [shop(1), shop(4)]
HIDDEN[1]["tables"][0]["rows"] = [
    [number, name, {"Oslo": "Rome", "Rome": "Oslo"}.get(city)]
    for number, name, city in HIDDEN[1]["tables"][0]["rows"]
]


def judged(script, params=None, **state):
    params = {"statements": [WRITE], **(params or {})}
    task = make_task(
        "write",
        checks=(Check(name="sql_script", params=params),),
        hidden=HIDDEN,
        mode="write",
    )
    return verify(task, {"kind": "script", "sql": script, "dialect": "sqlite", **state}, ())


@pytest.mark.parametrize("script", [
    WRITE, f"{WRITE};", f"-- moved; see the minutes\n{WRITE};\n",
    "BEGIN; UPDATE customers SET city = 'Oslo;' WHERE city = 'Oslo'; "
    "UPDATE customers SET city = 'Bergen' WHERE city = 'Oslo;'; COMMIT",
])  # fmt: skip
def test_equal_changes_score_one_on_all_databases(script):
    verdict = judged(script)
    assert verdict.passed and verdict.evidence == {"databases": 3}


@pytest.mark.parametrize(("script", "terms", "evidence"), [
    ("SELECT 1", (0, 0), {"differing": ["customers"], "rows": {"customers": [10, 10]}}),
    (f"{WRITE}; DELETE FROM orders WHERE id = 200", (0, 0), {"rows": {"orders": [1, 0]}}),
    ("UPDATE customers SET city = 'Bergen' WHERE id % 3 = 0", (1, 0),
     {"database": "hidden 2", "rows": {"customers": [17, 17]}}),
    (f"BEGIN; {WRITE}", (0, 0), {"differing": ["customers"]}),
    (f"{WRITE}; UPDATE nowhere SET x = 1", (0, 0), {"problem": "error_syntax"}),
    (f"{WRITE}; CREATE TABLE spare (id)", (0, 0), {}),
    ("", (0, 0), {"problem": "empty"}),
    (f"{WRITE};" * 41, (0, 0), {"problem": "too_long"}),
])  # fmt: skip
def test_other_changes_score_zero_with_the_rows_that_differ(script, terms, evidence):
    verdict = judged(script)
    assert verdict.score == 0.0 and verdict.status != "unscored"
    assert (verdict.terms.get("visible", 0), verdict.terms.get("hidden", 0)) == terms
    assert all(verdict.evidence[name] == value for name, value in evidence.items())


ADD = "INSERT INTO customers SELECT 900, 'Ada', 'Oslo'"
ONCE = f"{ADD} WHERE NOT EXISTS (SELECT 1 FROM customers WHERE id = 900)"


@pytest.mark.parametrize(("script", "score", "evidence"), [
    (ONCE, 1.0, {"databases": 3}),
    (ADD, 0.0, {"run": 2}),
    (f"DELETE FROM customers WHERE id = 900; {ADD}", 1.0, {}),
    (f"{ADD} FROM (SELECT 1 WHERE (SELECT COUNT(*) FROM customers WHERE id = 900) < 2)", 0.0,
     {"run": 2}),
    (f"{ADD}; {ADD}", 0.0, {"database": "visible"}),
])  # fmt: skip
def test_only_the_first_of_two_runs_may_change_anything(script, score, evidence):
    verdict = judged(script, {"statements": [ONCE], "runs": 2})
    assert verdict.score == score and verdict.status != "unscored"
    assert all(verdict.evidence[name] == value for name, value in evidence.items())


def test_a_script_is_run_once_unless_the_task_says_otherwise():
    assert judged(ADD, {"statements": [ONCE]}).score == 1.0


@pytest.mark.parametrize("state", [{"kind": "database"}, {"kind": "sql"}, {"sql": None}])
def test_anything_but_a_script_scores_zero(state):
    verdict = judged(WRITE, **state)
    assert verdict.score == 0.0 and verdict.evidence == {"problem": "no_script"}


def test_statements_are_separated_only_outside_texts_and_comments():
    script = "SELECT ';' ; -- one; two\nSELECT 2 /* ; */; ;\nSELECT 3"
    assert list(statements_of(script)) == [
        "SELECT ';'", "-- one; two\nSELECT 2 /* ; */", "SELECT 3",
    ]  # fmt: skip
    assert list(statements_of("SELECT 1; -- done")) == ["SELECT 1"]
    assert list(statements_of("SELECT 'open; text")) == ["SELECT 'open; text"]
