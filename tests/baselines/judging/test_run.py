"""`hexathlon judge`: judged scores beside a run, never in its records."""

import json
import signal

import pytest

from hexathlon.baselines.harness.report import anchors_of, as_json, markdown, read_run
from hexathlon.baselines.judging.client import JudgeIdentity
from hexathlon.baselines.judging.plan import JudgingPlan, trials_of
from hexathlon.evaluators.judged.consistency import judged_contradictions, unjudged_trials
from hexathlon.evaluators.judged.file import (
    JudgedError,
    JudgedWriter,
    judged_files,
    read_judged,
)
from hexathlon.evaluators.judged.results import judged_summaries
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.audit.labelled import generate_labels
from hexathlon_cli.app import run
from support.runs import make_run

RUBRIC, REPLIES = generate_labels(3, 320)


@pytest.fixture
def played(tmp_path):
    """A run whose trials are the labelled replies; five trials of one scene are one task."""

    def make(agent="cirrus-8b", *, trials=1):
        rows = iter(REPLIES)

        def edit(record):
            reply = next(rows)
            step = {"action": reply.reply, "observation": "ok", "reward": 0.0}
            steps = [{"index": 0, **step, "status": "completed"}]
            return {**record, "opening": reply.question, "steps": steps, "turns": 1}

        folder = tmp_path / agent
        return make_run(folder, agent, tasks=40 // trials, trials=trials, edit=edit, infra=0.0)

    return make


@pytest.fixture(scope="session")
def audited(tmp_path_factory, judges):
    path = tmp_path_factory.mktemp("audit") / "audit.json"
    parts = ["--items", "640", "--pairs", "5", "--groups", "2", "--padded", "5"]
    parts += ["--repeat-items", "2", "--attacked", "1"]
    code = run(["judge", "audit", "--model", judges.model("honest"), "--out", str(path), *parts])
    assert code == 0
    return path


def judge(path, judges, name, *more):
    arguments = ["judge", str(path), "--rubric", "shopkeeper"]
    code = run([*arguments, "--model", judges.model(name), *map(str, more)])
    if code in (0, 2):
        agrees_with_its_run(path)
    return code


def agrees_with_its_run(path):
    for file in judged_files(path):
        judged = read_judged(file)
        assert list(judged_contradictions(judged, path)) == []
        assert unjudged_trials(judged, path) == 0


def known(reply):
    return score(
        RUBRIC,
        {
            criterion.id: criterion.value_of(reply.labels[criterion.id])
            for criterion in RUBRIC.criteria
        },
    ).value


def test_an_interrupted_judgement_is_continued(played, judges, monkeypatch, capsys):
    path, written = played(), []
    append = JudgedWriter.append

    def interrupted(self, line):
        append(self, line)
        written.append(line)
        if len(written) == 5:
            signal.raise_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(JudgedWriter, "append", interrupted)
            assert judge(path, judges, "honest", "--concurrency", "2") == 130
    finally:
        signal.signal(signal.SIGINT, previous)
    assert "judged trials are kept" in capsys.readouterr().err
    (file,) = judged_files(path)
    kept = read_judged(file).lines
    assert 5 <= len(kept) <= 6  # the other of two trials at once may have been written as well
    assert judge(path, judges, "honest", "--concurrency", "2") == 0
    lines = read_judged(file).lines
    assert lines[: len(kept)] == kept
    keys = [str(line["key"]) for line in lines if "key" in line]
    assert len(keys) == len(set(keys)) == 40


def test_queued_trials_do_not_hold_their_records(played):
    plan = JudgingPlan(played(), RUBRIC, judges=[{"model": "none"}])
    _, trials = trials_of(plan)
    rows = [json.loads(line) for line in (plan.run / "records.jsonl").read_text().splitlines()]
    assert [trial.record() for trial in trials] == rows
    assert all(set(trial.head) == {"key", "hash", "reward"} for trial in trials)


def test_judged_scores_are_stored_beside_the_records(played, judges, audited, capsys):
    path = played()
    before = {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
    assert judge(path, judges, "honest", "--audit", audited) == 0
    assert {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()} == before
    (file,) = judged_files(path)
    result = read_judged(file)
    audit = json.loads(audited.read_text())
    assert result.header["audits"] == [audit["hash"]] and result.header["audited"]
    assert result.header["experimental"] == []
    assert result.header["judges"][0]["hash"] == audit["judge"]["hash"]
    trials = [line for line in result.lines if "key" in line]
    rows = map(json.loads, before["records.jsonl"].splitlines())
    records = {json.dumps(row["key"], sort_keys=True): row for row in rows}
    assert len(trials) == len(records) == 40
    for line in trials:
        record = records[json.dumps(line["key"], sort_keys=True)]
        reply = next(one for one in REPLIES if one.reply == record["steps"][0]["action"])
        assert line["record"] == record["hash"] and line["rubric"] == RUBRIC.hash
        assert line["score"] == pytest.approx(known(reply))
        assert {row["criterion"]: row["label"] for row in line["judges"]} == reply.labels
        assert all(row["quote"] for row in line["judges"])
    controls = [line["control"] for line in result.lines if "control" in line]
    assert len(controls) == 16 and all(control["hit"] for control in controls)
    assert "40 of 40 trials have a judged score" in capsys.readouterr().out


def test_resuming_judges_only_missing_trials(played, judges):
    path = played()
    assert judge(path, judges, "honest") == 0
    (file,) = judged_files(path)
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:20]) + lines[20][:30])  # killed in the middle of a line
    before = judges.requests
    assert judge(path, judges, "honest") == 0
    assert judges.requests - before <= 2  # the schema probe; the rest was cached
    again = read_judged(file)
    keys = [json.dumps(line["key"]) for line in again.lines if "key" in line]
    assert len(keys) == len(set(keys)) == 40
    assert judge(path, judges, "honest") == 0
    assert read_judged(file).lines == again.lines


