"""The SQL environment: tools, texts, endings, forks."""

import gymnasium
import pytest

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sql.env import SQLEnv, make_vector
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.task import Check
from support import sql_toy
from support.sql_toy import GOLD, WRITE, call, make_task

TEMPLATES = sql_toy.SqlToySource.templates


def env_for(template="count", seed=3, **kwargs):
    env = SQLEnv(taskset="sqltoy", split="test", **kwargs)
    env.reset(seed=seed, options={"task": f"sqltoy/{template}/easy/test/00000"})
    return env


def say(env, tool, /, **arguments):
    return env.step(call(tool, **arguments))[0]


def play(env, actions):
    return [env.step(action)[:4] for action in actions]


def oracle_actions(template):
    task = get_source("sqltoy").build(f"sqltoy/{template}/easy/test/00000")
    return list(get_source("sqltoy").oracle(task))


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_oracle_scores_one(template):
    env = env_for(template)
    steps = play(env, oracle_actions(template))
    assert steps[-1][1:] == (1.0, True, False)
    assert all(step[1] == 0.0 for step in steps[:-1])
    env.close()


def test_the_texts_that_the_agent_reads():
    env = env_for()
    assert say(env, "list_tables") == "2 tables\ncustomers (30 rows)\norders (200 rows)"
    assert say(env, "search_tables", query="day, city") == "customers: city\norders: day"
    assert say(env, "search_tables", query="zebra") == "No table and no column matches."
    assert say(env, "describe_table", table="ORDERS").splitlines()[:4] == [
        "table orders (200 rows)",
        "column | type | null | key | references",
        "id | INTEGER | no | primary | -",
        "customer | INTEGER | yes | - | -",
    ]
    assert say(env, "sample_rows", table="customers", limit=2) == (
        "id | name | city\n1 | name 1 | Rome\n2 | name 2 | NULL\n(2 rows)"
    )
    assert say(env, "list_documents") == "1 document\nnotes"
    assert say(env, "read_document", name="notes") == "Cities can be missing."
    assert say(env, "run_query", sql=GOLD) == "city | COUNT(*)\nOslo | 10\nRome | 10\n(2 rows)"
    assert say(env, "submit", sql=GOLD) == "Handed in."


def test_long_results_are_cut_with_their_true_number_of_rows():
    lines = say(env_for(), "run_query", sql="SELECT id FROM orders").splitlines()
    assert len(lines) == 52 and lines[-1] == "(first 50 of 200 rows)"
    lines = say(env_for(), "run_query", sql="SELECT a.id FROM orders a, orders b").splitlines()
    assert lines[-1] == "(first 50 of more than 1,000 rows)"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("describe_table", {"table": "custmers"}, "there is no table"),
        ("sample_rows", {"table": "customers", "limit": 99}, "must lie in 1…20"),
        ("read_document", {"name": "secret"}, "1 document"),
        ("run_query", {"sql": "DROP TABLE orders"}, "DROP is not allowed here"),
        ("run_query", {"sql": "SELECT * FROM nope"}, "The tables are: customers, orders"),
        ("run_query", {"sql": 7}, "must be of type string"),
        ("run_query", {}, "needs the argument 'sql'"),
        ("ask_user", {"question": "why?"}, "there is no tool"),
        ("submit", {"sql": "x", "answer": ["x"]}, "has no argument 'answer'"),
        ("submit_impossible", {"reason": "tired", "evidence": "x"}, "must be one of"),
    ],
)
def test_wrong_calls_are_answered_and_counted(name, arguments, words):
    env = env_for()
    observation, reward, terminated, _, info = env.step(call(name, **arguments))
    assert observation.startswith("Error: ") and words in observation
    assert (reward, terminated, info["tool_errors"]) == (0.0, False, 1)


def test_the_user_answers_and_can_leave():
    env = env_for("ask")
    assert "2024" in say(env, "ask_user", question="Which year do you mean?")
    state = env.final_state()
    assert state["asked"] == ["year"]
    assert "2024" in say(env, "ask_user", question="Which year do you mean?")
    assert env.final_state() == state, "asking again leaves the same result"
    for _ in range(8):
        last = say(env, "ask_user", question="What is the colour of the third one?")
    assert last == "Error: the user has left and does not answer."


def test_calling_a_possible_task_impossible_scores_zero():
    env = env_for()
    step = env.step(call("submit_impossible", reason="missing_data", evidence="city"))
    assert step[1:4] == (0.0, True, False)


