"""The contract of every door: what its real package sees is what gymnasium gives natively."""

import functools
import hashlib
import re
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, Protocol

import gymnasium

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.harness.environments import find_environment
from hexathlon.envs.errors import EnvFault
from hexathlon.evaluators.content import Image
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import parse_address, play
from hexathlon.tasks.taskset import build_task

EVENT = "SQL"
TASKS = ("sql/filter_rows/tiny/test/00000", "sql/count_rows/tiny/test/00001")
NOTHING = '{"name": "list_tables", "arguments": {}}'
GUI_SETTINGS = {"screenshot": True}
GUI_TASK = "gui/settings_flip/tiny/test/00000"


class Played(NamedTuple):
    """An episode as an agent and a trainer see it."""

    task: str
    seed: int
    actions: tuple[str, ...]
    opening: str
    answers: tuple[str, ...]
    reward: float
    done: bool
    tools: tuple[str, ...]
    """Names of the tools, sorted."""

    images: tuple[str, ...] = ()
    """Hashes of the pixels of all screens."""


class Door(Protocol):
    """A door, used as a client of the real package uses it; a context manager.

    Args:
        event: Event to play.
        **settings: Settings of its environment.
    """

    sees: bool
    """Whether it passes images."""

    tells_the_end: bool
    """Whether it passes the observation after the last turn."""

    def __init__(self, event: str, **settings: Any) -> None: ...

    def __enter__(self) -> "Door": ...

    def __exit__(self, *_: object) -> None: ...

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        """Play an episode with these actions.

        Raises:
            Exception: If the environment failed; it has the fault's message.
        """
        ...


def installed(package: str, release: str) -> bool:
    """Whether a release (its first two numbers) of a package is installed, or a later one."""
    try:
        found = version(package)
    except PackageNotFoundError:
        return False
    return [*map(int, found.split(".")[:2])] >= [*map(int, release.split("."))]


def native(
    task: str,
    seed: int,
    actions: tuple[str, ...] | None = None,
    event: str = EVENT,
    **settings: Any,
) -> Played:
    """Play an episode through gymnasium: the oracle's actions, or those given."""
    env = gymnasium.make(find_environment(event).id, **settings)
    opening, info = env.reset(seed=seed, options={"task": task})
    seen, taken, result = [opening], [], [0.0, False]

    def respond(action: str) -> str | None:
        observation, reward, terminated, truncated, _ = env.step(action)
        taken.append(action)
        seen.append(observation)
        result[:] = float(reward), terminated or truncated
        return None if result[1] else observation

    if actions is None:
        play(get_source(parse_address(task).source).oracle(build_task(task)), respond)
    else:
        for action in actions:
            respond(action)
    env.close()
    texts = tuple(each if isinstance(each, str) else each["text"] for each in seen)
    images = () if isinstance(opening, str) else tuple(
        picture_hash(Image.from_array(each["image"]).png()) for each in seen)  # fmt: skip
    names = tuple(sorted(tool["name"] for tool in info["tools"]))
    return Played(task, seed, tuple(taken), texts[0], texts[1:], *result, names, images)


def picture_hash(data: bytes) -> str:
    """Return the hash of an encoded picture's pixels."""
    image = Image.from_bytes(data)
    return hashlib.sha256(image.pixels).hexdigest()


def url_hash(url: str) -> str:
    """Return the hash of the pixels in a data URL."""
    import base64

    return picture_hash(base64.b64decode(url.partition(",")[2]))


def split(content: Any) -> tuple[str, tuple[str, ...]]:
    """Return the text and the pixel hashes of an OpenAI message's content."""
    if isinstance(content, str):
        return content, ()
    text = "".join(part["text"] for part in content if part["type"] == "text")
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return text, tuple(map(url_hash, urls))


def described(prompt: str) -> tuple[str, ...]:
    """Return the names of the tools that a system prompt describes in the dialect `json`."""
    return tuple(sorted(re.findall(r'"name": "(\w+)"', prompt)))


@functools.cache
def gold() -> tuple[Played, ...]:
    """The oracle's episodes."""
    return tuple(native(task, seed) for seed, task in enumerate(TASKS))


@functools.cache
def idle() -> tuple[Played, ...]:
    """Episodes in which nothing is achieved until the turns are used up."""
    return tuple(native(each.task, each.seed, (NOTHING,) * 20) for each in gold())


def broken() -> BridgedEpisode:
    """An episode whose environment fails in its first step."""
    episode = BridgedEpisode(EVENT)

    def fail(action: str) -> None:
        raise EnvFault("the disk is gone", cause="disk")

    episode.env.step = fail  # type: ignore[method-assign, assignment]
    return episode
