"""The games of `step_speed.py` in GEM; executed by the peer's own interpreter.

`guess` is the environment that GEM ships; its episodes draw their numbers from the global random
stream. The games with `-seeded` pass a seed to every reset, which sets that stream and numpy's.
"""

import itertools
from functools import partial
from importlib.metadata import version

import gem
from rounds import ANSWER, LAST, MOST, guess, serve, words


class Words(gem.Env):
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


def play(env, script, seeded, count):
    """Play episodes; return the number of steps."""
    steps = 0
    for _ in range(count):
        env.reset(next(SEEDS) if seeded else None)

        def step(action, step=env.step):
            observation, reward, terminated, truncated, _ = step(action)
            return observation, reward, terminated or truncated

        steps += script(step)
    return steps


WORDS, GUESS = gem.make("words"), gem.make("game:GuessTheNumber-v0-hard")
GAMES = {}
for suffix, seeded in (("", False), ("-seeded", True)):
    for turns in (1, 5, 20):
        GAMES[f"words-{turns}{suffix}"] = partial(play, WORDS, partial(words, turns), seeded)
    GAMES[f"guess{suffix}"] = partial(play, GUESS, guess, seeded)

if __name__ == "__main__":
    print(f"gem-llm {version('gem-llm')}", flush=True)
    serve(GAMES)
