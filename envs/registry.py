"""The environments' ids, registered with gymnasium.

`gymnasium.make` hands out our environments without wrappers: they enforce the order of calls
themselves, and the conformance kit runs gymnasium's checker on each, so `fork` and `snapshot` are
at hand on what `make` returns. Entry points are strings; nothing is imported until an id is made.
"""

import importlib.util
from typing import NamedTuple

import gymnasium

__all__ = ["ENVIRONMENTS", "EnvironmentInfo", "missing_extra", "register_environments"]


class EnvironmentInfo(NamedTuple):
    """What the commands say of an id without importing it."""

    id: str
    family: str
    title: str
    entry_point: str
    vector_entry_point: str
    tasksets: tuple[str, ...]
    """Task sources that it can draw from, its own first."""

    extra: str | None = None
    """The extra of this package that it needs."""

    modules: tuple[str, ...] = ()
    """Modules that come with the extra."""


ENVIRONMENTS: dict[str, EnvironmentInfo] = {
    info.id: info
    for info in (
        EnvironmentInfo(
            "hexathlon/SQL-v0",
            "sql",
            "Answer questions and change data in databases",
            "hexathlon.envs.sql.env:SQLEnv",
            "hexathlon.envs.sql.env:make_vector",
            ("sql", "chinook", "dbbench", "spider", "bird", "intercode-sql"),
        ),
        EnvironmentInfo(
            "hexathlon/Terminal-v0",
            "terminal",
            "Work at a shell in a sandbox",
            "hexathlon.envs.terminal.env:TerminalEnv",
            "hexathlon.envs.terminal.env:make_vector",
            ("terminal", "harbor", "terminal-bench"),
        ),
        EnvironmentInfo(
            "hexathlon/Shopping-v0",
            "shopping",
            "Buy exactly the right thing, or serve customers under a written policy",
            "hexathlon.envs.shopping.env:ShoppingEnv",
            "hexathlon.envs.shopping.env:make_vector",
            ("shopping", "webshop", "tau2-retail"),
        ),
        EnvironmentInfo(
            "hexathlon/RolePlay-v0",
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
    )
}


def register_environments() -> None:
    """Register every id of this package; doing it twice changes nothing."""
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
    """Return the line that installs what the environment lacks, or None if nothing is missing."""
    if all(importlib.util.find_spec(name) is not None for name in info.modules):
        return None
    return f"pip install 'hexathlon[{info.extra}]'"
