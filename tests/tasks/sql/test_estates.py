"""Estates: business questions whose tables and rules are spread over a grown database."""

import sqlite3
from contextlib import closing

import pytest

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.sql.estates.by_hand import answer_by_hand
from hexathlon.tasks.sql.estates.clauses import METRIC_NAMES, TOPICS, ruling
from hexathlon.tasks.sql.estates.estate import estate_image, estate_of, population_of
from hexathlon.tasks.sql.estates.layout import layout_of
from hexathlon.tasks.sql.estates.rows import draw_rows
from hexathlon.tasks.sql.estates.spec import HELD_OUT, METRICS, TWISTS, draw_spec
from hexathlon.tasks.sql.estates.tasks import ESTATES
from hexathlon.tasks.sql.screening import same_answer
from hexathlon.tasks.sql.source import _built, _estate
from hexathlon.tasks.sql.world.database import database_bytes, hidden_bytes
from support.sql_episodes import episode
from support.sql_toy import call

SOURCE = get_source("sql")
IDS = [f"sql/{template}/hard/test/00000" for template in ESTATES]


def answers(image, sql):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        return connection.execute(sql).fetchall()


def same_rows(one, other, tolerance=1e-9):
    return same_answer(one, other, ordered=False, tolerance=tolerance)


def asked_one():
    """Return a task of which only the asker knows a part."""
    ids = [f"sql/{template}/hard/test/{n:05d}" for n in range(2) for template in ESTATES]
    return next(task for task in map(SOURCE.build, ids) if task.params["user"]["slots"])


def test_the_oracle_solves_it_within_its_budget():
    task_id = IDS[3]
    task = SOURCE.build(task_id)
    _, (_, reward, terminated, _, info) = episode(SOURCE.oracle(task), task_id)
    assert reward == 1.0 and terminated
    assert info["turn"] * 1.15 <= task.limits.turns < info["turn"] * 1.15 + 1
    assert episode(SOURCE.alternatives(task)["other_words"], task_id)[1][1] == 1.0


def test_budgets_are_tight():
    assert all(25 <= SOURCE.build(task_id).limits.turns <= 45 for task_id in IDS)


def test_near_misses_and_trivial_agents_score_nothing():
    task_id = IDS[3]
    task = SOURCE.build(task_id)
    made = _estate(task)
    mutants = SOURCE.mutants(task)
    assert set(made.ignored) <= set(mutants)
    for script in (*mutants.values(), *SOURCE.policies(task).values()):
        assert episode(script, task_id)[1][1] == 0.0


@pytest.mark.parametrize("task_id", IDS)
def test_every_twist_that_is_ignored_changes_the_answer(task_id):
    made = _estate(SOURCE.build(task_id))
    assert 6 <= len(made.spec.twists) <= 8
    assert made.spec.twists <= set(TWISTS[made.metric])
    image = estate_image(made.metric, made.company, made.seed, made.attempt, 0)
    expected = answers(image, made.gold)
    assert len(expected) >= 4
    assert len(made.ignored) >= len(made.spec.twists) + 1  # the choice of a date as well
    for sql in made.ignored.values():
        assert not same_rows(expected, answers(image, sql), 1e-5)


@pytest.mark.parametrize("task_id", IDS)
def test_the_answer_is_derived_a_second_time_from_the_rows(task_id):
    made = _estate(SOURCE.build(task_id))
    rows = draw_rows(made.spec, made.layout, population_of(made.seed, made.attempt, 2))
    image = estate_image(made.metric, made.company, made.seed, made.attempt, 2)
    expected, by_hand = answers(image, made.gold), answer_by_hand(made.spec, made.layout, rows)
    assert same_rows(expected, by_hand)
    assert same_rows(expected, answers(image, made.other))
    assert not same_rows(expected, [(*row[:-1], row[-1] * 1.001) for row in by_hand])


