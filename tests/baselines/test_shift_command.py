"""R-EMID of runs on `roleplay-shift`, with a scorer whose preferences are known."""

import itertools

import pytest

from hexathlon.baselines.agents.base import Turn
from hexathlon.baselines.agents.scripted import ScriptedAgent
from hexathlon.baselines.harness.config import load_config
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.models import OpenedModel
from hexathlon.baselines.harness.run import evaluate
from hexathlon.baselines.roleplay.shift import shift_exchanges, shifts_of_run
from hexathlon.evaluators.records import read_records
from hexathlon_cli.app import run


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The oracle and an agent that says nothing of use, on 24 tasks of every factor and side."""
    folder = tmp_path_factory.mktemp("shift")
    for name in ("oracle", "random"):
        line = ["eval", f"agent:{name}", "--envs", "RolePlay", "--taskset", "roleplay-shift"]
        line += ["--split", "dev", "--level", "tiny", "--tasks", "24", "--out", str(folder / name)]
        assert run(line) == 0
    return folder


def shared_words(context, reply):
    """A score that rises with the words that reply and context have in common."""
    words = set(reply.lower().split())
    return 0.2 * len(words & set(context.lower().split())) - 5.0


def test_the_oracles_replies_are_the_references(played):
    exchanges = shift_exchanges(played / "oracle")
    assert set(exchanges) == {f"{n}-{s}" for n in ("user", "character", "dialogue")
                              for s in ("in", "out")}  # fmt: skip
    assert all(one.reply == one.reference for group in exchanges.values() for one in group)
    found = shifts_of_run(played / "oracle", shared_words, negatives=200)
    assert [one.factor for one in found] == ["user", "character", "dialogue"]
    assert all(one.result.value == pytest.approx(0.0) for one in found)


def test_other_replies_have_less_information_than_the_references(played):
    found = shifts_of_run(played / "random", shared_words, negatives=400)
    for one in found:
        assert one.inside > 1 and one.outside > 1
        assert max(one.result.in_distribution.value, one.result.shifted.value) < 0


class Stumbling:
    """The oracle, with a malformed call before each action."""

    name, version, asynchronous = "stumbling", "1", False

    def begin(self, episode):
        player = ScriptedAgent("oracle").begin(episode)
        return _Stumbler(player)


class _Stumbler:
    def __init__(self, player):
        self._player, self._stumbles = player, True

    def act(self, messages):
        self._stumbles = not self._stumbles
        if self._stumbles:
            return self._player.act(messages)
        return Turn('{"name": "answer", "arguments": {"reply": 7}}')


def test_a_malformed_call_does_not_shift_the_dialogue(tmp_path):
    line = {"envs": ["RolePlay"], "taskset": "roleplay-shift", "split": "dev", "level": "tiny"}
    config, execution = load_config({**line, "model": "agent:oracle", "tasks": 4}, None)
    opened = OpenedModel(Stumbling(), {"kind": "agent", "name": "stumbling", "place": ""}, None)
    evaluate(config, execution, tmp_path / "run", model=opened)
    exchanges = shift_exchanges(tmp_path / "run")
    steps = [len(record["steps"]) for record in read_records(tmp_path / "run")]
    assert sum(map(len, exchanges.values())) < sum(steps)
    assert all(one.reply == one.reference for group in exchanges.values() for one in group)


def test_the_models_own_replies_are_part_of_its_dialogue(played):
    for group in shift_exchanges(played / "random").values():
        for before, after in itertools.pairwise(group):
            if after.context.count("\n") > before.context.count("\n"):  # of the same trial
                assert before.reply in after.context


def test_runs_of_other_tasks_are_refused(tmp_path):
    line = ["eval", "agent:noop", "--envs", "RolePlay", "--level", "tiny", "--tasks", "1"]
    assert run([*line, "--out", str(tmp_path / "run")]) == 0
    with pytest.raises(UsageError, match="evaluate with --taskset roleplay-shift"):
        shift_exchanges(tmp_path / "run")
