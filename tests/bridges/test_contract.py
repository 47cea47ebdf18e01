"""One contract for every door whose package is installed; `scripts/bridges` installs each."""

import functools
import importlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from bridges.contract import (
    EVENT,
    GUI_SETTINGS,
    GUI_TASK,
    TASKS,
    Door,
    Played,
    gold,
    idle,
    installed,
    native,
)

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault

DOORS = {
    "openenv": ("openenv", "0.10"),
    "ors": ("openreward", "0.1"),
    "mcp": ("mcp", "2.3"),
    "verifiers": ("verifiers", "0.4"),
    "skyrl": ("skyrl-gym", "0.4"),
    "inspect": ("inspect-ai", "0.3"),
    "trl": ("trl", "1.16"),
    "trl_rollout": ("trl", "1.16"),
    "tinker": ("tinker-cookbook", "0.6"),
    "nemo": ("nemo-gym", "0.4"),
}
"""Modules in `doors/`, and the package that each needs."""


@pytest.fixture(scope="module", params=DOORS)
def kind(request: pytest.FixtureRequest) -> Any:
    if not installed(*DOORS[request.param]):
        pytest.skip(f"scripts/bridges {request.param.partition('_')[0]}")
    return importlib.import_module(f"bridges.doors.{request.param}").Client


@pytest.fixture(scope="module")
def door(kind: Any) -> Iterator[Door]:
    with kind(EVENT) as opened:
        yield opened


def heard(door: Door, played: Played) -> Played:
    """What the door shows of an episode: some leave out what follows the last turn."""
    if door.tells_the_end:
        return played
    return played._replace(answers=played.answers[:-1], images=played.images[:-1])


def test_gold_earns_one(door: Door) -> None:
    for played in gold():
        assert (played.reward, played.done) == (1.0, True)
        assert door.play(played.task, played.seed, played.actions) == heard(door, played)


def test_idling_earns_the_floor(door: Door) -> None:
    for played in idle():
        assert (played.reward, played.done) == (0.0, True)
        assert door.play(played.task, played.seed, played.actions) == heard(door, played)


def test_a_seed_gives_the_first_observation_of_gymnasium(door: Door) -> None:
    seen = set()
    for seed in (0, 1, 2**31 - 1):
        played = native(TASKS[0], seed, idle()[0].actions)
        assert door.play(TASKS[0], seed, played.actions) == heard(door, played)
        assert "run_query" in played.tools
        seen.add(played.opening)
    assert seen


def test_eight_sessions_at_once_are_eight_in_turn(door: Door) -> None:
    wanted = (gold() + idle()) * 2
    together = getattr(door, "play_together", functools.partial(in_threads, door))
    seen = together([(each.task, each.seed, each.actions) for each in wanted])
    assert seen == [heard(door, each) for each in wanted]


def in_threads(door: Door, episodes: list[tuple[str, int, tuple[str, ...]]]) -> list[Played]:
    with ThreadPoolExecutor(len(episodes)) as pool:
        return list(pool.map(door.play, *zip(*episodes, strict=True), timeout=240))


def test_a_fault_is_an_error(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise EnvFault("the disk is gone", cause="disk")

    played = gold()[0]
    with monkeypatch.context() as patch:
        patch.setattr(Environment, "step", fail)
        with pytest.raises(Exception, match="the disk is gone"):
            door.play(played.task, played.seed, played.actions)
    assert door.play(played.task, played.seed, played.actions) == heard(door, played)


def test_screens_arrive(kind: Any) -> None:
    pytest.importorskip("android_env", reason="pip install 'hexathlon[gui]'")
    if not kind.sees:
        pytest.skip("this door passes text only")
    played = native(
        GUI_TASK, 5, ('{"name": "navigate_home", "arguments": {}}',), "GUI", **GUI_SETTINGS
    )
    assert len(played.images) == 2
    with kind("GUI", **GUI_SETTINGS) as door:
        seen, played = door.play(GUI_TASK, 5, played.actions), heard(door, played)
    assert played.images
    assert (seen.images, seen.opening, seen.tools) == (played.images, played.opening, played.tools)