def test_the_database_is_a_grown_one():
    task = SOURCE.build(IDS[0])
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(database_bytes(task.params))
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        columns = connection.execute(
            "SELECT COUNT(*) FROM sqlite_master m, pragma_table_info(m.name) WHERE m.type = 'table'"
        ).fetchone()[0]
    assert 60 <= len(tables) <= 200
    assert columns >= 1_500
    layout = layout_of(task.params["world"])
    place = [tables.index(layout.tables[role]) for role in ("Lsale", "Nsale", "Asale", "cust")]
    assert max(place) - min(place) > 10  # neither first nor last, nor side by side
    assert len({layout.dead["Nsale"][0], layout.tables["Nsale"]} & set(tables)) == 2
    assert len(task.params["documents"]) == 29


def test_hidden_databases_have_the_same_tables_and_other_rows():
    task = SOURCE.build(IDS[3])
    made = _estate(task)
    images = [database_bytes(task.params), *hidden_bytes(task.params)]
    assert len(images) == 4
    results = [answers(image, made.gold) for image in images[:3]]
    assert not same_rows(results[0], results[1], 1e-5)
    assert not same_rows(results[1], results[2], 1e-5)
    register = made.layout("SELECT * FROM @reg")
    assert answers(images[0], register) == answers(images[1], register)


@pytest.mark.parametrize("task_id", IDS)
def test_one_entry_of_the_register_binds_and_says_what_holds(task_id):
    made = _estate(SOURCE.build(task_id))
    metric = made.metric
    layout, spec = made.layout, made.spec
    image = estate_image(metric, made.company, made.seed, made.attempt, 0)
    binding = answers(
        image,
        layout(
            "SELECT g.@reg.topic, g.@reg.text, MAX(g.@reg.first) FROM @reg g JOIN @sign s "
            "ON s.@sign.who = g.@reg.by AND s.@sign.first <= g.@reg.on AND "
            "(s.@sign.last IS NULL OR s.@sign.last >= g.@reg.on) "
            "WHERE s.@sign.body = 'Group Controlling' AND "
            f"g.@reg.metric = '{METRIC_NAMES[metric]}' AND g.@reg.first <= '{spec.today}' "
            "GROUP BY g.@reg.topic"
        ),
    )
    found = {topic: text for topic, text, _ in binding}
    assert found == {topic: ruling(spec, layout, topic, right=True) for topic in TOPICS[metric]}
    assert all(len(text) <= 200 for text in found.values())  # results cut cells after 200


def test_what_only_the_asker_knows_must_be_asked():
    task = asked_one()
    made = _estate(task)
    assert made.spec.asked
    assert task.params["user"]["slots"]["date"]["value"] not in task.instruction
    _, (_, reward, _, _, info) = episode(SOURCE.mutants(task)["guessed_without_asking"], task.id)
    assert reward == 0.0 and info["reward_terms"]["asked"] == 0.0
    assert info["reward_terms"]["hidden"] == 1.0


def test_asking_for_what_is_on_file_wears_the_asker_out():
    env = SQLEnv(split="test")
    task = next(t for t in map(SOURCE.build, IDS) if not t.params["user"]["slots"])
    env.reset(seed=1, options={"task": task.id})
    question = call("ask_user", question="Which date do you go by?")
    for _ in range(3):
        text = env.step(question)[0]
    assert "left" in text
    env.close()


def test_some_kinds_of_twists_never_occur_in_train():
    kinds = {kind for own in TWISTS.values() for kind in own}
    assert 0.3 <= len(HELD_OUT & kinds) / len(kinds) <= 0.4
    found = {
        kind
        for metric in METRICS
        for seed in range(12)
        for kind in draw_spec(metric, f"estate-train-{seed}", seed, 0).twists
    }
    assert found == kinds - HELD_OUT


def test_every_place_of_the_test_split_has_a_task_of_its_own():
    assert len({SOURCE.address("test", n) for n in range(SOURCE.size("test"))}) == (
        SOURCE.size("test")
    )


def test_tasks_are_functions_of_their_address():
    task = SOURCE.build(IDS[4])
    image = database_bytes(task.params)
    _built.cache_clear()
    estate_of.cache_clear()
    assert SOURCE.build(IDS[4]).hash == task.hash
    assert database_bytes(task.params) == image
    other = SOURCE.build(IDS[4].replace("/test/", "/dev/"))
    assert other.params["world"] != task.params["world"]
