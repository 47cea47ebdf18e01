"""Agents that are programs of other makers, run as they are.

A program gets an address with the chat APIs of `hexathlon.baselines.gateway`, behind which the
model answers, and its calls are recorded. In the terminal event it works in the event's sandbox;
elsewhere it works in a sandbox of its own and gets the event's tools over the Model Context
Protocol. This address is all it can reach. To the rollout it is an agent like any other: its
tool calls are turns, its end is the end of the trial.
"""

import asyncio
import json
import shlex
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hexathlon.baselines.agents.base import Episode, GaveUp, Turn, text_of
from hexathlon.baselines.engines.apis.base import ApiCall, JsonBody
from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.engines.errors import BadRequest
from hexathlon.baselines.gateway.answers import Answering, ModelAnswer
from hexathlon.baselines.gateway.app import Gateway
from hexathlon.baselines.gateway.recording import TurnLog
from hexathlon.baselines.programs.confined import ConfinedCommand
from hexathlon.baselines.programs.serving import PORT, GatewayServer, calls_file
from hexathlon.baselines.programs.tool_server import ToolServer
from hexathlon.baselines.tokens.tree import TokenTree
from hexathlon.envs.messages import Message
from hexathlon.evaluators.content import Content, joined
from hexathlon.evaluators.records.canonical import text_hash

__all__ = ["CommandAgent", "CommandSettings", "OpenAnswers"]

_MCP = "/mcp"
_SUBMIT = json.dumps({"name": "submit", "arguments": {}})
_USE_TOOLS = "Work with the tools of the MCP server `hexathlon` only."
_OVER = "The episode has ended; no further call is answered."


@dataclass(frozen=True, slots=True)
class CommandSettings:
    """How a program is run."""

    command: tuple[str, ...]
    """Program and arguments; `{prompt}`, `{model}`, `{url}` and `{mcp}` are replaced. Without the
    first, the task is in the variable HEXATHLON_PROMPT."""

    name: str
    """The agent's name in plans and tables."""

    mounts: tuple[str, ...] = ()
    """Directories of this machine with the program, visible at the same paths, read-only."""

    seconds: float = 1800.0
    """Maximum duration of a trial."""

    memory_mb: int = 2048
    calls: int | None = None
    """Maximum number of the model's calls in a trial: the turns of a program."""

    tokens: int | None = None
    """Tokens of a trial's calls, input and output, after which no further call is answered."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables."""

    logs: Path | None = None
    """Directory for the programs' calls and output, one file per trial."""


class OpenAnswers(Protocol):
    """Opens what answers the calls of one trial."""

    def __call__(self, episode: Episode, turns: TurnLog) -> Answering:
        """Return the model; a checkpoint records its turns in the log."""
        ...


class _Engine(Protocol):
    async def close(self) -> None: ...


class CommandAgent:
    """Plays trials by running a program.

    Args:
        settings: The program.
        answers: The model behind it.
        model: The model's name, as the program is told.
        engine: The model's engine; closed with the agent.
        keeps_tokens: Whether the model's tokens are known.
    """

    version = "1"
    asynchronous = True
    needs_threads = True
    """The program's calls are answered while the environment takes a step."""

    def __init__(
        self,
        settings: CommandSettings,
        answers: OpenAnswers,
        model: str,
        engine: _Engine,
        *,
        keeps_tokens: bool,
    ) -> None:
        self.settings = settings
        self.name = settings.name
        self.model = model
        self.answers = answers
        self.keeps_tokens = keeps_tokens
        self.engine = _Ending(self, engine)
        self.running: set[asyncio.Task[None]] = set()
        """Gateways and programs that are being ended."""

    @property
    def prompt_hash(self) -> str:
        """Hash of the command and of what is added to its prompt."""
        return text_hash(json.dumps([*self.settings.command, _USE_TOOLS]))

    def begin(self, episode: Episode) -> "CommandPlayer":
        """Return a player; the program starts with the first turn."""
        return CommandPlayer(self, episode)


class _Ending:
    """Closes an engine after the programs that use it have ended."""

    def __init__(self, agent: CommandAgent, engine: _Engine) -> None:
        self._agent = agent
        self._engine = engine

    async def close(self) -> None:
        await asyncio.gather(*self._agent.running, return_exceptions=True)
        await self._engine.close()


class _AwaitedCall(NamedTuple):
    """A tool call of the program that waits for its answer."""

    action: str
    answer: "asyncio.Future[tuple[Content, bool]]"


