"""Programs of other makers in a sandbox, with a scripted model or a checkpoint behind them."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="pip install 'hexathlon[serve]'")

from bridges.guide import example

from hexathlon.envs.sandbox.ladder import backend
from hexathlon.evaluators.records import read_records
from hexathlon_cli.app import run
from support.gateways import Scripted, served
from support.gold_model import GoldModel, gold_actions, through

if not backend("namespaces").probe().available:
    pytest.skip("needs a sandbox with namespaces", allow_module_level=True)

from hexathlon.baselines.gateway.app import Gateway

TERMINAL = "terminal/csv_clean/tiny/test/00000"
SHOPPING = "shopping/options/tiny/test/00002"
PROGRAMS = Path(__file__).resolve().parents[1] / "support" / "programs"
AGENT = ("python3", str(PROGRAMS / "small_agent.py"), "{prompt}")


ASKS_AGAIN = {"tool_calls": [{"id": "c", "function": {
    "name": "bash", "arguments": '{"command": "true"}'}}]}  # fmt: skip


class WritesGold:
    """The engine of a policy that has learned the task: its turns are those of the oracle."""

    def __init__(self, policy: Any, task: str) -> None:
        self._policy, self._calls = policy, gold_actions(task)
        self.version, self.context = 0, policy.engine.context
        self.prompts: list[list[int]] = []

    async def generate(self, request: Any) -> Any:
        from hexathlon.baselines.tokens.requests import Span, TokenReply

        renderer = self._policy.renderer
        self.prompts.append(list(request.ids))
        text = "The work is done."
        if self._calls:
            name, arguments = through(self._tools(request.ids), self._calls.pop(0))
            call = {"name": name, "arguments": arguments}
            text = f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"
        ids = [*renderer.encode(text), renderer.end_of_turn]
        return TokenReply(ids, [-0.5] * len(ids), "stop", [Span(0, 0, len(ids))])

    def _tools(self, ids: list[int]) -> list[Any]:
        """Return the tools that a prompt offers."""
        prompt = self._policy.renderer.tokenizer.decode(ids)
        rows = prompt.partition("<tools>\n")[2].partition("\n</tools>")[0].splitlines()
        return [json.loads(row)["function"] for row in rows]

    async def close(self) -> None:
        await self._policy.engine.close()


def sandboxed_python() -> list[str]:
    """The mounts by which this interpreter, with its packages, works in a sandbox."""
    places = {sys.prefix, sys.base_prefix, str(Path(os.path.realpath(sys.executable)).parents[1])}
    places |= {str(Path(each).parents[2]) for each in sys.path if each.endswith("site-packages")}
    return [f"--mount={place}" for place in places if not f"{place}/".startswith("/usr/")]


CODEX = (
    "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
    "-m", "{model}", "-c", 'model_provider="here"',
    "-c", 'model_providers.here={name="here",base_url="{url}/v1",env_key="OPENAI_API_KEY",'
    'wire_api="responses"}', "-c", 'mcp_servers.hexathlon.url="{mcp}"', "{prompt}",
)  # fmt: skip


def program(name: str) -> tuple[list[str], list[str]]:
    """Return the options that mount a program, and its command; skip if it is not installed."""
    if name == "small":
        return [f"--mount={PROGRAMS}", "--variable=STEPS=20"], list(AGENT)
    if name == "codex":
        folder = os.environ.get("HEXATHLON_CODEX") or pytest.skip("scripts/bridges codex")
        return [f"--mount={folder}"], [f"{folder}/node_modules/.bin/codex", *CODEX]
    pytest.importorskip("agents", reason="scripts/bridges clients")
    command = [sys.executable, str(PROGRAMS / "agents_sdk.py"), "{prompt}"]
    return [f"--mount={PROGRAMS}", *sandboxed_python()], command


def harness(out: Path, model: str, task: str, name: str, *options: str) -> int:
    """Run the command with a program and return its exit code."""
    mounts, command = program(name)
    words = ["harness", f"--model={model}", f"--task={task}", f"--out={out}", "--retries=0"]
    return run([*words, "--seconds=300", *mounts, *options, "--", *command])


def only_record(out: Path) -> dict[str, Any]:
    (record,) = read_records(out)
    return dict(record)


@pytest.mark.parametrize("task", [TERMINAL, SHOPPING], ids=["terminal", "shopping"])
def test_a_program_solves_a_task_with_a_model_on_a_server(tmp_path: Path, task: str) -> None:
    model = Scripted(GoldModel(task))
    with served(Gateway(model)) as url:
        assert harness(tmp_path / "run", f"endpoint:{url}/v1#scripted", task, "small") == 0
    record = only_record(tmp_path / "run")
    assert (record["status"], record["reward"]) == ("scored", 1.0)
    assert record["usage"]["agent"]["calls"] == len(model.calls)
    (log,) = (tmp_path / "run" / "calls").iterdir()
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["api"] for row in rows if "api" in row] == ["openai-chat"] * len(model.calls)
    ending = "The work is done." if task == TERMINAL else "exit status"
    assert ending in next(row["output"] for row in rows if "output" in row)


def test_the_guides_agent_solves_a_task(tmp_path: Path) -> None:
    commands = [call["arguments"]["command"] for call in gold_actions(TERMINAL)]

    def script(call: Any) -> dict[str, Any]:
        taken = sum(message["role"] == "assistant" for message in call.request.messages)
        return {"content": [*commands, "DONE"][taken]}

    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "agent.py").write_text(example("agent.py"))
    with served(Gateway(Scripted(script))) as url:
        words = ["harness", f"--model=endpoint:{url}/v1#scripted", f"--task={TERMINAL}",
                 "--max-calls=50", f"--mount={agents}", f"--out={tmp_path / 'run'}"]  # fmt: skip
        assert run([*words, "--", "python3", f"{agents}/agent.py", "{prompt}"]) == 0
    record = only_record(tmp_path / "run")
    assert (record["status"], record["reward"]) == ("scored", 1.0)
    assert record["usage"]["agent"]["calls"] == len(commands) + 1


@pytest.mark.parametrize("option", ["--max-calls=2", "--max-trial-tokens=30"])
def test_a_program_gets_the_calls_of_its_budget(tmp_path: Path, option: str) -> None:
    """In the terminal event, too, where its whole run is one turn; it is graded as it stands."""
    model, out = Scripted(lambda call: ASKS_AGAIN), tmp_path / "run"
    with served(Gateway(model)) as url:
        assert harness(out, f"endpoint:{url}/v1#scripted", TERMINAL, "small", option) == 0
    record = only_record(out)
    assert (record["status"], record["reward"]) == ("scored", 0.0)
    assert len(model.calls) == record["usage"]["agent"]["calls"] == 2
    assert "HTTP Error 400" in record["steps"][0]["observation"]


def test_a_programs_run_is_verified_by_running_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recorded replies stand in for the model; other replies do other work."""
    out = tmp_path / "run"
    with served(Gateway(Scripted(GoldModel(TERMINAL)))) as url:
        assert harness(out, f"endpoint:{url}/v1#scripted", TERMINAL, "small") == 0
    assert run(["verify", str(out), f"--mount={PROGRAMS}"]) == 0
    assert "1 of 1 trials replayed identically" in capsys.readouterr().out
    assert run(["verify", str(out)]) == 4
    assert "allow it with --mount" in capsys.readouterr().err
    (log,) = (out / "calls").iterdir()
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    forged = [row | ({"reply": {"role": "assistant", "content": "No."}} if "api" in row else {})
              for row in rows]  # fmt: skip
    log.write_text("".join(json.dumps(row) + "\n" for row in forged))
    assert run(["verify", str(out), f"--mount={PROGRAMS}"]) == 3
    assert "final_state" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "task"), [
    pytest.param("small", TERMINAL, id="small-terminal", marks=pytest.mark.slow),
    pytest.param("small", SHOPPING, id="small-shopping"),
    *(pytest.param(name, task, id=f"{name}-{task.partition('/')[0]}")
      for name in ("openai-agents", "codex") for task in (TERMINAL, SHOPPING)),
])  # fmt: skip
def test_the_calls_of_a_program_are_kept_token_by_token_and_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, task: str
) -> None:
    torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
    from hexathlon.baselines.agents import checkpoint
    from hexathlon.baselines.engines.local.loading import load_checkpoint
    from hexathlon.baselines.harness.tokens import read_tokens
    from hexathlon.baselines.learner.batching import Example
    from hexathlon.baselines.learner.learner import Learner, LearnerConfig
    from hexathlon.baselines.tokens.trajectory import Trajectory
    from support.policies import untrained_policy

    path = untrained_policy(tmp_path / "policy", 131_072)
    opened: list[Any] = []

    def open_gold(*given: Any) -> Any:
        policy = open_policy(*given)
        opened.append(WritesGold(policy, task))
        return policy._replace(engine=opened[-1])

    open_policy = checkpoint.open_policy
    monkeypatch.setattr(checkpoint, "open_policy", open_gold)
    out = tmp_path / "run"
    assert harness(out, str(path), task, name, "--keep-tokens", "--dialect=hermes") == 0
    assert only_record(out)["reward"] == 1.0
    (kept,) = read_tokens(out)
    sampled = [node for node in kept.tree.nodes if node.kind == "sampled"]
    assert len(sampled) == len(opened[0].prompts) > 1
    # One conversation without rewrites: one branch, in which every prompt is a prefix of the next.
    assert [node.reason for node in kept.tree.nodes if node.reason] == []
    (leaf,) = kept.tree.leaves()
    whole = kept.tree.ids(leaf)
    assert all(whole[: len(prompt)] == prompt for prompt in opened[0].prompts)
    record = only_record(out)
    (sample,) = Trajectory(record, kept.tree).samples()  # type: ignore[arg-type]
    assert sum(sample.rewards) == 1.0 and int(sample.sampled.sum()) == sum(
        len(node.ids) for node in sampled
    )
    learner = Learner(load_checkpoint(path).model, LearnerConfig(), 1)
    ones = np.ones(len(sample.ids))
    (before,) = learner.score([Example(sample, ones, ones)])
    learner.update([Example(sample, ones, ones)])
    (after,) = learner.score([Example(sample, ones, ones)])
    drawn = torch.tensor(sample.sampled)
    assert after[drawn].mean() > before[drawn].mean()


@pytest.mark.parametrize("task", [TERMINAL, SHOPPING], ids=["terminal", "shopping"])
@pytest.mark.parametrize("name", ["openai-agents", "codex"])
def test_programs_of_other_makers_solve_tasks(tmp_path: Path, name: str, task: str) -> None:
    model, out = Scripted(GoldModel(task)), tmp_path / "run"
    with served(Gateway(model)) as url:
        assert harness(out, f"endpoint:{url}/v1#scripted", task, name) == 0
    record = only_record(out)
    assert (record["status"], record["reward"]) == ("scored", 1.0)
    (log,) = (out / "calls").iterdir()
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert {row["api"] for row in rows if "api" in row} == {"openai-responses"}
