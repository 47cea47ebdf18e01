"""Questions about engines: dialects, budgets of work, and their share of the mixture."""

import sqlite3
from contextlib import closing

import pytest

from hexathlon.baselines.harness.selftest import run_selftest
from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sql.env import SQLEnv
from hexathlon.evaluators.sql.runs import GraderFault, run_submitted
from hexathlon.evaluators.sql.strict import sql_result
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.sql.engines.finding import BUDGETS, engine_image, find, population_seed
from hexathlon.tasks.sql.engines.question import DIALECTS
from hexathlon.tasks.sql.engines.tasks import ENGINES
from hexathlon.tasks.sql.estates.tasks import ESTATES
from hexathlon.tasks.sql.screening import same_answer
from hexathlon.tasks.sql.shifts.tasks import SHIFTS
from hexathlon.tasks.sql.source import _built
from hexathlon.tasks.sql.world.backends.base import QueryLimits, SqlError
from hexathlon.tasks.sql.world.backends.choice import URL_VARIABLES, MissingBackend, open_image
from hexathlon.tasks.sql.world.backends.sqlite import open_sqlite
from hexathlon.tasks.sql.world.database import database_bytes, hidden_bytes
from support.sql_episodes import episode
from support.sql_toy import call

SOURCE = get_source("sql")
DIALECT_TEMPLATES = [name for name in ENGINES if name not in BUDGETS]
LIMITS = QueryLimits(seconds=60.0, rows=10_000)


def task_of(template, level="hard", index=0):
    return SOURCE.build(f"sql/{template}/{level}/test/{index:05d}")


def found(task):
    own = task.params["engine"]
    return find(own["template"], own["level"], own["split"], own["seed"])


def answers(made, number):
    rows = made.question.populate(population_seed(made.drawn, number), number == 0)
    return made.question.by_hand(rows)


def agrees(database, sql, expected):
    try:
        return same_answer(database.run(sql, LIMITS).rows, expected, ordered=False)
    except SqlError:
        return False


def check_scripts(task):
    """Every script of a task has the score that it must have."""
    for script in (SOURCE.oracle(task), *SOURCE.alternatives(task).values()):
        assert episode(script, task.id)[1][1] == 1.0, task.id
    wrong = {**SOURCE.mutants(task), **SOURCE.policies(task)}
    assert len(wrong) >= 8
    for name, script in wrong.items():
        assert episode(script, task.id)[1][1] == 0.0, (task.id, name)


@pytest.mark.parametrize("place", range(len(ENGINES)))
def test_right_scripts_score_one_and_near_misses_nothing(place):
    check_scripts(task_of(ENGINES[place], ("medium", "hard")[place % 2], 1))


@pytest.mark.slow
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("template", ENGINES)
def test_all_levels_and_several_tasks_of_each(template):
    for level in ("medium", "hard"):
        for index in range(4):
            check_scripts(task_of(template, level, index))


def check_on_engine(backend, dialect, template, level):
    """Right statements agree with the derivation by hand on each database, others not on all."""
    made = find(template, level, "test", 11)
    texts = made.question.texts[dialect]
    left = dict(texts.wrong)
    assert len(left) >= 3
    for number in range(4):
        expected = answers(made, number)
        with closing(
            open_image(engine_image(made.drawn, number), {}, backend, purpose="agent")
        ) as database:
            assert all(
                agrees(database, sql, expected) for sql in (texts.gold, *texts.others.values())
            )
            left = {name: sql for name, sql in left.items() if agrees(database, sql, expected)}
    assert not left


@pytest.mark.parametrize("template", DIALECT_TEMPLATES)
def test_dialects_on_duckdb(template):
    pytest.importorskip("duckdb", reason="the extra [duckdb] is not installed")
    level = ("medium", "hard")[DIALECT_TEMPLATES.index(template) % 2]
    check_on_engine("duckdb", "duckdb", template, level)


@pytest.mark.postgres
@pytest.mark.parametrize("template", DIALECT_TEMPLATES)
def test_dialects_on_postgresql(template, postgres_url):
    level = ("hard", "medium")[DIALECT_TEMPLATES.index(template) % 2]
    check_on_engine(postgres_url, "postgresql", template, level)


