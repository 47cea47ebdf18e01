"""The page How to read explains what other pages print without an explanation."""

import re
from html import unescape

import pytest

from hexathlon.evaluators.records.consistency import OUTSIDE
from hexathlon.leaderboard.qualifying import Member, board_plan
from hexathlon.leaderboard.rows import make_row
from hexathlon.leaderboard.submission import load_submission
from support.runs import make_run
from support.sites import board_texts


@pytest.fixture(scope="module")
def guide(site) -> str:
    page = (site / "guide.html").read_text("utf-8")
    return unescape(re.sub(r"<[^>]+>", "", page)).casefold()


def test_every_badge_of_the_boards_is_explained(guide, site):
    badges = re.findall(r'class="badge[^"]*"[^>]*>(?:<bdi>)?([^<]+)', board_texts(site))
    kinds = {unescape(badge).partition(":")[0].partition(" \u00d7")[0] for badge in badges}
    kinds = {re.sub(r"^\d+ ", "", kind) for kind in kinds}
    assert {"replay-verified", "self-reported", "floor", "ceiling"} <= kinds
    assert {kind for kind in kinds if kind.casefold() not in guide} == set()


def test_flags_of_rows_are_explained(guide, tmp_path):
    def flagged(record):
        return {**record, "sandbox": "unsandboxed", "flags": []}

    run = make_run(tmp_path / "run", "cirrus-8b", tasks=4, infra=0.0, edit=flagged)
    submission = load_submission(run)
    submission.plan["code"] = {"dirty": True}
    member = Member(submission, submission.summary.envs[0])
    row = make_row(member, board_plan([member]), None, None, None, None)
    assert set(row.flags) == {"uncommitted code", "unsandboxed"}
    stated = ("tuned on the benchmark", "trained on", "chosen from", "retried", "other limits")
    outside = (name.partition(":")[0] for name in OUTSIDE)
    assert [flag for flag in (*row.flags, *stated, *outside) if flag not in guide] == []


def test_columns_and_figures_are_explained(guide, site):
    figures = re.findall(r"<dt>([^<]+)</dt>", board_texts(site))
    assert "Neighbours told apart" in figures and "Noise of repeat runs" in figures
    words = ("rank", "score", "interval", "norm", "floor", "ceil", "unsc", "infra", "bounds",
             "neighbours told apart", "detectable difference", "noise of repeat runs",
             "tie group", "pass@k", "pass^k", "latency", "cost", "tokens", "consistency",
             "worst template", "worst look", "spread", "predictable endings", "held-out",
             "pareto front", "ledger", "points")  # fmt: skip
    assert [word for word in words if word not in guide] == []
