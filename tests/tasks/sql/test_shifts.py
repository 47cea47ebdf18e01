"""Shifts: days of tickets in one database, whose traps nobody mentions."""

import itertools
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.evaluators.sql.shifts import describe_report
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.sql.draws import ValueDraw
from hexathlon.tasks.sql.shifts.by_hand import CHECKS
from hexathlon.tasks.sql.shifts.day import day_of
from hexathlon.tasks.sql.shifts.ground import Ground
from hexathlon.tasks.sql.shifts.orders import best_set, highest_worth
from hexathlon.tasks.sql.shifts.themes import THEMES
from hexathlon.tasks.sql.shifts.tickets import TicketDesk
from hexathlon.tasks.sql.shifts.traps import DAMAGES, HELD_OUT, MISTAKES, NEEDED, TRAPS, draw_traps
from hexathlon.tasks.sql.source import _built, _day
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.sql.world.world import world_for
from support.sql_episodes import episode
from support.sql_toy import call

SOURCE = get_source("sql")
TASK_ID = "sql/shift_service/hard/test/00000"


@pytest.fixture(scope="module")
def task():
    return SOURCE.build(TASK_ID)


@pytest.fixture(scope="module")
def day(task):
    return _day(task)


def test_the_oracle_solves_the_day_within_its_budget(task):
    state, (_, reward, terminated, _, info) = episode(SOURCE.oracle(task), TASK_ID)
    assert reward == 1.0
    assert terminated
    assert info["turn"] <= task.limits.turns <= info["turn"] + 5
    assert info["reward_terms"] == {
        "tickets": 1.0, "answers": 1.0, "databases": 1.0, "all_handed_in": 1.0,
    }  # fmt: skip
    again = verify(SOURCE.build(TASK_ID), state, ())
    assert again.score == 1.0


@pytest.mark.parametrize("name", ["other_statements", "helper_tables"])
def test_other_solutions_are_right(task, name):
    assert episode(SOURCE.alternatives(task)[name], TASK_ID)[1][1] == 1.0


@pytest.mark.parametrize(
    "name", ["not_kept", "withdrawal_ignored", "greedy_offers", "refused_ticket_carried_out"]
)
def test_near_misses_are_wrong_but_earn_the_share_of_their_tickets(task, name):
    _, (_, reward, _, _, info) = episode(SOURCE.mutants(task)[name], TASK_ID)
    assert reward == 0.0
    assert 0.0 < info["reward_terms"]["tickets"] < 1.0


@pytest.mark.parametrize("value", ["1e1000000", "-1e999999999", "nan", "inf"])
def test_numbers_beyond_measure_are_wrong_answers(task, day, value):
    script = (call("submit", answer=[value]) for _ in day.tickets)
    _, (_, reward, terminated, _, info) = episode(script, TASK_ID)
    assert terminated and reward == 0.0
    assert info["status"] == "completed" and info["reward_terms"]["answers"] < 1.0


def test_ids_have_one_form():
    with pytest.raises(UnknownTask, match="form of 'sql' ids"):
        SOURCE.build("sql/shift_service/hard/test/5")


@pytest.mark.parametrize("name", ["delete_everything", "always_impossible"])
def test_trivial_agents_do_not_solve_the_day(task, name):
    _, (_, reward, _, _, info) = episode(SOURCE.policies(task)[name], TASK_ID)
    assert reward == 0.0
    assert info["reward_terms"]["all_handed_in"] == 1.0


def test_a_day_has_tickets_traps_and_mistakes_that_matter(task, day):
    assert len(day.tickets) in (13, 14)
    assert 14 <= len(day.traps) <= 17
    assert day.traps <= set(TRAPS)
    assert len(day.slips) >= 30
    assert {MISTAKES[trap] for trap in day.traps if trap in MISTAKES} <= set(day.slips)
    assert {"not_kept", "twin_refused", "stale_figure"} <= set(day.slips)
    assert sum(ticket.refusal is not None for ticket in day.tickets) == 1
    texts = [task.instruction, *(each["text"] for each in task.params["tickets"])]
    assert len(texts) == len(day.tickets)
    trigger = [line.split()[2] for line in catalogue(day.image)]
    assert all(name.lower() not in text.lower() for name in trigger for text in texts)


def test_prices_and_deliveries_are_derived_a_second_time(day):
    found = [name for name in ("prices", "delivery") if name in {t.kind for t in day.tickets}]
    assert found
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(day.image)
        desk = desk_of(day, connection)
        assert not any(CHECKS[name](desk) for name in found)
        for ticket in day.tickets:
            for step in ticket.steps:
                connection.execute(step.sql)
            if ticket.kind in found:
                assert CHECKS[ticket.kind](desk)
            for statement in ticket.after:
                connection.execute(statement)


def desk_of(day, connection):
    """A desk on the morning's database, with the tables drawn again."""
    world, theme = world_for(day.world), THEMES[day.template.removeprefix("shift_")]
    names = day.names
    ground = Ground(world, theme, names, world.schema.today, None, None, None, {})
    for role, table in names.tables.items():
        if table in day.tables:
            ground.rows[role] = connection.execute(f"SELECT * FROM {table}").fetchall()
    desk = TicketDesk(ground, None, connection, day.traps)
    desk.notes.batch = day.batch
    return desk


def catalogue(image):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        rows = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
        return [sql for (sql,) in rows]


def test_the_database_is_of_a_size_that_nobody_reads(task, day):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(database_bytes(task.params))
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        rows = sum(
            connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in names
        )
    assert 20 <= len(names) <= 40
    assert rows > 4_000


