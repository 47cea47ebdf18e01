"""The games of `step_speed.py` in GEM; executed by the peer's own interpreter.

`guess` is the environment that GEM ships; its episodes draw their numbers from the global random
stream. The games with `-seeded` pass a seed to every reset, which sets that stream and numpy's;
those with `-recorded` use GEM's wrappers that keep the conversation and count turns and rewards.
"""

import itertools
from functools import partial
from importlib.metadata import version

import gem
from gem.wrappers.episode_tracking_wrapper import EpisodeTrackingWrapper
from gem.wrappers.observation_wrapper import ObservationWrapper
from rounds import ANSWER, HIGHEST, LAST, LOWEST, MOST, serve


class Words(gem.Env):
    """Answers every word in the same way; the last word ends the episode."""

    def reset(self, seed=None):
        super().reset(seed)
        self.turn_count = 0
        return "Say done.", {}

    def step(self, action):
        self.turn_count += 1
        reward = 1.0 if action == LAST else 0.0
        truncated = self.turn_count >= MOST
        return ANSWER, reward, reward == 1.0, truncated, {}


gem.register("words", Words)
SEEDS = itertools.count()


def play_words(env, turns, seeded, count):
    for _ in range(count):
        env.reset(next(SEEDS) if seeded else None)
        for _ in range(turns - 1):
            observation, reward, terminated, truncated, info = env.step("go")
            assert ANSWER in observation, observation
        observation, reward, terminated, truncated, info = env.step(LAST)
        assert terminated and reward == 1.0, observation
    return turns * count


def play_guess(env, seeded, count):
    steps = 0
    for _ in range(count):
        env.reset(next(SEEDS) if seeded else None)
        low, high = LOWEST, HIGHEST
        while True:
            number = (low + high) // 2
            observation, reward, terminated, truncated, info = env.step(f"\\boxed{{{number}}}")
            steps += 1
            if terminated or truncated:
                break
            if f"higher than {number}" in observation:
                low = number + 1
            else:
                high = number - 1
        assert reward == 1, observation
    return steps


def recorded(env):
    """Return an environment that keeps its conversation and counts, as ours do."""
    history = ObservationWrapper(env, include_action=True, include_chat_template=False)
    return EpisodeTrackingWrapper(history)


GAMES = {}
for kind, wrap in (("", lambda env: env), ("-recorded", recorded)):
    for suffix, seeded in (("", False), ("-seeded", True)):
        name = f"{kind}{suffix}"
        env = wrap(gem.make("words"))
        for turns in (1, 5, 20):
            GAMES[f"words-{turns}{name}"] = partial(play_words, env, turns, seeded)
        env = wrap(gem.make("game:GuessTheNumber-v0-hard"))
        GAMES[f"guess{name}"] = partial(play_guess, env, seeded)

if __name__ == "__main__":
    print(f"gem-llm {version('gem-llm')}", flush=True)
    serve(GAMES)