def test_a_write_task_changes_only_its_own_copy():
    first, second = env_for("write"), env_for("write")
    assert say(first, "run_query", sql=WRITE) == "Done. 10 rows changed."
    assert say(first, "run_query", sql="DROP TABLE orders").startswith("Error: ")
    count = "SELECT count(*) AS n FROM customers WHERE city = 'Bergen'"
    assert say(first, "run_query", sql=count) == "n\n10\n(1 row)"
    assert say(second, "run_query", sql=count) == "n\n0\n(1 row)"
    assert first.step(call("submit"))[1] == 1.0
    assert second.step(call("submit"))[1] == 0.0


def test_turns_run_out_without_a_submission():
    env = env_for(limits={"turns": 2})
    env.step(call("list_tables"))
    *_, truncated, info = env.step(call("list_tables"))
    assert truncated and info["status"] == "truncated_turns"
    assert info["reward_terms"] == {"no_query": 1.0}


@pytest.mark.parametrize("template", TEMPLATES)
def test_forks_continue_identically_and_do_not_affect_the_parent(template):
    actions = oracle_actions(template)
    for place in range(len(actions)):
        env = env_for(template)
        play(env, actions[:place])
        clones = env.fork(3)
        expected = play(clones[0], actions[place:])
        say(clones[1], "run_query", sql="DELETE FROM customers")
        clones[1].close()
        assert play(clones[2], actions[place:]) == expected
        assert play(env, actions[place:]) == expected


def test_a_snapshot_inside_a_transaction_survives_a_restore():
    env = env_for("write")
    say(env, "run_query", sql="BEGIN")
    say(env, "run_query", sql="DELETE FROM orders")
    state = env.snapshot()
    say(env, "run_query", sql="COMMIT")
    other = env_for("write")
    other.restore(state)
    say(other, "run_query", sql="ROLLBACK")
    assert "orders (200 rows)" in say(other, "list_tables")
    assert "orders (0 rows)" in say(env, "list_tables")


def test_a_snapshot_brings_its_documents_and_its_limit_of_work_to_another_task(monkeypatch):
    budgeted = make_task("count", index=31, documents={"rota": "Nobody works."}, steps=10**6)
    build = sql_toy.SqlToySource.build
    monkeypatch.setattr(
        sql_toy.SqlToySource,
        "build",
        lambda self, task_id, salt=None: (
            budgeted if task_id == budgeted.id else build(self, task_id, salt)
        ),
    )
    env = env_for()
    env.reset(options={"task": budgeted.id})
    assert "the limit is 1,000,000" in say(env, "run_query", sql=GOLD)
    env.restore(env_for().snapshot())
    assert say(env, "list_documents") == "1 document\nnotes"
    assert "the limit is" not in say(env, "run_query", sql=GOLD)


def test_two_environments_give_the_same_bytes_whatever_runs_between():
    for template in TEMPLATES:
        actions = oracle_actions(template)
        alone = play(env_for(template), actions)
        first, second = env_for(template), env_for(template)
        interleaved = []
        for action in actions:
            second.step(action)
            interleaved.append(first.step(action)[:4])
        assert interleaved == alone


def test_a_missing_server_is_named():
    with pytest.raises(BackendMissing, match="HEXATHLON_MYSQL_URL"):
        env_for(backend="mysql")
    with pytest.raises(BackendMissing, match="oracle"):
        env_for(backend="oracle")


def test_a_missing_package_names_its_extra(monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "duckdb" else find(name)
    )
    with pytest.raises(BackendMissing, match=r"pip install 'hexathlon\[duckdb\]'"):
        env_for(backend="duckdb")


def test_public_rules_are_reported_beside_the_headline(monkeypatch):
    checks = (
        Check(name="sql_result", params={"gold": GOLD}),
        Check(name="bird_ex", params={"gold": GOLD}, headline=False),
    )
    monkeypatch.setattr(SQLEnv, "_choose_task", lambda self, options: make_task(checks=checks))
    env = SQLEnv()
    env.reset(seed=0)
    *_, info = env.step(call("submit", sql="SELECT 'Oslo', 10 UNION SELECT 'Rome', 10"))
    assert env.verdict().score == 0.0
    assert info["reward_terms"]["bird_ex"] == 1.0


def test_gymnasium_makes_it_and_vectors_of_it():
    import hexathlon

    assert hexathlon.__name__ in gymnasium.registry["hexathlon/SQL-v1"].entry_point
    env = gymnasium.make("hexathlon/SQL-v1", taskset="sqltoy", split="test")
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space and info["task_id"].startswith("sqltoy/")
    env.close()
    vector = make_vector(2, taskset="sqltoy", split="test")
    observations, _ = vector.reset(seed=[1, 2])
    assert len(observations) == 2
    vector.close()
