from pathlib import Path

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="scripts/bridges inspect")

from bridges.contract import EVENT, gold
from bridges.doors.inspect import evaluated
from bridges.guide import example, run_line, shell_line
from bridges.tiny_policy import tiny_policy
from inspect_ai.log import read_eval_log

from hexathlon.baselines.bridges.inspect_tasks import event_task


def test_the_log_has_the_tools_and_the_terms(tmp_path: Path) -> None:
    played = gold()[0]
    log = evaluated(
        event_task(EVENT, tasks=[played.task], seed=played.seed), played.actions, tmp_path
    )
    (sample,) = log.samples
    names = {tool.name for each in sample.events if each.event == "model" for tool in each.tools}
    assert {"run_query", "submit"} <= names
    assert played.task not in str(sample.messages)
    assert sample.scores["verdict"].metadata
    assert log.results.scores[0].metrics["mean"].value == 1.0


def test_samples_are_the_first_tasks_of_a_split() -> None:
    task = event_task(EVENT, level="tiny", split="dev", count=3)
    assert [sample.metadata["index"] for sample in task.dataset] == [0, 1, 2]
    assert all("/tiny/dev/" in sample.id for sample in task.dataset)


def test_the_guides_example_runs() -> None:
    names: dict[str, object] = {}
    exec(example("inspect_example.py"), names)
    assert len(names["sql"]().dataset) == 100


def test_the_guides_evaluation_runs(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="scripts/bridges inspect")
    (tmp_path / "inspect_example.py").write_text(example("inspect_example.py"))
    words = [*shell_line("inspect", "inspect"), "--max-tokens=64", "--display=plain"]
    with tiny_policy(tmp_path) as policy:
        here = {"level=easy": "level=tiny", "count=20": "count=2",
                "openai-api/here/NAME": "openai-api/here/half"}  # fmt: skip
        given = {"HERE_BASE_URL": policy.url, "HERE_API_KEY": "none"}
        done = run_line(words, tmp_path, here, **given)
    assert done.returncode == 0, done.stdout + done.stderr
    (place,) = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(str(place))
    assert (log.status, len(log.samples)) == ("success", 2)
    assert all(sample.error is None for sample in log.samples)
