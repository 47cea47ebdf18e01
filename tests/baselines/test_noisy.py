"""The noisy oracle: a share of the trials, fixed by task, seed and trial, plays near misses."""

from pathlib import Path

import pytest

from hexathlon.baselines.agents.noisy import NoisyAgent
from hexathlon.baselines.agents.spec import SpecError, parse_model, scripted_agent
from hexathlon.tasks.task import Task
from support.events import records, toy_run
from support.toy import ToySource

SHARE = 0.4


def outcomes(run: Path) -> dict[tuple[str, int, int], float]:
    return {
        (r["key"]["task"], r["key"]["seed"], r["key"]["trial"]): r["reward"] for r in records(run)
    }


def play(tmp_path: Path, share: float, **settings: int) -> dict[tuple[str, int, int], float]:
    run = tmp_path / f"noisy-{share}"
    toy_run(run, model=f"agent:noisy:{share}", **settings)
    return outcomes(run)


def test_error_rate_matches_the_share(tmp_path: Path) -> None:
    rewards = play(tmp_path, SHARE, tasks=40, seeds=3, trials=3)
    assert set(rewards.values()) == {0.0, 1.0}
    # 360 draws: five standard deviations are 0.13
    assert abs(sum(rewards.values()) / len(rewards) - (1 - SHARE)) < 0.13


def test_errors_depend_on_seed_and_trial_only(tmp_path: Path) -> None:
    first = play(tmp_path, SHARE, tasks=10, seeds=3, trials=3)
    again = tmp_path / "again"
    toy_run(again, model=f"agent:noisy:{SHARE}", tasks=10, seeds=3, trials=3)
    assert outcomes(again) == first
    tasks = {task for task, _, _ in first}
    assert any(len({first[task, seed, 0] for seed in range(3)}) == 2 for task in tasks)
    assert any(len({first[task, 0, trial] for trial in range(3)}) == 2 for task in tasks)


def test_errors_are_nested_across_shares(tmp_path: Path) -> None:
    careful, careless = (play(tmp_path, share, tasks=40) for share in (0.2, 0.6))
    assert sum(careful.values()) > sum(careless.values())
    assert all(careless[key] <= careful[key] for key in careful)


def test_shares_zero_and_one_are_oracle_and_always_wrong(tmp_path: Path) -> None:
    assert set(play(tmp_path, 0, tasks=20).values()) == {1.0}
    assert set(play(tmp_path, 1, tasks=20).values()) == {0.0}


def test_without_mutants_a_trivial_policy_or_noop_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(self: ToySource, task: Task) -> dict[str, object]:
        return {}

    monkeypatch.setattr(ToySource, "mutants", none)
    assert all(r["steps"][0]["action"] for r in played(tmp_path / "policies"))
    monkeypatch.setattr(ToySource, "policies", none)
    assert {r["steps"][0]["action"] for r in played(tmp_path / "nothing")} == {""}


def played(run: Path) -> list[dict[str, object]]:
    toy_run(run, model="agent:noisy:1", tasks=5)
    return records(run)


@pytest.mark.parametrize(
    "text", ["noisy", "noisy:", "noisy:much", "noisy:1.5", "noisy:-1", "noisy:nan"]
)
def test_invalid_share_is_rejected(text: str) -> None:
    with pytest.raises(SpecError, match="from 0 to 1"):
        parse_model(f"agent:{text}")


def test_name_contains_the_share() -> None:
    spec = parse_model("agent:noisy:0.250")
    assert spec.name == "noisy:0.25"
    agent = scripted_agent(spec)
    assert isinstance(agent, NoisyAgent)
    assert (agent.name, agent.share) == ("noisy:0.25", 0.25)
