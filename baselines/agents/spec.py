"""Reads MODEL as it is written on the command line.

Three spellings: `agent:NAME` for a built-in agent (`agent:replay:PATH` for recorded actions,
`agent:noisy:SHARE` for an oracle that errs), `endpoint:URL#NAME` for a model on a server, anything
else is a checkpoint directory.
"""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hexathlon.baselines.agents.base import Agent

__all__ = ["BUILT_IN", "ModelSpec", "SpecError", "parse_model", "scripted_agent"]

BUILT_IN = ("oracle", "noop", "random", "dump", "majority", "noisy", "replay")


class SpecError(ValueError):
    """A MODEL that is none of the three spellings."""


class ModelSpec(NamedTuple):
    """A MODEL taken apart."""

    kind: Literal["agent", "endpoint", "checkpoint"]
    name: str
    """The agent's name (with its share for `noisy`), the model's name on its server, or the
    directory."""

    place: str = ""
    """The server's address, or the path of the records to replay."""

    def as_json(self) -> Mapping[str, Any]:
        """Return what a plan says of it."""
        return {"kind": self.kind, "name": self.name, "place": self.place}


def parse_model(text: str) -> ModelSpec:
    """Take a MODEL apart.

    Raises:
        SpecError: If it is none of the three spellings.
    """
    kind, colon, rest = text.partition(":")
    if colon and kind == "agent":
        return _agent(rest)
    if colon and kind == "endpoint":
        return _endpoint(rest)
    if text.startswith(("http://", "https://")):
        raise SpecError(f"write 'endpoint:{_safe(text)}' for a model on a server")
    if Path(text).is_dir():
        return ModelSpec("checkpoint", text, text)
    near = difflib.get_close_matches(text, BUILT_IN, n=1)
    hint = f" Did you mean 'agent:{near[0]}'?" if near else ""
    raise SpecError(
        f"MODEL must be agent:NAME, endpoint:URL#NAME or a checkpoint directory, got {text!r}, "
        f"and there is no such directory.{hint}"
    )


def _endpoint(rest: str) -> ModelSpec:
    url, _, name = _safe(rest).partition("#")
    if not url.startswith(("http://", "https://")):
        raise SpecError(
            f"an endpoint reads 'endpoint:http://host:port/v1#model', got 'endpoint:{rest}'"
        )
    return ModelSpec("endpoint", name, url.rstrip("/"))


def _safe(address: str) -> str:
    """Return an address that may be stored and shown: one without user, password and query."""
    url = address.partition("#")[0]
    if "@" in url or "?" in url:
        raise SpecError(
            "an endpoint's address must hold no password and no query, since it is stored "
            "with the results; put the server's key into an environment variable and name "
            "that with --api-key-env"
        )
    return address


def _agent(rest: str) -> ModelSpec:
    name, _, place = rest.partition(":")
    if name not in BUILT_IN:
        near = difflib.get_close_matches(name, BUILT_IN, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise SpecError(f"there is no agent {name!r}.{hint} Known: {', '.join(BUILT_IN)}")
    if name == "noisy":
        return ModelSpec("agent", f"noisy:{_share(place):g}")
    if (name == "replay") != bool(place):
        raise SpecError(
            "agent:replay needs the run to replay, as in 'agent:replay:runs/first'"
            if name == "replay"
            else f"agent:{name} takes nothing after its name, got {place!r}"
        )
    return ModelSpec("agent", name, place)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise SpecError(
            "agent:noisy needs the share of tasks on which it errs, from 0 to 1, as in "
            f"'agent:noisy:0.3', got {text!r}"
        )
    return share


def scripted_agent(spec: ModelSpec) -> Agent:
    """Return the built-in agent of this name.

    Raises:
        AgentMismatch: If the records to replay cannot be read.
    """
    if spec.name == "noop":
        from hexathlon.baselines.agents.trivial import NoopAgent

        return NoopAgent()
    if spec.name == "random":
        from hexathlon.baselines.agents.trivial import RandomAgent

        return RandomAgent()
    if spec.name == "replay":
        from hexathlon.baselines.agents.replay import ReplayAgent

        return ReplayAgent(Path(spec.place))
    if spec.name.startswith("noisy:"):
        from hexathlon.baselines.agents.noisy import NoisyAgent

        return NoisyAgent(_share(spec.name.partition(":")[2]))
    from hexathlon.baselines.agents.scripted import ScriptedAgent

    return ScriptedAgent(spec.name)
