"""The games of `step_speed.py` in skyrl-gym; executed by the peer's own interpreter.

As in skyrl's generator, an episode is `make`, `init`, `step` until done, `get_metrics` and `close`.
"""

import re
from functools import partial
from importlib.metadata import version

import skyrl_gym
from rounds import ANSWER, GUESSES, HIGHEST, LAST, LOWEST, MOST, guess, serve, words
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

BOXED = re.compile(r"\\boxed{(\d+)}")
TARGETS = [LOWEST + 17 * index % HIGHEST for index in range(64)]


class Words(BaseTextEnv):
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


skyrl_gym.register(id="words", entry_point=Words)
skyrl_gym.register(id="guess", entry_point=Guess)


def play(name, prompt, script, extras, count):
    """Play episodes; return the number of steps."""
    steps = 0
    for index in range(count):
        env = skyrl_gym.make(name, env_config=None, extras=extras[index % len(extras)])
        env.init([{"role": "user", "content": prompt}])

        def step(action, step=env.step):
            out = step(action)
            observations = out["observations"]
            return observations and observations[0]["content"], out["reward"], out["done"]

        steps += script(step)
        env.get_metrics()
        env.close()
    return steps


def extras_of(answer, turns):
    return {"reward_spec": {"ground_truth": answer}, "max_turns": turns}


ENDS = [extras_of(LAST, MOST)]
NUMBERS = [extras_of(target, GUESSES) for target in TARGETS]
GAMES = {
    f"words-{turns}": partial(play, "words", "Say done.", partial(words, turns), ENDS)
    for turns in (1, 5, 20)
}
GAMES["guess"] = partial(play, "guess", "Guess the number.", guess, NUMBERS)

if __name__ == "__main__":
    print(f"skyrl-gym {version('skyrl-gym')}", flush=True)
    serve(GAMES)
