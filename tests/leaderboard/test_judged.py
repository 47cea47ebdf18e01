"""Judged scores on the pages: beside the verified ones, with their warnings."""

import json

import pytest

from hexathlon.evaluators.records.plan import read_plan
from hexathlon.leaderboard.build import build
from hexathlon.leaderboard.judged import load_judgements
from hexathlon.leaderboard.submission import load_submission
from support.forger import Forger
from support.judged import judge
from support.runs import make_run
from support.sites import board_texts

ENV = "hexathlon/SQL-v1"


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "run", "cirrus-8b", tasks=40, infra=0.0)


def page_of(run, out):
    build([run], out)
    (page,) = out.glob("runs/*/index.html")
    return page.read_text("utf-8")


def test_a_run_without_judged_files_does_not_mention_judges(run, tmp_path):
    page = page_of(run, tmp_path / "site")
    assert "Judged" not in page
    assert "Judged, not verified" not in board_texts(tmp_path / "site")


def test_judged_scores_are_shown_beside_verified_ones_and_change_nothing(run, tmp_path):
    page_of(run, tmp_path / "before")
    judge(run)
    page = page_of(run, tmp_path / "after")
    before, after = (
        json.loads((tmp_path / name / "board.json").read_text())["boards"][0]["rows"][0]
        for name in ("before", "after")
    )
    (judged,) = after.pop("judged")
    assert before.pop("judged") == [] and before == after
    assert judged["mean"]["value"] == pytest.approx(0.75) and judged["scored"] == 40
    assert "arbiter-9b" in page and "75.0" in page and "audited, controls right" in page
    assert "<td>met 40</td>" in page
    index = board_texts(tmp_path / "after")
    assert "Judged, not verified" in index and "roleplay v2" in index


def test_objections_to_a_judge_are_shown(run, tmp_path):
    judge(run, audited=False, audits=[None], kinship="same", experimental=["own_voice"])
    page = page_of(run, tmp_path / "site")
    assert "unaudited" in page and "judge and agent belong to the same model family" in page
    assert "experimental" in page and "audited, controls right" not in page


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"control_label": "not_met"}, "1 of 1 planted controls decided wrongly"),
        ({"control_label": None}, "1 of 1 planted controls undecided"),
        ({"rejected": ["none of its 40 verdicts could be read"]}, "none of its 40 verdicts"),
    ],
)
def test_an_unfit_judge_publishes_nothing(run, tmp_path, changes, why):
    judge(run, share=1.0, **changes)
    page = page_of(run, tmp_path / "site")
    (row,) = json.loads((tmp_path / "site/board.json").read_text())["boards"][0]["rows"]
    (judged,) = row["judged"]
    assert judged["mean"] is None and judged["bounds"] is None and judged["criteria"] == []
    assert why in judged["withheld"][0]
    index = board_texts(tmp_path / "site")
    for text in (page, index):
        assert "withheld: " in text and why in text and "audited, controls right" not in text
        table = text[text.index("arbiter-9b") :]
        assert "100.0" not in table[: table.index("withheld")]


def test_six_of_six_does_not_give_a_point_interval(tmp_path):
    run = make_run(tmp_path / "few", "cirrus-8b", tasks=6, infra=0.0)
    judge(run, share=1.0)
    (summary,) = load_submission(run).judged.of(ENV)
    assert (summary.mean.value, summary.mean.high) == (1.0, 1.0)
    assert summary.mean.low == pytest.approx(6 / (6 + 1.96**2), abs=1e-3)


def test_a_file_that_was_changed_is_named_and_left_out(run, tmp_path):
    path = judge(run)
    path.write_bytes(path.read_bytes().replace(b'"score":0.0', b'"score":1.0', 1))
    found = load_judgements(run, read_plan(run)["plan_hash"])
    assert found.found == () and "was changed after it was written" in found.faults[0]
    assert str(tmp_path) not in found.faults[0]
    assert "Judged files left out" in page_of(run, tmp_path / "site")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"plan_hash": "0" * 64}, "judges another run"),
        ({"judges": None}, "does not have the content of a judged file"),
        ({"rubrics": ["none"]}, "does not have the content of a judged file"),
    ],
)
def test_a_file_of_another_run_or_shape_is_left_out(run, changes, fault):
    judge(run, **changes)
    found = load_submission(run).judged
    assert found.found == () and fault in found.faults[0]


def test_each_environment_has_its_own_summary(run):
    judge(run)
    found = load_submission(run).judged
    assert [one.env for one in found.found] == [ENV]
    assert [one.trials for one in found.of(ENV)] == [40] and found.of("other") == []


def test_trials_left_out_of_a_judged_file_are_counted(run, tmp_path):
    judge(run, share=0.5)
    forger = Forger(run)
    forger.lines[0] = [line for line in forger.lines[0] if line.get("score") != 0.0]
    (summary,) = load_submission(forger.save()).judged.of(ENV)
    assert summary.mean.value == 1.0
    assert "20 of 40 trials not judged" in summary.remarks
    assert "20 of 40 trials not judged" in page_of(run, tmp_path / "site")
