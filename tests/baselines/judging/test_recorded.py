"""`Task.rubric`: decisions by code are in the trial's record, and a replay must agree."""

import pytest

from hexathlon.baselines.harness.rescore import rescore_run
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.evaluators.judged.results import judged_summaries
from hexathlon.evaluators.judges.recorded import decided_by_code
from hexathlon.evaluators.judges.rubric_files import get_rubric, register_rubric, rubric_names
from hexathlon.evaluators.records import RecordWriter
from hexathlon.evaluators.records.plan import plan_hash, read_plan
from hexathlon.tasks.taskset import shared_taskset
from hexathlon_cli.app import run
from support.events import records, toy_run
from support.toy import ToySource

NAME = "counting-of-a-test"
TEXT = """
id = "counting"
aggregator = "rar"

[[criteria]]
id = "submits"
text = "The agent submits."
check = { name = "mentions", params = { any_of = ["submit"] } }

[[criteria]]
id = "few_turns"
text = "The agent takes at most 3 turns."
check = { name = "turns", params = { least = 0, most = 3 } }
"""


@pytest.fixture
def with_rubric(tmp_path, monkeypatch):
    path = tmp_path / "counting.toml"
    path.write_text(TEXT)
    monkeypatch.setattr("hexathlon.evaluators.judges.rubric_files._entries", {})
    monkeypatch.setattr("hexathlon.evaluators.judges.rubric_files._loaded", {})
    register_rubric(NAME, path)
    plain = ToySource.build

    def build(self, task_id, salt=None):
        return plain(self, task_id, salt).model_copy(update={"rubric": NAME})

    monkeypatch.setattr(ToySource, "build", build)
    shared_taskset.cache_clear()
    yield
    shared_taskset.cache_clear()


def test_records_contain_decisions_by_code(tmp_path, with_rubric):
    toy_run(tmp_path / "run")
    result = records(tmp_path / "run")
    for record in result:
        rows = {row["criterion"]: row for row in record["judges"]}
        assert rows["submits"]["label"] == "met"
        assert rows["few_turns"]["value"] == float(record["turns"] <= 3)
        assert {row["rubric"] for row in record["judges"]} == {get_rubric(NAME).hash}
        assert {row["source"] for row in record["judges"]} == {"code"}
    assert {row["label"] for r in result for row in r["judges"][1:]} == {"met", "not_met"}


def test_replay_must_reproduce_decisions_by_code(tmp_path, with_rubric):
    path = tmp_path / "run"
    toy_run(path)
    assert verify_run(path).sound
    result = records(path)
    result[1]["judges"][0].update(label="not_met", value=0.0)
    (path / "records.jsonl").unlink()
    with RecordWriter(path, plan_hash(read_plan(path)), "never") as writer:
        for record in result:
            writer.append(record)
    (finding,) = verify_run(path).findings
    assert finding.field == "judges"
    rescore_run(path, tmp_path / "again")
    assert records(tmp_path / "again")[1]["judges"][0]["label"] == "met"


def test_tasks_own_rubric_is_the_default(tmp_path, with_rubric):
    path = tmp_path / "run"
    toy_run(path)
    assert run(["judge", str(path)]) == 0
    (summary,) = judged_summaries(path)
    assert (summary.rubrics, summary.scored, summary.judge) == (("counting v1",), 8, "code")


def test_tasks_without_a_rubric_have_nothing_to_judge(tmp_path, capsys):
    path = tmp_path / "run"
    toy_run(path)
    assert {tuple(record["judges"]) for record in records(path)} == {()}
    assert run(["judge", str(path)]) == 1
    assert "its tasks have no rubric" in capsys.readouterr().err
    assert decided_by_code(None, "", []) == []
    assert decided_by_code("roleplay", "opening", []) == []
    assert NAME not in rubric_names()