def test_days_are_functions_of_their_address(task, day):
    day_of.cache_clear()
    _built.cache_clear()
    assert SOURCE.build(TASK_ID).hash == task.hash
    assert _day(task).image == day.image


def test_routines_run_before_tickets_that_give_no_reason_to_look_back(day):
    quiet = ("pause", "pause_twin", "offers", "quick")
    disturbed = [
        following.kind for ticket, following in itertools.pairwise(day.tickets) if ticket.after
    ]
    assert sum(kind in quiet for kind in disturbed) >= 2
    mended = {name for ticket in day.tickets for step in ticket.steps for name in step.slips}
    assert {f"{trap}_left" for trap in day.traps & set(DAMAGES)} <= mended


@pytest.mark.parametrize("split", ["train", "test"])
def test_traps_are_drawn_of_every_sort_and_some_kinds_never_in_train(split):
    draw = ValueDraw(np.random.default_rng(5))
    found = set()
    for _ in range(150):
        traps = draw_traps(draw, split)
        assert 14 <= len(traps) <= 17
        assert 5 <= len(traps & set(DAMAGES)) <= 6
        assert not {"step_limit", "rounding"} <= traps
        found |= traps
    kinds = set(TRAPS)
    assert found == (kinds - HELD_OUT if split == "train" else kinds)
    assert len(HELD_OUT) * 3 >= len(kinds)
    assert set(DAMAGES) <= set(NEEDED)


def test_a_refused_key_of_a_table_is_named():
    env = SQLEnv(split="test")
    env.reset(seed=1, options={"task": TASK_ID})
    text = env.step(call("run_query", sql="CREATE TABLE tmp_a (x TEXT PRIMARY KEY)"))[0]
    assert "a PRIMARY KEY or UNIQUE constraint (it needs an index) is not allowed here" in text
    assert text.endswith("Hint: Create the table without it.")
    env.step(call("run_query", sql="CREATE TABLE tmp_b (x TEXT)"))
    text = env.step(call("run_query", sql="CREATE INDEX own ON tmp_b (x)"))[0]
    assert "CREATE INDEX is not allowed here" in text
    env.close()


def test_answers_are_compared_as_values_and_databases_row_by_row(task, day):
    env = SQLEnv(split="test")
    env.reset(seed=1, options={"task": TASK_ID})
    answer = list(day.tickets[0].answer)
    for step in day.tickets[0].steps:
        env.step(call("run_query", sql=step.sql))
    env.step(call("run_query", sql="CREATE TABLE own AS SELECT 1 AS one"))
    env.step(call("run_query", sql="DROP TABLE own"))
    env.step(call("run_query", sql="BEGIN"))
    env.step(call("run_query", sql=f"DELETE FROM {day.tables[0]}"))
    spelt = [f" {float(each):.4f}" if each.replace(".", "").isdigit() else each for each in answer]
    text = env.step(call("submit", answer=spelt))[0]
    assert text.startswith("Handed in.")
    assert "Ticket 2: " in text
    before = env.final_state()["reports"][0]["database"]
    assert "own" not in before
    env.step(call("run_query", sql="CREATE TABLE tmp_own AS SELECT 1 AS one"))
    env.step(call("submit"))
    assert set(env.final_state()["reports"][1]["database"]) == {*before, "tmp_own"}
    verdict = verify(task, env.final_state(), ())
    assert verdict.terms["tickets"] == pytest.approx(1 / len(day.tickets))
    assert verdict.terms["all_handed_in"] == 0.0
    env.close()


def test_a_fork_goes_on_with_its_own_tickets_and_rows(task, day):
    env = SQLEnv(split="test")
    env.reset(seed=1, options={"task": TASK_ID})
    env.step(call("submit", answer=["1"]))
    copy = env.fork(1)[0]
    query = call("run_query", sql=f"SELECT COUNT(*) FROM {day.tables[2]}")
    copy.step(call("run_query", sql=f"DELETE FROM {day.tables[2]}"))
    assert copy.step(query)[0].splitlines()[1] == "0"
    assert env.step(query)[0].splitlines()[1] != "0"
    assert copy.step(call("submit"))[0] == env.step(call("submit"))[0]
    assert len(copy.final_state()["reports"]) == 2
    copy.close()
    env.close()


def test_a_new_table_is_described_by_its_values_and_not_by_its_types():
    start = image("CREATE TABLE a (x INTEGER)")
    one = image("CREATE TABLE a (x INTEGER)", "CREATE TABLE r (k TEXT, v REAL)",
                "INSERT INTO r VALUES ('a', 2)")  # fmt: skip
    other = image("CREATE TABLE a (x INTEGER)", "CREATE TABLE r (v INTEGER, k TEXT)",
                  "INSERT INTO r VALUES (2, 'a')")  # fmt: skip
    wrong = image("CREATE TABLE a (x INTEGER)", "CREATE TABLE r (k TEXT, v REAL)",
                  "INSERT INTO r VALUES ('a', 2.01)")  # fmt: skip
    assert describe_report(one, start) == describe_report(other, start)
    assert describe_report(one, start) != describe_report(wrong, start)


def image(*statements):
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        return connection.serialize()


def test_the_best_offers_are_those_that_trying_all_sets_finds():
    offers = [("A", 5, 4, 90), ("B", 4, 5, 85), ("C", 9, 2, 120), ("D", 3, 3, 40), ("E", 2, 6, 61)]
    best = best_set(offers, 12, 11)
    assert best is not None
    assert best[1] == highest_worth(offers, 12, 11) == 181
    assert best[0] == ("C", "E")
    assert best_set([("A", 1, 1, 5), ("B", 1, 1, 5)], 1, 1) is None
