"""Mutations: every kind of mistake is made, one at a time, and changes the meaning."""

from collections import Counter

import pytest

from hexathlon.tasks.sql.mutations import ESSENTIAL, mutants
from hexathlon.tasks.sql.programs import evaluate, sql_text
from hexathlon.tasks.sql.programs.expressions import (
    Binary,
    Compare,
    FunctionCall,
    InList,
    IsNull,
    Literal,
    Misreadable,
    Ref,
)
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import (
    Aggregate,
    Combine,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Limit,
    Match,
    OrderBy,
    Project,
    Scan,
    Window,
)
from hexathlon.tasks.sql.screening import same_answer

COLUMNS = {"t": ["id", "kind", "amount"], "u": ["id", "t_id"]}
ROWS = {
    "t": [(1, "A", 2.0), (2, "a", 4.0), (3, "b", None), (4, "b", 4.0), (5, "c", 9.0)],
    "u": [(1, 1), (2, 1), (3, 4), (4, 9)],
}
T = Scan("t", "t", ("id", "kind", "amount"))
U = Scan("u", "u", ("id", "t_id"))
CLEAN = Misreadable(FunctionCall("lower", (Ref("t.kind"),)), Ref("t.kind"), "skip_cleaning")
COUNT = (Aggregate("n", "count"),)


def kinds(program: Relation) -> Counter:
    return Counter(label for label, _ in mutants(program))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (Filter(T, Compare(">=", Ref("t.amount"), Literal(4))), {"drop_filter", "off_by_one"}),
        (Filter(T, Compare("=", CLEAN, Literal("a"))), {"skip_cleaning", "wrong_case"}),
        (Filter(T, IsNull(Ref("t.amount"), True)), {"keep_missing", "flip_missing"}),
        (Filter(T, InList(Ref("t.kind"), ("a", "b"))), {"shorter_list", "flip_list"}),
        (Join(T, U, (("t.id", "u.t_id"),)), {"wrong_join"}),
        (Match(T, U, (("t.id", "u.t_id"),)), {"flip_match", "drop_match"}),
        (Distinct(Project(T, (("kind", CLEAN),))), {"missing_distinct"}),
        (GroupBy(T, ("t.kind",), (Aggregate("n", "sum", Ref("t.amount")),)), {"wrong_aggregate"}),
        (GroupBy(T, (), (Aggregate("n", "avg", Ref("t.amount")),)), {"missing_as_zero"}),
        (
            Window(T, "w", "rank", None, ("t.kind",), (("t.amount", True),)),
            {"wrong_rank", "drop_partition", "wrong_window_order"},
        ),
        (
            Window(T, "w", "sum", "t.amount", (), (("t.id", False),), "running"),
            {"wrong_frame", "wrong_aggregate"},
        ),
        (Limit(OrderBy(T, (("t.id", False),)), 2), {"wrong_limit", "wrong_offset", "wrong_sort"}),
        (Combine("except", T, T), {"wrong_set_operation", "swapped_difference"}),
        (
            Project(T, (("share", Binary("*", Literal(100.0), Ref("t.amount"))),)),
            {"fraction_for_percentage", "extra_column"},
        ),
        (Project(T, (("id", Ref("t.id")), ("amount", Ref("t.amount")))), {"wrong_column"}),
    ],
)
def test_each_node_invites_its_own_mistakes(program: Relation, expected: set[str]):
    assert expected <= set(kinds(program))


def test_a_mutant_differs_from_its_program_in_one_place():
    source = Filter(T, Compare("=", CLEAN, Literal("a")))
    program = Project(source, (("id", Ref("t.id")),))
    for label, mutant in mutants(program):
        assert mutant != program, label
    dropped = dict(mutants(program))["drop_filter"]
    assert dropped == Project(T, (("id", Ref("t.id")),))


def test_most_mutants_of_a_question_answer_something_else():
    groups = GroupBy(Filter(T, Compare(">=", Ref("t.amount"), Literal(4))), ("t.kind",), COUNT)
    program = Project(groups, (("kind", Ref("t.kind")), ("n", Ref("n"))))
    right = evaluate(program, ROWS, COLUMNS).rows
    told_apart = set()
    for _, mutant in mutants(program):
        try:
            rows = evaluate(mutant, ROWS, COLUMNS).rows
        except KeyError:  # it reads a column that it removed
            continue
        if not same_answer(rows, right, False):
            told_apart.add(sql_text(mutant))
    assert len(told_apart) >= 8


def test_the_essential_kinds_are_kinds_that_exist():
    assert "drop_filter" in ESSENTIAL
    assert "keep_missing" not in ESSENTIAL
