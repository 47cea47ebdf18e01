import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verifiers.v1", reason="scripts/bridges verifiers")

import verifiers.v1 as vf
from bridges.contract import gold
from verifiers.v1.utils.loaders import load_taskset

from hexathlon.baselines.exchange.transcript import ChatTranscript
from hexathlon.baselines.exchange.verifiers_traces import from_trace, to_trace


def validated(folder: Path) -> Any:
    """Return the summary of verifiers' own validator, with its gold and no-op checks."""
    program = "from verifiers.v1.cli.validate import main; main()"
    words = ["hexathlon-events", "--runtime.type", "subprocess", "--taskset.level", "tiny",
             "--taskset.count", "3", "--no-rich"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=folder, capture_output=True, text=True,
        timeout=300, env={"PYTHONPATH": str(Path(__file__).parent), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
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