def test_the_oracle_finds_out_on_which_engine_it_is():
    pytest.importorskip("duckdb", reason="the extra [duckdb] is not installed")
    task = task_of("dialect_frames")
    env = SQLEnv(split="test", backend="duckdb")
    text, _ = env.reset(seed=1, options={"task": task.id})
    assert text.endswith("The database runs on DuckDB.")
    script = SOURCE.oracle(task)
    action, reward = next(script), 0.0
    while action:
        observation, reward, done, cut, _ = env.step(action)
        action = None if done or cut else script.send(observation)
    assert reward == 1.0 and env.final_state()["dialect"] == "duckdb"
    env.close()


def test_the_first_message_names_the_engine_of_a_question_about_dialects_only():
    env = SQLEnv(split="test")
    text, _ = env.reset(seed=1, options={"task": task_of("dialect_codes").id})
    assert text.endswith("The database runs on SQLite.")
    task_id = "sql/group_sum/easy/test/00000"
    text, _ = env.reset(seed=1, options={"task": task_id})
    assert text == SOURCE.build(task_id).instruction
    env.close()


def test_drawn_engines_follow_from_the_task_and_a_missing_one_is_an_error(monkeypatch):
    for name in URL_VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("hexathlon.tasks.sql.world.backends.choice._given_urls", {})
    env = SQLEnv(split="test", backend="drawn")
    drawn = {}
    for template in DIALECT_TEMPLATES:
        task = task_of(template)
        drawn.setdefault(task.params["dialect"], task)
    assert set(drawn) == set(DIALECTS)
    env.reset(seed=1, options={"task": drawn["sqlite"].id})
    with pytest.raises(BackendMissing, match="HEXATHLON_POSTGRES_URL"):
        env.reset(seed=1, options={"task": drawn["postgresql"].id})
    env.reset(seed=1, options={"task": "sql/group_sum/easy/test/00000"})
    assert env.final_state()["dialect"] == "sqlite"
    env.close()


def test_a_grader_without_the_engine_gives_no_score(monkeypatch):
    monkeypatch.delenv("HEXATHLON_MYSQL_URL", raising=False)
    task = task_of("dialect_codes")
    sql = "SELECT 1"
    with pytest.raises(GraderFault, match="mysql"):
        run_submitted(database_bytes(task.params), task, "mysql", sql, 1)
    state = {"kind": "sql", "sql": sql, "dialect": "mysql"}
    assert sql_result(task, task.checks[0].params, state, ()).status == "unscored"


def test_other_engines_get_dates_times_and_json_as_such():
    pytest.importorskip("duckdb", reason="the extra [duckdb] is not installed")
    made = find("dialect_payloads", "hard", "test", 1)
    image = engine_image(made.drawn, 0)
    with closing(open_image(image, {}, "duckdb", purpose="agent")) as database:
        rows = database.run("SELECT typeof(placed), typeof(body) FROM orders LIMIT 1", LIMITS).rows
        assert rows == [("DATE", "JSON")]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        connection.execute("PRAGMA application_id = 0")
        plain = connection.serialize()
    with closing(open_image(plain, {}, "duckdb", purpose="agent")) as database:
        rows = database.run("SELECT typeof(placed), typeof(body) FROM orders LIMIT 1", LIMITS).rows
        assert rows == [("VARCHAR", "VARCHAR")]


@pytest.mark.postgres
def test_the_order_of_texts_does_not_depend_on_the_server(postgres_url):
    made = find("dialect_listings", "hard", "test", 1)
    image = engine_image(made.drawn, 0)
    sql = "SELECT nickname FROM people ORDER BY nickname"
    with closing(open_image(image, {}, postgres_url, purpose="agent")) as database:
        names = [name for (name,) in database.run(sql, LIMITS).rows]
    assert names == sorted(names) and names[0][0].isupper() and names[-1][0].islower()


