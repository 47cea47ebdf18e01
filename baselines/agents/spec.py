"""Parser of MODEL arguments.

There are four spellings: `agent:NAME` for a built-in agent (`agent:replay:PATH` for recorded
actions, `agent:noisy:SHARE` for an oracle with errors), `endpoint:URL#NAME` for a model on an
OpenAI-compatible server, `anthropic:NAME`, `gemini:NAME` and `openai-responses:NAME` for a model of
a provider (with another address: `anthropic:URL#NAME`), and a path for a checkpoint directory.
"""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from hexathlon.baselines.agents.base import Agent
from hexathlon.evaluators.anchors import CEILING_AGENT, FLOOR_AGENTS, IMITATING_AGENTS

__all__ = [
    "BUILT_IN",
    "PROVIDERS",
    "ModelSpec",
    "Provider",
    "SpecError",
    "parse_model",
    "scripted_agent",
]

BUILT_IN = (CEILING_AGENT, *FLOOR_AGENTS, "noisy", "replay")


class Provider(NamedTuple):
    """A provider of models, by the name of its API."""

    url: str
    """Address of its servers."""

    key: str
    """Environment variable with the API key."""


PROVIDERS = {
    "anthropic": Provider("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "gemini": Provider("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    "openai-responses": Provider("https://api.openai.com/v1", "OPENAI_API_KEY"),
}


class SpecError(ValueError):
    """A MODEL argument is invalid."""


class ModelSpec(NamedTuple):
    """A parsed MODEL argument."""

    kind: Literal["agent", "endpoint", "provider", "checkpoint"]
    name: str
    """The agent's name (with its share for `noisy`), the model's name on its server, or the
    directory."""

    place: str = ""
    """The server's URL, the checkpoint directory, or the path of the records to replay."""

    provider: str = ""
    """Name of the provider's API; empty for other kinds."""

    @property
    def remote(self) -> bool:
        """Whether a server answers, which may require a key."""
        return self.kind in ("endpoint", "provider")

    def key_variable(self, requested: str | None) -> str:
        """Return the environment variable with the API key: the one requested, or the usual one."""
        usual = PROVIDERS[self.provider].key if self.provider else "OPENAI_API_KEY"
        return requested or usual

    def as_json(self) -> Mapping[str, Any]:
        """Return the fields for a plan."""
        fields = {"kind": self.kind, "name": self.name, "place": self.place}
        return fields | ({"provider": self.provider} if self.provider else {})


def parse_model(text: str) -> ModelSpec:
    """Parse a MODEL argument.

    Raises:
        SpecError: If it is not one of the spellings.
    """
    kind, colon, rest = text.partition(":")
    if colon and kind == "agent":
        return _agent(rest)
    if colon and kind == "endpoint":
        return _endpoint(rest)
    if colon and kind in PROVIDERS:
        return _provider(kind, rest)
    if text.startswith(("http://", "https://")):
        raise SpecError(f"write 'endpoint:{_safe(text)}' for a model on a server")
    if text and Path(text).is_dir():
        return ModelSpec("checkpoint", text, text)
    near = difflib.get_close_matches(text, BUILT_IN, n=1)
    hint = f" Did you mean 'agent:{near[0]}'?" if near else ""
    raise SpecError(
        "MODEL must be agent:NAME, endpoint:URL#NAME or a checkpoint directory, or the NAME of a "
        f"provider's model ({', '.join(f'{name}:NAME' for name in PROVIDERS)}); got {text!r}, and "
        f"there is no such directory.{hint}"
    )


def _endpoint(rest: str) -> ModelSpec:
    url, _, name = _safe(rest).partition("#")
    expected = "'endpoint:http://host:port/v1#model'"
    if not url.startswith(("http://", "https://")):
        raise SpecError(f"expected {expected}, got 'endpoint:{rest}'")
    return ModelSpec("endpoint", name, _checked(url, expected))


def _provider(provider: str, rest: str) -> ModelSpec:
    url, name = PROVIDERS[provider].url, rest
    if rest.startswith(("http://", "https://")):
        url, _, name = _safe(rest).partition("#")
        url = _checked(url, f"'{provider}:http://host:port#model'")
    if not name or any(letter.isspace() or letter in "/?#" for letter in name):
        raise SpecError(
            f"expected '{provider}:MODEL', with the model's name at the provider, "
            f"got '{provider}:{rest}'"
        )
    return ModelSpec("provider", name, url, provider)


def _checked(url: str, expected: str) -> str:
    """Return a server's address without a trailing slash."""
    problem = _address_problem(url)
    if problem:
        raise SpecError(f"{url!r} is not a valid server address: {problem}; expected {expected}")
    return url.rstrip("/")


def _address_problem(url: str) -> str:
    """Return the fault of an address; empty if it is valid."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # parsed, and checked to be within its range, when it is read
    except ValueError as error:
        return str(error)
    if not parts.hostname:
        return "it has no host"
    if any(letter.isspace() for letter in url):
        return "it contains a space"
    return ""


def _safe(address: str) -> str:
    """Return an address that may be stored, and raise if it contains credentials or a query."""
    url = address.partition("#")[0]
    if "@" in url or "?" in url:
        raise SpecError(
            "an endpoint's address must not contain credentials or a query, since it is stored "
            "with the results; put the server's key into an environment variable and name the "
            "variable with --api-key-env"
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
            else f"agent:{name} takes no argument, got {place!r}"
        )
    return ModelSpec("agent", name, place)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise SpecError(
            "agent:noisy needs its share of errors, from 0 to 1, as in "
            f"'agent:noisy:0.3', got {text!r}"
        )
    return share


def scripted_agent(spec: ModelSpec) -> Agent:
    """Return a built-in agent.

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
    if spec.name in IMITATING_AGENTS:
        from hexathlon.baselines.agents.imitating import ImitatingAgent

        return ImitatingAgent(spec.name)
    from hexathlon.baselines.agents.scripted import ScriptedAgent

    return ScriptedAgent(spec.name)
