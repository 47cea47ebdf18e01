"""Reports and comparisons reflect the records, with floor, ceiling and bounds."""

import shutil
from pathlib import Path

import pytest

from hexathlon.baselines.harness.anchors import anchor_agents
from hexathlon.baselines.harness.compare import compare_runs
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.report import (
    anchors_of,
    as_json,
    markdown,
    read_run,
    tables,
    unscored_share,
)
from hexathlon.evaluators.records import read_records
from hexathlon.evaluators.records.plan import read_plan
from hexathlon_cli.app import run as run_command
from support.chat_server import ChatServer
from support.events import TOY, toy_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    names = ("oracle", "noop", "random", "dump")
    return {name: toy_run(folder / name, f"agent:{name}", tasks=16).run for name in names}


def test_floor_and_ceiling_come_from_the_built_in_agents(runs: dict[str, Path]) -> None:
    anchors = anchors_of([read_run(run) for run in runs.values()])
    assert anchors.ceiling == {TOY: 1.0}
    assert anchors.floor == {TOY: ("dump", 0.0)}


def test_an_agent_that_played_other_trials_sets_no_floor(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = toy_run(tmp_path / "few", "agent:noop", tasks=3).run
    assert anchors_of([read_run(runs["oracle"]), read_run(few)]).floor == {}
    assert run_command(["report", str(runs["oracle"]), "--anchor", str(few)]) == 0
    assert "it sets neither floor nor ceiling" in capsys.readouterr().err.replace("\n", " ")


def test_report_shows_floor_ceiling_and_interval(runs: dict[str, Path]) -> None:
    run = read_run(runs["oracle"])
    anchors = anchors_of([read_run(path) for path in runs.values()])
    scores, denominators, *_ = tables(run, anchors)
    (row,) = scores.rows
    named = dict(zip(scores.headings, row, strict=True))
    assert named["event"] == "Toy v1" and named["score"] == "100.0%"
    assert named["floor"] == "0.0% dump" and named["ceiling"] == "100.0%"
    assert named["norm."] == "100.0%" and named["95% interval"].endswith("…100.0%")
    assert denominators.rows[0][1:4] == ("100.0%", "100.0%", "100.0…100.0%")
    titles = [table.title for table in tables(run, anchors)]
    assert "Toy by level" in titles and "Toy by template" in titles


def test_markdown_and_json_agree(runs: dict[str, Path]) -> None:
    run = read_run(runs["oracle"])
    anchors = anchors_of([run])
    text, data = markdown(run, anchors), as_json(run, anchors)
    assert "| Toy v1 | 16 | 16 | 100.0% |" in text
    assert data["summary"]["overall"]["interval"]["mean"] == 1.0
    assert data["ceiling"] == {TOY: 1.0} and data["floor"] == {}


def test_infra_failures_widen_bounds_and_prevent_ranking(
    tmp_path: Path, chat_server: ChatServer
) -> None:
    chat_server.seen["broken*3"] = 0
    run = toy_run(
        tmp_path / "run", f"endpoint:{chat_server.url}#broken*3", dialect="json", tasks=6,
        concurrency=1, retries=0, request_retries=0, limit_turns=1,
    ).run  # fmt: skip
    result = read_run(run)
    score = result.summary.envs[0].score
    assert (score.scored, score.infra) == (3, 3)
    assert (score.bounds.low, score.bounds.high) == (0.0, 0.5)
    assert unscored_share(result) == 0.5
    report = markdown(result, anchors_of([]))
    assert "Toy is not ranked: 3 of 6 trials are infrastructure failures." in report
    assert "without a score: infra, provider (blame: provider)" in report
    assert "| unknown |" in report


def test_unfinished_run_is_noted(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run").run
    file = run / "records.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:5]))
    assert "3 of 8 planned trials have no record yet" in markdown(read_run(run), anchors_of([]))
    file.write_bytes(b"")
    with pytest.raises(UsageError, match="no record yet"):
        read_run(run)


def test_directory_without_run_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a run directory"):
        read_run(tmp_path)


def test_comparison_is_paired_by_task(runs: dict[str, Path]) -> None:
    rows = compare_runs([runs["oracle"], runs["noop"], runs["random"]])
    assert [(row.a, row.b) for row in rows] == [
        ("agent:oracle", "agent:noop"),
        ("agent:oracle", "agent:random"),
    ]
    for row in rows:
        assert row.env == TOY and row.result.tasks == 16
        assert row.result.difference > 0.9
        # One template, one trial each: McNemar's exact test, 16 discordant tasks.
        assert row.result.method == "exact-mcnemar"
        assert row.adjusted == pytest.approx(2 * row.result.p_value)
        assert row.warning == ""
    assert rows[0].result.p_value == pytest.approx(2.0**-15)


def test_agent_equals_itself(tmp_path: Path, runs: dict[str, Path]) -> None:
    copy = shutil.copytree(runs["oracle"], tmp_path / "copy")
    (row,) = compare_runs([runs["oracle"], copy])
    assert (row.result.difference, row.adjusted) == (0.0, 1.0)


def test_runs_without_shared_tasks_are_rejected(tmp_path: Path, runs: dict[str, Path]) -> None:
    other = toy_run(tmp_path / "run", split="dev").run
    with pytest.raises(UsageError, match="no scored task"):
        compare_runs([runs["oracle"], other])
    with pytest.raises(UsageError, match="at least two"):
        compare_runs([other])


def test_the_anchors_of_a_plan_are_those_its_sources_offer(runs: dict[str, Path]) -> None:
    random, oracle = (anchor_agents(read_plan(runs[name])) for name in ("random", "oracle"))
    imitating = ["constant", "neighbour", "overlap", "identity"]
    assert random == ["noop", "dump", "majority", *imitating, "oracle"]
    assert oracle == ["noop", "random", "dump", "majority", *imitating]


@pytest.mark.parametrize("name", ["constant", "neighbour", "overlap", "identity"])
def test_imitating_agents_set_the_floor(name: str, tmp_path: Path) -> None:
    run = read_run(toy_run(tmp_path / name, f"agent:{name}", tasks=16).run)
    assert anchors_of([run]).floor == {TOY: (name, 0.0)}
    assert all(record["steps"] for record in read_records(tmp_path / name))
