"""The self-test passes a sound environment and names the faults of an unsound one."""

from collections.abc import Mapping
from typing import Any

import pytest

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.selftest import differences, run_selftest
from hexathlon.envs.errors import EnvFault
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from support.events import TOY
from support.toy import ToyEnv, ToySource, _count


def test_sound_environment_passes() -> None:
    result = run_selftest("Toy", 12)
    assert result.holds and (result.env, result.tasks) == (TOY, 12)
    found = {kind: (tally.episodes, tally.mean) for kind, tally in result.tallies.items()}
    assert found["oracle"] == (12, 1.0) and found["alternatives"] == (12, 1.0)
    assert found["noop"] == (12, 0.0) and found["mutants"] == (36, 0.0)
    assert found["dump"] == found["majority"] == (12, 0.0)
    assert found["random"][0] == 12


def test_two_selftests_are_compared_episode_by_episode() -> None:
    one, same, fewer = (run_selftest("Toy", tasks) for tasks in (3, 3, 2))
    compared, result = differences(one, same)
    assert compared > 3 * 5 and not result
    assert not any(" random" in name for name in result)
    assert len(differences(one, fewer)[1]) == compared // 3
    same.tallies["mutants"].rewards[next(iter(same.tallies["mutants"].rewards))] = None
    assert len(differences(one, same)[1]) == 1


def test_whole_verdicts_are_compared_on_request() -> None:
    one, other = (run_selftest("Toy", 2) for _ in range(2))
    assert differences(one, other, whole=True)[1] == []
    name = next(iter(other.tallies["oracle"].verdicts))
    other.tallies["oracle"].verdicts[name] = "0" * 64
    assert differences(one, other)[1] == []
    assert differences(one, other, whole=True)[1] == [
        f"{name}: 1.0 in both, but terms or evidence differ"
    ]


class Broken:
    """Scripts that break one requirement each."""

    @staticmethod
    def oracle(self: ToySource, task: Task) -> Script:
        return _count(task.params["target"] + 1, 9)

    @staticmethod
    def alternatives(self: ToySource, task: Task) -> Mapping[str, Script]:
        return {"short": _count(3, 9)}

    @staticmethod
    def mutants(self: ToySource, task: Task) -> Mapping[str, Script]:
        return {"right after all": _count(task.params["target"], 9)}

    @staticmethod
    def policies(self: ToySource, task: Task) -> Mapping[str, Script]:
        return {"dump": _count(task.params["target"], 9)}


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("oracle", "oracle"),
        ("alternatives", "alternatives"),
        ("mutants", "mutants"),
        ("policies", "dump"),
    ],
)
def test_each_violated_requirement_is_reported(
    monkeypatch: pytest.MonkeyPatch, method: str, kind: str
) -> None:
    monkeypatch.setattr(ToySource, method, getattr(Broken, method))
    result = run_selftest("Toy", 8)
    assert [name for name, tally in result.tallies.items() if not tally.holds] == [kind]
    tally = result.tallies[kind]
    if kind != "dump":
        assert tally.wrong == 8 and "toy/count/" in tally.named[0]


def test_failing_environment_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: ToyEnv, task: Task) -> Any:
        raise EnvFault("gone")

    monkeypatch.setattr(ToyEnv, "on_reset", fail)
    result = run_selftest("Toy", 1)
    assert not any(tally.holds for tally in result.tallies.values())
    assert "env: gone" in result.tallies["oracle"].named[0]


def test_unknown_environment_is_rejected() -> None:
    with pytest.raises(UsageError, match="did you mean 'Toy'"):
        run_selftest("Toyy", 1)