def test_server_failures_are_judged_again(played, judges):
    path = played()
    judges.down = True
    try:
        assert judge(path, judges, "honest", "--request-retries", 0) == 4  # all requests fail
        arguments = ["--request-retries", "0", "--timeout", "20"]
        with pytest.MonkeyPatch.context() as patch:
            identity = JudgeIdentity("honest", place=judges.url)
            patch.setattr(
                "hexathlon.baselines.judging.opening.identify_judge", lambda settings: identity
            )
            assert judge(path, judges, "honest", *arguments) == 3
            (summary,) = judged_summaries(path)
            assert (summary.trials, summary.scored) == (40, 0)
            judges.down = False
            assert judge(path, judges, "honest", *arguments) == 0
    finally:
        judges.down = False
    (summary,) = judged_summaries(path)
    assert (summary.trials, summary.scored) == (40, 40)


def test_changed_line_is_detected(played, judges, capsys):
    path = played()
    assert judge(path, judges, "honest") == 0
    (file,) = judged_files(path)
    lines = file.read_bytes().splitlines(keepends=True)
    for changed in (
        [*lines[:5], lines[5].replace(b'"prev"', b'"past"'), *lines[6:]],
        [*lines[:5], *lines[6:]],
        [*lines[:5], lines[6], lines[5], *lines[7:]],
        [lines[0].replace(b'"audited":false', b'"audited":true'), *lines[1:]],
        lines[1:],
    ):
        file.write_bytes(b"".join(changed))
        with pytest.raises(JudgedError):
            read_judged(file)
        assert judge(path, judges, "honest") == 1
    assert "error: " in capsys.readouterr().err


