"""MiniWoB++: the pages of the package `miniwob`, one task source for all of them.

A task is a page and a seed; the page itself writes the instruction, decides when the episode ends
and gives the reward. Pages need a real browser. The package is the user's installation (extra
`[miniwob]`); nothing of it is copied.
"""

import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from hexathlon.tasks.errors import MissingData, UnknownTask
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task
from hexathlon.tasks.tool_calls import tool_call
from hexathlon.tasks.web.tools import COORDINATE_TOOLS, WEB_TOOLS

__all__ = ["REWARDS", "MiniwobSource", "RewardName", "miniwob_folder", "miniwob_pages", "source"]

RewardName = Literal["original", "raw", "binary", "threshold"]

REWARDS: tuple[RewardName, ...] = ("original", "raw", "binary", "threshold")
"""Rewards by name, as the package defines them; `threshold` needs a number."""

_TURNS = 30
_SIZES: dict[Split, int | None] = {"train": None, "dev": 20, "test": 20, "heldout": 0}
_LEFT_OUT = frozenset(
    "finish report_infeasible send_msg_to_user read_file upload_file goto go_back go_forward "
    "new_tab tab_focus tab_close".split()
)
_TOOLS = (*(tool for tool in WEB_TOOLS if tool.name not in _LEFT_OUT), *COORDINATE_TOOLS)
_INSTRUCTION = "Do what the page asks; the episode ends when the page ends it."


def miniwob_folder() -> Path:
    """Return the folder of the pages.

    Raises:
        MissingData: If the package is not installed.
    """
    found = importlib.util.find_spec("miniwob")
    if found is None or not found.submodule_search_locations:
        raise MissingData("MiniWoB++ is not installed: pip install 'hexathlon[miniwob]'")
    return Path(found.submodule_search_locations[0]) / "html"


@cache
def miniwob_pages() -> tuple[str, ...]:
    """Return the names of all pages; those of FlightWoB begin with `flight.`."""
    folder = miniwob_folder()
    names = [page.stem for page in (folder / "miniwob").glob("*.html")]
    flights = [f"flight.{page.parent.name}" for page in (folder / "flight").glob("*/wrapper.html")]
    return (*sorted(names), *sorted(flights))


class MiniwobSource(TaskSource):
    """MiniWoB++ pages with seeds.

    Args:
        reward: Which reward is the score: `original` (discounted by the share of the turns that
            was used), `raw`, `binary` (only a full reward counts), or `threshold`.
        threshold: Raw reward that counts as solved under `threshold`.
    """

    name = "miniwob"
    family = "web"
    version = "1"

    def __init__(self, reward: RewardName = "raw", threshold: float = 1.0) -> None:
        if reward not in REWARDS:
            raise ValueError(f"reward must be one of {', '.join(REWARDS)}, got {reward!r}")
        self.reward = reward
        self.threshold = threshold

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return 20 seeds per page for dev and test, None for train; all are of level `easy`."""
        per_page = _SIZES[split] if level in (None, "easy") else 0
        return None if per_page is None else per_page * len(miniwob_pages())

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`, cycling through the pages."""
        pages = miniwob_pages()
        page = pages[index % len(pages)]
        return str(TaskAddress(self.name, page, "easy", split, index // len(pages)))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task.

        Raises:
            UnknownTask: If there is no such page or seed.
        """
        at = parse_address(task_id)
        per_page = _SIZES[at.split]
        if at.source != self.name or at.template not in miniwob_pages() or at.level != "easy":
            raise UnknownTask(task_id, f"{self.name} has no such page")
        if (per_page is not None and at.index >= per_page) or str(at) != task_id:
            raise UnknownTask(task_id, f"{at.split} has {per_page} seeds for each page")
        seed = derive_seed("miniwob", at.template, at.split, at.index)
        return Task(
            id=task_id, family=self.family, generator=self.name, version=self.version,
            level="easy", split=at.split, seed=seed, instruction=_INSTRUCTION,
            params={"miniwob": {"page": at.template, "seed": f"{seed:x}"}},
            tools=_TOOLS, limits=Limits(turns=_TURNS),
            checks=(
                Check(
                    name="miniwob",
                    params={"reward": self.reward, "threshold": self.threshold, "turns": _TURNS},
                ),
            ),
            canary=f"canary-{derive_seed('miniwob canary', task_id):x}",
        )  # fmt: skip

    def oracle(self, task: Task) -> Script:
        """Do nothing: the pages come without solutions."""
        yield tool_call("noop")

    def data_files(self) -> Sequence[str]:
        """Return no files: the pages are not part of this package."""
        return ()


def source() -> MiniwobSource:
    """Create the source for the registry."""
    return MiniwobSource()
