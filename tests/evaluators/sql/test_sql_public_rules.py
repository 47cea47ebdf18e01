"""The public scoring rules, on values derived by hand from their formulas."""

import hashlib

import pytest

from hexathlon.evaluators.sql.bird import execution_accuracy, rves_reward, soft_f1, trimmed_mean
from hexathlon.evaluators.sql.dbbench import answers_agree, normalised, table_hash, tables_hash
from hexathlon.evaluators.sql.intercode import iou_reward
from hexathlon.evaluators.sql.spider import same_denotation, without_distinct
from hexathlon.evaluators.verifier import get_verifier, verify
from hexathlon.tasks.task import Check
from support.sql_toy import make_task

# Spider -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "got", "ordered", "same"),
    [
        ([(1, "a"), (2, "b")], [("b", 2), ("a", 1)], False, True),
        ([(1, "a"), (2, "b")], [("b", 2), ("a", 1)], True, False),
        ([(1, "a"), (2, "b")], [("a", 1), ("b", 2)], True, True),
        ([(1, 2), (2, 1)], [(2, 2), (1, 1)], False, False),
        ([(1,), (1,)], [(1,)], False, False),
        ([(1,), (1,), (2,)], [(2,), (2,), (1,)], False, False),
        ([], [], False, True),
        ([], [(1,)], False, False),
        ([(1,)], [(1, 2)], False, False),
        ([(1, 1, 2)], [(2, 1, 1)], False, True),
        ([(1.0,)], [(1,)], False, True),
        ([(0.3,)], [(0.1 + 0.2,)], False, False),
    ],
)
def test_spider_denotations(gold, got, ordered, same):
    assert same_denotation(gold, got, ordered=ordered) is same


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        ("SELECT DISTINCT a FROM t", "SELECT  a FROM t"),
        ("SELECT count(distinct a)", "SELECT count( a)"),
        ("SELECT 'DISTINCT', \"distinct\"", "SELECT 'DISTINCT', \"distinct\""),
        ("SELECT distinction", "SELECT distinction"),
    ],
)
def test_spider_removes_distinct_outside_quotes(sql, plain):
    assert without_distinct(sql) == plain


# BIRD ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "got", "score"),
    [
        ([(1,), (2,)], [(2,), (1,), (1,)], 1.0),
        ([(1,)], [(1, 1)], 0.0),
        ([], [], 1.0),
        ([(1,)], [(1.0,)], 1.0),
        ([(None,)], [(0,)], 0.0),
    ],
)
def test_bird_execution_accuracy(gold, got, score):
    assert execution_accuracy(gold, got) == score


@pytest.mark.parametrize(
    ("gold", "got", "score"),
    [
        ([], [], 1.0),
        ([(1, 2)], [(1, 2)], 1.0),
        # Half of the row's cells: tp 1/2, fp 1/2, fn 1/2; precision = recall = 1/2.
        ([(1, 2)], [(1, 3)], 0.5),
        # Swapped columns: every cell occurs in the other row.
        ([(1, 2)], [(2, 1)], 1.0),
        # One row right, one missing: tp 1, fp 0, fn 1; P 1, R 1/2, F1 2/3.
        ([(1, 2), (3, 4)], [(1, 2)], 2 / 3),
        # One row right, one too many: tp 1, fp 1, fn 0; P 1/2, R 1.
        ([(1, 2)], [(1, 2), (3, 4)], 2 / 3),
        # An extra column: of n = 1 gold cells, hits 1, pred only 1: P 1/2, R 1.
        ([(1,)], [(1, 9)], 2 / 3),
        # A missing column: tp 1/2, fp 0, fn 1/2.
        ([(1, 2)], [(1,)], 2 / 3),
        # Rows pair by position: the right rows in the other order earn nothing.
        ([(1,), (2,)], [(2,), (1,)], 0.0),
        # Duplicates are dropped on both sides first.
        ([(1,), (1,), (2,)], [(1,), (2,), (2,)], 1.0),
        ([(1,)], [], 0.0),
        ([], [(1,)], 0.0),
    ],
)  # fmt: skip
def test_bird_soft_f1(gold, got, score):
    assert soft_f1(gold, got) == pytest.approx(score)


