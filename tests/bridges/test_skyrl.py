import pytest

skyrl_gym = pytest.importorskip("skyrl_gym", reason="scripts/bridges skyrl")

from bridges.contract import EVENT, GOLD, Played, broken, check_bridge, check_sessions
from bridges.guide import example

from hexathlon.baselines.bridges import skyrl
from hexathlon.envs.errors import EnvFault


class Client:
    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        with skyrl_gym.make("hexathlon", extras={"task": task, "seed": seed}) as env:
            prompt, _ = env.init([])
            assert [message["role"] for message in prompt] == ["system", "user"]
            results = [env.step(action) for action in actions]
            texts = tuple(each["observations"][0]["content"] for each in results)
            last = results[-1]
            return Played(task, seed, actions, prompt[-1]["content"], texts,
                          last["reward"], last["done"])  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def registered() -> None:
    place = "hexathlon.baselines.bridges.skyrl:make_env"
    skyrl_gym.register("hexathlon", place, kwargs={"env_config": {"event": EVENT}})


def test_episodes_are_those_of_gymnasium() -> None:
    check_bridge(Client())


def test_sessions_do_not_disturb_each_other() -> None:
    check_sessions(Client())


def test_the_prompt_describes_the_tools_and_metrics_the_verdict() -> None:
    gold = GOLD[0]
    with skyrl_gym.make("hexathlon", extras={"task": gold.task, "seed": gold.seed}) as env:
        prompt, info = env.init([{"role": "user", "content": "Be careful."}])
        assert '"name": "run_query"' in prompt[0]["content"] and len(prompt) == 3
        assert gold.task not in str((prompt, info))
        for action in gold.actions:
            env.step(action)
        assert env.get_metrics()["turns"] == len(gold.actions) < env.max_turns


def test_a_fault_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skyrl, "BridgedEpisode", lambda **_: broken())
    with skyrl_gym.make("hexathlon", extras={"task": GOLD[0].task, "seed": 0}) as env:
        env.init([])
        with pytest.raises(EnvFault, match="the disk is gone"):
            env.step(GOLD[0].actions[0])


def test_the_guides_example_runs() -> None:
    names: dict[str, object] = {}
    exec(example("skyrl_example.py"), names)
    assert len(names["conversation"]) == 2
    names["env"].close()