def test_second_writer_of_a_judged_file_is_rejected(tmp_path):
    with JudgedWriter(tmp_path, {"run_id": "a"}) as first:
        with pytest.raises(JudgedError, match="being written by another process"):
            JudgedWriter(tmp_path, {"run_id": "a"})
        with JudgedWriter(tmp_path, {"run_id": "b"}) as other:
            assert other.path != first.path
    first.close()
    with JudgedWriter(tmp_path, {"run_id": "a"}) as again:
        assert again.done == ()


def test_unaudited_judges_are_marked_and_reported_separately(played, judges, capsys):
    path = played()
    assert judge(path, judges, "honest") == 0
    assert "is not audited" in capsys.readouterr().err
    (summary,) = judged_summaries(path)
    assert "unaudited" in summary.remarks
    assert all(criterion.experimental for criterion in summary.criteria)
    result = read_run(path)
    text = markdown(result, anchors_of([result]))
    assert "## Judged, not verified" in text and "unaudited" in text
    data = as_json(result, anchors_of([result]))
    (judged,) = data["judged"]
    assert judged["judge"] == "honest" and judged["usage"]["calls"] >= 320
    assert judged["usage"]["latency_p50"] > 0 and judged["usage"]["cost"] is None
    assert "judge" not in data["summary"]["envs"][0]["usage"]
    assert run(["report", str(path)]) == 0
    assert "Judged, not verified" in capsys.readouterr().out


def test_run_without_judges_has_no_judged_table(played):
    result = read_run(played())
    assert "Judged" not in markdown(result, anchors_of([result]))


def test_missed_controls_withhold_the_score(played, judges, capsys):
    path = played()
    assert judge(path, judges, "lenient-1") == 3
    assert "wrong verdict on a planted control: shopkeeper/thanks/2" in capsys.readouterr().err
    (summary,) = judged_summaries(path)
    assert summary.withheld == ("8 of 16 planted controls decided wrongly",)
    assert summary.remarks[0] == "withheld: 8 of 16 planted controls decided wrongly"
    assert summary.mean is None and summary.bounds is None
    assert all(criterion.by_code for criterion in summary.criteria)
    assert summary.scored == summary.trials > 0


def test_too_many_undecided_trials_have_an_exit_code(played, judges):
    path = played()
    assert judge(path, judges, "malformed") == 3
    (summary,) = judged_summaries(path)
    assert summary.scored == 0 and summary.mean is None and summary.bounds is None
    assert summary.withheld == ("16 of 16 planted controls undecided",)
    assert judge(played("dune-3b"), judges, "honest", "--max-unscored", "0") == 0


def test_unknown_model_family_is_noted(played, judges):
    path = played("cirrus-8b")
    assert judge(path, judges, "honest", "--family", "meta") == 0
    (summary,) = judged_summaries(path)
    assert any("model family of judge or agent is unknown" in remark for remark in summary.remarks)


@pytest.mark.parametrize("kind", ["pairwise", "groupwise"])
def test_comparisons_are_within_tasks(played, judges, kind):
    path = played(trials=5)
    assert judge(path, judges, "honest", "--kind", kind) == 0
    (file,) = judged_files(path)
    trials = [line for line in read_judged(file).lines if "key" in line]
    assert len(trials) == 40
    by_task = {}
    trials.sort(key=lambda line: (line["key"]["task"], line["key"]["trial"]))
    for line, reply in zip(trials, REPLIES, strict=True):
        by_task.setdefault(line["key"]["task"], []).append((line["score"], known(reply)))
    right = wrong = 0
    for rows in by_task.values():
        for a, x in rows:
            for b, y in rows:
                right += (a > b) and (x > y)
                wrong += (a > b) and (x < y)
    assert wrong == 0 and right > 50


