"""The command `judge label`: labels typed by a person, saved at once, compared with judges."""

import io
import json

import pytest

from hexathlon.evaluators.judged.file import judged_files, read_judged
from hexathlon.evaluators.judged.human import (
    HumanLabel,
    HumanLabelError,
    agreements,
    append_label,
    read_human_labels,
)
from hexathlon_cli.app import run
from support.judged import judge
from support.runs import make_run


@pytest.fixture
def played(tmp_path):
    return make_run(tmp_path / "run", "cirrus-8b", tasks=12, infra=0.0)


@pytest.fixture
def type_in(monkeypatch):
    return lambda *lines: monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))


def label(played, path, *more):
    line = ["judge", "label", str(played), "--rubric", "roleplay", "--labels", str(path)]
    return run([*line, *more])


def test_labels_are_saved_at_once_and_continued(played, tmp_path, type_in, capsys):
    path = tmp_path / "labels.jsonl"
    type_in("2", "1", "9", "s", "q")
    assert label(played, path) == 0
    out = capsys.readouterr().out
    assert "expected a number from 1 to 3, got '9'" in out and "2 new labels, 2 in" in out
    first = read_human_labels(path)
    assert [row.label for row in first] == ["met", "not_met"]
    type_in("b", "3")
    assert label(played, path) == 0
    rows = read_human_labels(path)
    assert rows[:2] == first and rows[2].label == "cannot_tell"
    assert len({(row.record, row.criterion) for row in rows}) == 3


def test_going_back_corrects_a_label(played, tmp_path, type_in):
    path = tmp_path / "labels.jsonl"
    type_in("2", "b", "1", "q")
    assert label(played, path) == 0
    (row,) = read_human_labels(path)
    assert row.label == "not_met" and len(path.read_text("utf-8").splitlines()) == 2


def test_labels_on_an_older_rubric_do_not_count_as_given(played, tmp_path, type_in):
    path = tmp_path / "labels.jsonl"
    type_in("2", "q")
    assert label(played, path) == 0
    (row,) = read_human_labels(path)
    append_label(path, row._replace(rubric="0" * 64, label="not_met"))
    assert [each.label for each in read_human_labels(path)] == ["met", "not_met"]
    judge(played)
    (file,) = map(read_judged, judged_files(played))
    found = agreements([row._replace(rubric="0" * 64)], [file])
    assert found == []


def test_agreement_is_chance_corrected(played, tmp_path, type_in, capsys):
    judge(played)  # says that `own_voice` is met in every trial
    (file,) = map(read_judged, judged_files(played))
    path = tmp_path / "labels.jsonl"
    for place, line in enumerate(line for line in file.lines if "key" in line):
        for name, unmet in (("kim", 4), ("lee", 3), ("max", 0)):
            said = "not_met" if place < unmet else "met"
            append_label(path, HumanLabel(line["record"], line["rubric"], "own_voice", said, name))
    found = agreements(read_human_labels(path), [file])
    rows = {(row.first, row.second.partition(" ")[0]): row for row in found}
    judged = {(name, "arbiter-9b") for name in ("kim", "lee", "max")}
    assert set(rows) == {("kim", "lee"), ("kim", "max"), ("lee", "max")} | judged
    close = rows["kim", "lee"]
    assert (close.both, close.equal) == (12, 11)
    # (11/12 - c) / (1 - c) with chance agreement c = 8/12 * 9/12 + 4/12 * 3/12
    assert close.kappa.value == pytest.approx(0.8)
    assert close.kappa.low < 0.8 < close.kappa.high < 1.0
    assert rows["kim", "arbiter-9b"].kappa.value == pytest.approx(0.0)
    assert rows["max", "arbiter-9b"].kappa is None
    type_in("q")
    assert label(played, path, "--annotator", "kim") == 0
    assert "kim and arbiter-9b" in " ".join(capsys.readouterr().out.split())


def test_invalid_files_are_refused(played, tmp_path, type_in, capsys):
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"record": "x"}) + "\n")
    with pytest.raises(HumanLabelError, match="line 1: expected an object with the texts record"):
        read_human_labels(path)
    type_in("q")
    assert label(played, path) == 1
    assert "line 1" in capsys.readouterr().err
    plain = tmp_path / "plain"
    line = ["eval", "agent:noop", "--envs", "SQL", "--level", "tiny", "--tasks", "1"]
    assert run([*line, "--out", str(plain)]) == 0
    assert run(["judge", "label", str(plain), "--labels", str(path)]) == 1
    assert "name a rubric with --rubric" in capsys.readouterr().err