@pytest.mark.parametrize(
    ("ratio", "reward"),
    [(3.0, 1.25), (2.0, 1.25), (1.99, 1.0), (1.0, 1.0), (0.99, 0.75), (0.5, 0.75), (0.49, 0.5),
     (0.25, 0.5), (0.24, 0.25), (1e-6, 0.25), (0.0, 0.0)],
)  # fmt: skip
def test_bird_rves_bands(ratio, reward):
    assert rves_reward(ratio) == reward


def test_bird_rves_drops_values_beyond_three_standard_deviations():
    assert trimmed_mean([1.0] * 99 + [1000.0]) == 1.0
    assert trimmed_mean([2.0, 2.0]) == 2.0
    assert trimmed_mean([1.0, 3.0]) == 2.0


# InterCode ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "got", "reward"),
    [
        ([], [], 1.0),
        ([(1,)], [], 0.0),
        ([(1,)], [(1,)], 1.0),
        ([(1,), (2,), (3,)], [(1,), (2,), (3,)], 1.0),
        ([(1,), (2,), (3,)], [(3,), (2,), (1,)], -1.0),
        # Common 1, 2 in the same order; union 4: 2/4, tau 1.
        ([(1,), (2,), (3,)], [(1,), (2,), (4,)], 0.5),
        # Duplicates: common 1, union 2, one common row has no tau.
        ([(1,)], [(1,), (1,)], 0.5),
        # Rows are compared as text, so 1 and 1.0 differ.
        ([(1,)], [(1.0,)], 0.0),
        # 3 of 4 common; tau of (1,2,3) against (1,3,2) is 1/3: 0.75 / 3.
        ([(1,), (2,), (3,), (4,)], [(1,), (3,), (2,)], 0.25),
    ],
)
def test_intercode_rewards(gold, got, reward):
    assert iou_reward(gold, got) == pytest.approx(reward)


# DBBench ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (None, ["0"]), ("", ["0"]), ("  'Ann' ", ["Ann"]), ("1,234", ["1234"]), ("12%", ["12"]),
        ("[1, 'a, b', \"c\"]", ["1", "a b", "c"]), ("[('x',), (2,)]", ["x", "2"]), ([("x",)],
        ["x"]),
        ("[(293.0,)]", ["293.0"]), (["None", "NaN", "-inf"], ["0", "0", "0"]), (7, ["7"]),
        ("[__import__('os').getcwd()]", ["__import__('os').getcwd()"]), ("[]", []),
    ],
)  # fmt: skip
def test_dbbench_normalises_without_evaluating(answer, texts):
    assert normalised(answer) == texts


@pytest.mark.parametrize(
    ("answer", "label", "agree"),
    [
        (["3.004"], ["3"], True), (["3.02"], ["3"], False), (["none"], ["0"], True),
        (["b", "a", "a"], ["a", "b"], True), (["a"], ["a", "b"], False),
        (["1", "2"], ["2", "1"], True), (["1", "1"], ["1"], False), (["1", "x"], ["x", "1"], True),
        (["Ann"], ["ann"], False),
        ("[1, 2]", ["2", "1.0"], True), (None, ["x"], False),
    ],
)  # fmt: skip
def test_dbbench_answers(answer, label, agree):
    assert answers_agree(answer, label) is agree


@pytest.mark.parametrize(
    ("answer", "label", "agree"),
    [
        ('["caf\\u00e9"]', ["caf\u00e9"], True),
        ("['na\\u00efve', 'b']", ["b", "na\u00efve"], True),
        ('["caf\\u00e9"]', ["cafe"], False),
        ('["C:\\new"]', ["C:\new"], True),
        ("[caf\\u00e9]", ["caf\u00e9"], False),
        ('["broken \\u00"]', ["broken \\u00"], True),
    ],
)
def test_dbbench_resolves_escapes_inside_quotes(answer, label, agree):
    """As the original does by evaluating the text; invalid escapes stay unchanged."""
    assert answers_agree(answer, label) is agree