# -- budgets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["medium", "hard"])
@pytest.mark.parametrize("template", BUDGETS)
def test_the_expected_statement_takes_at_most_half_and_naive_ones_too_much(template, level):
    task = task_of(template, level)
    made, budget = found(task), task.params["steps"]
    assert f"{budget:,} steps" in task.instruction
    assert task.checks[0].params["steps"] == budget
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(database_bytes(task.params))
        names = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        indexes = connection.execute(names).fetchall()
    assert (
        "There are indexes, and" if indexes else "There are no indexes, and"
    ) in task.instruction
    over = 0
    for number, image in enumerate((database_bytes(task.params), *hidden_bytes(task.params))):
        database = open_sqlite(image, purpose="test", counted=True)
        texts = made.question.texts["sqlite"]
        result = database.run(texts.gold, LIMITS)
        assert 2 * result.steps <= budget
        assert same_answer(result.rows, answers(made, number), ordered=False)
        if number == 0:
            for sql in texts.wrong.values():
                try:
                    exact = QueryLimits(seconds=60.0, steps=budget, exact=True, rows=10_000)
                    database.run(sql, exact)
                except SqlError as error:
                    assert error.kind == "steps"
                    over += 1
    assert over >= 2


def test_the_count_of_steps_does_not_depend_on_what_ran_before():
    image = database_bytes(task_of("budget_overlap").params)
    sql = found(task_of("budget_overlap")).question.texts["sqlite"].gold
    first = open_sqlite(image, purpose="one", counted=True)
    counts = set()
    for other in ("SELECT 1", "SELECT COUNT(*) FROM sessions", sql, "SELECT * FROM rooms"):
        first.run(other, LIMITS)
        counts.add(first.run(sql, LIMITS).steps)
    counts.add(
        open_sqlite(bytes(bytearray(image)), purpose="two", counted=True).run(sql, LIMITS).steps
    )
    assert len(counts) == 1 and counts.pop() > 10_000


def test_the_agent_sees_what_a_statement_took_and_may_try_costly_ones():
    task = task_of("budget_pairs")
    env = SQLEnv(split="test", backend="duckdb")  # steps are those of SQLite, whatever is asked for
    env.reset(seed=1, options={"task": task.id})
    text = env.step(call("run_query", sql="SELECT COUNT(*) FROM scans"))[0]
    assert f" steps; the limit is {task.params['steps']:,})" in text
    assert env.final_state()["dialect"] == "sqlite"
    naive = found(task).question.texts["sqlite"].wrong["difference"]
    assert "steps; the limit" in env.step(call("run_query", sql=naive))[0]
    _, reward, terminated, _, info = env.step(call("submit", sql=naive))
    assert terminated and reward == 0.0
    assert info["reward_terms"]["error_steps"] == 1.0
    env.close()


# -- the mixture ---------------------------------------------------------------------------------


def test_hard_tasks_are_shifts_and_estates_in_turn():
    for split in ("train", "dev", "test"):
        templates = [
            parse_address(SOURCE.address(split, index, "hard")).template for index in range(180)
        ]
        assert set(templates) == {*SHIFTS, *ESTATES}
        pairs = zip(templates[::2], templates[1::2], strict=True)
        assert all(len({name in SHIFTS for name in pair}) == 2 for pair in pairs)


def test_questions_about_engines_are_drawn_at_medium():
    medium = [parse_address(SOURCE.address("dev", k, "medium")).template for k in range(74)]
    assert sum(name in ENGINES for name in medium) == len(ENGINES)


def test_tasks_are_functions_of_their_address():
    task = task_of("dialect_zones", "medium", 3)
    image = database_bytes(task.params)
    for cached in (_built, find):
        cached.cache_clear()
    again = task_of("dialect_zones", "medium", 3)
    assert again.hash == task.hash and database_bytes(again.params) == image
    other = SOURCE.build(task.id.replace("/test/", "/dev/"))
    assert other.params["engine"]["seed"] != task.params["engine"]["seed"]


def test_a_self_test_can_be_of_some_templates():
    result = run_selftest("SQL", 2, template="budget_latest", kinds=["oracle"])
    assert result.holds and result.tasks == 2
    played = {name.split("/")[1] for name in result.tallies["oracle"].rewards}
    assert played == {"budget_latest"}


def test_a_backend_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingBackend, match="duckdb"):
        open_image(b"", {}, "duckdb", purpose="agent")
