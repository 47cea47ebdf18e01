"""The games of `step_speed.py` in skyrl-gym; executed by the peer's own interpreter.

As in skyrl's generator, an episode is `make`, `init`, `step` until done, `get_metrics` and `close`.
The games with `-recorded` keep the conversation.
"""

import re
from functools import partial
from importlib.metadata import version

import skyrl_gym
from rounds import ANSWER, GUESSES, HIGHEST, LAST, LOWEST, MOST, serve
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

BOXED = re.compile(r"\\boxed{(\d+)}")
TARGETS = [LOWEST + 17 * index % HIGHEST for index in range(64)]


class Words(BaseTextEnv):
    """Answers every word in the same way; the last word ends the episode."""

    def __init__(self, env_config=None, extras={}):  # noqa: B006 - as skyrl's own environments
        super().__init__()
        self.max_turns = extras["max_turns"]
        self.last = extras["reward_spec"]["ground_truth"]

    def step(self, action):
        self.turns += 1
        reward = 1.0 if action == self.last else 0.0
        done = reward == 1.0 or self.turns >= self.max_turns
        observations = [] if done else [{"role": "user", "content": ANSWER}]
        return BaseTextEnvStepOutput(
            observations=observations, reward=reward, done=done, metadata={}
        )


class Guess(BaseTextEnv):
    """Tells whether the number is higher or lower than a guess."""

    def __init__(self, env_config=None, extras={}):  # noqa: B006
        super().__init__()
        self.max_turns = extras["max_turns"]
        self.target = extras["reward_spec"]["ground_truth"]

    def step(self, action):
        self.turns += 1
        found = BOXED.findall(action)
        number = int(found[-1]) if found else 0
        reward = 1.0 if number == self.target else 0.0
        done = reward == 1.0 or not found or self.turns >= self.max_turns
        if done:
            observations = []
        else:
            hint = "lower" if number > self.target else "higher"
            text = f"Turn {self.turns}: the number is {hint} than {number}."
            observations = [{"role": "user", "content": text}]
        return BaseTextEnvStepOutput(
            observations=observations, reward=reward, done=done, metadata={}
        )


def recorded(kind):
    """Return the same environment, keeping its conversation as skyrl's SQL and search do."""

    class Recorded(kind):
        """Keeps the conversation."""

        def __init__(self, env_config=None, extras={}):  # noqa: B006
            super().__init__(env_config, extras)
            self.chat_history = []

        def step(self, action):
            self.chat_history.append({"role": "assistant", "content": action})
            out = super().step(action)
            self.chat_history += out["observations"]
            return out

    return Recorded


skyrl_gym.register(id="words-recorded", entry_point=recorded(Words))
skyrl_gym.register(id="guess-recorded", entry_point=recorded(Guess))
skyrl_gym.register(id="words", entry_point=Words)
skyrl_gym.register(id="guess", entry_point=Guess)


def extras_of(answer, turns):
    return {"reward_spec": {"ground_truth": answer}, "max_turns": turns}


ENDS = [extras_of(LAST, MOST)] * len(TARGETS)
NUMBERS = [extras_of(target, GUESSES) for target in TARGETS]


def play_words(name, turns, count):
    for index in range(count):
        env = skyrl_gym.make(name, env_config=None, extras=ENDS[index % len(ENDS)])
        env.init([{"role": "user", "content": "Say done."}])
        for _ in range(turns - 1):
            out = env.step("go")
            assert out["observations"][0]["content"] == ANSWER, out
        out = env.step(LAST)
        assert out["done"] and out["reward"] == 1.0, out
        env.get_metrics()
        env.close()
    return turns * count


def play_guess(name, count):
    steps = 0
    for index in range(count):
        env = skyrl_gym.make(name, env_config=None, extras=NUMBERS[index % len(NUMBERS)])
        env.init([{"role": "user", "content": "Guess the number."}])
        low, high = LOWEST, HIGHEST
        while True:
            number = (low + high) // 2
            out = env.step(f"\\boxed{{{number}}}")
            steps += 1
            if out["done"]:
                break
            if "higher" in out["observations"][0]["content"]:
                low = number + 1
            else:
                high = number - 1
        assert out["reward"] == 1.0, out
        env.get_metrics()
        env.close()
    return steps


GAMES = {}
for kind in ("", "-recorded"):
    for turns in (1, 5, 20):
        GAMES[f"words-{turns}{kind}"] = partial(play_words, f"words{kind}", turns)
    GAMES[f"guess{kind}"] = partial(play_guess, f"guess{kind}")

if __name__ == "__main__":
    print(f"skyrl-gym {version('skyrl-gym')}", flush=True)
    serve(GAMES)
