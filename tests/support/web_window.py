"""The web event in a real browser window: each turn shows a small screenshot with marks."""

from typing import Any

from hexathlon.envs.vector import make_vector as make
from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import TaskAddress
from hexathlon.tasks.task import Level, Split
from hexathlon.tasks.web.source import WebSource

__all__ = ["WebWindowEnv", "WindowSource", "make_vector"]


class WindowSource(WebSource):
    """Tasks of one template of the web event, under a name of their own."""

    name = "example-window"

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        return str(TaskAddress(self.name, "maps_take_out", "tiny", split, index))

    def data_files(self) -> tuple[str, ...]:
        return ()


class WebWindowEnv(WebEnv):
    """`hexathlon/Web-v0` in Chromium, in one look, with marked screenshots."""

    default_taskset = WindowSource.name

    def __init__(self, **kwargs: Any) -> None:
        chosen = {"backend": "chromium", "look": "harbour", "viewport": (800, 600)}
        shown = {"screenshot": True, "marks": True, "coordinates": True}
        super().__init__(**{**chosen, **shown, **kwargs})


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    return make(WebWindowEnv, num_envs, **kwargs)


register_source(WindowSource.name, WindowSource)
