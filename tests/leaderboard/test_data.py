"""Data files, the self-assessment and the pages of training runs."""

import csv
import json
from pathlib import Path

import pytest

from hexathlon.leaderboard.boards import make_boards
from hexathlon.leaderboard.build import BuildOptions, build
from hexathlon.leaderboard.checklist import ReportError, SuiteReport, assess
from hexathlon.leaderboard.checklist_points import CHECKLIST
from hexathlon.leaderboard.exports import csv_bytes
from hexathlon.leaderboard.methods import methods_of
from hexathlon.leaderboard.submission import load_submission
from support.runs import make_run

ROOT = Path(__file__).resolve().parents[2]


def test_the_files_have_every_row(site):
    boards = json.loads((site / "board.json").read_bytes())["boards"]
    rows = [(board["env"], row["submission"]) for board in boards for row in board["rows"]]
    with (site / "board.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["env"], line["submission"]) for line in lines] == rows
    records = [
        json.loads(line)
        for line in (site / "every-eval-ever.jsonl").read_text("utf-8").splitlines()
    ]
    assert len({one["evaluation_id"] for one in records}) == len({slug for _, slug in rows})
    required = {"schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata",
                "model_info", "eval_library", "evaluation_results"}  # fmt: skip
    known = {one["model_info"]["additional_details"]["model_availability"] for one in records}
    assert known == {"open_weights", "unknown"}
    for one in records:
        assert required <= one.keys() and one["evaluation_results"]
        for result in one["evaluation_results"]:
            score = result["score_details"]
            interval = score["uncertainty"]["confidence_interval"]
            assert 0 <= interval["lower"] <= score["score"] <= interval["upper"] <= 1
            assert all(isinstance(v, str) for v in result["score_details"]["details"].values())
    page = (site / "data.html").read_text("utf-8")
    assert all(f'href="{name}"' in page for name in ("board.json", "board.csv"))


def test_names_do_not_become_formulas(tmp_path):
    run = make_run(tmp_path / "run", "dune-3b", tasks=4, team='=HYPERLINK("x")')
    (line,) = csv.DictReader(csv_bytes(make_boards([load_submission(run)])).decode().splitlines())
    assert line["team"] == '\'=HYPERLINK("x")'


PARTS = {"T.": 10, "O.a.": 2, "O.b.": 3, "O.c.": 2, "O.d.": 2, "O.e.": 3, "O.f.": 2, "O.g.": 3,
         "O.h.": 2, "O.i.": 1, "R.": 13}  # fmt: skip


def test_the_assessment_has_every_point_of_the_checklist():
    numbers = [point.number for point in CHECKLIST if point.number]
    assert numbers == [f"{part}{n}" for part, size in PARTS.items() for n in range(1, size + 1)]
    assert [point.number for point in CHECKLIST if not point.tests] == ["R.5", "R.12"]


def test_every_point_names_tests_that_exist():
    assert len({point.statement for point in CHECKLIST}) == len(CHECKLIST)
    for point in CHECKLIST:
        for test in point.tests:
            assert (ROOT / test).is_file(), test
            assert "def test_" in (ROOT / test).read_text("utf-8"), test


def test_a_point_is_proved_only_by_a_report_in_which_its_tests_passed(tmp_path):
    assert {state for _, state, _ in assess(None)} == {"not run", "open"}
    cases = [
        f'<testcase classname="{test[:-3].replace("/", ".")}" name="x"/>'
        for point in CHECKLIST
        for test in point.tests
    ]
    failed = CHECKLIST[0].tests[0][:-3].replace("/", ".")
    cases.append(f'<testcase classname="{failed}.TestIt" name="y"><failure/></testcase>')
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    states = [state for _, state, _ in assess(SuiteReport.read(report))]
    assert states[0] == "failed" and states.count("proved") == sum(
        bool(point.tests) and CHECKLIST[0].tests[0] not in point.tests for point in CHECKLIST
    )
    run = make_run(tmp_path / "run", "dune-3b", tasks=4)
    build([run], tmp_path / "site", BuildOptions(tests=SuiteReport.read(report)))
    assert "1 failed" in (tmp_path / "site" / "checklist.html").read_text("utf-8")
    report.write_text('<!DOCTYPE x [<!ENTITY a "b">]><testsuites/>')
    with pytest.raises(ReportError, match="without entities"):
        SuiteReport.read(report)


def training(folder: Path, seed: int) -> Path:
    folder.mkdir()
    recipe = {"name": "sql-tiny", "seed": seed, "algorithm": {"advantage": "group"}}
    (folder / "recipe.json").write_text(json.dumps(recipe))
    rows = [{"step": n, "success": min(1.0, 0.1 * n + 0.05 * seed), "note": "<b>"}
            for n in range(1, 9)]  # fmt: skip
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    make_run(folder / "after", "cirrus-8b-sft", tasks=8, team=f"seed {seed}")
    return folder


def test_seeds_of_one_recipe_share_a_page_with_a_band(tmp_path):
    folders = [training(tmp_path / f"seed{seed}", seed) for seed in (1, 2)]
    (method,) = methods_of(folders)
    assert method.band("success")[0] == (1.0, pytest.approx(0.175), pytest.approx(0.15), 0.2)
    build([folder / "after" for folder in folders], tmp_path / "site")
    page = (tmp_path / "site" / "methods" / f"{method.anchor}.html").read_text("utf-8")
    assert '<polygon class="band"' in page and "advantage group" in page
    systems = [path.read_text("utf-8") for path in (tmp_path / "site").glob("runs/*/index.html")]
    assert len(systems) == 2
    for system in systems:
        assert f'href="../../methods/{method.anchor}.html"' in system
        assert '<polyline class="course"' in system and "mean and range of 2 runs" in system
    (folders[0] / "metrics.jsonl").write_text("not json\n")
    assert len(methods_of(folders)[0].runs) == 1