class CommandPlayer:
    """Plays one trial.

    Args:
        agent: The agent.
        episode: The episode.
    """

    def __init__(self, agent: CommandAgent, episode: Episode) -> None:
        self._agent = agent
        self._episode = episode
        self._turns = TurnLog(episode.trial)
        self._calls: asyncio.Queue[_AwaitedCall | None] = asyncio.Queue()
        self._waiting: _AwaitedCall | None = None
        self._usage = Usage()
        self._log: list[JsonBody] = []
        self._server: GatewayServer | None = None
        self._program: ConfinedCommand | None = None
        self._ran_inside = False

    @property
    def tokens(self) -> TokenTree:
        """The tokens of the calls so far; empty for a model on a server."""
        return self._turns.tree

    async def act(self, messages: Sequence[Message]) -> Turn:
        """Return the program's next tool call, or in the terminal event its whole run.

        Raises:
            GaveUp: If the program has ended.
        """
        if self._server is None:
            return await self._begin(messages)
        if self._ran_inside:
            self._log.append({"output": text_of(messages)})
            return Turn(_SUBMIT, self._used())
        if self._waiting is not None:
            content = joined(message["content"] for message in messages)
            self._waiting.answer.set_result((content, False))
        return await self._next()

    def close(self) -> None:
        """End the program and its gateway, in the background."""
        self._turns.closed = True
        if self._waiting is not None and not self._waiting.answer.done():
            self._waiting.answer.set_result((_OVER, False))
        if self._server is not None:
            task = asyncio.get_running_loop().create_task(self._end())
            self._agent.running.add(task)
            task.add_done_callback(self._agent.running.discard)

    async def _begin(self, messages: Sequence[Message]) -> Turn:
        episode, settings = self._episode, self._agent.settings
        task = text_of(messages)
        if episode.admit is not None:
            listening = episode.admit(settings.mounts, settings.memory_mb, settings.seconds, PORT)
            await self._serve(listening, task)
            self._ran_inside = True
            arguments = {"command": self._command(task, "")}
            return Turn(json.dumps({"name": "run", "arguments": arguments}))
        prompt = f"{episode.system_prompt}\n\n{_USE_TOOLS}\n\n{task}"
        self._program = ConfinedCommand(settings.mounts, settings.memory_mb, settings.seconds)
        await self._serve(await self._program.open(PORT), prompt)
        mcp = f"http://127.0.0.1:{PORT}{_MCP}"
        self._program.start(self._command(prompt, mcp), lambda: self._calls.put_nowait(None))
        return await self._next()

    async def _next(self) -> Turn:
        self._waiting = await self._calls.get()
        if self._waiting is None:
            raise GaveUp("the program has ended")
        return Turn(self._waiting.action, self._used())

    async def _called(self, name: str, arguments: dict[str, Any]) -> tuple[Content, bool]:
        if self._turns.closed:
            return _OVER, True
        answer: asyncio.Future[tuple[Content, bool]] = asyncio.get_running_loop().create_future()
        action = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
        await self._calls.put(_AwaitedCall(action, answer))
        return await answer

    async def _serve(self, listening: socket.socket, task: str) -> None:
        answers = self._agent.answers(self._episode, self._turns)
        model = _BudgetedModel(answers, self._turns, self._agent.settings)
        tools = ToolServer(self._episode.tools, task, self._called)
        gateway = Gateway(model, {_MCP: tools.answer}, self._answered)
        self._server = GatewayServer(gateway, listening)
        await self._server.start()

    def _answered(self, api: str, body: JsonBody, answer: ModelAnswer) -> None:
        reply = answer.reply
        self._usage = self._usage.plus(reply.usage)
        self._log.append(
            {"api": api, "request": body, "reply": reply.message, "finish": reply.finish,
             "usage": reply.usage._asdict(), "latency": round(reply.latency, 6)}
        )  # fmt: skip

    def _used(self) -> Usage:
        """Return the usage since the last turn."""
        used, self._usage = self._usage, Usage()
        return used

    def _command(self, prompt: str, mcp: str) -> str:
        """Return the command line for a shell, with the variables that programs read."""
        url, model = f"http://127.0.0.1:{PORT}", self._agent.model
        places = {"{prompt}": prompt, "{model}": model, "{url}": url, "{mcp}": mcp}
        words = [places.get(word, word) for word in self._agent.settings.command]
        for mark in ("{model}", "{url}", "{mcp}"):
            words = [word.replace(mark, places[mark]) for word in words]
        variables = _variables(url, model, mcp)
        if "{prompt}" not in self._agent.settings.command:
            variables["HEXATHLON_PROMPT"] = prompt
        variables |= self._agent.settings.variables
        setting = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
        return " ".join(["env", *setting, *map(shlex.quote, words)])

    async def _end(self) -> None:
        if self._program is not None:
            self._log.append({"output": await self._program.close()})
        if self._server is not None:
            await self._server.close()
        logs = self._agent.settings.logs
        if logs is not None:
            await asyncio.to_thread(self._write, logs)

    def _write(self, logs: Path) -> None:
        episode = self._episode
        key = (episode.env, episode.task.id, episode.seed, episode.trial)
        logs.mkdir(parents=True, exist_ok=True)
        rows = [{"key": key}, *self._log]
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        calls_file(logs, key).write_text(text, "utf-8")


class _BudgetedModel:
    """A model that refuses calls after the end of the trial, and beyond its budgets."""

    def __init__(self, model: Answering, turns: TurnLog, settings: CommandSettings) -> None:
        self._model = model
        self._turns = turns
        self._settings = settings
        self._calls = self._tokens = 0
        self.name = model.name

    @property
    def context(self) -> int:
        return self._model.context

    async def answer(self, call: ApiCall) -> ModelAnswer:
        if self._turns.closed:
            raise BadRequest(_OVER)
        limit = self._settings.calls
        if limit is not None and self._calls >= limit:
            raise BadRequest(f"the trial's {limit} calls are used up")
        most = self._settings.tokens
        if most is not None and self._tokens >= most:
            raise BadRequest(f"the trial's {most} tokens are used up")
        self._calls += 1
        answer = await self._model.answer(call)
        self._tokens += answer.reply.usage.input + answer.reply.usage.output
        return answer


def _variables(url: str, model: str, mcp: str) -> dict[str, str]:
    """Return the environment variables by which programs find a model."""
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_BASE": f"{url}/v1",
        "OPENAI_API_KEY": "hexathlon",
        "OPENAI_MODEL": model,
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "hexathlon",
        "ANTHROPIC_MODEL": model,
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "hexathlon",
        "GEMINI_MODEL": model,
        "HEXATHLON_URL": url,
        "HEXATHLON_MODEL": model,
        **({"HEXATHLON_MCP": mcp} if mcp else {}),
    }
