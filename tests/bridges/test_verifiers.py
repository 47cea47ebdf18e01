import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verifiers.v1", reason="scripts/bridges verifiers")

import verifiers.v1 as vf
from bridges.contract import gold
from bridges.guide import example, run_line, shell_line
from bridges.tiny_policy import ServedPolicy, tiny_policy
from verifiers.v1.utils.loaders import load_environment, load_taskset

from hexathlon.baselines.bridges.verifiers_env import PlayedEnvConfig
from hexathlon.baselines.bridges.verifiers_taskset import EventData, EventTask
from hexathlon.baselines.exchange.transcript import ChatTranscript
from hexathlon.baselines.exchange.verifiers_traces import from_trace, to_trace


def validated(folder: Path) -> Any:
    """Return the summary of verifiers' own validator, with its gold and no-op checks."""
    (folder / "my_events.py").write_text(example("my_events.py"))
    words = [*shell_line("verifiers", "vf-validate"), "--no-rich"]
    done = run_line(words, folder, {"10": "3"}, PYTHONPATH=".")
    summary = json.loads(done.stdout[done.stdout.index("{") : done.stdout.rindex("}") + 1])
    assert done.returncode == 0, done.stderr
    return summary


def test_vf_validate_passes(tmp_path: Path) -> None:
    checks = validated(tmp_path)["checks"]
    assert checks["gold"]["valid"] == checks["noop"]["valid"] == 3


def test_tasks_are_the_first_of_a_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    from hexathlon.baselines.bridges.verifiers_taskset import EventTasksetConfig

    config = EventTasksetConfig(id="hexathlon-events", split="test", level="tiny", count=2)
    names = [task.data.name for task in load_taskset(config)]
    assert len(names) == 2 and all("/tiny/test/" in name for name in names)


def test_exported_traces_are_traces_of_verifiers() -> None:
    played = gold()[0]
    messages = [{"role": "user", "content": played.opening}]
    for number, (action, answer) in enumerate(zip(played.actions, played.answers, strict=True)):
        call = json.loads(action)
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        row = {"id": f"call{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [row]})
        messages.append({"role": "tool", "tool_call_id": row["id"], "content": answer})
    exported = ChatTranscript(messages, task=played.task, reward=1.0)
    trace = vf.WireTrace.model_validate(to_trace(exported))
    assert trace.reward == 1.0 and len(trace.branches[-1].messages) == len(messages)
    assert from_trace(json.loads(trace.model_dump_json())) == exported
    unscored = vf.WireTrace.model_validate(to_trace(ChatTranscript(messages, error="no disk")))
    assert not unscored.rewards and unscored.errors[0].message == "no disk"


def test_a_checkpoint_plays_rollouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifiers' own runner, with a checkpoint that solves the task at times."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("POLICY_KEY", "none")
    player = {"runtime": {"type": "subprocess"}, "max_turns": 3,
              "sampling": {"temperature": 1.0, "max_tokens": 64}}  # fmt: skip
    config = PlayedEnvConfig(taskset={"id": "hexathlon-events"}, player=player)

    async def rewards(policy: ServedPolicy) -> list[float]:
        env = load_environment(config)
        client = vf.EvalClientConfig(base_url=policy.url, api_key_var="POLICY_KEY")
        context = vf.ModelContext(model="half", client=client)
        data = EventData(idx=0, name=policy.task, event="SQL", seed=0, settings={})
        async with env.serving():
            played = [env.run_episode(EventTask(data), context) for _ in range(8)]
            episodes = await asyncio.gather(*played)
        traces = [trace for episode in episodes for trace in episode.traces]
        assert not any(trace.errors for trace in traces)
        return [trace.reward for trace in traces]

    with tiny_policy(tmp_path) as policy:
        assert {0.0, 1.0} == set(asyncio.run(rewards(policy)))


def test_the_guides_evaluation_runs(tmp_path: Path) -> None:
    (tmp_path / "my_events.py").write_text(example("my_events.py"))
    words = [*shell_line("verifiers", "vf-eval"), "--no-rich", "--sampling.max-tokens", "64"]
    with tiny_policy(tmp_path) as policy:
        here = {"10": "2", "http://127.0.0.1:8001/v1": policy.url, "NAME": "half"}
        done = run_line(words, tmp_path, here, PYTHONPATH=".", HERE_API_KEY="none")
    assert done.returncode == 0, done.stderr
    (place,) = tmp_path.rglob("traces.jsonl")
    traces = [vf.WireTrace.model_validate_json(line) for line in place.open()]
    assert len(traces) == 2 and not any(trace.errors for trace in traces)
    assert all(trace.reward in (0.0, 1.0) for trace in traces)
