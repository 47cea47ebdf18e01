"""One policy trained on all four events, in a short run."""

import io
import json
import shutil
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.estimators import Credit, scaled_by_event
from hexathlon.baselines.pipeline.tasks_table import TasksTable, shares, table_of
from hexathlon.baselines.training import step as training_step
from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import Recipe, RecipeError, load_recipe
from hexathlon.baselines.training.rollouts import rescored
from hexathlon.baselines.training.run import train
from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.evaluators.records import check_chain, read_records
from hexathlon.evaluators.records.plan import read_plan
from hexathlon_cli.app import run

LABELS = ["sql-tiny", "shopping-tiny", "terminal-tiny", "roleplay-tiny"]
SHORT: dict[str, Any] = {
    "steps": 2,
    "save_every": 1,
    "ranks": 1,
    **{f"tasks.{number}.turns": 2 for number in range(4)},
    "policy.shape": {
        "vocabulary": 600, "width": 32, "layers": 1, "heads": 2, "kv_heads": 1,
        "feed_forward": 32, "context": 4096,
    },
    "clone.demonstrations": 16,
    "clone.settings.steps": 2,
    "rollout.groups": 7,
    "rollout.members": 2,
    "rollout.max_tokens": 8,
    # Failures are trained on, so that an untrained policy changes.
    "credit.estimator": {"name": "reinforce", "parameters": {"baseline": 0.5}},
    "credit.filters": [],
    "evaluation.tasks": 1,
    "evaluation.every": 1,
}  # fmt: skip


class Short(NamedTuple):
    """The short run, started by the command."""

    out: Path
    printed: str
    credits: list[tuple[Credit, list[str]]]
    """Scaled advantages and the event of each sample, by step."""


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Short:
    try:
        choose()
    except BackendMissing as error:
        pytest.skip(str(error))
    out = tmp_path_factory.mktemp("mixture") / "run"
    credits: list[tuple[Credit, list[str]]] = []

    def spied(credit: Credit, events: list[str]) -> Credit:
        scaled = scaled_by_event(credit, events)
        credits.append((scaled, list(events)))
        return scaled

    changes = [f"--set={key}={_toml(value)}" for key, value in SHORT.items()]
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setattr(training_step, "scaled_by_event", spied)
        assert run(["train", "mixture-tiny", *changes, "--out", str(out)]) == 0
    return Short(out, printed.getvalue(), credits)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def metrics_of(out: Path) -> list[dict[str, float]]:
    return [
        {name: value for name, value in row.items() if not name.startswith("seconds/")}
        for row in read_metrics(out / "metrics.jsonl")
    ]


def test_every_step_has_groups_of_all_events_by_weight(short: Short) -> None:
    tables = load_recipe("mixture-tiny", SHORT).tasks
    for step in (1, 2):
        records = rescored(short.out / "rollouts" / f"step-{step:06}-0.jsonl.gz")
        tasks = {record["key"]["task"] for record in records}
        labels = [table_of(tables, task).label for task in tasks]
        assert [labels.count(label) for label in LABELS] == [2, 2, 1, 2]


def test_metrics_and_evaluations_are_by_event(short: Short) -> None:
    first, second, third = metrics_of(short.out)
    assert {f"dev/success/{label}" for label in LABELS} <= set(first) & set(second)
    assert {f"reward/{label}" for label in LABELS} <= set(second) & set(third)
    assert second["dev/success"] == np.mean([second[f"dev/success/{one}"] for one in LABELS])
    for moment in ("before", "after"):
        assert sorted(path.name for path in (short.out / moment).iterdir()) == sorted(LABELS)
        for label in LABELS:
            folder = short.out / moment / label
            assert check_chain(folder, read_plan(folder)["plan_hash"]) == []
            (record,) = read_records(folder)
            assert record["key"]["task"].startswith(label.removesuffix("-tiny"))
    page = (short.out / "curve.html").read_text()
    assert page.count("dev/success/terminal-tiny") >= 2


