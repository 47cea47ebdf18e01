"""What every bridge must do, checked with the real package against episodes played natively."""

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple, Protocol

import gymnasium

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.harness.environments import find_environment
from hexathlon.envs.errors import EnvFault
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address, play
from hexathlon.tasks.taskset import build_task

EVENT = "SQL"


def installed(package: str, release: str) -> bool:
    """Whether a release (its first two numbers) of a package is installed, or a later one."""
    try:
        found = version(package)
    except PackageNotFoundError:
        return False
    return [*map(int, found.split(".")[:2])] >= [*map(int, release.split("."))]


TASKS = ("sql/filter_rows/tiny/test/00000", "sql/count_rows/tiny/test/00001")
NOTHING = '{"name": "list_tables", "arguments": {}}'


class Played(NamedTuple):
    """An episode: the opening text, the actions, the texts that answer them, the reward."""

    task: str
    seed: int
    actions: tuple[str, ...]
    opening: str
    answers: tuple[str, ...]
    reward: float
    done: bool


class Bridge(Protocol):
    """A door, as a client of the real package plays it."""

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        """Play an episode of `EVENT` from start to end."""
        ...


def native(task: str, seed: int, actions: tuple[str, ...] | None = None) -> Played:
    """Play an episode through gymnasium: the oracle's actions, or those given."""
    record = build_task(task)
    source = get_source(parse_address(task).source)
    env = gymnasium.make(find_environment(EVENT).id)
    opening, _ = env.reset(seed=seed, options={"task": task})
    taken: list[str] = []
    answers: list[str] = []
    result = [0.0, False]

    def respond(action: str) -> str | None:
        observation, reward, terminated, truncated, _ = env.step(action)
        taken.append(action)
        answers.append(observation)
        result[:] = float(reward), terminated or truncated
        return None if result[1] else observation

    if actions is None:
        play(source.oracle(record), respond)
    else:
        for action in actions:
            respond(action)
    env.close()
    return Played(task, seed, tuple(taken), opening, tuple(answers), *result)


GOLD = [native(task, seed) for seed, task in enumerate(TASKS)]
IDLE = [native(played.task, played.seed, (NOTHING,) * 2) for played in GOLD]


def check_bridge(bridge: Bridge) -> None:
    """Gold earns 1 and idling nothing, with the same texts as natively."""
    for played in (*GOLD, *IDLE):
        assert bridge.play(played.task, played.seed, played.actions) == played
    assert all(played.reward == 1.0 and played.done for played in GOLD)
    assert all(played.reward == 0.0 for played in IDLE)


def check_sessions(bridge: Bridge) -> None:
    """Eight sessions at once see what one after the other sees."""
    wanted = (GOLD + IDLE) * 2
    with ThreadPoolExecutor(len(wanted)) as pool:
        jobs = [pool.submit(bridge.play, each.task, each.seed, each.actions) for each in wanted]
        assert [job.result(120) for job in jobs] == wanted


def broken() -> BridgedEpisode:
    """An episode whose environment fails in its first step."""
    episode = BridgedEpisode(EVENT)

    def fail(action: str) -> None:
        raise EnvFault("the disk is gone", cause="disk")

    episode.env.step = fail  # type: ignore[method-assign, assignment]
    return episode
