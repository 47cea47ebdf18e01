import pytest

skyrl_gym = pytest.importorskip("skyrl_gym", reason="scripts/bridges skyrl")

from bridges.contract import EVENT, gold
from bridges.guide import example


@pytest.fixture(autouse=True, scope="module")
def registered() -> None:
    place = "hexathlon.baselines.bridges.skyrl:make_env"
    skyrl_gym.register("hexathlon", place, kwargs={"env_config": {"event": EVENT}})


def test_the_prompt_describes_the_tools_and_metrics_the_verdict() -> None:
    played = gold()[0]
    with skyrl_gym.make("hexathlon", extras={"task": played.task, "seed": played.seed}) as env:
        prompt, info = env.init([{"role": "user", "content": "Be careful."}])
        assert '"name": "run_query"' in prompt[0]["content"] and len(prompt) == 3
        assert played.task not in str((prompt, info))
        for action in played.actions:
            env.step(action)
        assert env.get_metrics()["turns"] == len(played.actions) < env.max_turns


def test_the_guides_example_runs() -> None:
    names: dict[str, object] = {}
    exec(example("skyrl_example.py"), names)
    assert len(names["conversation"]) == 2
    names["env"].close()