@pytest.mark.parametrize("label", LABELS)
def test_the_evaluations_of_an_event_pass_the_commands(
    short: Short, label: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(short.out / "after" / label)
    assert run(["verify", folder]) == 0
    assert run(["report", folder]) == 0
    assert capsys.readouterr().out


def test_the_command_prints_each_events_results(short: Short) -> None:
    for label in LABELS:
        assert f"  {label}: " in short.printed
    assert "mean reward on 4 unseen tasks" in short.printed


def test_each_events_advantages_have_a_root_mean_square_of_one(short: Short) -> None:
    assert len(short.credits) == 2
    for credit, events in short.credits:
        assert set(events) == set(LABELS)
        for label in LABELS:
            drawn = np.concatenate(
                [
                    advantage[weight > 0]
                    for advantage, weight, event in zip(
                        credit.advantages, credit.weights, events, strict=True
                    )
                    if event == label
                ]
            )
            assert np.sqrt(np.mean(drawn**2)) == pytest.approx(1.0, abs=1e-6)


def test_policy_changes_and_a_killed_run_resumes_bit_for_bit(short: Short) -> None:
    policy = short.out / "policy" / "model.safetensors"
    whole, rows = policy.read_bytes(), metrics_of(short.out)
    assert whole != (short.out / "start" / "model.safetensors").read_bytes()
    # The state after a kill in the second step.
    shutil.rmtree(short.out / "states" / "000002")
    shutil.rmtree(short.out / "policy")
    lines = (short.out / "metrics.jsonl").read_text().splitlines()
    (short.out / "metrics.jsonl").write_text("\n".join(lines[:2]) + '\n{"step": 2, "rew')
    steps: list[int] = []

    def report(phase: str, step: int, total: int, metrics: dict[str, float]) -> None:
        if phase == "train" and metrics:
            steps.append(step)

    train(load_recipe("mixture-tiny", SHORT), short.out, report)
    assert steps == [2]
    assert policy.read_bytes() == whole
    assert metrics_of(short.out) == rows


def test_overrides_reach_one_table_of_a_mixture() -> None:
    recipe = load_recipe("mixture-tiny", {"tasks.0.turns": 9})
    assert [table.turns for table in recipe.tasks] == [9, 16, 6, 6]
    with pytest.raises(RecipeError, match=r"tasks\.7\.turns: expected .* from 0 to 3, got '7'"):
        load_recipe("mixture-tiny", {"tasks.7.turns": 9})


def toys(*tables: dict[str, Any]) -> Recipe:
    from hexathlon.baselines.training.recipe import recipe_of

    whole = [{"env": "harness/Toy-v0", "source": "toy", **table} for table in tables]
    return recipe_of({"name": "toys", "tasks": whole, "evaluation": {"tasks": 1}})


@pytest.mark.parametrize(
    ("tables", "complaint"),
    [
        (({}, {}), "two tables are named 'toy-tiny'; give each its own `name`"),
        (({}, {"name": "more"}), "'toy-tiny' and 'more' share tasks; separate them by level"),
        (({"level": None}, {}), "'toy' and 'toy-tiny' share tasks"),
        (({"name": "../up"}, {"level": "easy"}), r"tasks\.0\.name must match"),
        (({"weight": 0}, {"level": "easy"}), r"tasks\.0\.weight must be more than 0"),
    ],
)
def test_tables_of_a_mixture_are_distinguished(tables: Any, complaint: str) -> None:
    with pytest.raises(RecipeError, match=complaint):
        toys(*tables)


def test_shares_converge_to_the_weights() -> None:
    recipe = toys({"weight": 3.0}, {"level": "easy"}, {"level": "hard", "weight": 0.5})
    given = np.array([shares(recipe.tasks, 4, 0, step) for step in range(400)])
    assert (given.sum(axis=1) == 4).all()
    weights = np.array([3.0, 1.0, 0.5])
    assert given.mean(axis=0) == pytest.approx(4 * weights / weights.sum(), abs=0.1)


def test_noise_applies_where_its_names_exist() -> None:
    """Tools and near misses that only one event has are named once, for the whole mixture."""
    from hexathlon.baselines.rollout.environments import make_env
    from hexathlon.baselines.warmstart.demonstrations import Demonstrator

    noise = load_recipe("mixture-tiny").clone.noise
    assert noise.skipped == ("sample_rows", "run_query")
    assert noise.without == ("from_stash",)
    plain = type(noise)(mistakes=noise.mistakes, looking=noise.looking)
    recipe = load_recipe("mixture-tiny")
    told = {}
    for table in recipe.tasks:
        if table.source not in ("sql", "roleplay"):
            continue
        tasks = table.addresses("train", 4)
        for name, chosen in (("noise", noise), ("plain", plain)):
            with Demonstrator(table.env, make_env, chosen) as demonstrator:
                shown = [demonstrator.demonstrate(task).turns for task in tasks]
            told[table.source, name] = shown
    assert told["sql", "noise"] != told["sql", "plain"]
    assert "sample_rows" in str(told["sql", "plain"])
    assert "sample_rows" not in str(told["sql", "noise"])
    assert told["roleplay", "noise"] == told["roleplay", "plain"]


def test_a_table_finds_its_tasks() -> None:
    table = TasksTable(source="sql", templates=("count_rows",))
    (task,) = table.addresses("train", 1)
    assert table.holds(task)
    assert not TasksTable(source="sql", templates=("filter_rows",)).holds(task)
    with pytest.raises(ValueError, match="belongs to none of roleplay-tiny"):
        table_of([TasksTable(env="hexathlon/RolePlay-v1", source="roleplay")], task)


def test_dialect_round_trips_actions_of_every_event() -> None:
    from hexathlon.baselines.codecs import get_codec
    from hexathlon.baselines.rollout.environments import make_env
    from hexathlon.baselines.warmstart.demonstrations import Demonstrator, Noise

    recipe = load_recipe("mixture-tiny")
    codec = get_codec(recipe.policy.dialect)
    for table in recipe.tasks:
        if table.source == "terminal":  # Its own recipe speaks this dialect.
            continue
        with Demonstrator(table.env, make_env, Noise()) as demonstrator:
            for task in table.addresses("train", 4):
                shown = demonstrator.demonstrate(task)
                assert shown.reward == 1.0
                assert len(shown.turns) <= table.turns
                for action, _ in shown.turns:
                    assert same(codec.decode(codec.encode(action)), action)


def same(action: str, other: str) -> bool:
    """Return whether two actions are equal up to JSON whitespace."""
    from hexathlon.baselines.codecs.base import parse_calls

    return action == other or (parse_calls(action) or 0) == parse_calls(other)
