"""Budgets of a whole run: it stops between trials, says so, and continues with a larger budget."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hexathlon
from hexathlon.baselines.harness.budget import RunBudget
from hexathlon.baselines.harness.config import ExecutionConfig, load_config
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.evaluators.records import check_chain
from hexathlon.evaluators.records.plan import plan_hash, read_plan
from hexathlon_cli.app import run
from support.chat_server import ChatServer
from support.events import records, toy_run

PRICES = """
version = "test"
[models.solver]
input = 1_000_000
output = 1_000_000
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer() as served:
        yield served


def evaluate(server: ChatServer, folder: Path, *more: str) -> int:
    flags = ("--envs", "Toy", "--tasks", "12", "--dialect", "json", "--concurrency", "2")
    return run(["eval", f"endpoint:{server.url}#solver", *flags, "--out", str(folder), *more])


def tokens(row: dict[str, Any]) -> int:
    return int(row["usage"]["agent"]["input"] + row["usage"]["agent"]["output"])


def test_a_run_stops_between_trials_and_is_resumed_with_more(
    tmp_path: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert evaluate(server, whole) == 0
    assert evaluate(server, broken, "--max-tokens", "100") == 2  # many trials have no score yet
    said = capsys.readouterr().err
    first = len(records(broken))
    assert f"stopped between trials, {first} of 12 are recorded" in said
    assert "--max-tokens 100 is reached" in said and "hexathlon resume" in said
    *earlier, last = map(tokens, records(broken))
    # Two trials are under way at once: one may end after the other has exhausted the budget.
    assert sum(earlier) + last >= 100 > sum(earlier[:-1])
    assert run(["resume", str(broken)]) == 2 and len(records(broken)) == first
    assert run(["resume", str(broken), "--max-tokens", "300"]) == 2
    assert first < len(records(broken)) < 12
    assert run(["resume", str(broken), "--max-tokens", "0"]) == 0
    assert check_chain(broken, read_plan(broken)["plan_hash"]) == []
    rewards = [{row["key"]["task"]: row["reward"] for row in records(r)} for r in (whole, broken)]
    assert rewards[0] == rewards[1]


def test_a_budget_is_not_part_of_the_plan(tmp_path: Path) -> None:
    plans = []
    for name, budget in (("free", {}), ("bound", {"max_tokens": 5, "max_cost": 1.0})):
        toy_run(tmp_path / name, **budget)
        plans.append(read_plan(tmp_path / name))
    assert plan_hash(plans[0]) == plan_hash(plans[1])
    assert plans[1]["execution"]["max_tokens"] == 5
    assert [row["hash"] for row in records(tmp_path / "free")] == [
        row["hash"] for row in records(tmp_path / "bound")
    ]


def test_costs_are_those_of_the_price_table(
    tmp_path: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES)
    folder = tmp_path / "priced"
    assert evaluate(server, folder, "--max-cost", "50", "--prices", str(prices)) == 2
    assert "--max-cost 50 is reached" in capsys.readouterr().err
    costs = [row["usage"]["agent"]["cost"] for row in records(folder)]
    assert len(costs) < 12 and sum(costs) >= 50 and sum(costs) == sum(map(tokens, records(folder)))


def test_an_unknown_cost_is_rejected_before_the_run(
    tmp_path: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = len(server.requests)
    assert evaluate(server, tmp_path / "unpriced", "--max-cost", "50") == 1
    assert "no price table lists" in capsys.readouterr().err
    assert len(server.requests) == asked and not (tmp_path / "unpriced").exists()


def test_hours_count_from_the_start_of_the_call() -> None:
    clock = iter([0.0, 3599.0, 3600.0])
    budget = RunBudget(ExecutionConfig(max_hours=1.0), clock=lambda: next(clock))
    assert budget.exhausted() is None
    assert "--max-hours 1 is reached" in str(budget.exhausted())


def test_a_run_without_hours_left_plays_nothing(tmp_path: Path) -> None:
    outcome = toy_run(tmp_path / "run", max_hours=1e-9)
    assert (outcome.played, outcome.recorded, outcome.planned) == (0, 0, 8)
    assert "--max-hours" in str(outcome.stopped)
    assert toy_run(tmp_path / "run").stopped is None
    assert len(records(tmp_path / "run")) == 8


def test_every_role_and_attempt_counts() -> None:
    usage = {"input": 3, "output": 2, "calls": 1, "cost": 0.5}
    earlier = [{"usage": {"agent": usage, "judge": usage}}, {"usage": {}}]
    assert RunBudget(ExecutionConfig(max_tokens=11), earlier).exhausted() is None
    assert RunBudget(ExecutionConfig(max_tokens=10), earlier).exhausted() is not None
    assert RunBudget(ExecutionConfig(max_cost=1.0), earlier).exhausted() is not None
    unknown = {"usage": {"agent": {**usage, "cost": None}}}
    with pytest.raises(UsageError, match="price"):
        RunBudget(ExecutionConfig(max_cost=9.0)).add(unknown)
    RunBudget(ExecutionConfig(max_tokens=9)).add(unknown)


def test_the_reply_length_is_a_separate_setting(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text("max_tokens = 1000\n[sampling]\nmax_tokens = 7\n")
    flags = {"model": "agent:oracle", "envs": ("Toy",)}
    config, execution = load_config(flags, file)
    assert (config.sampling.max_tokens, execution.max_tokens) == (7, 1000)
    config, _ = load_config({**flags, "max_reply_tokens": 9}, file)
    assert config.sampling.max_tokens == 9


def test_the_function_takes_budgets_as_the_command_does(tmp_path: Path) -> None:
    settings = {"envs": ("Toy",), "tasks": 3}
    with pytest.raises(UsageError, match="no record yet"):
        hexathlon.evaluate("agent:oracle", tmp_path / "run", max_hours=1e-9, **settings)
    run = hexathlon.evaluate("agent:oracle", tmp_path / "run", max_hours=1.0, **settings)
    assert run.summary.envs[0].score.trials == 3
