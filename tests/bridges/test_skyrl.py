from pathlib import Path

import pytest

skyrl_gym = pytest.importorskip("skyrl_gym", reason="scripts/bridges skyrl")

import httpx
from bridges.contract import EVENT, gold
from bridges.guide import example
from bridges.tiny_policy import tiny_policy


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


def test_a_checkpoint_plays_through_the_gym(tmp_path: Path) -> None:
    """SkyRL's loop: the conversation goes to the model, its reply to the environment."""
    rewards = []
    with tiny_policy(tmp_path) as policy, httpx.Client(timeout=120) as model:
        for seed in range(8):
            with skyrl_gym.make("hexathlon", extras={"task": policy.task, "seed": 0}) as env:
                conversation, _ = env.init([])
                done = False
                while not done:
                    asked = {"model": "half", "messages": conversation, "max_tokens": 64,
                             "temperature": 1.0, "seed": seed}  # fmt: skip
                    answer = model.post(f"{policy.url}/chat/completions", json=asked).json()
                    said = answer["choices"][0]["message"]["content"]
                    step = env.step(said)
                    done = step["done"]
                    conversation += [{"role": "assistant", "content": said}, *step["observations"]]
                rewards.append(step["reward"])
    assert {0.0, 1.0} == set(rewards)
