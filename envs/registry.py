"""Environment ids, registered with Gymnasium.

`gymnasium.make` returns our environments without wrappers, so `fork` and `snapshot` are available
on its result: the environments enforce the order of calls themselves, and the conformance kit runs
Gymnasium's checker on each. Entry points are strings; nothing is imported until an id is made.

An id whose results changed is retired: it leaves `ENVIRONMENTS` for `RETIRED`, and its successor
has the next `-vN`. It is not registered, so `gymnasium.make` raises `DeprecatedEnv` and names the
successor; the commands do the same. Its records stay readable and keep their own boards.
"""

import importlib.util
from typing import NamedTuple

import gymnasium

__all__ = [
    "ENVIRONMENTS",
    "PLUGIN_GROUP",
    "RETIRED",
    "SHIPPED",
    "TASK_SANDBOX",
    "EnvironmentInfo",
    "Retired",
    "missing_extra",
    "register_environments",
    "retired",
    "short",
]


PLUGIN_GROUP = "hexathlon.envs"
"""Entry-point group under which other packages declare environments."""


def short(env_id: str) -> str:
    """Return the short name of an id.

    >>> short("hexathlon/SQL-v1")
    'SQL'
    """
    return env_id.rpartition("/")[2].rpartition("-v")[0]


class EnvironmentInfo(NamedTuple):
    """Listing of one id, available without importing its environment."""

    id: str
    family: str
    title: str
    entry_point: str
    vector_entry_point: str
    tasksets: tuple[str, ...]
    """Names of supported task sources, the default first."""

    extra: str | None = None
    """The extra that it needs, if any."""

    modules: tuple[str, ...] = ()
    """Modules installed by the extra."""


ENVIRONMENTS: dict[str, EnvironmentInfo] = {
    info.id: info
    for info in (
        EnvironmentInfo(
            "hexathlon/SQL-v1",
            "sql",
            "Answer questions and change data in databases",
            "hexathlon.envs.sql.env:SQLEnv",
            "hexathlon.envs.sql.env:make_vector",
            ("sql", "chinook", "dbbench", "spider", "bird", "intercode-sql"),
        ),
        EnvironmentInfo(
            "hexathlon/Terminal-v1",
            "terminal",
            "Work at a shell in a sandbox",
            "hexathlon.envs.terminal.env:TerminalEnv",
            "hexathlon.envs.terminal.env:make_vector",
            ("terminal", "harbor", "terminal-bench"),
        ),
        EnvironmentInfo(
            "hexathlon/Shopping-v1",
            "shopping",
            "Buy exactly the right thing, or serve customers under a written policy",
            "hexathlon.envs.shopping.env:ShoppingEnv",
            "hexathlon.envs.shopping.env:make_vector",
            ("shopping", "webshop", "tau2-retail"),
        ),
        EnvironmentInfo(
            "hexathlon/Web-v0",
            "web",
            "Work on web sites, in a browser or its fast in-process twin",
            "hexathlon.envs.web.env:WebEnv",
            "hexathlon.envs.web.env:make_vector",
            ("web", "miniwob", "webarena", "webarena-verified", "visualwebarena"),
        ),
        EnvironmentInfo(
            "hexathlon/GUI-v0",
            "gui",
            "Operate the apps of a phone or a desktop through the screen",
            "hexathlon.envs.gui.env:GUIEnv",
            "hexathlon.envs.gui.env:make_vector",
            ("gui", "desktop", "gui-mined"),
        ),
        EnvironmentInfo(
            "pixels/GUIPixels-v0",
            "gui",
            "Operate a phone that is shown as a small picture",
            "hexathlon.envs.gui.pixels:PixelGuiEnv",
            "hexathlon.envs.gui.pixels:make_vector",
            ("gui-pixels",),
        ),
        EnvironmentInfo(
            "replay/GUIReplay-v0",
            "gui",
            "Replay recorded phone sessions, step by step",
            "hexathlon.envs.gui.replayed:ReplayedGuiEnv",
            "hexathlon.envs.gui.replayed:make_vector",
            ("gui-replay",),
        ),
        EnvironmentInfo(
            "hexathlon/RolePlay-v1",
            "roleplay",
            "Stay in character, keep secrets, remember, bargain",
            "hexathlon.envs.roleplay.env:RolePlayEnv",
            "hexathlon.envs.roleplay.env:make_vector",
            (
                "roleplay",
                "roleplay-shift",
                "personagym",
                "pingpong",
                "charactereval",
                "characterbench",
                "rolebench",
                "rolemrc",
                "coser",
            ),
        ),
        EnvironmentInfo(
            "judging/Verdicts-v0",
            "roleplay",
            "Judge whether a statement about a role-play reply holds",
            "hexathlon.envs.roleplay.verdicts:VerdictEnv",
            "hexathlon.envs.roleplay.verdicts:make_vector",
            ("verdicts", "procedures"),
        ),
        EnvironmentInfo(
            "judging/FirstError-v0",
            "roleplay",
            "Find the first wrong step of a reckoning",
            "hexathlon.envs.roleplay.verdicts:FirstErrorEnv",
            "hexathlon.envs.roleplay.verdicts:make_first_error_vector",
            ("step-errors",),
        ),
    )
}


TASK_SANDBOX = "hexathlon.envs.terminal.building:open_directory"
"""Opens a sandbox with the image of a task directory, for programs that bring their own tasks."""

SHIPPED = frozenset(ENVIRONMENTS)
"""Ids of this package, which any process knows; programs may add others while they run."""


class Retired(NamedTuple):
    """An id that can no longer be played."""

    successor: str
    """The id that replaced it, registered or retired itself."""

    last: str
    """The last release that plays it, and so can replay its records."""


RETIRED: dict[str, Retired] = {
    "hexathlon/RolePlay-v0": Retired("hexathlon/RolePlay-v1", "0.1"),
    "hexathlon/SQL-v0": Retired("hexathlon/SQL-v1", "0.1"),
    "hexathlon/Shopping-v0": Retired("hexathlon/Shopping-v1", "0.1"),
    "hexathlon/Terminal-v0": Retired("hexathlon/Terminal-v1", "0.1"),
}


def retired(env_id: str) -> str | None:
    """Return what to use instead of a retired id, as a message; None if the id is not retired.

    >>> retired("hexathlon/Terminal-v0")
    'hexathlon/Terminal-v0 is retired; use hexathlon/Terminal-v1. Release 0.1 replays its records'
    """
    if env_id not in RETIRED:
        return None
    successor, last = RETIRED[env_id]
    while successor in RETIRED:
        successor = RETIRED[successor].successor
    return f"{env_id} is retired; use {successor}. Release {last} replays its records"


def register_environments() -> None:
    """Register every id of this package; idempotent."""
    for info in ENVIRONMENTS.values():
        if info.id not in gymnasium.registry:
            gymnasium.register(
                info.id,
                entry_point=info.entry_point,
                vector_entry_point=info.vector_entry_point,
                disable_env_checker=True,
                order_enforce=False,
            )


def missing_extra(info: EnvironmentInfo) -> str | None:
    """Return the command that installs the missing extra, or None if nothing is missing."""
    if all(importlib.util.find_spec(name) is not None for name in info.modules):
        return None
    return f"pip install 'hexathlon[{info.extra}]'"
