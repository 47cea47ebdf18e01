"""The games of `step_speed.py` as environments of hexathlon, played on request.

Every episode resets with a seed and a task of its own, and its last step returns the verdict.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hexathlon.envs.base import Environment
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import register_verifier
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task

sys.path.append(str(Path(__file__).parent / "peers"))
from rounds import ANSWER, GUESSES, HIGHEST, LAST, LOWEST, MOST, serve  # noqa: E402

__all__ = ["GAMES", "GuessEnv", "WordsEnv"]

TASKS = 64
BOXED = re.compile(r"\\boxed{(\d+)}")


class GameSource(TaskSource):
    """A source of tasks that differ in the right answer.

    Args:
        name: Of the source and the family.
        instruction: Opening of every episode.
        answers: The right answer of each task.
        turns: Turn limit.
    """

    version = "1"

    def __init__(self, name: str, instruction: str, answers: Sequence[Any], turns: int) -> None:
        self.name = self.family = name
        self.instruction, self.answers, self.turns = instruction, answers, turns

    def size(self, split: Split, level: Level | None = None) -> int:
        """Return the number of tasks."""
        return len(self.answers)

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of a task."""
        return str(TaskAddress(self.name, self.name, level or "tiny", split, index))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Return a task."""
        address = parse_address(task_id)
        return Task(
            id=task_id,
            family=self.name,
            generator=self.name,
            version="1",
            level=address.level,
            split=address.split,
            seed=0,
            instruction=self.instruction,
            params={"answer": self.answers[address.index]},
            limits=Limits(turns=self.turns),
            checks=(Check(name="game", params={"answer": self.answers[address.index]}),),
        )

    def oracle(self, task: Task) -> Script:
        """Give the right answer."""
        yield str(task.params["answer"])


class WordsEnv(Environment):
    """Answers every word in the same way; the right word ends the episode."""

    family = default_taskset = "words"

    def on_reset(self, task: Task) -> str:
        """Return the opening."""
        self._last: str = task.params["answer"]
        self._said = ""
        return task.instruction

    def on_text(self, text: str) -> str:
        """Answer a word."""
        self._said = text
        if text == self._last:
            self.finish()
        return ANSWER

    def final_state(self) -> dict[str, Any]:
        """Return the last word."""
        return {"answer": self._said}


class GuessEnv(Environment):
    """Tells whether the number is higher or lower than a guess."""

    family = default_taskset = "guess"

    def on_reset(self, task: Task) -> str:
        """Return the opening."""
        self._number: int = task.params["answer"]
        self._guess = 0
        return task.instruction

    def on_text(self, text: str) -> str:
        """Answer a guess."""
        found = BOXED.findall(text)
        self._guess = number = int(found[-1]) if found else 0
        if number == self._number or not found:
            self.finish()
            return f"{number} is right." if found else "There is no guess."
        hint = "lower" if number > self._number else "higher"
        return f"Turn {self._turn}: the number is {hint} than {number}."

    def final_state(self) -> dict[str, Any]:
        """Return the last guess."""
        return {"answer": self._guess}


def judge(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Any
) -> Verdict:
    """Compare the last answer with the right one."""
    return Verdict(score=1.0 if final_state["answer"] == params["answer"] else 0.0)


NUMBERS = [LOWEST + 17 * index % HIGHEST for index in range(TASKS)]
register_source("words", lambda: GameSource("words", "Say done.", [LAST] * TASKS, MOST))
register_source("guess", lambda: GameSource("guess", "Guess the number.", NUMBERS, GUESSES))
register_verifier("game", judge, version="1")


def play_words(env: Environment, turns: int, count: int) -> int:
    """Say a word in every turn and the right one in the last; return the number of steps."""
    for index in range(count):
        env.reset(seed=index, options={"index": index % TASKS})
        for _ in range(turns - 1):
            observation, reward, terminated, truncated, info = env.step("go")
            assert observation == ANSWER
        observation, reward, terminated, truncated, info = env.step(LAST)
        assert terminated and reward == 1.0, info
    return turns * count


def play_guess(env: Environment, count: int) -> int:
    """Guess numbers by bisection; return the number of steps."""
    steps = 0
    for index in range(count):
        env.reset(seed=index, options={"index": index % TASKS})
        low, high = LOWEST, HIGHEST
        while True:
            number = (low + high) // 2
            observation, reward, terminated, truncated, info = env.step(f"\\boxed{{{number}}}")
            steps += 1
            if terminated or truncated:
                break
            if "higher" in observation:
                low = number + 1
            else:
                high = number - 1
        assert reward == 1.0, info
    return steps


GAMES = {f"words-{turns}": partial(play_words, WordsEnv(), turns) for turns in (1, 5, 20)}
GAMES["guess"] = partial(play_guess, GuessEnv())

if __name__ == "__main__":
    print("hexathlon", flush=True)
    serve(GAMES)