def test_a_panel_judges_by_majority(played, judges):
    path = played()
    names = ["noisy-0.1", "noisy-0.11", "honest"]
    more = [word for name in names[1:] for word in ("--model", judges.model(name))]
    families = [word for name in ("a", "b", "c") for word in ("--family", name)]
    assert judge(path, judges, names[0], *more, *families) in (0, 2, 3)
    (file,) = judged_files(path)
    result = read_judged(file)
    assert [one["model"] for one in result.header["judges"]] == names
    assert result.header["kinship"] == "panel"
    rows = [row for line in result.lines if "key" in line for row in line["judges"]]
    assert all(len(row["votes"]) == 3 and row["source"] == "panel" for row in rows)


CODE = """
id = "brevity"
aggregator = "rar"

[[criteria]]
id = "short"
text = "No turn has more than 40 words."
check = { name = "at_most_words", params = { words = 40 } }
"""


def test_code_needs_no_model(played, tmp_path):
    path, rubric = played(), tmp_path / "brevity.toml"
    rubric.write_text(CODE)
    assert run(["judge", str(path), "--rubric", str(rubric)]) == 0
    (summary,) = judged_summaries(path)
    assert (summary.judge, summary.remarks, summary.scored) == ("code", (), 40)
    assert summary.criteria[0].by_code
    english = [len(reply.reply.split()) <= 40 for reply in REPLIES]
    assert summary.mean.value == pytest.approx(sum(english) / 40)


@pytest.mark.parametrize("arguments, said", [
    (["--rubric", "shopkeper"], "there is no rubric 'shopkeper'. Known: "),
    (["--rubric", "missing.toml"], "cannot read the rubric missing.toml"),
    (["--rubric", "shopkeeper"], "name a judge by --model"),
    (["--rubric", "shopkeeper", "--model", "agent:oracle"], "as judge, got agent:oracle"),
    (["--rubric", "shopkeeper", "--model", "JUDGE", "--kind", "pairwse"], "mean 'pairwise'"),
    (["--rubric", "shopkeeper", "--model", "JUDGE", "--kind", "pairwise"], "several trials"),
    (["--rubric", "shopkeeper", "--model", "JUDGE", "--audit", "AUDIT"], "audits another judge"),
    (["--rubric", "shopkeeper", "--model", "JUDGE", "--audit", "none.json"], "cannot read"),
    (["--rubric", "shopkeeper", "--model", "JUDGE", "--model", "JUDGE", "--kind", "groupwise"],
     "a panel judges pointwise"),
])  # fmt: skip
def test_usage_errors(played, judges, audited, capsys, arguments, said):
    path = played()
    places = {"JUDGE": judges.model("noisy-0.2"), "AUDIT": str(audited)}
    capsys.readouterr()
    assert run(["judge", str(path), *(places.get(word, word) for word in arguments)]) == 1
    assert said in capsys.readouterr().err.replace("\n", " ")


def test_directory_that_is_not_a_run(tmp_path, judges, capsys):
    assert judge(tmp_path, judges, "honest") == 1
    assert "no plan.json" in capsys.readouterr().err


def test_labels_and_lint(tmp_path, judges, capsys):
    labels = tmp_path / "labels.jsonl"
    assert run(["judge", "labels", "--out", str(labels), "--items", "160"]) == 0
    out = tmp_path / "audit.json"
    parts = ["--pairs", "0", "--groups", "0", "--padded", "0", "--repeat-items", "0"]
    arguments = ["--labels", str(labels), "--out", str(out), "--attacked", "0", *parts]
    assert run(["judge", "audit", "--model", judges.model("honest"), *arguments]) == 0
    assert json.loads(out.read_text())["labels"]["items"] == 160
    assert "Agreement with the labels" in capsys.readouterr().out
    assert run(["judge", "lint", "roleplay"]) == 0
    assert "7 criteria, 7 judged" in capsys.readouterr().out
    assert run(["judge", "audit", "--model", judges.model("honest"), "--labels", "x.jsonl"]) == 1
    assert (
        run(["judge", "audit", "--model", judges.model("honest"), "--labels", "generated:x"]) == 1
    )
    assert "generated:SEED" in capsys.readouterr().err