def test_dbbench_table_hash_by_hand():
    # NULL is left out of a row; five hexadecimal digits of each row, sorted, joined, hashed again.
    first, second = (hashlib.md5(text).hexdigest()[:5] for text in (b"1,a", b"2"))
    joined = ",".join(sorted((first, second)))
    assert table_hash([(2, None), (1, "a")]) == hashlib.md5(joined.encode()).hexdigest()
    assert tables_hash({"b": [(1,)], "a": []}) == "_".join(
        sorted((table_hash([(1,)]), table_hash([])))
    )


def test_dbbench_uses_only_1024_characters_of_the_hashes():
    rows = [(i,) for i in range(400)]
    ordered = sorted(rows, key=lambda row: hashlib.md5(str(row[0]).encode()).hexdigest()[:5])
    assert table_hash(ordered[:399] + [ordered[398]]) == table_hash(ordered)


# As verifiers -------------------------------------------------------------------------------------


def state(sql):
    return {"kind": "sql", "sql": sql, "dialect": "sqlite"}


@pytest.mark.parametrize(
    "name", ["spider", "bird_ex", "bird_soft_f1", "bird_rves", "intercode_iou"]
)
def test_public_rules_as_verifiers(name):
    gold = "SELECT id, name FROM customers ORDER BY id"
    task = make_task(checks=(Check(name=name, params={"gold": gold}),), rves_rounds=3)
    assert verify(task, state(gold), []).terms.get("rves", 1.0) > 0
    assert verify(task, state(gold), []).score > 0
    assert verify(task, state("SELECT 'zz'"), []).score == 0
    assert verify(task, state("SELECT nothing"), []).score == 0
    assert verify(task, state("DELETE FROM customers"), []).score == 0
    assert verify(task, state(None), []).score == 0
    assert verify(task, {"kind": "none"}, []).score == 0


@pytest.mark.parametrize("name", ["spider", "bird_ex", "bird_soft_f1", "intercode_iou"])
def test_a_broken_gold_is_unscored_never_zero(name):
    task = make_task(checks=(Check(name=name, params={"gold": "SELECT nothing FROM nowhere"}),))
    assert verify(task, state("SELECT 1"), []).status == "unscored"


def test_only_rves_is_not_deterministic():
    assert not get_verifier("bird_rves").deterministic
    assert get_verifier("spider").deterministic and get_verifier("dbbench").deterministic


@pytest.mark.parametrize(
    "name", ["spider", "bird_ex", "bird_soft_f1", "bird_rves", "intercode_iou"]
)
@pytest.mark.parametrize("sql", ["SELECT 1 WHERE 0", "SELECT 1", "SELECT 1; SELECT 2", ""])
def test_an_empty_expected_answer_is_reported_whatever_was_submitted(name, sql):
    empty = "SELECT id FROM customers WHERE id < 0"
    task = make_task(checks=(Check(name=name, params={"gold": empty}),), rves_rounds=3)
    verdict = verify(task, state(sql), [])
    assert verdict.terms["empty_gold"] == 1.0
    assert (verdict.score > 0) == (sql == "SELECT 1 WHERE 0")
    full = make_task(checks=(Check(name=name, params={"gold": "SELECT id FROM customers"}),))
    assert "empty_gold" not in verify(full, state(sql), []).terms


@pytest.mark.parametrize(
    ("label", "empty"),
    [
        ([], True), (["none"], True), (["", None], True), ([" NULL "], True),
        (["0"], False), ([0], False), (["none", "1"], False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["answer", "none"])
def test_a_label_without_a_value_is_reported_whatever_was_submitted(label, empty, kind):
    task = make_task(checks=(Check(name="dbbench", params={"label": label}),))
    terms = verify(task, {"kind": kind, "answer": ["7"]}, []).terms
    assert terms.get("empty_gold", 0.0) == float(empty)
