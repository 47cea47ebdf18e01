"""Programs of other makers in a sandbox, with a scripted model or a checkpoint behind them."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="pip install 'hexathlon[serve]'")

from hexathlon.envs.sandbox.ladder import backend
from hexathlon.evaluators.records import read_records
from hexathlon_cli.app import run
from support.gateways import Scripted, served
from support.gold_model import GoldModel, gold_actions

if not backend("namespaces").probe().available:
    pytest.skip("needs a sandbox with namespaces", allow_module_level=True)

from hexathlon.baselines.gateway.app import Gateway

TERMINAL = "terminal/csv_clean/tiny/test/00000"
SHOPPING = "shopping/options/tiny/test/00002"
PROGRAMS = Path(__file__).resolve().parents[1] / "support" / "programs"
AGENT = ("python3", str(PROGRAMS / "small_agent.py"), "{prompt}")


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
            call = self._calls.pop(0)
            if call["name"] == "run":
                call = {"name": "bash", "arguments": call["arguments"]}
            else:
                call = {**call, "name": f"mcp_{call['name']}"}
            text = f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"
        ids = [*renderer.encode(text), renderer.end_of_turn]
        return TokenReply(ids, [-0.5] * len(ids), "stop", [Span(0, 0, len(ids))])

    async def close(self) -> None:
        await self._policy.engine.close()


def harness(out: Path, model: str, task: str, *command: str, **options: Any) -> int:
    """Run the command and return its exit code."""
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    words = ["harness", f"--model={model}", f"--task={task}", f"--out={out}", "--retries=0"]
    words += ["--keep-tokens"] if options else []
    return run([*words, f"--mount={PROGRAMS}", *flags, "--", *command])


def only_record(out: Path) -> dict[str, Any]:
    (record,) = read_records(out)
    return dict(record)


@pytest.mark.parametrize("task", [TERMINAL, SHOPPING], ids=["terminal", "shopping"])
def test_a_program_solves_a_task_with_a_model_on_a_server(tmp_path: Path, task: str) -> None:
    model = Scripted(GoldModel(task))
    with served(Gateway(model)) as url:
        assert harness(tmp_path / "run", f"endpoint:{url}/v1#scripted", task, *AGENT) == 0
    record = only_record(tmp_path / "run")
    assert (record["status"], record["reward"]) == ("scored", 1.0)
    assert record["usage"]["agent"]["calls"] == len(model.calls)
    (log,) = (tmp_path / "run" / "calls").iterdir()
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["api"] for row in rows if "api" in row] == ["openai-chat"] * len(model.calls)
    ending = "The work is done." if task == TERMINAL else "exit status"
    assert ending in next(row["output"] for row in rows if "output" in row)


@pytest.mark.parametrize(
    "task",
    [pytest.param(TERMINAL, id="terminal", marks=pytest.mark.slow),
     pytest.param(SHOPPING, id="shopping")],
)  # fmt: skip
def test_the_calls_of_a_program_are_kept_token_by_token_and_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
    from hexathlon.baselines.agents import checkpoint
    from hexathlon.baselines.engines.local.loading import load_checkpoint
    from hexathlon.baselines.harness.tokens import read_tokens
    from hexathlon.baselines.learner.batching import Example
    from hexathlon.baselines.learner.learner import Learner, LearnerConfig
    from hexathlon.baselines.tokens.trajectory import Trajectory
    from support.policies import untrained_policy

    path = untrained_policy(tmp_path / "policy", 16_384)
    opened: list[Any] = []

    def open_gold(*given: Any) -> Any:
        policy = open_policy(*given)
        opened.append(WritesGold(policy, task))
        return policy._replace(engine=opened[-1])

    open_policy = checkpoint.open_policy
    monkeypatch.setattr(checkpoint, "open_policy", open_gold)
    out = tmp_path / "run"
    model = f"{path}"
    assert harness(out, model, task, *AGENT, dialect="hermes", variable="STEPS=20") == 0
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


def sandboxed_python() -> list[str]:
    """The mounts by which this interpreter, with its packages, works in a sandbox."""
    places = {sys.prefix, sys.base_prefix, str(Path(os.path.realpath(sys.executable)).parents[1])}
    return [f"--mount={place}" for place in places if not f"{place}/".startswith("/usr/")]


CODEX = (
    "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
    "-m", "{model}", "-c", 'model_provider="here"',
    "-c", 'model_providers.here={name="here",base_url="{url}/v1",env_key="OPENAI_API_KEY",'
    'wire_api="responses"}', "-c", 'mcp_servers.hexathlon.url="{mcp}"', "{prompt}",
)  # fmt: skip


@pytest.mark.parametrize("task", [TERMINAL, SHOPPING], ids=["terminal", "shopping"])
@pytest.mark.parametrize("program", ["openai-agents", "codex"])
def test_programs_of_other_makers_solve_tasks(tmp_path: Path, program: str, task: str) -> None:
    if program == "codex":
        folder = os.environ.get("HEXATHLON_CODEX") or pytest.skip("scripts/bridges codex")
        command = [f"{folder}/node_modules/.bin/codex", *CODEX]
        mounts = [f"--mount={folder}"]
    else:
        pytest.importorskip("agents", reason="scripts/bridges clients")
        command = [sys.executable, str(PROGRAMS / "agents_sdk.py"), "{prompt}"]
        mounts = [f"--mount={PROGRAMS}", *sandboxed_python()]
    model = Scripted(GoldModel(task))
    with served(Gateway(model)) as url:
        words = [f"--model=endpoint:{url}/v1#scripted", f"--task={task}", "--retries=0"]
        out = tmp_path / "run"
        assert run(["harness", *words, f"--out={out}", "--seconds=300", *mounts, "--",
                    *command]) == 0  # fmt: skip
    record = only_record(out)
    assert (record["status"], record["reward"]) == ("scored", 1.0)
    (log,) = (out / "calls").iterdir()
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert {row["api"] for row in rows if "api" in row} == {"openai-responses"}
